//! Notes answers in the journal of the day, in the background, and does whatever else asks a language model there.
//!
//! What is to be written is named in the job before it is, by its hash: who takes up the job of a process that ended in between
//! finds it in the journal and asks nobody again, or finds nothing of it and begins anew.

use std::time::Duration;

use sha2::{Digest, Sha256};

use super::Engine;
use super::hearing::{LEASE, ended, failed, found, given_up};
use crate::access::{self, Parts};
use crate::error::{Conflict, Error, LlmError, StoreError};
use crate::job::{self, Job};
use crate::jobs;
use crate::journal::{self, Day};
use crate::llm::LlmName;
use crate::passes::Gleaned;
use crate::passes::shadow::{self, Exchange, Hands};
use crate::process::Processed;
use crate::read;
use crate::request::{Caller, TurnFilter};
use crate::turn::{Listening, TURNS_BETWEEN_PRUNES, TURNS_KEPT, Turn};
use crate::vocabulary::TurnRole;

/// Where a language model cannot be asked for a longer time, such as when the budget of the day is spent, its work waits this long.
const LONG_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Where it has as many calls as it may have.
const SHORT_PAUSE: Duration = Duration::from_secs(5);
/// The part of a job that names what it is about to write.
const WRITING: &str = "writing";

impl Engine {
    /// The language model that notes answers in journals, where that is turned on and there is one.
    pub(super) fn journaler(&self, listening: &Listening) -> Option<LlmName> {
        let name = listening.journal.enabled.then(|| self.llm()).flatten()?;
        Some(LlmName { model: listening.journal.model.clone().unwrap_or(name.model), ..name })
    }

    /// Whether work in the background may ask a language model here.
    pub fn thinks(&self) -> bool {
        !self.thoughts(&self.listening()).is_empty()
    }

    /// Whether such work is due.
    pub fn has_to_think(&self) -> Result<bool, Error> {
        let kinds = self.thoughts(&self.listening());
        Ok(!kinds.is_empty() && !self.parts.store.claimable(&kinds, self.parts.clock.now(), 1)?.is_empty())
    }

