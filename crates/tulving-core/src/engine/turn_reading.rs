//! Reads turns in the background: claims a job, reads its turn, runs the pass, and saves the results.
//!
//! Saving the results and ending the job are two transactions. If a process stops after the first transaction, the turn is
//! read again, and all its facts are then already known. If a language model fails to read a turn, rules read that turn.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tulving_text::chunk::ContentForm;
use tulving_text::classify::facts::{self, FactProposal};

use super::Engine;
use crate::background::passes::TurnReadingCounts;
use crate::background::passes::model;
use crate::background::passes::proactive::{self, KnownMemory, ProactiveTurn};
use crate::background::process::JobResult;
use crate::model::error::{Class, Error, StoreError};
use crate::model::id::PassId;
use crate::model::job::{self, Job};
use crate::model::pass::Pass;
use crate::model::request::{
    Caller, Filter, ForgottenFilter, Mode, Quarantined, RecallQuestion, RecallRequest, Sort,
};
use crate::model::space::{Space, Viewer};
use crate::model::time::Zone;
use crate::model::turn::{Turn, TurnReadingSettings};
use crate::model::vocabulary::{Author, ContentType, JobState, Origin, PassKind, Role};
use crate::verbs::access::{self, Ports};
use crate::verbs::embedding::{self, LinkCandidate, Source};
use crate::verbs::jobs;
use crate::verbs::recall;
use crate::verbs::save::{self, SaveOptions, embed};

/// The job kinds that this module handles.
const KINDS: &[&str] = &[job::PROACTIVE];
/// Lease of a turn. Reading a turn takes at most half of this time, even with a language model.
pub(super) const LEASE: Duration = Duration::from_secs(120);
/// Number of known memories to compare with a statement.
const COMPARED: usize = 10;

impl Engine {
    /// Changes the settings for reading turns.
    pub fn listen(&self, listening: TurnReadingSettings) {
        *self.listening.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(listening);
    }

    /// Returns the current settings. If another backend is primary, no turns are read, because the engine does not manage
    /// the content of that backend.
    pub(super) fn listening(&self) -> Arc<TurnReadingSettings> {
        match self.built_in("a look at turns") {
            Ok(()) => Arc::clone(&self.listening.read().unwrap_or_else(PoisonError::into_inner)),
            Err(_) => Arc::default(),
        }
    }

    /// Returns true if a language model reads the turns of users.
    pub(super) fn asks_about_turns(&self, listening: &TurnReadingSettings) -> bool {
        listening.enabled && !listening.by_rules && self.llm().is_some()
    }

    /// Returns true if turns are waiting for rules to read them.
    pub(super) fn is_spoken_to(&self) -> Result<bool, Error> {
        let listening = self.listening();
        let due = || self.ports.store.claimable(KINDS, self.ports.clock.now(), 1);
        Ok(listening.enabled && !self.asks_about_turns(&listening) && !due()?.is_empty())
    }

