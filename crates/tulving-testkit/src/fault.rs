//! A store that fails at a call that the test chooses, or that another writer changes right before that call.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tulving_core::model::association::Association;
use tulving_core::model::audit::AuditEntry;
use tulving_core::model::change::{Actor, Applied, Change, ChangeSet, FrozenOrder, ImportRecord};
use tulving_core::model::claim::Claim;
use tulving_core::model::error::StoreError;
use tulving_core::model::file::{ImportedFile, MirroredEntry, MirroredFile};
use tulving_core::model::id::{
    JobId, ListingId, MemoryId, MemoryRef, PassId, PrincipalId, Seq, SpaceId, TurnId,
};
use tulving_core::model::job::Job;
use tulving_core::model::life::LifecycleData;
use tulving_core::model::llm::LlmUsage;
use tulving_core::model::memory::{Memory, VersionRecord};
use tulving_core::model::pass::{Pass, PassFilter};
use tulving_core::model::record::{DumpPosition, Record};
use tulving_core::model::request::{AuditFilter, Filter, ForgottenFilter, Sort, TurnFilter};
use tulving_core::model::search::{IndexEntry, Section, VisibilityScope};
use tulving_core::model::space::{MemberOf, Membership, Principal, Space, Team, Token, TokenHash, Viewer};
use tulving_core::model::time::Timestamp;
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::{JobState, Role, System};
use tulving_core::ports::{
    Aging, Claims, Directory, DuplicateQuery, Feed, Imports, Jobs, LoadWork, Log, Memories, Mirrors, Passes,
    ReadLimit, Stage, Store, Transfer, Usages,
};

type StoreInterference = Box<dyn FnOnce(Arc<dyn Store>) + Send>;

/// Wraps a store and fails the chosen call before the call reaches the store, so that a failed call changes nothing. It
/// can also run another write right before a set is applied.
pub struct FaultyStore {
    inner: Arc<dyn Store>,
    calls: AtomicU64,
    fails_at: AtomicU64,
    meddlers: Mutex<Vec<StoreInterference>>,
}

impl FaultyStore {
    /// A store that works until a fault is set.
    pub fn new(inner: Arc<dyn Store>) -> Self {
        Self { inner, calls: AtomicU64::new(0), fails_at: AtomicU64::new(0), meddlers: Mutex::default() }
    }

    /// Restarts the count, and fails the `nth` call from now, counted from 1. Zero means never.
    pub fn fail_at(&self, nth: u64) {
        self.calls.store(0, Ordering::SeqCst);
        self.fails_at.store(nth, Ordering::SeqCst);
    }

    /// Returns true if the call that was chosen with [`fail_at`](Self::fail_at) was made and has failed.
    pub fn has_failed(&self) -> bool {
        let nth = self.fails_at.load(Ordering::SeqCst);
        nth > 0 && self.calls.load(Ordering::SeqCst) >= nth
    }

    /// Runs `action` on the inner store before the next set is applied, as if another writer was faster. After
    /// several calls of this method, one of their functions runs before each set, in the order of the calls.
    pub fn before_next_apply(&self, action: impl FnOnce(Arc<dyn Store>) + Send + 'static) {
        let mut meddlers = self.meddlers.lock().unwrap_or_else(PoisonError::into_inner);
        meddlers.insert(0, Box::new(action));
    }

    fn pass(&self, call: &'static str) -> Result<&dyn Store, StoreError> {
        let nth = self.calls.fetch_add(1, Ordering::SeqCst) + 1;
        if nth == self.fails_at.load(Ordering::SeqCst) {
            return Err(StoreError::Failed {
                what: format!("{call}, told to fail as call {nth}"),
                source: None,
            });
        }
        Ok(&*self.inner)
    }
}

impl fmt::Debug for FaultyStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FaultyStore")
            .field("calls", &self.calls)
            .field("fails_at", &self.fails_at)
            .finish_non_exhaustive()
    }
}

impl Store for FaultyStore {
    fn apply(&self, changes: &ChangeSet) -> Result<Applied, StoreError> {
        let store = self.pass("apply")?;
        let action = self.meddlers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(action) = action {
            action(self.inner.clone());
        }
        store.apply(changes)
    }
}

impl Memories for FaultyStore {
    fn memory(
        &self,
        viewer: &Viewer,
        space: SpaceId,
        which: MemoryRef,
        forgotten: ForgottenFilter,
    ) -> Result<Option<Memory>, StoreError> {
        self.pass("memory")?.memory(viewer, space, which, forgotten)
    }

    fn memories_within(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
        bytes: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        self.pass("memories")?.memories_within(viewer, ids, bytes)
    }

    fn list_within(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        sort: Sort,
        extent: ReadLimit,
        after: Option<(Timestamp, MemoryId)>,
    ) -> Result<Vec<Memory>, StoreError> {
        self.pass("list")?.list_within(viewer, filter, sort, extent, after)
    }

    fn ids(&self, viewer: &Viewer, filter: &Filter, sort: Sort) -> Result<Vec<MemoryId>, StoreError> {
        self.pass("ids")?.ids(viewer, filter, sort)
    }

