//! Looks at turns in the background: claims a job, reads the turn, asks the pass, saves what it gives.
//!
//! What is saved and the end of the job are two acts. Where the first was done and the second was not, the turn is read again
//! and all of it is known by then. Where a language model reads turns and fails, rules read this one.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::Engine;
use crate::access::{self, Parts};
use crate::classify::facts::{self, Proposed};
use crate::embedding::{self, Newcomer, Source};
use crate::error::{Class, Error, StoreError};
use crate::id::PassId;
use crate::job::{self, Job};
use crate::jobs;
use crate::pass::Pass;
use crate::passes::Gleaned;
use crate::passes::model;
use crate::passes::proactive::{self, Heard, Known};
use crate::process::Processed;
use crate::recall;
use crate::request::{Ask, Caller, Filter, Forgotten, Mode, Quarantined, RecallRequest, Sort};
use crate::save::{self, Order, embed};
use crate::space::{Space, Viewer};
use crate::text::chunk::Form;
use crate::time::Zone;
use crate::turn::{Listening, Turn};
use crate::vocabulary::{Author, ContentType, JobState, Origin, PassKind, Role};

/// The work that is done here.
const KINDS: &[&str] = &[job::PROACTIVE];
/// For how long a turn is taken. It is read within half of it, also by a language model.
pub(super) const LEASE: Duration = Duration::from_secs(120);
/// How many known memories a statement is compared with.
const COMPARED: usize = 10;

impl Engine {
    /// Looks at turns in this way from now on.
    pub fn listen(&self, listening: Listening) {
        *self.listening.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(listening);
    }

    /// Which turns are looked at now. Where another backend is primary none are: what it keeps is its own affair.
    pub(super) fn listening(&self) -> Arc<Listening> {
        match self.built_in("a look at turns") {
            Ok(()) => Arc::clone(&self.listening.read().unwrap_or_else(PoisonError::into_inner)),
            Err(_) => Arc::default(),
        }
    }

    /// Whether a language model looks at what users say.
    pub(super) fn asks_about_turns(&self, listening: &Listening) -> bool {
        listening.enabled && !listening.by_rules && self.llm().is_some()
    }

    /// Whether turns wait to be looked at by rules.
    pub(super) fn is_spoken_to(&self) -> Result<bool, Error> {
        let listening = self.listening();
        let due = || self.parts.store.claimable(KINDS, self.parts.clock.now(), 1);
        Ok(listening.enabled && !self.asks_about_turns(&listening) && !due()?.is_empty())
    }

