//! Listens to turns in the background: claims a job, reads the turn, runs the pass, saves the results.
//!
//! The save and the end of the job are two transactions. If only the first was done, the turn is read again, and by then
//! everything in it is known. If a language model reads turns and fails, rules read this one.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tulving_text::chunk::ContentForm;
use tulving_text::classify::facts::{self, FactProposal};

use super::Engine;
use crate::background::passes::TurnReadingCounts;
use crate::background::passes::model;
use crate::background::passes::proactive::{self, KnownMemory, ProactiveTurn};
use crate::background::process::Processed;
use crate::model::error::{Class, Error, StoreError};
use crate::model::id::PassId;
use crate::model::job::{self, Job};
use crate::model::pass::Pass;
use crate::model::request::{Ask, Caller, Filter, Forgotten, Mode, Quarantined, RecallRequest, Sort};
use crate::model::space::{Space, Viewer};
use crate::model::time::Zone;
use crate::model::turn::{Listening, Turn};
use crate::model::vocabulary::{Author, ContentType, JobState, Origin, PassKind, Role};
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::{self, Newcomer, Source};
use crate::verbs::jobs;
use crate::verbs::recall;
use crate::verbs::save::{self, SaveOptions, embed};

/// The job kinds that are handled here.
const KINDS: &[&str] = &[job::PROACTIVE];
/// Lease of a turn. Reading takes at most half of it, even by a language model.
pub(super) const LEASE: Duration = Duration::from_secs(120);
/// Number of known memories that a statement is compared with.
const COMPARED: usize = 10;

impl Engine {
    /// Changes the settings for listening to turns.
    pub fn listen(&self, listening: Listening) {
        *self.listening.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(listening);
    }

    /// Returns the current settings. If another backend is primary, no turns are read: its content is its own affair.
    pub(super) fn listening(&self) -> Arc<Listening> {
        match self.built_in("a look at turns") {
            Ok(()) => Arc::clone(&self.listening.read().unwrap_or_else(PoisonError::into_inner)),
            Err(_) => Arc::default(),
        }
    }

    /// Returns true if a language model reads what users say.
    pub(super) fn asks_about_turns(&self, listening: &Listening) -> bool {
        listening.enabled && !listening.by_rules && self.llm().is_some()
    }

    /// Returns true if turns wait to be read by rules.
    pub(super) fn is_spoken_to(&self) -> Result<bool, Error> {
        let listening = self.listening();
        let due = || self.ports.store.claimable(KINDS, self.ports.clock.now(), 1);
        Ok(listening.enabled && !self.asks_about_turns(&listening) && !due()?.is_empty())
    }

