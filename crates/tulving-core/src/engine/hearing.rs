//! Looks at turns in the background: claims a job, reads the turn, asks the pass, saves what it gives.
//!
//! What is saved and the end of the job are two acts. Where the first was done and the second was not, the turn is read again
//! and all of it is known by then.

use std::sync::PoisonError;
use std::time::Duration;

use super::Engine;
use crate::access::{self, Parts};
use crate::embedding::{self, Newcomer, Source};
use crate::error::{Class, Error};
use crate::id::{PassId, PrincipalId, SpaceId, TurnId};
use crate::job::{self, Job};
use crate::jobs;
use crate::pass::Pass;
use crate::passes::Gleaned;
use crate::passes::proactive::{self, Heard, Known};
use crate::process::Processed;
use crate::recall;
use crate::request::{Ask, Caller, Filter, Forgotten, Mode, Quarantined, RecallRequest, Sort};
use crate::save::{self, Order, embed};
use crate::space::{Space, Viewer};
use crate::text::chunk::Form;
use crate::turn::Turn;
use crate::vocabulary::{Author, ContentType, JobState, Origin, PassKind, Role};

/// The work that is done here.
const KINDS: &[&str] = &[job::PROACTIVE];
/// For how long a turn is taken. It is read within much less.
const LEASE: Duration = Duration::from_secs(120);
/// How many known memories a statement is compared with.
const COMPARED: usize = 10;

impl Engine {
    /// Whether turns are looked at here. Where another backend is primary they are not: what it keeps is its own affair.
    pub(super) fn is_listening(&self) -> bool {
        self.listening.enabled && self.built_in("a look at turns").is_ok()
    }

    /// Whether turns wait to be looked at.
    pub(super) fn is_spoken_to(&self) -> Result<bool, Error> {
        let due = || self.parts.store.claimable(KINDS, self.parts.clock.now(), 1);
        Ok(self.is_listening() && !due()?.is_empty())
    }

    /// What came of the turns that this engine has looked at.
    pub fn gleaned(&self) -> Gleaned {
        *self.gleaned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at one turn that waits for it, where there is one, and saves what is worth keeping.
    pub fn hear_waiting(&self, holder: &str) -> Result<Option<Processed>, Error> {
        if !self.is_listening() {
            return Ok(None);
        }
        let parts = &self.parts;
        let Some(job) = jobs::claim_any(parts, KINDS, holder, LEASE)? else {
            return Ok(None);
        };
        if job.is_spent() {
            return failed(parts, job, jobs::NEVER_ENDED);
        }
        match self.hear(&job) {
            Ok(gleaned) => {
                self.add_up(gleaned);
                ended(parts, job).map(Some)
            }
            // Who logged it may not write there any more, or the space is gone: there is nobody to keep it for.
            Err(error) if matches!(error.class(), Class::Absent | Class::Denied | Class::Caller) => {
                ended(parts, job).map(Some)
            }
            // By its name: its text may hold what was said.
            Err(error) => failed(parts, job, error.code()),
        }
    }

    fn add_up(&self, new: Gleaned) {
        let mut all = self.gleaned.lock().unwrap_or_else(PoisonError::into_inner);
        all.saved += new.saved;
        all.aside += new.aside;
        all.known += new.known;
    }

    fn hear(&self, job: &Job) -> Result<Gleaned, Error> {
        let parts = &self.parts;
        let Some((space, turn, by)) = job.turn() else { return Ok(Gleaned::default()) };
        let Some((caller, space, turn)) = found(parts, space, turn, by)? else {
            // It was cut off the log meanwhile.
            return Ok(Gleaned::default());
        };
        if !self.listening.hears(&turn, &space) {
            return Ok(Gleaned::default());
        }
        // A look that is done again is another pass: under the name of the job stands what the first one did.
        let pass = match job.attempts {
            0 | 1 => PassId::from_bytes(*job.id.as_bytes()),
            _ => PassId::mint(parts.clock.now()),
        };
        let heard = Heard { turn: &turn, trusted: self.listening.trusts(&turn), pass };
        let mut known = |statement: &str| known(parts, &caller, &space, statement);
        let (proposals, known) = proactive::proposals(heard, &mut known)?;
        let aside = proposals.iter().filter(|proposal| proposal.aside).count();
        let gleaned = Gleaned { saved: proposals.len() - aside, aside, known };
        let order = |one: proactive::Proposal| Order { quarantined: one.aside, ..Order::of(one.request) };
        if !proposals.is_empty() {
            let orders = proposals.into_iter().map(order).collect();
            let note = Pass::begun(pass, PassKind::Proactive, space.id, turn.logged_by, parts.clock.now());
            let note = Pass { note: Some(format!("turn {} ({})", turn.position, turn.source)), ..note };
            save::save_by(parts, &caller, orders, Some(&note))?;
        }
        Ok(gleaned)
    }
}

/// The turn, where it still is in the log, its space, and who logged it as the one who speaks.
fn found(
    parts: &Parts,
    space: SpaceId,
    turn: TurnId,
    by: PrincipalId,
) -> Result<Option<(Caller, Space, Turn)>, Error> {
    let viewer = Viewer { principal: by, within: Some(vec![space]) };
    let Some(turn) = parts.store.turn(&viewer, turn)? else { return Ok(None) };
    let caller = Caller { viewer, ceiling: Role::Writer, space, agent: None, origin: Origin::Extraction };
    let space = access::space_of_call(parts, &caller)?;
    Ok(Some((caller, space, turn)))
}

/// What is known near to a statement: by words and meaning, and what was noted before and then forgotten on purpose.
fn known(parts: &Parts, caller: &Caller, space: &Space, statement: &str) -> Result<Vec<Known>, Error> {
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
fn ended(parts: &Parts, job: Job) -> Result<Processed, Error> {
    let done = Job { state: JobState::Done, lease: None, ..job.clone() };
    match jobs::remove(parts, job) {
        // Somebody else has taken it since: it is theirs.
        Ok(()) | Err(Error::Store(crate::error::StoreError::Conflict(_))) => {
            Ok(Processed { job: done, trouble: None, lacking: false })
        }
        Err(error) => Err(error),
    }
}

fn failed(parts: &Parts, job: Job, why: &str) -> Result<Option<Processed>, Error> {
    let job = jobs::fail(parts, job, why)?;
    Ok(Some(Processed { job, trouble: Some(why.to_owned()), lacking: false }))
}