    /// The work for which a language model is asked.
    fn thoughts(&self, listening: &Listening) -> Vec<&'static str> {
        let turns = self.asks_about_turns(listening).then_some(job::PROACTIVE);
        turns.into_iter().chain(self.journaler(listening).map(|_| job::SHADOW)).collect()
    }

    /// Does one piece of work for which a language model is asked, where one waits. It may take a minute.
    pub fn think_waiting(&self, holder: &str) -> Result<Option<Processed>, Error> {
        let listening = self.listening();
        let kinds = self.thoughts(&listening);
        if kinds.is_empty() {
            return Ok(None);
        }
        match jobs::claim_any(&self.parts, &kinds, holder, LEASE)? {
            None => Ok(None),
            Some(job) if job.kind == job::SHADOW => self.noted(&listening, job).map(Some),
            Some(job) => self.heard(&listening, job).map(Some),
        }
    }

    /// Looks at the answer of a job that was claimed.
    fn noted(&self, listening: &Listening, job: Job) -> Result<Processed, Error> {
        let parts = &self.parts;
        if job.is_spent() {
            return failed(parts, job, jobs::NEVER_ENDED);
        }
        match self.entries(listening, &job) {
            Ok(None) => ended(parts, job),
            Ok(Some((caller, lines))) => self.write(&caller, job, &lines),
            Err(Error::Llm(error)) if !error.was_asked() => {
                let job = jobs::postpone(parts, job, pause(&error))?;
                Ok(Processed { job, trouble: Some(error.code().to_owned()), lacking: false })
            }
            Err(error) => given_up(parts, job, &error),
        }
    }

    /// What is to be written of an answer, and as whom; `None` where nothing is, or all of it was.
    fn entries(&self, listening: &Listening, job: &Job) -> Result<Option<(Caller, Vec<String>)>, Error> {
        let parts = &self.parts;
        let Some((caller, space, answer)) = found(parts, job)? else { return Ok(None) };
        // Before anybody is asked: who may not write there has nothing to ask for.
        access::workplace(parts, &caller)?;
        if !listening.notes(&answer, &space) || is_written(parts, &caller, job)? {
            return Ok(None);
        }
        let said = answered(parts, &caller, &answer)?.filter(|said| said.is_said() && listening.trusts(said));
        let Some(exchange) = said.and_then(|said| Exchange::of(&said, &answer)) else { return Ok(None) };
        let begun = parts.clock.now();
        let entries = shadow::entries(
            &exchange,
            listening.journal.model.clone(),
            &mut Hands {
                ask: &mut |prompt| self.ask(shadow::PASS, prompt),
                search: &mut |query, limit| self.search_journals(&caller, query, limit),
                today: &said_on(parts, &caller, Day::of(begun))?,
                elapsed: &mut || {
                    let micros = parts.clock.now().as_micros().saturating_sub(begun.as_micros());
                    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
                },
            },
        )?;
        Ok((!entries.is_empty()).then_some((caller, entries)))
    }

    /// Writes entries as one, and ends their job.
    fn write(&self, caller: &Caller, job: Job, lines: &[String]) -> Result<Processed, Error> {
        let parts = &self.parts;
        let now = parts.clock.now();
        let date = Day::of(now);
        let hashes: Vec<String> = lines.iter().map(|line| hash(line)).collect();
        let mut named = job.clone();
        named.payload[WRITING] = serde_json::json!({ "day": date, "entries": hashes });
        let job = match jobs::moved(parts, now, job.clone(), named) {
            Ok(job) => job,
            // Somebody else has it: what is written is theirs to say.
            Err(Error::Store(StoreError::Conflict(Conflict::JobMoved))) => {
                return Ok(Processed { job, trouble: None, lacking: false });
            }
            Err(error) => return Err(error),
        };
        if let Err(error) = journal::append(parts, caller, date, &lines.join("\n")) {
            return given_up(parts, job, &error);
        }
        self.add_up(Gleaned { journaled: lines.len(), ..Gleaned::default() });
        ended(parts, job)
    }
}

/// How long a language model is left alone that cannot be asked.
fn pause(why: &LlmError) -> Duration {
    match why {
        LlmError::CircuitOpen { left, .. } => *left,
        LlmError::Busy { .. } => SHORT_PAUSE,
        _ => LONG_PAUSE,
    }
}

/// What an answer answers: the newest turn of a user before it in its channel.
fn answered(parts: &Parts, caller: &Caller, answer: &Turn) -> Result<Option<Turn>, Error> {
    let last = usize::try_from(TURNS_KEPT + TURNS_BETWEEN_PRUNES).unwrap_or(usize::MAX);
    let filter = TurnFilter { channel: answer.channel.clone(), last };
    let turns = parts.store.turns(&caller.viewer, answer.space, &filter, read::PAGE_BYTES)?;
    let before = turns.into_iter().filter(|turn| turn.position < answer.position);
    let here = before.filter(|turn| turn.channel == answer.channel && turn.role == TurnRole::User);
    Ok(here.max_by_key(|turn| turn.position))
}

/// The entries of the journal of a day.
fn said_on(parts: &Parts, caller: &Caller, day: Day) -> Result<Vec<String>, Error> {
    let journal = journal::get(parts, caller, day)?;
    Ok(journal.map_or_else(Vec::new, |journal| journal.entries()))
}

/// Whether what a job was about to write is in the journal.
fn is_written(parts: &Parts, caller: &Caller, job: &Job) -> Result<bool, Error> {
    let Some(writing) = job.payload.get(WRITING) else { return Ok(false) };
    let day = writing.get("day").and_then(|day| day.as_str()).and_then(|day| day.parse().ok());
    let hashes = writing.get("entries").and_then(|hashes| hashes.as_array());
    let (Some(day), Some(hashes)) = (day, hashes) else { return Ok(false) };
    let there = said_on(parts, caller, day)?;
    Ok(there.iter().any(|entry| hashes.iter().any(|known| known.as_str() == Some(&hash(entry)))))
}

fn hash(entry: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(entry))
}
