//! The entry point of the core: one short method for each verb.

mod admin;
mod consolidating;
mod documents;
mod filing;
mod journaling;
mod judging;
mod present;
mod turn_reading;
mod upkeep;

use std::sync::{Arc, Mutex, MutexGuard, RwLock, TryLockError};
use std::time::Duration;

use crate::backends::{self, Backends};
use crate::background::lifecycle::rules::LifecyclePolicies;
use crate::background::passes::{ConsolidationSettings, TurnReadingCounts};
use crate::background::tend::{self, TendRequest, TendingResult};
use crate::files::mirror::{self, MirrorEffort};
use crate::files::{self, MirrorReport};
use crate::model::answer::{
    Answer, AppliedProposal, Briefing, CompletedMemory, CreatedAssociation, Cursor, EditedMemory,
    ForgetWherePreview, ForgottenMatches, ForgottenMemories, HistoryEntry, LoggedTurn, MovedMemories, Page,
    QualityReport, Receipt, RelatedMemory, Strength, Timeline, TurnPage,
};
use crate::model::association::Association;
use crate::model::error::Error;
use crate::model::id::{MemoryRef, ProposalId, SpaceId, Version};
use crate::model::limits::Limits;
use crate::model::memory::Memory;
use crate::model::request::{
    AssociationRequest, BriefingRequest, Caller, Filter, ForgetRequest, ForgetWhere, ListRequest,
    QualityRequest, RecallRequest, SaveRequest, TimelineRequest, TurnFilter, TurnRequest, UpdateRequest,
};
use crate::model::space::{Secret, Space};
use crate::model::time::{Timestamp, Zone};
use crate::model::turn::TurnReadingSettings;
use crate::model::vocabulary::{Origin, Relation};
use crate::ports::Clock;
use crate::text::redact::SecretPolicies;
use crate::verbs::access::{self, Ports};
use crate::verbs::ask::Llm;
use crate::verbs::recall_counts::UnwrittenRecallCounts;
use crate::{
    verbs::associate, verbs::briefing, verbs::conversation, verbs::directory, verbs::done, verbs::edit,
    verbs::forget, verbs::history, verbs::quality, verbs::read, verbs::recall, verbs::related,
    verbs::relocate, verbs::review, verbs::save, verbs::status, verbs::timeline,
};

pub use self::consolidating::ConsolidationTick;

/// The engine. It can be shared cheaply, and every method may be called from any thread.
pub struct Engine {
    ports: Ports,
    touches: UnwrittenRecallCounts,
    journals: files::JournalTextCache,
    visibilities: mirror::MirrorCache,
    /// The lifecycle policies of spaces.
    rules: LifecyclePolicies,
    /// The backends; `None` if there is only the built-in backend.
    backends: Option<Backends>,
    llm: Llm,
    /// The current settings for reading turns; replaced as a unit.
    listening: RwLock<Arc<TurnReadingSettings>>,
    /// The results of the turns that this engine has read.
    gleaned: Mutex<TurnReadingCounts>,
    /// The settings for consolidating journals. They may change while a server is running.
    consolidation: Mutex<ConsolidationSettings>,
    /// The lock for periodic work. A task that cannot take the lock tries again later.
    periodic: Mutex<()>,
    /// The name under which this engine claims jobs.
    holder: String,
    /// The time zone of callers that specify none.
    zone: Zone,
}

