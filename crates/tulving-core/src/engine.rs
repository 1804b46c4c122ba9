//! The front door: one short method for each verb.

mod admin;
mod consolidating;
mod documents;
mod filing;
mod hearing;
mod journaling;
mod judging;
mod upkeep;

use std::sync::{Arc, Mutex, MutexGuard, RwLock, TryLockError};
use std::time::Duration;

use crate::access::{self, Parts};
use crate::answer::{
    Answer, Associated, Briefing, Completed, Cursor, Done, Edited, Foreseen, Gone, HistoryEntry, Hit, Logged,
    Page, Receipt, Relative, Relocated, Report, Strength, Swept, Timeline, Warning,
};
use crate::ask::Llm;
use crate::association::Association;
use crate::backends::{self, Backends};
use crate::error::Error;
use crate::id::{MemoryRef, ProposalId, SpaceId, Version};
use crate::journal::mirror::{self, Pace};
use crate::journal::{self, Followed};
use crate::lifecycle::rules::Rules;
use crate::limits::Limits;
use crate::memory::Memory;
use crate::passes::{Consolidation, Gleaned};
use crate::ports::Clock;
use crate::request::{
    AssociationRequest, BriefingRequest, Caller, Filter, ForgetRequest, ForgetWhere, ListRequest,
    QualityRequest, RecallRequest, SaveRequest, TimelineRequest, TurnFilter, TurnRequest, UpdateRequest,
};
use crate::space::{Secret, Space};
use crate::tend::{self, TendRequest, Tended};
use crate::text::commands;
use crate::text::withhold::Secrecy;
use crate::time::{Timestamp, Zone};
use crate::touch::Touches;
use crate::turn::{Listening, Turn};
use crate::vocabulary::{Origin, Relation};
use crate::{
    associate, briefing, conversation, directory, done, edit, forget, history, quality, read, recall,
    related, relocate, review, save, standing, timeline,
};

pub use self::consolidating::ConsolidationTick;

/// The memory itself. Cheap to share; every method may be called from any thread.
pub struct Engine {
    parts: Parts,
    touches: Touches,
    journals: journal::Memo,
    sights: mirror::Sights,
    /// What spaces want done with what has aged.
    rules: Rules,
    /// The backends, where there is another one than the built-in.
    backends: Option<Backends>,
    llm: Llm,
    /// Which turns are looked at; replaced as a whole.
    listening: RwLock<Arc<Listening>>,
    /// What came of those that were.
    gleaned: Mutex<Gleaned>,
    /// Whether and how journals are consolidated. It may change while a server runs.
    consolidation: Mutex<Consolidation>,
    /// Held by whatever is done time and again. Who does not get it tries another time.
    periodic: Mutex<()>,
    /// As whom it takes work that somebody asked for.
    holder: String,
    /// The time zone of callers that name none.
    zone: Zone,
}

impl Engine {
    /// An engine over these parts.
    pub fn new(parts: Parts) -> Self {
        Self {
            parts,
            touches: Touches::default(),
            journals: journal::Memo::default(),
            sights: mirror::Sights::default(),
            rules: Rules::default(),
            backends: None,
            llm: Llm::default(),
            listening: RwLock::default(),
            gleaned: Mutex::default(),
            consolidation: Mutex::default(),
            periodic: Mutex::default(),
            holder: "by hand".to_owned(),
            zone: Zone::default(),
        }
    }

    /// The same engine with these backends: the primary is written to, all are read.
    #[must_use]
    pub fn with_backends(mut self, backends: Backends) -> Self {
        self.backends = Some(backends).filter(|backends| !backends.is_plain());
        self
    }

    /// The same engine with these rules for what has aged.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    /// The same engine, which does with secrets what spaces want done.
    #[must_use]
    pub fn with_secrecy(mut self, secrecy: Secrecy) -> Self {
        self.parts.secrecy = secrecy;
        self
    }