    /// What came of the turns that this engine has looked at.
    pub fn gleaned(&self) -> Gleaned {
        *self.gleaned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at one turn that waits for it, where there is one and rules do, and saves what is worth keeping.
    pub fn hear_waiting(&self, holder: &str) -> Result<Option<Processed>, Error> {
        let listening = self.listening();
        if !listening.enabled || self.asks_about_turns(&listening) {
            return Ok(None);
        }
        match jobs::claim_any(&self.parts, KINDS, holder, LEASE)? {
            Some(job) => self.heard(&listening, job).map(Some),
            None => Ok(None),
        }
    }

    /// Looks at the turn of a job that was claimed.
    pub(super) fn heard(&self, listening: &Listening, job: Job) -> Result<Processed, Error> {
        let parts = &self.parts;
        if job.is_spent() {
            return failed(parts, job, jobs::NEVER_ENDED);
        }
        match self.hear(listening, &job) {
            Ok((gleaned, trouble)) => {
                self.add_up(gleaned);
                let done = ended(parts, job)?;
                Ok(Processed { trouble: trouble.map(str::to_owned), ..done })
            }
            Err(error) => given_up(parts, job, &error),
        }
    }

    pub(super) fn add_up(&self, new: Gleaned) {
        let mut all = self.gleaned.lock().unwrap_or_else(PoisonError::into_inner);
        all.saved += new.saved;
        all.aside += new.aside;
        all.known += new.known;
        all.journaled += new.journaled;
    }

    /// What came of a turn, and why no language model read it, where one should have.
    fn hear(&self, listening: &Listening, job: &Job) -> Result<(Gleaned, Option<&'static str>), Error> {
        let parts = &self.parts;
        let Some((caller, space, turn)) = found(parts, job)? else {
            return Ok((Gleaned::default(), None));
        };
        if !listening.hears(&turn, &space) {
            return Ok((Gleaned::default(), None));
        }
        let mut pass = PassId::from_bytes(*job.id.as_bytes());
        match parts.store.pass(&caller.viewer, pass)? {
            // It was read, and what it gave was saved, before a process ended. A model might put it in other words now.
            Some(done) if !done.acts.is_empty() => return Ok((Gleaned::default(), None)),
            // A look that is done again is another pass: under the name of the job stands what the first one did.
            Some(_) => pass = PassId::mint(parts.clock.now()),
            None => {}
        }
        let (found, trouble) = self.read_turn(listening, &turn);
        let heard = Heard { turn: &turn, trusted: listening.trusts(&turn), pass };
        let mut known = |statement: &str| known(parts, &caller, &space, statement);
        let (proposals, known) = proactive::proposals(heard, found, &mut known)?;
        let aside = proposals.iter().filter(|proposal| proposal.aside).count();
        let gleaned = Gleaned { saved: proposals.len() - aside, aside, known, ..Gleaned::default() };
        let order = |one: proactive::Proposal| Order { quarantined: one.aside, ..Order::of(one.request) };
        if !proposals.is_empty() {
            let orders = proposals.into_iter().map(order).collect();
            let note = Pass::begun(pass, PassKind::Proactive, space.id, turn.logged_by, parts.clock.now());
            let asked = self.asks_about_turns(listening) && trouble.is_none();
            let note = Pass {
                note: Some(turn.note()),
                model: asked.then(|| self.llm()).flatten().map(|llm| llm.to_string()),
                ..note
            };
            save::save_by(parts, &caller, orders, Some(&note))?;
        }
        Ok((gleaned, trouble))
    }

    /// What a language model finds in a turn, or rules where none is set up or it fails.
    fn read_turn(&self, listening: &Listening, turn: &Turn) -> (Vec<Proposed>, Option<&'static str>) {
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

/// The turn of a job, where it still is in the log, its space, and who logged it as the one who speaks.
pub(super) fn found(parts: &Parts, job: &Job) -> Result<Option<(Caller, Space, Turn)>, Error> {
    let Some((space, turn, by)) = job.turn() else { return Ok(None) };
    let viewer = Viewer { principal: by, within: Some(vec![space]) };
    let Some(turn) = parts.store.turn(&viewer, turn)? else { return Ok(None) };
    let (agent, origin, zone) = (None, Origin::Extraction, Zone::default());
    let caller = Caller { viewer, ceiling: Role::Writer, space, agent, origin, zone };
    let space = access::space_of_call(parts, &caller)?;
    Ok(Some((caller, space, turn)))
}

/// What is known near to a statement: by words and meaning, and what was noted before and then forgotten on purpose.
pub(super) fn known(
    parts: &Parts,
    caller: &Caller,
    space: &Space,
    statement: &str,
) -> Result<Vec<Known>, Error> {
    let here = Filter { space: Some(space.id), records_only: true, ..Filter::default() };
    let mode = Mode::Hybrid(Box::new(Ask::new(statement)));
    let request = RecallRequest { mode, filter: here.clone(), sort: None, limit: COMPARED };
    let found = recall::recall(parts, caller, &request)?.hits.into_iter().map(|hit| hit.memory);
    let gone = Filter {
        forgotten: Forgotten::Only,
        quarantined: Quarantined::Either,
        author: Some(Author::Auto),
        substring: Some(statement.to_owned()),
        content_only: true,
        ..here
    };
    let gone = parts.store.list(&caller.viewer, &gone, Sort::Newest, COMPARED, None)?;
    let said = found.chain(gone).map(|memory| Known { content: memory.edition.text.content, near: false });
    Ok(said.chain(near(parts, caller, space, statement)?).collect())
}

/// Tells whether a memory that says so waits for review.
pub(super) fn waits(parts: &Parts, caller: &Caller, space: &Space, statement: &str) -> Result<bool, Error> {
    let filter = Filter {
        space: Some(space.id),
        quarantined: Quarantined::Only,
        substring: Some(statement.to_owned()),
        content_only: true,
        ..Filter::default()
    };
    Ok(!parts.store.list(&caller.viewer, &filter, Sort::Newest, 1, None)?.is_empty())
}

/// What means nearly the same. Without a model, nothing.
fn near(parts: &Parts, caller: &Caller, space: &Space, statement: &str) -> Result<Vec<Known>, Error> {
    let form = Form { content_type: ContentType::Text, language: None };
    let (chunks, _) = embed::embed(parts, &[Source { content: statement, form, title: None }]);
    let embedding = chunks.into_iter().flatten().find_map(|chunk| chunk.embedding);
    let Some(embedding) = embedding else { return Ok(Vec::new()) };
    let (boundary, owner) = (space.default_boundary(), caller.viewer.principal);
    let newcomer = Newcomer { space: space.id, boundary, owner };
    let near = embedding::near(parts, newcomer, &embedding, None)?;
    Ok(near
        .into_iter()
        .map(|(memory, _)| Known { content: memory.edition.text.content, near: true })
        .collect())
}

/// A look that came to its end leaves no trace but what was saved.
pub(super) fn ended(parts: &Parts, job: Job) -> Result<Processed, Error> {
    let done = Job { state: JobState::Done, lease: None, ..job.clone() };
    match jobs::remove(parts, job) {
        // Somebody else has taken it since: it is theirs.
        Ok(()) | Err(Error::Store(StoreError::Conflict(_))) => Ok(Processed::well(done)),
        Err(error) => Err(error),
    }
}

/// Ends a look that failed: later again, unless there is nobody to keep anything for.
pub(super) fn given_up(parts: &Parts, job: Job, error: &Error) -> Result<Processed, Error> {
    match error.class() {
        // Who logged it may not write there any more, or the space is gone.
        Class::Absent | Class::Denied | Class::Caller => ended(parts, job),
        // By its name: its text may hold what was said.
        _ => failed(parts, job, error.code()),
    }
}

pub(super) fn failed(parts: &Parts, job: Job, why: &str) -> Result<Processed, Error> {
    Ok(Processed::badly(jobs::fail(parts, job, why)?, why))
}
