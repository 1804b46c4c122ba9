//! Writes notes on answers into the journal of the day, in the background. Also runs all other jobs that ask a language
//! model.
//!
//! The record of the pass stores the digest of each note before the note is written. If another process takes over an
//! interrupted job and finds a note in the journal, it does not ask the model again. If it finds no note, it starts
//! over.

use std::collections::BTreeSet;
use std::time::Duration;

use super::Engine;
use super::turn_reading::{LEASE, ended, failed, found, given_up};
use crate::background::pass_records;
use crate::background::passes::TurnReadingCounts;
use crate::background::passes::shadow::{self, Exchange, ShadowContext, ShadowNotes};
use crate::background::process::JobResult;
use crate::files::{self, Day, format};
use crate::model::change::Write;
use crate::model::error::{Conflict, Error, Field, LlmError, StoreError};
use crate::model::id::PassId;
use crate::model::job::{self, Job};
use crate::model::llm::LlmName;
use crate::model::pass::{Pass, PassAct};
use crate::model::preview;
use crate::model::request::{Caller, TurnFilter};
use crate::model::turn::{TURNS_BETWEEN_PRUNES, TURNS_KEPT, Turn, TurnReadingSettings};
use crate::model::vocabulary::{JobState, PassKind, PassOutcome, TurnRole};
use crate::verbs::access::{self, Ports};
use crate::verbs::jobs;
use crate::verbs::read;

/// Pause if a language model is unavailable for a longer time, for example because the day's budget is spent.
const LONG_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Pause if the language model is at its limit of concurrent calls.
const SHORT_PAUSE: Duration = Duration::from_secs(5);

impl Engine {
    /// Returns the language model that journals answers, if journaling is turned on and a model is configured.
    pub(super) fn journaler(&self, listening: &TurnReadingSettings) -> Option<LlmName> {
        let name = listening.journal.enabled.then(|| self.llm()).flatten()?;
        Some(LlmName { model: listening.journal.model.clone().unwrap_or(name.model), ..name })
    }

    /// Returns true if background jobs of this engine may ask a language model.
    pub fn thinks(&self) -> bool {
        !self.thoughts(&self.listening()).is_empty()
    }

    /// Returns true if a job that asks a language model is due.
    pub fn has_to_think(&self) -> Result<bool, Error> {
        let kinds = self.thoughts(&self.listening());
        Ok(!kinds.is_empty() && !self.ports.store.claimable(&kinds, self.ports.clock.now(), 1)?.is_empty())
    }

    /// Returns the kinds of jobs that ask a language model.
    fn thoughts(&self, listening: &TurnReadingSettings) -> Vec<&'static str> {
        let turns = self.asks_about_turns(listening).then_some(job::PROACTIVE);
        turns.into_iter().chain(self.journaler(listening).map(|_| job::SHADOW)).collect()
    }

    /// Runs one waiting job that asks a language model, if any. The job may take a minute.
    pub fn think_waiting(&self, holder: &str) -> Result<Option<JobResult>, Error> {
        let listening = self.listening();
        let kinds = self.thoughts(&listening);
        if kinds.is_empty() {
            return Ok(None);
        }
        match jobs::claim_any(&self.ports, &kinds, holder, LEASE)? {
            None => Ok(None),
            Some(job) if job.kind == job::SHADOW => self.noted(&listening, job).map(Some),
            Some(job) => self.heard(&listening, job).map(Some),
        }
    }

    /// Writes the notes on the answer of a claimed job.
    fn noted(&self, listening: &TurnReadingSettings, job: Job) -> Result<JobResult, Error> {
        let ports = &self.ports;
        if job.is_spent() {
            return failed(ports, job, jobs::NEVER_ENDED);
        }
        match self.looked_at(listening, &job) {
            Ok(None) => ended(ports, job),
            Ok(Some(lines)) => {
                self.add_up(TurnReadingCounts { journaled: lines, ..TurnReadingCounts::default() });
                Ok(JobResult::well(Job { state: JobState::Done, lease: None, ..job }))
            }
            Err(Error::Llm(error)) if !error.was_asked() => {
                Ok(JobResult::badly(jobs::postpone(ports, job, pause(&error))?, error.code()))
            }
            // Another process has taken over the job and reports the result.
            Err(Error::Store(StoreError::Conflict(Conflict::JobMoved))) => Ok(JobResult::well(job)),
            Err(error) => given_up(ports, job, &error),
        }
    }

    /// Writes the new notes on an answer, ends its job, and returns the number of lines. Returns `None` if there is no pass
    /// to record, because the model returned no notes or was not asked.
    fn looked_at(&self, listening: &TurnReadingSettings, job: &Job) -> Result<Option<usize>, Error> {
        let ports = &self.ports;
        let Some((caller, space, answer)) = found(ports, job)? else { return Ok(None) };
        // Checked before the model is asked: if the caller may not write to the journal, an answer is useless.
        access::workplace(ports, &caller)?;
        // The journal belongs to the space and not to the caller who logged the answer.
        let caller = access::as_file_owner(&caller, &space);
        if !listening.notes(&answer, &space) {
            return Ok(None);
        }
        let id = PassId::from_bytes(*job.id.as_bytes());
        let before = ports.store.pass(&caller.viewer, id)?;
        match &before {
            // The pass was undone, so these notes are not wanted.
            Some(pass) if pass.outcome == PassOutcome::Undone => return Ok(None),
            Some(pass) if is_written(ports, &caller, pass)? => {
                return end(ports, job, pass.clone()).map(Some);
            }
            _ => {}
        }
        let ShadowNotes { entries, mut left_out } = self.entries(listening, &caller, &answer)?;
        let mut redactor = ports.redactor(&space);
        let mut lines: Vec<String> = Vec::new();
        for entry in entries {
            match redactor.content(Field::Content, entry) {
                Ok(line) => lines.push(line),
                Err(refused) => left_out.push(refused.code().to_owned()),
            }
        }
        if lines.is_empty() && left_out.is_empty() {
            return Ok(None);
        }
        let now = ports.clock.now();
        let day = Day::of(now);
        let act = |line: &String| PassAct::Noted { file: day.path(), entry: format::digest(line) };
        let facts = std::iter::once(format!("turn {} ({}); author auto", answer.position, answer.source));
        let pass = Pass {
            model: self.journaler(listening).map(|llm| llm.to_string()),
            note: Some(facts.chain(counted(&left_out)).collect::<Vec<_>>().join("; ")),
            acts: lines.iter().map(act).collect(),
            ..Pass::begun(id, PassKind::Shadow, space.id, answer.logged_by, now)
        };
        let before = before.map(|before| before.outcome);
        if lines.is_empty() {
            let nothing = pass.ended(PassOutcome::Nothing, now);
            pass_records::note_with(ports, before, &nothing, vec![Write::RemoveJob(Box::new(job.clone()))])?;
            return Ok(Some(0));
        }
        // This write makes the transaction fail if another process has taken the job meanwhile.
        let same = Write::MoveJob { from: Box::new(job.clone()), to: Box::new(job.clone()) };
        pass_records::note_with(ports, before, &pass, vec![same])?;
        files::append(ports, &caller, day, &lines.join("\n"))?;
        end(ports, job, pass).map(Some)
    }

    /// Returns the new notes on an answer.
    fn entries(
        &self,
        listening: &TurnReadingSettings,
        caller: &Caller,
        answer: &Turn,
    ) -> Result<ShadowNotes, Error> {
        let ports = &self.ports;
        let said = answered(ports, caller, answer)?.filter(|said| said.is_said() && listening.trusts(said));
        let Some(exchange) = said.and_then(|said| Exchange::of(&said, answer)) else {
            return Ok(ShadowNotes::default());
        };
        let begun = ports.clock.now();
        shadow::entries(
            &exchange,
            listening.journal.model.clone(),
            &mut ShadowContext {
                ask: &mut |prompt| self.ask(shadow::PASS, prompt),
                search: &mut |query, limit| self.search_journals(caller, query, limit),
                today: &said_on(ports, caller, Day::of(begun))?,
                elapsed: &mut || {
                    let micros = ports.clock.now().as_micros().saturating_sub(begun.as_micros());
                    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
                },
            },
        )
    }
}