    /// The same engine with these bounds.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.parts.limits = limits;
        self
    }

    /// The same engine, which goes by this clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.parts.clock = clock;
        self
    }

    /// The same engine with this language model. Without one, none is asked.
    #[must_use]
    pub fn with_llm(mut self, llm: Llm) -> Self {
        self.llm = llm;
        self
    }

    /// The same engine, which looks at turns for what is worth keeping.
    #[must_use]
    pub fn with_listening(self, listening: Listening) -> Self {
        self.listen(listening);
        self
    }

    /// The same engine, which takes work under this name. A process whose name tells that it is gone leaves no lease behind.
    #[must_use]
    pub fn with_holder(mut self, holder: &str) -> Self {
        holder.clone_into(&mut self.holder);
        self
    }

    /// The same engine, whose callers count days in this time zone where they name no other.
    #[must_use]
    pub fn with_zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    /// Refuses what only the built-in backend knows to do, where another one is primary.
    fn built_in(&self, what: &'static str) -> Result<(), Error> {
        backends::require_built_in(self.backends.as_ref(), what)
    }

    /// The one place for what is done time and again; `None` where it is taken.
    fn slot(&self) -> Option<MutexGuard<'_, ()>> {
        match self.periodic.try_lock() {
            Ok(slot) => Some(slot),
            Err(TryLockError::Poisoned(slot)) => Some(slot.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// The time by the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.parts.clock.now()
    }

    /// The user of this home, in the space `default`.
    pub fn user(&self, origin: Origin, agent: Option<&str>) -> Result<Caller, Error> {
        Ok(Caller { zone: self.zone.clone(), ..directory::user(&self.parts, origin, agent)? })
    }

    /// Whether an agent may be called so: a name that holds a secret would be kept with all that it does.
    pub fn may_be_called(&self, name: &str) -> bool {
        directory::agent_name(&self.parts, Some(name)).is_ok()
    }

    /// Who a token speaks for.
    pub fn authenticate(&self, token: &Secret, origin: Origin, agent: Option<&str>) -> Result<Caller, Error> {
        let caller = directory::authenticate(&self.parts, token, origin, agent)?;
        Ok(Caller { zone: self.zone.clone(), ..caller })
    }

    /// The same caller in another space, by name or id.
    pub fn enter(&self, caller: &Caller, space: &str) -> Result<Caller, Error> {
        directory::enter(&self.parts, caller, space)
    }

    /// The same caller in the first of these spaces, by name or id, confined to them: whatever a request names, nothing
    /// of another space is seen, counted or changed.
    pub fn confine(&self, caller: &Caller, spaces: &[&str]) -> Result<Caller, Error> {
        directory::confine(&self.parts, caller, spaces)
    }

    /// The space of the call.
    pub fn space(&self, caller: &Caller) -> Result<Space, Error> {
        access::space_of_call(&self.parts, caller)
    }

    /// Saves one memory, or finds that it is known.
    pub fn save(&self, caller: &Caller, request: SaveRequest) -> Result<Receipt, Error> {
        match &self.backends {
            None => save::save(&self.parts, caller, request),
            Some(backends) => backends::save(&self.parts, backends, caller, request),
        }
    }

    /// Saves several memories as one act: all or none. Receipts come in the order of the requests.
    pub fn save_many(&self, caller: &Caller, requests: Vec<SaveRequest>) -> Result<Vec<Receipt>, Error> {
        match &self.backends {
            None => save::save_many(&self.parts, caller, requests),
            Some(backends) => backends::save_many(&self.parts, backends, caller, requests),
        }
    }

    /// One memory, archived or not.
    pub fn get(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        let found = match &self.backends {
            None => read::get(&self.parts, caller, which),
            Some(backends) => backends::get(&self.parts, backends, caller, which),
        };
        found.map(marked)
    }

    /// A forgotten memory, for its owner and, where it is not private, for an admin of its space.
    pub fn get_forgotten(&self, caller: &Caller, which: MemoryRef) -> Result<Option<Memory>, Error> {
        self.built_in("what was forgotten")?;
        Ok(access::find_forgotten(&self.parts, caller, which)?.map(marked))
    }

    /// One page of a list. What files say is in it only where one of them is named.
    pub fn list(&self, caller: &Caller, request: &ListRequest) -> Result<Page, Error> {
        if request.filter.source_path.is_some() {
            self.follow(request.filter.space, Pace::Waited);
        }
        let page = match &self.backends {
            None => read::list(&self.parts, caller, request),
            Some(backends) => backends::list(&self.parts, backends, caller, request),
        };
        page.map(marked_page)
    }

    /// How many memories match, of those that a list has. Refused where there are other backends than the built-in: none of
    /// them counts.
    pub fn count(&self, caller: &Caller, filter: &Filter) -> Result<u64, Error> {
        if let Some(backends) = &self.backends {
            return Err(backends::not_counted(backends));
        }
        read::count(&self.parts, caller, filter)
    }

    /// Edits a memory; its old version stays in its history.
    pub fn update(
        &self,
        caller: &Caller,
        which: MemoryRef,
        request: &UpdateRequest,
    ) -> Result<Edited, Error> {
        self.built_in("update")?;
        edit::update(&self.parts, caller, which, request).map(marked_edit)
    }

    /// The versions of a memory, newest first. Where the contents are long, those of the older ones are
    /// [left out](HistoryEntry::left_out).
    pub fn history(&self, caller: &Caller, which: MemoryRef) -> Result<Vec<HistoryEntry>, Error> {
        self.built_in("history")?;
        history::history(&self.parts, caller, which)
    }

    /// Brings an earlier version back, as a new one.
    pub fn revert(&self, caller: &Caller, which: MemoryRef, version: Version) -> Result<Edited, Error> {
        self.built_in("revert")?;
        edit::revert(&self.parts, caller, which, version).map(marked_edit)
    }

    /// Forgets a memory, softly or for good, and gives it as it was.
    pub fn forget(
        &self,
        caller: &Caller,
        which: MemoryRef,
        request: &ForgetRequest,
    ) -> Result<Edited, Error> {
        match &self.backends {
            None => forget::forget(&self.parts, caller, which, request),
            Some(backends) => backends::forget(&self.parts, backends, caller, which, request),
        }
    }

    /// Forgets several memories as one act: all that are there, or none where one may not be forgotten. At most
    /// [`FORGETS`](crate::limits::FORGETS); one that is named twice counts once.
    pub fn forget_many(
        &self,
        caller: &Caller,
        which: &[MemoryRef],
        request: &ForgetRequest,
    ) -> Result<Gone, Error> {
        match &self.backends {
            None => forget::forget_many(&self.parts, caller, which, request),
            Some(backends) => backends::forget_many(&self.parts, backends, caller, which, request),
        }
    }

    /// Forgets all memories of the caller's space that a condition holds of, as one act: at most
    /// [`BATCH`](crate::limits::BATCH), and none where one may not be forgotten or another number was expected. What files say
    /// is not among them.
    pub fn forget_where(&self, caller: &Caller, asked: &ForgetWhere) -> Result<Swept, Error> {
        self.built_in("forgetting by a condition")?;
        forget::forget_where(&self.parts, caller, asked)
    }

    /// What [`forget_where`](Self::forget_where) would forget, or why it would not. Nothing is written.
    pub fn foresee_forget_where(&self, caller: &Caller, asked: &ForgetWhere) -> Result<Foreseen, Error> {
        self.built_in("forgetting by a condition")?;
        forget::foresee_where(&self.parts, caller, asked)
    }

    /// Brings a softly forgotten memory back.
    pub fn restore(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("restore")?;
        forget::restore(&self.parts, caller, which)
    }

    /// Hides a memory from recall.
    pub fn archive(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("archive")?;
        standing::archive(&self.parts, caller, which, None)
    }

    /// Brings an archived memory back.
    pub fn unarchive(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("unarchive")?;
        standing::unarchive(&self.parts, caller, which)
    }

    /// Applies the rules of the spaces that the caller may tend, or says what they would do.
    pub fn tend(&self, caller: &Caller, request: &TendRequest) -> Result<Tended, Error> {
        self.built_in("tend")?;
        self.flush()?;
        tend::tend(&self.parts, &self.rules, caller, request)
    }

    /// Applies the rules of all spaces where that is due and nobody else does it; the next time is an interval later. `go_on`
    /// is asked between steps, and may wait: where it says no, the rest is left for then.
    pub fn tend_due(
        &self,
        holder: &str,
        interval: Duration,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Tended>, Error> {
        self.flush()?;
        let Some(_slot) = self.slot() else { return Ok(None) };
        tend::tend_due(&self.parts, &self.rules, holder, interval, go_on)
    }

    /// Exempts a memory from decay.
    pub fn pin(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("pin")?;
        standing::pin(&self.parts, caller, which)
    }

    /// Takes the exemption away.
    pub fn unpin(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("unpin")?;
        standing::unpin(&self.parts, caller, which)
    }

    /// Closes a todo or a goal, at this time or now. One that is done stays as it is, unless another time is named.
    pub fn done(&self, caller: &Caller, which: MemoryRef, at: Option<Timestamp>) -> Result<Completed, Error> {
        self.built_in("done")?;
        done::done(&self.parts, caller, which, at)
    }

    /// Opens a todo or a goal again that was done.
    pub fn reopen(&self, caller: &Caller, which: MemoryRef) -> Result<Completed, Error> {
        self.built_in("done")?;
        done::reopen(&self.parts, caller, which)
    }

    /// A page of what was put aside for review in the caller's space, newest first.
    pub fn review(&self, caller: &Caller, limit: usize, cursor: Option<Cursor>) -> Result<Page, Error> {
        self.built_in("review")?;
        review::review(&self.parts, caller, limit, cursor).map(marked_page)
    }

    /// Finds a memory good that was put aside: recall finds it from now on. One that was not is given as it is.
    pub fn accept(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("review")?;
        review::accept(&self.parts, caller, which)
    }

    /// Forgets a memory softly that was put aside.
    pub fn reject(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("review")?;
        review::reject(&self.parts, caller, which)
    }

    /// Moves memories into another space, by name or id, as one act: all that are there, or none where one may not go. At
    /// most [`MOVES`](crate::limits::MOVES); one that is named twice counts once. They keep their boundaries.
    pub fn move_to(&self, caller: &Caller, which: &[MemoryRef], space: &str) -> Result<Relocated, Error> {
        self.built_in("move")?;
        relocate::move_to(&self.parts, caller, which, space)
    }

    /// Links one memory to another. One that is said to update what has superseded it holds again.
    pub fn associate(
        &self,
        caller: &Caller,
        source: MemoryRef,
        request: &AssociationRequest,
    ) -> Result<Associated, Error> {
        self.built_in("associate")?;
        associate::associate(&self.parts, caller, source, request, None)
    }

    /// Removes the link of that relation, or all from one memory to the other.
    pub fn dissociate(
        &self,
        caller: &Caller,
        source: MemoryRef,
        target: MemoryRef,
        relation: Option<Relation>,
    ) -> Result<Vec<Association>, Error> {
        self.built_in("dissociate")?;
        associate::dissociate(&self.parts, caller, source, target, relation)
    }

    /// The memories within `depth` hops of one, nearest first; fewer where their contents are long.
    pub fn related(&self, caller: &Caller, which: MemoryRef, depth: usize) -> Result<Vec<Relative>, Error> {
        self.built_in("related")?;
        let related = related::related(&self.parts, caller, which, depth)?;
        Ok(related.into_iter().map(|one| Relative { memory: marked(one.memory), ..one }).collect())
    }

    /// Finds memories. What is found counts as accessed, unless nothing speaks for it being an answer;
    /// [`flush`](Self::flush) writes that down.
    pub fn recall(&self, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
        let followed = self.follow(request.filter.space, Pace::Waited);
        let mut answer = match &self.backends {
            None => recall::recall(&self.parts, caller, request)?,
            Some(backends) => backends::recall(&self.parts, backends, caller, request)?,
        };
        answer.unread = mirror::unread(&self.parts, caller, request.filter.space, followed);
        answer.hits.iter_mut().for_each(mark_hit);
        if answer.evidence != Some(Strength::None) {
            let ours = answer.hits.iter().filter(|hit| hit.memory.backend.is_none());
            self.touches.note(ours.map(|hit| hit.memory.id), self.parts.clock.now());
        }
        Ok(answer)
    }

    /// What is wrong with the memories of the caller's space, of those that the caller may see: near-duplicates,
    /// contradictions, secrets, junk and the like, each with what is proposed about it. `progress` hears of how many
    /// memories more were looked at.
    pub fn quality(
        &self,
        caller: &Caller,
        request: &QualityRequest,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Report, Error> {
        self.built_in("an audit of quality")?;
        self.follow(Some(caller.space), Pace::Waited);
        // What was recalled a moment ago was recalled.
        self.flush()?;
        quality::quality(&self.parts, caller, request, progress)
    }

    /// Does what [`quality`](Self::quality) proposed under this id, by the verbs and with the rights that it takes. Where
    /// it was done before, or a memory has changed, that is [`Error::NoProposal`].
    pub fn apply_proposal(&self, caller: &Caller, id: ProposalId) -> Result<Done, Error> {
        self.built_in("an audit of quality")?;
        self.flush()?;
        quality::apply(&self.parts, caller, id)
    }

    /// What to know at the start of a session. It counts nothing as accessed.
    pub fn briefing(&self, caller: &Caller, request: &BriefingRequest) -> Result<Briefing, Error> {
        self.built_in("a briefing")?;
        let followed = self.follow(Some(caller.space), Pace::Waited);
        let mut briefing = briefing::briefing(&self.parts, caller, request)?;
        briefing.unread = mirror::unread(&self.parts, caller, Some(caller.space), followed);
        Ok(briefing)
    }

    /// How what is known about something changed: what held, from when to when, and what ended it. It counts nothing as accessed.
    pub fn timeline(&self, caller: &Caller, request: &TimelineRequest) -> Result<Timeline, Error> {
        self.built_in("a timeline")?;
        let followed = self.follow(request.space, Pace::Waited);
        let mut timeline = timeline::timeline(&self.parts, caller, request)?;
        timeline.unread = mirror::unread(&self.parts, caller, request.space, followed);
        Ok(timeline)
    }

    /// Reads what has changed in files, so that what they say is found. Where the built-in backend has no part in it, nothing is.
    fn follow(&self, space: Option<SpaceId>, pace: Pace) -> Followed {
        match &self.backends {
            Some(backends) if !backends.has_built_in() => Followed::default(),
            _ => mirror::follow(&self.parts, &self.sights, space, pace),
        }
    }

    /// Counts a memory as accessed.
    pub fn touch(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        let memory = self.get(caller, which)?;
        if memory.backend.is_none() {
            self.touches.note([memory.id], self.parts.clock.now());
        }
        Ok(memory)
    }

    /// Logs a turn of a conversation.
    pub fn log_turn(&self, caller: &Caller, request: &TurnRequest) -> Result<Logged, Error> {
        let listening = self.listening();
        let journaler = self.journaler(&listening);
        conversation::log_turn(&self.parts, caller, request, &listening, journaler.as_ref())
    }

    /// The newest turns, oldest first; fewer than asked where they are long, but one at least.
    pub fn turns(&self, caller: &Caller, filter: &TurnFilter) -> Result<Vec<Turn>, Error> {
        conversation::turns(&self.parts, caller, filter)
    }

    /// Cuts the log of turns back to the newest.
    pub fn prune_turns(&self, caller: &Caller) -> Result<(), Error> {
        conversation::prune(&self.parts, caller)
    }
}

/// A memory with the mark that warns of what tries to command.
fn marked(memory: Memory) -> Memory {
    Memory { commands: commands::marks(&memory.edition), ..memory }
}

fn marked_page(page: Page) -> Page {
    Page { memories: page.memories.into_iter().map(marked).collect(), ..page }
}

fn marked_edit(edited: Edited) -> Edited {
    let Edited { memory, mut warnings } = edited;
    let memory = marked(memory);
    warnings.extend(Warning::marked(memory.commands.clone()));
    Edited { memory, warnings }
}

/// The same for a hit, of which further sections may be given that its content is cut to without.
fn mark_hit(hit: &mut Hit) {
    let further = hit.further.iter().map(|section| section.content.as_str());
    let mut commands = commands::kinds(further.filter(|_| hit.cut));
    commands.extend(commands::marks(&hit.memory.edition));
    commands.sort_unstable();
    commands.dedup();
    hit.memory.commands = commands;
}