    fn count_up_to(&self, viewer: &Viewer, filter: &Filter, most: u64) -> Result<u64, StoreError> {
        self.pass("count_up_to")?.count_up_to(viewer, filter, most)
    }

    fn projects(&self, viewer: &Viewer, names: &[&str]) -> Result<Vec<String>, StoreError> {
        self.pass("projects")?.projects(viewer, names)
    }

    fn listing(
        &self,
        viewer: &Viewer,
        id: ListingId,
        now: Timestamp,
    ) -> Result<Option<FrozenOrder>, StoreError> {
        self.pass("listing")?.listing(viewer, id, now)
    }

    fn duplicate(
        &self,
        viewer: &Viewer,
        duplicate_query: &DuplicateQuery<'_>,
    ) -> Result<Option<Memory>, StoreError> {
        self.pass("twin")?.duplicate(viewer, duplicate_query)
    }

    fn versions(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<VersionRecord>, StoreError> {
        self.pass("versions")?.versions(viewer, id)
    }

    fn writers(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
    ) -> Result<HashMap<MemoryId, PrincipalId>, StoreError> {
        self.pass("writers")?.writers(viewer, ids)
    }

    fn each_version(
        &self,
        viewer: &Viewer,
        id: MemoryId,
        show: &mut dyn FnMut(VersionRecord),
    ) -> Result<(), StoreError> {
        self.pass("each_version")?.each_version(viewer, id, show)
    }

    fn associations(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<Association>, StoreError> {
        self.pass("associations")?.associations(viewer, ids)
    }

    fn succession(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<(MemoryId, MemoryId)>, StoreError> {
        self.pass("succession")?.succession(viewer, ids)
    }

    fn sections(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<Section>, StoreError> {
        self.pass("sections")?.sections(viewer, id)
    }

    fn turn(&self, viewer: &Viewer, id: TurnId) -> Result<Option<Turn>, StoreError> {
        self.pass("turn")?.turn(viewer, id)
    }

    fn turns(
        &self,
        viewer: &Viewer,
        space: SpaceId,
        filter: &TurnFilter,
        bytes: usize,
    ) -> Result<Vec<Turn>, StoreError> {
        self.pass("turns")?.turns(viewer, space, filter, bytes)
    }
}

impl Directory for FaultyStore {
    fn visibility(&self, viewer: &Viewer) -> Result<VisibilityScope, StoreError> {
        self.pass("sight")?.visibility(viewer)
    }

    fn spaces(&self, viewer: &Viewer) -> Result<Vec<Space>, StoreError> {
        self.pass("spaces")?.spaces(viewer)
    }

    fn space(&self, viewer: &Viewer, id: SpaceId) -> Result<Option<(Space, Option<Role>)>, StoreError> {
        self.pass("space")?.space(viewer, id)
    }

    fn teams(&self, viewer: &Viewer) -> Result<Vec<Team>, StoreError> {
        self.pass("teams")?.teams(viewer)
    }

    fn role(&self, principal: PrincipalId, of: MemberOf) -> Result<Option<Role>, StoreError> {
        self.pass("role")?.role(principal, of)
    }

    fn members(&self, of: MemberOf) -> Result<Vec<(Principal, Membership)>, StoreError> {
        self.pass("members")?.members(of)
    }

    fn principal_named(&self, name: &str) -> Result<Option<Principal>, StoreError> {
        self.pass("principal_named")?.principal_named(name)
    }

    fn principals(&self, ids: &[PrincipalId]) -> Result<Vec<Principal>, StoreError> {
        self.pass("principals")?.principals(ids)
    }

    fn token_by_hash(&self, hash: &TokenHash) -> Result<Option<Token>, StoreError> {
        self.pass("token_by_hash")?.token_by_hash(hash)
    }

    fn tokens(&self, principal: Option<PrincipalId>) -> Result<Vec<Token>, StoreError> {
        self.pass("tokens")?.tokens(principal)
    }
}

impl Log for FaultyStore {
    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError> {
        self.pass("changes")?.changes(after, limit)
    }

    fn trim(&self, up_to: Seq, most: usize) -> Result<usize, StoreError> {
        self.pass("trim")?.trim(up_to, most)
    }

    fn head(&self) -> Result<Seq, StoreError> {
        self.pass("head")?.head()
    }

    fn change_counter(&self) -> Result<u64, StoreError> {
        self.pass("pulse")?.change_counter()
    }

    fn epoch(&self) -> Result<[u8; 16], StoreError> {
        self.pass("epoch")?.epoch()
    }

    fn audit(&self, viewer: &Viewer, filter: &AuditFilter) -> Result<Vec<AuditEntry>, StoreError> {
        self.pass("audit")?.audit(viewer, filter)
    }

    fn last_change(
        &self,
        by: &Actor,
        space: SpaceId,
    ) -> Result<Option<tulving_core::model::audit::LastChange>, StoreError> {
        self.pass("last_change")?.last_change(by, space)
    }
}

impl Feed for FaultyStore {
    fn entries(&self, ids: &[MemoryId], model: Option<&str>) -> Result<Vec<IndexEntry>, StoreError> {
        self.pass("entries")?.entries(ids, model)
    }

    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<IndexEntry>, StoreError> {
        self.pass("entries_after")?.entries_after(after, limit, model)
    }

    fn holding(
        &self,
        texts: &[&str],
        space: Option<SpaceId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError> {
        self.pass("holding")?.holding(texts, space, limit)
    }

    fn size(&self) -> Result<u64, StoreError> {
        self.pass("size")?.size()
    }

    fn model(&self) -> Result<Option<String>, StoreError> {
        self.pass("model")?.model()
    }

    fn next_model(&self) -> Result<Option<String>, StoreError> {
        self.pass("next_model")?.next_model()
    }

    fn embedded(&self, model: &str) -> Result<u64, StoreError> {
        self.pass("embedded")?.embedded(model)
    }

    fn unembedded(&self, model: &str) -> Result<u64, StoreError> {
        self.pass("unembedded")?.unembedded(model)
    }

    fn unlinked(&self, ids: &[MemoryId]) -> Result<Vec<MemoryId>, StoreError> {
        self.pass("unlinked")?.unlinked(ids)
    }

    fn unembedded_ids(&self, model: &str, tried: u32, limit: usize) -> Result<Vec<MemoryId>, StoreError> {
        self.pass("unembedded_ids")?.unembedded_ids(model, tried, limit)
    }
}

impl Aging for FaultyStore {
    fn lives(
        &self,
        spaces: &[SpaceId],
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<LifecycleData>, StoreError> {
        self.pass("lives")?.lives(spaces, after, limit)
    }

    fn audited_before(&self, space: Option<SpaceId>, before: Timestamp) -> Result<u64, StoreError> {
        self.pass("audited_before")?.audited_before(space, before)
    }
}

impl Jobs for FaultyStore {
    fn job(&self, id: JobId) -> Result<Option<Job>, StoreError> {
        self.pass("job")?.job(id)
    }

    fn jobs(&self, states: &[JobState], kinds: &[&str], limit: usize) -> Result<Vec<Job>, StoreError> {
        self.pass("jobs")?.jobs(states, kinds, limit)
    }

    fn claimable(&self, kinds: &[&str], now: Timestamp, limit: usize) -> Result<Vec<Job>, StoreError> {
        self.pass("claimable")?.claimable(kinds, now, limit)
    }
}

impl Claims for FaultyStore {
    fn claim(&self, principal: PrincipalId, key: &str) -> Result<Option<Claim>, StoreError> {
        self.pass("claim")?.claim(principal, key)
    }
}

impl Mirrors for FaultyStore {
    fn mirrored(&self, space: SpaceId) -> Result<Vec<MirroredFile>, StoreError> {
        self.pass("mirrored")?.mirrored(space)
    }

    fn mirrors(&self, space: SpaceId, path: &str) -> Result<Vec<MirroredEntry>, StoreError> {
        self.pass("mirrors")?.mirrors(space, path)
    }
}

impl Imports for FaultyStore {
    fn imported(&self, space: SpaceId, owner: PrincipalId) -> Result<Vec<ImportedFile>, StoreError> {
        self.pass("imported")?.imported(space, owner)
    }

    fn adopted(
        &self,
        space: SpaceId,
        owner: PrincipalId,
        system: System,
        names: &[[u8; 32]],
    ) -> Result<Vec<ImportRecord>, StoreError> {
        self.pass("adopted")?.adopted(space, owner, system, names)
    }

    fn is_attached(&self, object_key: &str) -> Result<bool, StoreError> {
        self.pass("is_attached")?.is_attached(object_key)
    }
}

impl Usages for FaultyStore {
    fn usage(&self, from: &str) -> Result<Vec<LlmUsage>, StoreError> {
        self.pass("usage")?.usage(from)
    }
}

impl Passes for FaultyStore {
    fn passes(&self, viewer: &Viewer, filter: &PassFilter) -> Result<Vec<Pass>, StoreError> {
        self.pass("passes")?.passes(viewer, filter)
    }

    fn pass(&self, viewer: &Viewer, id: PassId) -> Result<Option<Pass>, StoreError> {
        FaultyStore::pass(self, "pass")?.pass(viewer, id)
    }
}

impl Transfer for FaultyStore {
    fn attached(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>, StoreError> {
        self.pass("attached")?.attached(after, limit)
    }

    fn stage(&self) -> Result<Box<dyn Stage>, StoreError> {
        self.pass("stage")?.stage()
    }

    fn load(&self, work: &mut LoadWork<'_>) -> Result<bool, StoreError> {
        self.pass("load")?.load(&mut |apply| {
            work(&mut |changes| {
                self.pass("apply of a load")?;
                apply(changes)
            })
        })
    }

    fn dump(
        &self,
        position: DumpPosition,
        limit: usize,
    ) -> Result<(Vec<Record>, Option<DumpPosition>), StoreError> {
        self.pass("dump")?.dump(position, limit)
    }
}