    /// Returns the results of the turns that this engine has read.
    pub fn gleaned(&self) -> TurnReadingCounts {
        *self.gleaned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one waiting turn, if there is one and rules read turns, and saves what is worth keeping.
    pub fn hear_waiting(&self, holder: &str) -> Result<Option<Processed>, Error> {
        let listening = self.listening();
        if !listening.enabled || self.asks_about_turns(&listening) {
            return Ok(None);
        }
        match jobs::claim_any(&self.ports, KINDS, holder, LEASE)? {
            Some(job) => self.heard(&listening, job).map(Some),
            None => Ok(None),
        }
    }

    /// Reads the turn of a claimed job.
    pub(super) fn heard(&self, listening: &Listening, job: Job) -> Result<Processed, Error> {
        let ports = &self.ports;
        if job.is_spent() {
            return failed(ports, job, jobs::NEVER_ENDED);
        }
        match self.hear(listening, &job) {
            Ok((gleaned, trouble)) => {
                self.add_up(gleaned);
                let done = ended(ports, job)?;
                Ok(Processed { trouble: trouble.map(str::to_owned), ..done })
            }
            Err(error) => given_up(ports, job, &error),
        }
    }

    pub(super) fn add_up(&self, new: TurnReadingCounts) {
        let mut all = self.gleaned.lock().unwrap_or_else(PoisonError::into_inner);
        all.saved += new.saved;
        all.aside += new.aside;
        all.known += new.known;
        all.journaled += new.journaled;
    }

    /// Returns the results of a turn, and the reason if a language model should have read it but did not.
    fn hear(
        &self,
        listening: &Listening,
        job: &Job,
    ) -> Result<(TurnReadingCounts, Option<&'static str>), Error> {
        let ports = &self.ports;
        let Some((caller, space, turn)) = found(ports, job)? else {
            return Ok((TurnReadingCounts::default(), None));
        };
        let caller = Caller { zone: self.zone.clone(), ..caller };
        if !listening.hears(&turn, &space) {
            return Ok((TurnReadingCounts::default(), None));
        }
        let mut pass = PassId::from_bytes(*job.id.as_bytes());
        match ports.store.pass(&caller.viewer, pass)? {
            // The turn was read and its results were saved before a process ended. A model might word them differently now.
            Some(done) if !done.acts.is_empty() => return Ok((TurnReadingCounts::default(), None)),
            // A repeated reading is another pass: the pass named after the job records what the first one did.
            Some(_) => pass = PassId::mint(ports.clock.now()),
            None => {}
        }
        let (found, trouble) = self.read_turn(listening, &turn);
        let heard = ProactiveTurn { turn: &turn, trusted: listening.trusts(&turn), pass };
        let mut known = |statement: &str| known(ports, &caller, &space, statement);
        let (proposals, known) = proactive::proposals(heard, found, &mut known)?;
        let aside = proposals.iter().filter(|proposal| proposal.aside).count();
        let gleaned = TurnReadingCounts {
            saved: proposals.len() - aside,
            aside,
            known,
            ..TurnReadingCounts::default()
        };
        let order = |one: proactive::SaveProposal| SaveOptions {
            quarantined: one.aside,
            ..SaveOptions::of(one.request)
        };
        if !proposals.is_empty() {
            let orders = proposals.into_iter().map(order).collect();
            let note = Pass::begun(pass, PassKind::Proactive, space.id, turn.logged_by, ports.clock.now());
            let asked = self.asks_about_turns(listening) && trouble.is_none();
            let note = Pass {
                note: Some(turn.note()),
                model: asked.then(|| self.llm()).flatten().map(|llm| llm.to_string()),
                ..note
            };
            save::save_by(ports, &caller, orders, Some(&note))?;
        }
        Ok((gleaned, trouble))
    }

    /// Returns what a language model finds in a turn, or rules if none is set up or it fails.
    fn read_turn(&self, listening: &Listening, turn: &Turn) -> (Vec<FactProposal>, Option<&'static str>) {
        // Days follow the user's local time: late in the evening "tomorrow" may be another day in UTC.
        let at = if turn.at.is_day() { turn.at } else { self.zone.wall(turn.at) };
        let turn = &Turn { at, ..turn.clone() };
        let by_rules = || facts::propose(&turn.content, turn.speaker.as_deref(), turn.at);
        if !self.asks_about_turns(listening) {
            return (by_rules(), None);
        }
        let Some(own) = model::own(turn) else { return (Vec::new(), None) };
        match self.ask(model::PASS, &model::prompt(turn, &own)) {
            Ok(reply) => match model::found(turn, &own, &reply) {
                Some(found) => (found, None),
                None => (by_rules(), Some("llm_malformed")),
            },
            Err(error) => (by_rules(), Some(error.code())),
        }
    }
}

/// Returns the turn of a job if it is still in the log, its space, and its logger as the caller.
pub(super) fn found(ports: &Ports, job: &Job) -> Result<Option<(Caller, Space, Turn)>, Error> {
    let Some((space, turn, by)) = job.turn() else { return Ok(None) };
    let viewer = Viewer { principal: by, within: Some(vec![space]) };
    let Some(turn) = ports.store.turn(&viewer, turn)? else { return Ok(None) };
    let (agent, origin, zone) = (None, Origin::Extraction, Zone::default());
    let caller = Caller { viewer, ceiling: Role::Writer, space, agent, origin, zone };
    let space = access::space_of_call(ports, &caller)?;
    Ok(Some((caller, space, turn)))
}

/// Returns the known memories near a statement: similar in words or meaning, or captured before and then forgotten on
/// purpose.
pub(super) fn known(
    ports: &Ports,
    caller: &Caller,
    space: &Space,
    statement: &str,
) -> Result<Vec<KnownMemory>, Error> {
    let here = Filter { space: Some(space.id), records_only: true, ..Filter::default() };
    let mode = Mode::Hybrid(Box::new(Ask::new(statement)));
    let request = RecallRequest { mode, filter: here.clone(), sort: None, limit: COMPARED };
    let found = recall::recall(ports, caller, &request)?.hits.into_iter().map(|hit| hit.memory);
    let gone = Filter {
        forgotten: Forgotten::Only,
        quarantined: Quarantined::Either,
        author: Some(Author::Auto),
        substring: Some(statement.to_owned()),
        content_only: true,
        ..here
    };
    let gone = ports.store.list(&caller.viewer, &gone, Sort::Newest, COMPARED, None)?;
    let said =
        found.chain(gone).map(|memory| KnownMemory { content: memory.fields.text.content, near: false });
    Ok(said.chain(near(ports, caller, space, statement)?).collect())
}

/// Returns true if a memory with this statement waits for review.
pub(super) fn waits(ports: &Ports, caller: &Caller, space: &Space, statement: &str) -> Result<bool, Error> {
    let filter = Filter {
        space: Some(space.id),
        quarantined: Quarantined::Only,
        substring: Some(statement.to_owned()),
        content_only: true,
        ..Filter::default()
    };
    Ok(!ports.store.list(&caller.viewer, &filter, Sort::Newest, 1, None)?.is_empty())
}

/// Returns the memories that mean nearly the same; none without a model.
fn near(ports: &Ports, caller: &Caller, space: &Space, statement: &str) -> Result<Vec<KnownMemory>, Error> {
    let form = ContentForm { content_type: ContentType::Text, language: None };
    let (chunks, _) = embed::embed(ports, &[Source { content: statement, form, title: None }]);
    let embedding = chunks.into_iter().flatten().find_map(|chunk| chunk.embedding);
    let Some(embedding) = embedding else { return Ok(Vec::new()) };
    let (boundary, owner) = (space.default_boundary(), caller.viewer.principal);
    let newcomer = Newcomer { space: space.id, boundary, owner };
    let near = embedding::near(ports, newcomer, &embedding, None)?;
    Ok(near
        .into_iter()
        .map(|(memory, _)| KnownMemory { content: memory.fields.text.content, near: true })
        .collect())
}

/// Ends a reading that succeeded; it leaves no trace except the saved memories.
pub(super) fn ended(ports: &Ports, job: Job) -> Result<Processed, Error> {
    let done = Job { state: JobState::Done, lease: None, ..job.clone() };
    match jobs::remove(ports, job) {
        // Another process has claimed it since, so it owns the job.
        Ok(()) | Err(Error::Store(StoreError::Conflict(_))) => Ok(Processed::well(done)),
        Err(error) => Err(error),
    }
}

/// Ends a reading that failed: it is retried later, unless there is nobody to save anything for.
pub(super) fn given_up(ports: &Ports, job: Job, error: &Error) -> Result<Processed, Error> {
    match error.class() {
        // The logger may no longer write there, or the space is gone.
        Class::Absent | Class::Denied | Class::Caller => ended(ports, job),
        // Reported by its code: the error text may contain what was said.
        _ => failed(ports, job, error.code()),
    }
}

pub(super) fn failed(ports: &Ports, job: Job, why: &str) -> Result<Processed, Error> {
    Ok(Processed::badly(jobs::fail(ports, job, why)?, why))
}