/// Records that a pass has written its notes, and ends its job.
fn end(ports: &Ports, job: &Job, pass: Pass) -> Result<usize, Error> {
    let (lines, from) = (pass.acts.len(), pass.outcome);
    let done = pass.ended(PassOutcome::Done, ports.clock.now());
    pass_records::note_with(ports, Some(from), &done, vec![Write::RemoveJob(Box::new(job.clone()))])?;
    Ok(lines)
}

/// Returns the number of left-out notes for each reason, for the note of a pass.
fn counted(left_out: &[String]) -> Vec<String> {
    let reasons: BTreeSet<&String> = left_out.iter().collect();
    let count = |why: &String| left_out.iter().filter(|other| *other == why).count();
    let fact = |why: &String| {
        let count = count(why);
        format!("{count} {} left out: {why}", preview::plural(count, "note", "notes"))
    };
    reasons.into_iter().map(fact).collect()
}

/// Returns the pause for a language model that is unavailable.
fn pause(why: &LlmError) -> Duration {
    match why {
        LlmError::CircuitOpen { left, .. } => *left,
        LlmError::Busy { .. } => SHORT_PAUSE,
        _ => LONG_PAUSE,
    }
}

/// Returns the question to an answer: the newest earlier turn of a user in the same channel.
fn answered(ports: &Ports, caller: &Caller, answer: &Turn) -> Result<Option<Turn>, Error> {
    let last = usize::try_from(TURNS_KEPT + TURNS_BETWEEN_PRUNES).unwrap_or(usize::MAX);
    let filter = TurnFilter { channel: answer.channel.clone(), before: Some(answer.position), last };
    let before = ports.store.turns(&caller.viewer, answer.space, &filter, read::PAGE_BYTES)?;
    let here =
        before.into_iter().filter(|turn| turn.channel == answer.channel && turn.role == TurnRole::User);
    Ok(here.max_by_key(|turn| turn.position))
}

/// Returns the entries of a day's journal.
fn said_on(ports: &Ports, caller: &Caller, day: Day) -> Result<Vec<String>, Error> {
    let journal = files::get(ports, caller, day)?;
    Ok(journal.map_or_else(Vec::new, |journal| journal.entries()))
}

/// Returns true if the journal contains a note of this pass.
fn is_written(ports: &Ports, caller: &Caller, pass: &Pass) -> Result<bool, Error> {
    for act in &pass.acts {
        let PassAct::Noted { file, entry } = act else { continue };
        let Some(day) = Day::of_path(file) else { continue };
        if said_on(ports, caller, day)?.iter().any(|said| format::digest(said) == *entry) {
            return Ok(true);
        }
    }
    Ok(false)
}