    /// Returns the results of the turns that this engine has read.
    pub fn gleaned(&self) -> TurnReadingCounts {
        *self.gleaned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one waiting turn if rules read turns, and saves its facts.
    pub fn hear_waiting(&self, holder: &str) -> Result<Option<JobResult>, Error> {
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
    pub(super) fn heard(&self, listening: &TurnReadingSettings, job: Job) -> Result<JobResult, Error> {
        let ports = &self.ports;
        if job.is_spent() {
            return failed(ports, job, jobs::NEVER_ENDED);
        }
        match self.hear(listening, &job) {
            Ok((gleaned, trouble)) => {
                self.add_up(gleaned);
                let done = ended(ports, job)?;
                Ok(JobResult { trouble: trouble.map(str::to_owned), ..done })
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

    /// Returns the results of a turn. If a language model should have read the turn but did not, the reason is returned too.
    fn hear(
        &self,
        listening: &TurnReadingSettings,
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
            // An earlier attempt read the turn and saved its results, but did not end the job. A model might word the
            // results differently now.
            Some(done) if !done.acts.is_empty() => return Ok((TurnReadingCounts::default(), None)),
            // A repeated reading is recorded as another pass, because the pass with the id of the job records the first
            // reading.
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

    /// Returns the facts that a language model finds in a turn. Rules read the turn if no model is configured or the model
    /// fails.
    fn read_turn(
        &self,
        listening: &TurnReadingSettings,
        turn: &Turn,
    ) -> (Vec<FactProposal>, Option<&'static str>) {
        // Days follow the user's local time: late in the evening, "tomorrow" may be another day in UTC.
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

/// Returns the turn of a job if the log still contains the turn, with its space, and with the principal that logged it as
/// the caller.
pub(super) fn found(ports: &Ports, job: &Job) -> Result<Option<(Caller, Space, Turn)>, Error> {
    let Some((space, turn, by)) = job.turn() else { return Ok(None) };
    let viewer = Viewer { principal: by, within: Some(vec![space]) };
    let Some(turn) = ports.store.turn(&viewer, turn)? else { return Ok(None) };
    let (agent, origin, zone) = (None, Origin::Extraction, Zone::default());
    let caller = Caller { viewer, ceiling: Role::Writer, space, agent, origin, zone };
    let space = access::space_of_call(ports, &caller)?;
    Ok(Some((caller, space, turn)))
}

/// Returns the known memories similar to a statement: memories with similar words or a similar meaning, and captured
/// memories that somebody has deliberately forgotten.
pub(super) fn known(
    ports: &Ports,
    caller: &Caller,
    space: &Space,
    statement: &str,
) -> Result<Vec<KnownMemory>, Error> {
    let here = Filter { space: Some(space.id), records_only: true, ..Filter::default() };
    let mode = Mode::Hybrid(Box::new(RecallQuestion::new(statement)));
    let request = RecallRequest { mode, filter: here.clone(), sort: None, limit: COMPARED };
    let found = recall::recall(ports, caller, &request)?.hits.into_iter().map(|hit| hit.memory);
    let gone = Filter {
        forgotten: ForgottenFilter::Only,
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

/// Returns the memories with nearly the same meaning; none if no embedding model is configured.
fn near(ports: &Ports, caller: &Caller, space: &Space, statement: &str) -> Result<Vec<KnownMemory>, Error> {
    let form = ContentForm { content_type: ContentType::Text, language: None };
    let (chunks, _) = embed::embed(ports, &[Source { content: statement, form, title: None }]);
    let embedding = chunks.into_iter().flatten().find_map(|chunk| chunk.embedding);
    let Some(embedding) = embedding else { return Ok(Vec::new()) };
    let (boundary, owner) = (space.default_boundary(), caller.viewer.principal);
    let new_memory = LinkCandidate { space: space.id, boundary, owner };
    let near = embedding::near(ports, new_memory, &embedding, None)?;
    Ok(near
        .into_iter()
        .map(|(memory, _)| KnownMemory { content: memory.fields.text.content, near: true })
        .collect())
}

/// Ends a reading that succeeded by removing its job. The saved memories stay.
pub(super) fn ended(ports: &Ports, job: Job) -> Result<JobResult, Error> {
    let done = Job { state: JobState::Done, lease: None, ..job.clone() };
    match jobs::remove(ports, job) {
        // Another process has claimed the job since, and will end it.
        Ok(()) | Err(Error::Store(StoreError::Conflict(_))) => Ok(JobResult::well(done)),
        Err(error) => Err(error),
    }
}

/// Ends a reading that failed. The reading is retried later, unless results can no longer be saved for the caller.
pub(super) fn given_up(ports: &Ports, job: Job, error: &Error) -> Result<JobResult, Error> {
    match error.class() {
        // The principal that logged the turn may no longer write in the space, or the space no longer exists.
        Class::Absent | Class::Denied | Class::Caller => ended(ports, job),
        // Only the code of the error is recorded, because its text may contain words of the turn.
        _ => failed(ports, job, error.code()),
    }
}

pub(super) fn failed(ports: &Ports, job: Job, why: &str) -> Result<JobResult, Error> {
    Ok(JobResult::badly(jobs::fail(ports, job, why)?, why))
}
