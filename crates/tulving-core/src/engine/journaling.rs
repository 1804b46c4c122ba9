//! Notes answers in the journal of the day, in the background, and does whatever else asks a language model there.
//!
//! What is to be written is noted in the ledger before it is, by its digest: who takes up the job of a process that ended in between
//! finds it in the journal and asks nobody again, or finds nothing of it and begins anew.

use std::collections::BTreeSet;
use std::time::Duration;

use super::Engine;
use super::hearing::{LEASE, ended, failed, found, given_up};
use crate::access::{self, Parts};
use crate::change::Write;
use crate::error::{Conflict, Error, Field, LlmError, StoreError};
use crate::id::PassId;
use crate::job::{self, Job};
use crate::jobs;
use crate::journal::{self, Day, format};
use crate::ledger;
use crate::llm::LlmName;
use crate::pass::{Pass, PassAct};
use crate::passes::Gleaned;
use crate::passes::shadow::{self, Exchange, Hands, ShadowNotes};
use crate::preview;
use crate::process::Processed;
use crate::read;
use crate::request::{Caller, TurnFilter};
use crate::turn::{Listening, TURNS_BETWEEN_PRUNES, TURNS_KEPT, Turn};
use crate::vocabulary::{JobState, PassKind, PassOutcome, TurnRole};

/// Where a language model cannot be asked for a longer time, such as when the budget of the day is spent, its work waits this long.
const LONG_PAUSE: Duration = Duration::from_secs(15 * 60);
/// Where it has as many calls as it may have.
const SHORT_PAUSE: Duration = Duration::from_secs(5);

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
        match self.looked_at(listening, &job) {
            Ok(None) => ended(parts, job),
            Ok(Some(lines)) => {
                self.add_up(Gleaned { journaled: lines, ..Gleaned::default() });
                Ok(Processed::well(Job { state: JobState::Done, lease: None, ..job }))
            }
            Err(Error::Llm(error)) if !error.was_asked() => {
                Ok(Processed::badly(jobs::postpone(parts, job, pause(&error))?, error.code()))
            }
            // Somebody else has it: what is written is theirs to say.
            Err(Error::Store(StoreError::Conflict(Conflict::JobMoved))) => Ok(Processed::well(job)),
            Err(error) => given_up(parts, job, &error),
        }
    }

    /// Writes what is new of an answer, ends its job, and says how many lines that were; `None` where no pass is worth a record:
    /// nothing was asked for, or nobody was asked.
    fn looked_at(&self, listening: &Listening, job: &Job) -> Result<Option<usize>, Error> {
        let parts = &self.parts;
        let Some((caller, space, answer)) = found(parts, job)? else { return Ok(None) };
        // Before anybody is asked: who may not write there has nothing to ask for.
        access::workplace(parts, &caller)?;
        // The journal is that of the space, whoever's answer is noted in it.
        let caller = access::as_file_owner(&caller, &space);
        if !listening.notes(&answer, &space) {
            return Ok(None);
        }
        let id = PassId::from_bytes(*job.id.as_bytes());
        let before = parts.store.pass(&caller.viewer, id)?;
        match &before {
            // Somebody did not want it.
            Some(pass) if pass.outcome == PassOutcome::Undone => return Ok(None),
            Some(pass) if is_written(parts, &caller, pass)? => {
                return end(parts, job, pass.clone()).map(Some);
            }
            _ => {}
        }
        let ShadowNotes { entries, mut left_out } = self.entries(listening, &caller, &answer)?;
        let mut sieve = parts.sieve(&space);
        let mut lines: Vec<String> = Vec::new();
        for entry in entries {
            match sieve.content(Field::Content, entry) {
                Ok(line) => lines.push(line),
                Err(refused) => left_out.push(refused.code().to_owned()),
            }
        }
        if lines.is_empty() && left_out.is_empty() {
            return Ok(None);
        }
        let now = parts.clock.now();
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
            ledger::note_with(parts, before, &nothing, vec![Write::RemoveJob(Box::new(job.clone()))])?;
            return Ok(Some(0));
        }
        // That nobody else has taken the job meanwhile is made sure of in the same act.
        let same = Write::MoveJob { from: Box::new(job.clone()), to: Box::new(job.clone()) };
        ledger::note_with(parts, before, &pass, vec![same])?;
        journal::append(parts, &caller, day, &lines.join("\n"))?;
        end(parts, job, pass).map(Some)
    }

    /// The notes that are new of an answer.
    fn entries(&self, listening: &Listening, caller: &Caller, answer: &Turn) -> Result<ShadowNotes, Error> {
        let parts = &self.parts;
        let said = answered(parts, caller, answer)?.filter(|said| said.is_said() && listening.trusts(said));
        let Some(exchange) = said.and_then(|said| Exchange::of(&said, answer)) else {
            return Ok(ShadowNotes::default());
        };
        let begun = parts.clock.now();
        shadow::entries(
            &exchange,
            listening.journal.model.clone(),
            &mut Hands {
                ask: &mut |prompt| self.ask(shadow::PASS, prompt),
                search: &mut |query, limit| self.search_journals(caller, query, limit),
                today: &said_on(parts, caller, Day::of(begun))?,
                elapsed: &mut || {
                    let micros = parts.clock.now().as_micros().saturating_sub(begun.as_micros());
                    Duration::from_micros(u64::try_from(micros).unwrap_or(0))
                },
            },
        )
    }
}

/// Notes that a pass has written what it meant to, and ends its job.
fn end(parts: &Parts, job: &Job, pass: Pass) -> Result<usize, Error> {
    let (lines, from) = (pass.acts.len(), pass.outcome);
    let done = pass.ended(PassOutcome::Done, parts.clock.now());
    ledger::note_with(parts, Some(from), &done, vec![Write::RemoveJob(Box::new(job.clone()))])?;
    Ok(lines)
}

/// The number of notes that were left out for each reason, for the note of a pass.
fn counted(left_out: &[String]) -> Vec<String> {
    let reasons: BTreeSet<&String> = left_out.iter().collect();
    let count = |why: &String| left_out.iter().filter(|other| *other == why).count();
    let fact = |why: &String| {
        let count = count(why);
        format!("{count} {} left out: {why}", preview::plural(count, "note", "notes"))
    };
    reasons.into_iter().map(fact).collect()
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

/// Whether what a pass was about to write is in the journal.
fn is_written(parts: &Parts, caller: &Caller, pass: &Pass) -> Result<bool, Error> {
    for act in &pass.acts {
        let PassAct::Noted { file, entry } = act else { continue };
        let Some(day) = Day::of_path(file) else { continue };
        if said_on(parts, caller, day)?.iter().any(|said| format::digest(said) == *entry) {
            return Ok(true);
        }
    }
    Ok(false)
}