impl Engine {
    /// Creates an engine over these ports.
    pub fn new(ports: Ports) -> Self {
        Self {
            ports,
            touches: UnwrittenRecallCounts::default(),
            journals: files::JournalTextCache::default(),
            visibilities: mirror::MirrorCache::default(),
            rules: LifecyclePolicies::default(),
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

    /// Sets the backends. The engine writes to the primary and reads from all.
    #[must_use]
    pub fn with_backends(mut self, backends: Backends) -> Self {
        self.backends = Some(backends).filter(|backends| !backends.is_plain());
        self
    }

    /// Sets the lifecycle policies.
    #[must_use]
    pub fn with_rules(mut self, rules: LifecyclePolicies) -> Self {
        self.rules = rules;
        self
    }

    /// Sets the secrets policy of spaces.
    #[must_use]
    pub fn with_secrecy(mut self, secret_policies: SecretPolicies) -> Self {
        self.ports.secret_policies = secret_policies;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.ports.limits = limits;
        self
    }

    /// Sets the clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.ports.clock = clock;
        self
    }

    /// Sets the language model. By default, there is none.
    #[must_use]
    pub fn with_llm(mut self, llm: Llm) -> Self {
        self.llm = llm;
        self
    }

    /// Sets the settings for reading turns. With these, the engine searches turns for facts worth saving.
    #[must_use]
    pub fn with_listening(self, listening: TurnReadingSettings) -> Self {
        self.listen(listening);
        self
    }

    /// Sets the name for claiming jobs. If the name shows that its process no longer exists, the leases of that process are
    /// released.
    #[must_use]
    pub fn with_holder(mut self, holder: &str) -> Self {
        holder.clone_into(&mut self.holder);
        self
    }

    /// Sets the time zone in which days are counted for callers that specify no other zone.
    #[must_use]
    pub fn with_zone(mut self, zone: Zone) -> Self {
        self.zone = zone;
        self
    }

    /// Refuses a verb that only the built-in backend supports if another backend is primary.
    fn built_in(&self, what: &'static str) -> Result<(), Error> {
        backends::require_built_in(self.backends.as_ref(), what)
    }

    /// Takes the lock for periodic work; returns `None` if another task has it.
    fn slot(&self) -> Option<MutexGuard<'_, ()>> {
        match self.periodic.try_lock() {
            Ok(slot) => Some(slot),
            Err(TryLockError::Poisoned(slot)) => Some(slot.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Returns the current time of the engine's clock.
    pub fn now(&self) -> Timestamp {
        self.ports.clock.now()
    }

    /// Returns the user of this home, in the space `default`.
    pub fn user(&self, origin: Origin, agent: Option<&str>) -> Result<Caller, Error> {
        Ok(Caller { zone: self.zone.clone(), ..directory::user(&self.ports, origin, agent)? })
    }

    /// Returns true if an agent may use this name. A secret in the name is refused, because it would be stored with every
    /// change by the agent.
    pub fn may_be_called(&self, name: &str) -> bool {
        directory::agent_name(&self.ports, Some(name)).is_ok()
    }

    /// Returns the caller that a token identifies.
    pub fn authenticate(&self, token: &Secret, origin: Origin, agent: Option<&str>) -> Result<Caller, Error> {
        let caller = directory::authenticate(&self.ports, token, origin, agent)?;
        Ok(Caller { zone: self.zone.clone(), ..caller })
    }

    /// Returns the same caller in another space, specified by name or id.
    pub fn enter(&self, caller: &Caller, space: &str) -> Result<Caller, Error> {
        directory::enter(&self.ports, caller, space)
    }

    /// Returns the same caller in the first of these spaces, specified by name or id. The new caller is restricted to these
    /// spaces: none of its requests can see, count or change anything in another space.
    pub fn confine(&self, caller: &Caller, spaces: &[&str]) -> Result<Caller, Error> {
        directory::confine(&self.ports, caller, spaces)
    }

    /// Returns the caller's current space.
    pub fn space(&self, caller: &Caller) -> Result<Space, Error> {
        access::space_of_call(&self.ports, caller)
    }

    /// Saves a memory, or finds that it is already known.
    pub fn save(&self, caller: &Caller, request: SaveRequest) -> Result<Receipt, Error> {
        let saved = match &self.backends {
            None => save::save(&self.ports, caller, request),
            Some(backends) => backends::save(&self.ports, backends, caller, request),
        };
        saved.map(|receipt| self.presenter(caller).receipt(receipt))
    }

    /// Saves several memories in one transaction: all or none. The receipts have the order of the requests.
    pub fn save_many(&self, caller: &Caller, requests: Vec<SaveRequest>) -> Result<Vec<Receipt>, Error> {
        let saved = match &self.backends {
            None => save::save_many(&self.ports, caller, requests),
            Some(backends) => backends::save_many(&self.ports, backends, caller, requests),
        };
        let presenter = self.presenter(caller);
        saved.map(|receipts| receipts.into_iter().map(|receipt| presenter.receipt(receipt)).collect())
    }

    /// Returns a memory, whether archived or not.
    pub fn get(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        let found = match &self.backends {
            None => read::get(&self.ports, caller, which),
            Some(backends) => backends::get(&self.ports, backends, caller, which),
        };
        found.map(|memory| self.present(caller, memory))
    }

    /// Returns a forgotten memory to its owner, or to an admin of its space if the memory is not private.
    pub fn get_forgotten(&self, caller: &Caller, which: MemoryRef) -> Result<Option<Memory>, Error> {
        self.built_in("what was forgotten")?;
        Ok(access::find_forgotten(&self.ports, caller, which)?.map(|memory| self.present(caller, memory)))
    }

    /// Returns a page of a list. Mirrors of files are included only if the filter names a file.
    pub fn list(&self, caller: &Caller, request: &ListRequest) -> Result<Page, Error> {
        if request.filter.source_path.is_some() {
            self.follow(request.filter.space, MirrorEffort::Waited);
        }
        let page = match &self.backends {
            None => read::list(&self.ports, caller, request),
            Some(backends) => backends::list(&self.ports, backends, caller, request),
        };
        page.map(|page| self.presenter(caller).page(page))
    }

    /// Returns the number of matching memories that a list would include. Refused if backends other than the built-in one
    /// are configured, because they do not count memories.
    pub fn count(&self, caller: &Caller, filter: &Filter) -> Result<u64, Error> {
        if let Some(backends) = &self.backends {
            return Err(backends::not_counted(backends));
        }
        read::count(&self.ports, caller, filter)
    }

    /// Edits a memory; the old version stays in the history of the memory.
    pub fn update(
        &self,
        caller: &Caller,
        which: MemoryRef,
        request: &UpdateRequest,
    ) -> Result<EditedMemory, Error> {
        self.built_in("update")?;
        edit::update(&self.ports, caller, which, request).map(|edited| self.presenter(caller).edit(edited))
    }

    /// Returns the versions of a memory, newest first. If the contents are long, the contents of older versions are [left
    /// out](HistoryEntry::left_out).
    pub fn history(&self, caller: &Caller, which: MemoryRef) -> Result<Vec<HistoryEntry>, Error> {
        self.built_in("history")?;
        history::history(&self.ports, caller, which)
    }

    /// Restores an earlier version as a new one.
    pub fn revert(&self, caller: &Caller, which: MemoryRef, version: Version) -> Result<EditedMemory, Error> {
        self.built_in("revert")?;
        edit::revert(&self.ports, caller, which, version).map(|edited| self.presenter(caller).edit(edited))
    }

    /// Forgets a memory, softly or permanently, and returns its last state.
    pub fn forget(
        &self,
        caller: &Caller,
        which: MemoryRef,
        request: &ForgetRequest,
    ) -> Result<EditedMemory, Error> {
        let gone = match &self.backends {
            None => forget::forget(&self.ports, caller, which, request),
            Some(backends) => backends::forget(&self.ports, backends, caller, which, request),
        };
        gone.map(|gone| self.presenter(caller).changed(gone))
    }

    /// Forgets several memories in one transaction. Memories that do not exist are skipped; if one memory may not be
    /// forgotten, none is forgotten. The maximum number of memories is [`FORGETS`](crate::model::limits::FORGETS); a
    /// memory named twice counts once.
    pub fn forget_many(
        &self,
        caller: &Caller,
        which: &[MemoryRef],
        request: &ForgetRequest,
    ) -> Result<ForgottenMemories, Error> {
        let gone = match &self.backends {
            None => forget::forget_many(&self.ports, caller, which, request),
            Some(backends) => backends::forget_many(&self.ports, backends, caller, which, request),
        };
        gone.map(|gone| self.presenter(caller).gone(gone))
    }

    /// Forgets all memories of the caller's space that match a condition, in one transaction. The maximum number is
    /// [`BATCH`](crate::model::limits::BATCH). No memory is forgotten if one of them may not be forgotten, or if the number
    /// differs from the expected one. Mirrors of files are not included.
    pub fn forget_where(&self, caller: &Caller, asked: &ForgetWhere) -> Result<ForgottenMatches, Error> {
        self.built_in("forgetting by a condition")?;
        forget::forget_where(&self.ports, caller, asked)
    }

    /// Previews [`forget_where`](Self::forget_where): returns the memories that it would forget, or the reason for refusal.
    /// Writes nothing.
    pub fn foresee_forget_where(
        &self,
        caller: &Caller,
        asked: &ForgetWhere,
    ) -> Result<ForgetWherePreview, Error> {
        self.built_in("forgetting by a condition")?;
        forget::foresee_where(&self.ports, caller, asked)
            .map(|predicted| self.presenter(caller).predicted(predicted))
    }

    /// Restores a softly forgotten memory. If another memory has its path now, the path stays with the other memory and the
    /// result contains a warning.
    pub fn restore(&self, caller: &Caller, which: MemoryRef) -> Result<EditedMemory, Error> {
        self.built_in("restore")?;
        forget::restore(&self.ports, caller, which).map(|edited| self.presenter(caller).changed(edited))
    }

    /// Hides a memory from recall.
    pub fn archive(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("archive")?;
        status::archive(&self.ports, caller, which, None).map(|memory| self.present(caller, memory))
    }

    /// Makes an archived memory active again.
    pub fn unarchive(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("unarchive")?;
        status::unarchive(&self.ports, caller, which).map(|memory| self.present(caller, memory))
    }

    /// Applies the lifecycle rules of the spaces that the caller may tend, or previews the steps.
    pub fn tend(&self, caller: &Caller, request: &TendRequest) -> Result<TendingResult, Error> {
        self.built_in("tend")?;
        self.flush()?;
        tend::tend(&self.ports, &self.rules, caller, request)
    }

    /// Applies the rules of all spaces if a run is due and no other process runs it. The next run is due one interval later.
    /// The run calls `go_on` between steps; `go_on` may wait. If `go_on` returns false, the next run continues the work.
    pub fn tend_due(
        &self,
        holder: &str,
        interval: Duration,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<TendingResult>, Error> {
        self.flush()?;
        let Some(_slot) = self.slot() else { return Ok(None) };
        tend::tend_due(&self.ports, &self.rules, holder, interval, go_on)
    }

    /// Exempts a memory from decay.
    pub fn pin(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("pin")?;
        status::pin(&self.ports, caller, which).map(|memory| self.present(caller, memory))
    }

    /// Removes the exemption of a memory from decay.
    pub fn unpin(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("unpin")?;
        status::unpin(&self.ports, caller, which).map(|memory| self.present(caller, memory))
    }

    /// Closes a todo or a goal, at the given time or now. A closed todo or goal stays unchanged, unless another time is
    /// given.
    pub fn done(
        &self,
        caller: &Caller,
        which: MemoryRef,
        at: Option<Timestamp>,
    ) -> Result<CompletedMemory, Error> {
        self.built_in("done")?;
        done::done(&self.ports, caller, which, at).map(|done| self.presenter(caller).completed(done))
    }

    /// Reopens a todo or a goal.
    pub fn reopen(&self, caller: &Caller, which: MemoryRef) -> Result<CompletedMemory, Error> {
        self.built_in("done")?;
        done::reopen(&self.ports, caller, which).map(|done| self.presenter(caller).completed(done))
    }

    /// Returns a page of the quarantined memories of the caller's space, newest first.
    pub fn review(&self, caller: &Caller, limit: usize, cursor: Option<Cursor>) -> Result<Page, Error> {
        self.built_in("review")?;
        review::review(&self.ports, caller, limit, cursor).map(|page| self.presenter(caller).page(page))
    }

    /// Accepts a quarantined memory: recall finds it from now on. A memory that was not quarantined is returned unchanged.
    pub fn accept(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("review")?;
        review::accept(&self.ports, caller, which).map(|memory| self.present(caller, memory))
    }

    /// Softly forgets a quarantined memory.
    pub fn reject(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        self.built_in("review")?;
        review::reject(&self.ports, caller, which).map(|memory| self.present(caller, memory))
    }

    /// Moves memories to another space, specified by name or id, in one transaction. Memories that do not exist are
    /// skipped; if one memory may not be moved, none is moved. The maximum number of memories is
    /// [`MOVES`](crate::model::limits::MOVES); a memory named twice counts once. The memories keep their boundaries.
    pub fn move_to(&self, caller: &Caller, which: &[MemoryRef], space: &str) -> Result<MovedMemories, Error> {
        self.built_in("move")?;
        relocate::move_to(&self.ports, caller, which, space)
            .map(|moved| self.presenter(caller).relocated(moved))
    }

    /// Links one memory to another. If a memory updates the memory that superseded it, the updating memory becomes valid
    /// again.
    pub fn associate(
        &self,
        caller: &Caller,
        source: MemoryRef,
        request: &AssociationRequest,
    ) -> Result<CreatedAssociation, Error> {
        self.built_in("associate")?;
        associate::associate(&self.ports, caller, source, request, None)
    }

    /// Removes the link with the given relation, or all links from one memory to the other.
    pub fn dissociate(
        &self,
        caller: &Caller,
        source: MemoryRef,
        target: MemoryRef,
        relation: Option<Relation>,
    ) -> Result<Vec<Association>, Error> {
        self.built_in("dissociate")?;
        associate::dissociate(&self.ports, caller, source, target, relation)
    }

    /// Returns the memories within `depth` hops, nearest first. If their contents are long, fewer memories are returned.
    pub fn related(
        &self,
        caller: &Caller,
        which: MemoryRef,
        depth: usize,
    ) -> Result<Vec<RelatedMemory>, Error> {
        self.built_in("related")?;
        let related = related::related(&self.ports, caller, which, depth)?;
        let presenter = self.presenter(caller);
        Ok(related
            .into_iter()
            .map(|one| RelatedMemory { memory: presenter.memory(one.memory), ..one })
            .collect())
    }

    /// Finds memories. The results count as accessed, unless the answer contains no evidence that they match.
    /// [`flush`](Self::flush) writes the counts.
    pub fn recall(&self, caller: &Caller, request: &RecallRequest) -> Result<Answer, Error> {
        let followed = self.follow(request.filter.space, MirrorEffort::Waited);
        let mut answer = match &self.backends {
            None => recall::recall(&self.ports, caller, request)?,
            Some(backends) => backends::recall(&self.ports, backends, caller, request)?,
        };
        answer.unread = mirror::unread(&self.ports, caller, request.filter.space, followed);
        let presenter = self.presenter(caller);
        answer.hits = answer.hits.into_iter().map(|hit| presenter.hit(hit)).collect();
        if answer.evidence != Some(Strength::None) {
            let ours = answer.hits.iter().filter(|hit| hit.memory.backend.is_none());
            self.touches.note(ours.map(|hit| hit.memory.id), self.ports.clock.now());
        }
        Ok(answer)
    }

    /// Finds problems in the memories of the caller's space that the caller may see, such as near-duplicates,
    /// contradictions, secrets and junk, each with proposals. `progress` receives the number of memories checked since the
    /// last call.
    pub fn quality(
        &self,
        caller: &Caller,
        request: &QualityRequest,
        progress: &mut dyn FnMut(usize),
    ) -> Result<QualityReport, Error> {
        self.built_in("an audit of quality")?;
        self.follow(Some(caller.space), MirrorEffort::Waited);
        // The check needs the counts of recent recalls. A read-only store has no counts to write.
        match self.flush() {
            Err(error) if !error.is_read_only() => return Err(error),
            _ => {}
        }
        quality::quality(&self.ports, caller, request, progress)
    }

    /// Applies the [`quality`](Self::quality) proposal with this id, using the verbs and rights that the proposal needs. If
    /// the proposal was already applied or a memory has changed, the error is [`Error::NoProposal`].
    pub fn apply_proposal(&self, caller: &Caller, id: ProposalId) -> Result<AppliedProposal, Error> {
        self.built_in("an audit of quality")?;
        self.flush()?;
        quality::apply(&self.ports, caller, id)
    }

    /// Returns the briefing for the start of a session. The memories in it do not count as accessed.
    pub fn briefing(&self, caller: &Caller, request: &BriefingRequest) -> Result<Briefing, Error> {
        self.built_in("a briefing")?;
        let followed = self.follow(Some(caller.space), MirrorEffort::Waited);
        let mut briefing = briefing::briefing(&self.ports, caller, request)?;
        briefing.unread = mirror::unread(&self.ports, caller, Some(caller.space), followed);
        Ok(briefing)
    }

    /// Returns the timeline of a subject: the statements, the interval of each, and the reason why it ended. The memories do
    /// not count as accessed.
    pub fn timeline(&self, caller: &Caller, request: &TimelineRequest) -> Result<Timeline, Error> {
        self.built_in("a timeline")?;
        let followed = self.follow(request.space, MirrorEffort::Waited);
        let mut timeline = timeline::timeline(&self.ports, caller, request)?;
        timeline.unread = mirror::unread(&self.ports, caller, request.space, followed);
        Ok(self.presenter(caller).timeline(timeline))
    }

    /// Reads changed files, so that recall finds their content. Does nothing if the built-in backend is not in use.
    fn follow(&self, space: Option<SpaceId>, pace: MirrorEffort) -> MirrorReport {
        match &self.backends {
            Some(backends) if !backends.has_built_in() => MirrorReport::default(),
            _ => mirror::follow(&self.ports, &self.visibilities, space, pace),
        }
    }

    /// Counts a memory as accessed.
    pub fn touch(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        let memory = self.get(caller, which)?;
        if memory.backend.is_none() {
            self.touches.note([memory.id], self.ports.clock.now());
        }
        Ok(memory)
    }

    /// Counts a memory as accessed because the caller requests it, not because the memory was read. Refused if the store is
    /// read-only.
    pub fn count_access(&self, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
        let memory = self.touch(caller, which)?;
        match self.flush() {
            Err(error) if error.is_read_only() => Err(error),
            // If the count cannot be written now, it is written later.
            _ => Ok(memory),
        }
    }

    /// Logs a turn of a conversation.
    pub fn log_turn(&self, caller: &Caller, request: &TurnRequest) -> Result<LoggedTurn, Error> {
        let listening = self.listening();
        let journaler = self.journaler(&listening);
        conversation::log_turn(&self.ports, caller, request, &listening, journaler.as_ref())
    }

    /// Returns the newest turns, in order from oldest to newest. If the turns are long, fewer are returned than requested,
    /// but at least one. The page shows whether the log has earlier turns.
    pub fn turns(&self, caller: &Caller, filter: &TurnFilter) -> Result<TurnPage, Error> {
        conversation::turns(&self.ports, caller, filter)
    }

    /// Deletes old turns from the log, and keeps the newest ones.
    pub fn prune_turns(&self, caller: &Caller) -> Result<(), Error> {
        conversation::prune(&self.ports, caller)
    }
}
