//! What the engine asks of a store.
//!
//! Every store keeps these promises, and `tulving-testkit` has the suite that checks them:
//!
//! - [`Store::apply`] is the only way in. It is one transaction: all writes of a set or none, durable when it returns.
//! - A write decided on what is no longer so answers [`StoreError::Conflict`] and changes nothing.
//! - Every read of a memory takes a [`Viewer`] and answers as if what the viewer may not see did not exist.
//!   Visible is: private, to its owner; hub, to the members of its space; team, also to the direct members of the
//!   space's team; org, also to the members of the org, of any of its teams and of any of its hub spaces (members
//!   of a sealed group alone do not count as people of the org). [`Viewer::within`] confines all of it.
//! - The log ascends in the order of commits: who has read up to `seq` n misses nothing at or below n.

use std::collections::HashMap;

use crate::association::Association;
use crate::audit::AuditEntry;
use crate::change::{AdoptedItem, Applied, Change, ChangeSet, Listing};
use crate::claim::Claim;
use crate::error::StoreError;
use crate::file::{ImportedFile, MirroredEntry, MirroredFile};
use crate::id::{JobId, ListingId, MemoryId, MemoryRef, PassId, PrincipalId, Seq, SpaceId, TurnId};
use crate::job::Job;
use crate::life::Life;
use crate::llm::Usage;
use crate::memory::{ContentHash, Memory, VersionRecord};
use crate::pass::{Pass, PassFilter};
use crate::record::{DumpPosition, Record};
use crate::request::{AuditFilter, Filter, Forgotten, Sort, TurnFilter};
use crate::search::{Entry, Section, Sight};
use crate::space::{MemberOf, Membership, Principal, Space, Team, Token, TokenHash, Viewer};
use crate::time::Timestamp;
use crate::turn::Turn;
use crate::vocabulary::{Boundary, JobState, Role, System};

/// A whole store.
pub trait Store:
    Memories
    + Directory
    + Log
    + Feed
    + Aging
    + Jobs
    + Claims
    + Mirrors
    + Imports
    + Usages
    + Passes
    + Transfer
    + Send
    + Sync
{
    /// Writes a set as one transaction and returns after it is durable.
    ///
    /// Inside the transaction it checks, in this order: the actor holds every [`Right`](crate::change::Right) by a
    /// direct membership of the space, and what it is needed for is still there; each write's `from` still holds; keys,
    /// source paths and contents stay unique.
    ///
    /// Each change of a memory or association also writes one entry of the change log. One that takes the memory away from
    /// some who saw it, because its boundary is narrower or it is in another space, writes an entry of
    /// [`Erased`](crate::vocabulary::ChangeKind::Erased) before it, with space and boundary as they were.
    fn apply(&self, changes: &ChangeSet) -> Result<Applied, StoreError>;
}

/// What a new memory would collide with, within one audience of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe<'a> {
    /// The space.
    pub space: SpaceId,
    /// The boundary of the new memory.
    pub boundary: Boundary,
    /// Its owner.
    pub owner: PrincipalId,
    /// Look for this key among the audience: the owner's private memories, or all shared ones.
    pub key: Option<&'a str>,
    /// Look for this path, likewise.
    pub source_path: Option<&'a str>,
    /// Look for this content among records of the very same boundary without key, path or conversation.
    pub content_hash: Option<ContentHash>,
    /// Look for this file, likewise, by the hash of its bytes.
    pub attachment_hash: Option<&'a str>,
}

impl Probe<'_> {
    /// A probe that looks for nothing yet.
    pub const fn new(space: SpaceId, owner: PrincipalId, boundary: Boundary) -> Self {
        Self {
            space,
            boundary,
            owner,
            key: None,
            source_path: None,
            content_hash: None,
            attachment_hash: None,
        }
    }
}

/// How much of a list is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Most memories.
    pub limit: usize,
    /// After how many bytes of contents it ends, though not before the first memory.
    pub bytes: usize,
}

/// Reads of memories.
pub trait Memories {
    /// The memory of that name, where the viewer may see it. A number is looked up in `space`.
    ///
    /// A forgotten memory is found only with [`Forgotten::Only`], and only by its owner or, where it is not private,
    /// by an admin of its space.
    fn memory(
        &self,
        viewer: &Viewer,
        space: SpaceId,
        which: MemoryRef,
        forgotten: Forgotten,
    ) -> Result<Option<Memory>, StoreError>;

    /// The memories with these ids that the viewer may see and that are not forgotten, in the order of the ids.
    fn memories(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
        self.memories_within(viewer, ids, usize::MAX)
    }

    /// The same, ending with the memory by which the contents have `bytes` bytes. What comes after it is not read.
    fn memories_within(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
        bytes: usize,
    ) -> Result<Vec<Memory>, StoreError>;

    /// The first `limit` memories that match, in order; with `after`, those that follow it. Ties go by id, in the
    /// same direction as the sort. `after` is only given with a [fixed](Sort::is_fixed) sort.
    fn list(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        sort: Sort,
        limit: usize,
        after: Option<(Timestamp, MemoryId)>,
    ) -> Result<Vec<Memory>, StoreError> {
        self.list_within(viewer, filter, sort, Extent { limit, bytes: usize::MAX }, after)
    }

    /// The same, ending also with the memory by which the contents have so many bytes. What comes after it is not read.
    fn list_within(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        sort: Sort,
        extent: Extent,
        after: Option<(Timestamp, MemoryId)>,
    ) -> Result<Vec<Memory>, StoreError>;

    /// The ids of all memories that match, in order.
    fn ids(&self, viewer: &Viewer, filter: &Filter, sort: Sort) -> Result<Vec<MemoryId>, StoreError>;

    /// How many match.
    fn count(&self, viewer: &Viewer, filter: &Filter) -> Result<u64, StoreError>;

    /// A frozen order, where it is the viewer's and has not expired at `now`.
    fn listing(&self, viewer: &Viewer, id: ListingId, now: Timestamp) -> Result<Option<Listing>, StoreError>;

    /// The memory that a save would collide with, key first, then path, then content; not forgotten, visible.
    fn twin(&self, viewer: &Viewer, probe: &Probe<'_>) -> Result<Option<Memory>, StoreError>;

    /// All versions of a visible memory, oldest first, the current one last, without those whose own boundary hid
    /// them from the viewer. Empty where the memory may not be seen or is forgotten.
    fn versions(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<VersionRecord>, StoreError>;

    /// Shows the same versions one after the other, the newest first, without holding them all.
    fn each_version(
        &self,
        viewer: &Viewer,
        id: MemoryId,
        show: &mut dyn FnMut(VersionRecord),
    ) -> Result<(), StoreError>;

    /// Who wrote the current version of each of these memories that the viewer may see and that are not forgotten, in any
    /// order.
    fn writers(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
    ) -> Result<HashMap<MemoryId, PrincipalId>, StoreError>;

    /// The associations that begin or end at one of these memories, where the viewer may see both ends and neither
    /// is forgotten or quarantined. Strongest first.
    fn associations(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<Association>, StoreError>;

    /// What a caller said updates these memories, what updates that, and so on to the end: each time the old one and the
    /// new one, where the viewer may see both and neither is forgotten or quarantined. In any order; far more than anybody
    /// keeps is cut off.
    fn succession(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<(MemoryId, MemoryId)>, StoreError>;

    /// The sections that a visible memory is cut into, in order, without their vectors. Empty where the memory may not
    /// be seen or is forgotten.
    fn sections(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<Section>, StoreError>;

    /// The turn with this id, where the viewer is a member of its space.
    fn turn(&self, viewer: &Viewer, id: TurnId) -> Result<Option<Turn>, StoreError>;

    /// The turns of a space, oldest first: of the newest, as many as have at most `bytes` of content together, but one at
    /// least. Only members of the space see any.
    fn turns(
        &self,
        viewer: &Viewer,
        space: SpaceId,
        filter: &TurnFilter,
        bytes: usize,
    ) -> Result<Vec<Turn>, StoreError>;
}

/// Reads of spaces, principals, members and tokens.
pub trait Directory {
    /// Where the viewer sees what. It says of each memory exactly what every read of [`Memories`] says.
    fn sight(&self, viewer: &Viewer) -> Result<Sight, StoreError>;

    /// The spaces that the viewer is a member of, or whose team or org it administers, by name.
    fn spaces(&self, viewer: &Viewer) -> Result<Vec<Space>, StoreError>;

    /// One of those spaces, and the role that the viewer's principal holds there by direct membership.
    fn space(&self, viewer: &Viewer, id: SpaceId) -> Result<Option<(Space, Option<Role>)>, StoreError>;

    /// The teams that the viewer is a member of, directly or through its org.
    fn teams(&self, viewer: &Viewer) -> Result<Vec<Team>, StoreError>;

    /// The role that a principal holds by direct membership.
    fn role(&self, principal: PrincipalId, of: MemberOf) -> Result<Option<Role>, StoreError>;

    /// The members of a space, team or org, with their names, by name.
    fn members(&self, of: MemberOf) -> Result<Vec<(Principal, Membership)>, StoreError>;

    /// The principal of this name.
    fn principal_named(&self, name: &str) -> Result<Option<Principal>, StoreError>;

    /// The principals with these ids, in any order.
    fn principals(&self, ids: &[PrincipalId]) -> Result<Vec<Principal>, StoreError>;

    /// The token with this hash, revoked or not. Compared in constant time.
    fn token_by_hash(&self, hash: &TokenHash) -> Result<Option<Token>, StoreError>;

    /// All tokens, of one principal or of all, newest first.
    fn tokens(&self, principal: Option<PrincipalId>) -> Result<Vec<Token>, StoreError>;
}

/// The change log and the audit.
pub trait Log {
    /// Up to `limit` entries after `after`, in the order of commits.
    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError>;

    /// Removes up to `most` of the oldest entries up to `up_to`, and says how many. The newest entry of all stays. Who
    /// follows the log from before what is there sees the gap: the next entry is not the one after the last that was read.
    fn trim(&self, up_to: Seq, most: usize) -> Result<usize, StoreError>;

    /// The last entry written.
    fn head(&self) -> Result<Seq, StoreError>;

    /// A number that differs from the last one whenever any process, this one included, has committed in between.
    /// Cheap: it is asked before every recall.
    fn pulse(&self) -> Result<u64, StoreError>;

    /// A random id, renewed whenever the content was replaced as a whole. What was derived under another is void.
    fn epoch(&self) -> Result<[u8; 16], StoreError>;

    /// The newest audit entries of spaces where the viewer is an admin, but for those about private memories of others;
    /// for an admin of the org also those, those of every space of its org, and those without a space.
    fn audit(&self, viewer: &Viewer, filter: &AuditFilter) -> Result<Vec<AuditEntry>, StoreError>;
}

/// What is derived reads here: whole and unfiltered. Only the index and the embedding of what waits use it.
pub trait Feed {
    /// These memories as they are now, with the vectors of this model. Those that were erased are missing; the order
    /// is that of the ids.
    fn entries(&self, ids: &[MemoryId], model: Option<&str>) -> Result<Vec<Entry>, StoreError>;

    /// Up to `limit` memories with ids above `after`, ascending.
    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Up to `limit` memories, of one space or of all, whose contents hold any of these texts, in any case: those that
    /// hold more of them first, then the newest. Those forgotten, quarantined or archived do not count. Reads every
    /// content, so it is for when there is no index.
    fn holding(
        &self,
        texts: &[&str],
        space: Option<SpaceId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError>;

    /// How many memories there are, however they stand.
    fn size(&self) -> Result<u64, StoreError>;

    /// The model whose vectors answer, where one was chosen.
    fn model(&self) -> Result<Option<String>, StoreError>;

    /// How many memories have a chunk without a vector of this model. Those forgotten, quarantined or archived do not
    /// count.
    fn unembedded(&self, model: &str) -> Result<u64, StoreError>;

    /// Up to `limit` of those that [could not be embedded](crate::change::Write::NotEmbedded) fewer than `tried` times: the
    /// fewest times first, then in the order in which they came into the store. Both are quick for the model that answers
    /// and for one that [`Write::Embed`](crate::change::Write::Embed) has begun with; for others the whole store is read.
    fn unembedded_ids(&self, model: &str, tried: u32, limit: usize) -> Result<Vec<MemoryId>, StoreError>;

    /// Those of these memories that were [inserted](crate::change::Write::Insert) with a chunk that had no vector, and have
    /// got none since. What was loaded is not among them.
    fn unlinked(&self, ids: &[MemoryId]) -> Result<Vec<MemoryId>, StoreError>;
}

/// What rules look at. Not filtered: only the work that applies rules reads here.
pub trait Aging {
    /// Up to `limit` records of these spaces with ids above `after`, ascending. Left out are those that no rule may move:
    /// what is put aside or still being made, and, unless forgotten, what somebody archived.
    fn lives(
        &self,
        spaces: &[SpaceId],
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Life>, StoreError>;

    /// How many audit entries of a space, or of none, were written before a time.
    fn audited_before(&self, space: Option<SpaceId>, before: Timestamp) -> Result<u64, StoreError>;
}

/// Background work.
pub trait Jobs {
    /// The job with this id.
    fn job(&self, id: JobId) -> Result<Option<Job>, StoreError>;

    /// The jobs of these states and kinds (empty: all), oldest due first, at most `limit`.
    fn jobs(&self, states: &[JobState], kinds: &[&str], limit: usize) -> Result<Vec<Job>, StoreError>;

    /// Up to `limit` jobs of these kinds that may be begun at `now`: waiting and due, or running with a lease that
    /// ran out. Oldest due first. A time that is more than a day ahead was set by a clock that ran ahead, and counts as come.
    fn claimable(&self, kinds: &[&str], now: Timestamp, limit: usize) -> Result<Vec<Job>, StoreError>;
}

/// Requests that are done once.
pub trait Claims {
    /// The claim of that principal and key.
    fn claim(&self, principal: PrincipalId, key: &str) -> Result<Option<Claim>, StoreError>;
}

/// What is known of the files whose entries are mirrored. Not filtered: only the mirror itself reads here.
pub trait Mirrors {
    /// The mirrored files of a space, by path.
    fn mirrored(&self, space: SpaceId) -> Result<Vec<MirroredFile>, StoreError>;

    /// The memories that mirror entries of one file of a space, in any order. Of an entry, known by hash and occurrence, there is
    /// one: another [conflicts](crate::error::Unique::Entry).
    fn mirrors(&self, space: SpaceId, path: &str) -> Result<Vec<MirroredEntry>, StoreError>;
}

/// What is known of the files, and of other systems' memories, that were imported.
pub trait Imports {
    /// The files that a principal imported into a space, by path. Those of which the memory is in another space by now are
    /// left out, and so are those whose memory was forgotten and in whose place the principal has put another: a file that is
    /// read again becomes that one.
    fn imported(&self, space: SpaceId, owner: PrincipalId) -> Result<Vec<ImportedFile>, StoreError>;

    /// Those of these memories of another system, by the digests of their names, that a principal took into a space, in any
    /// order. The memories that stand for them may be in another space by now.
    fn adopted(
        &self,
        space: SpaceId,
        owner: PrincipalId,
        system: System,
        names: &[[u8; 32]],
    ) -> Result<Vec<AdoptedItem>, StoreError>;

    /// Whether any memory, however it stands, describes the object under this key.
    fn is_attached(&self, object_key: &str) -> Result<bool, StoreError>;
}

/// What the language model has cost. Not filtered: the engine lets only an admin of the org ask for more than the budget needs.
pub trait Usages {
    /// What was [spent](crate::change::Write::Spend) on this day, as `YYYY-MM-DD`, and on those after it: the newest day first,
    /// then by service, model and purpose.
    fn usage(&self, from: &str) -> Result<Vec<Usage>, StoreError>;
}

/// What passes did.
pub trait Passes {
    /// The passes that match, the newest first: of spaces that the viewer is a member of, but for those about private memories
    /// of others.
    fn passes(&self, viewer: &Viewer, filter: &PassFilter) -> Result<Vec<Pass>, StoreError>;

    /// One of them.
    fn pass(&self, viewer: &Viewer, id: PassId) -> Result<Option<Pass>, StoreError>;
}

/// Records that wait to be loaded, in the order in which they came. They are kept outside of memory and outside of the store,
/// and are gone when this is dropped, also by a crash.
pub trait Stage: Send + std::fmt::Debug {
    /// Adds a record with the number of its line. Not to be called once [`next`](Self::next) was.
    fn push(&mut self, line: u64, record: &Record) -> Result<(), StoreError>;

    /// The next record, from the first one on; `None` after the last.
    fn next(&mut self) -> Result<Option<(u64, Record)>, StoreError>;
}

/// Applies one set of a load.
pub type ApplyLoad<'a> = dyn FnMut(&ChangeSet) -> Result<Applied, StoreError> + 'a;

/// Applies the sets of a load, and says whether they are to be committed.
pub type LoadWork<'a> = dyn FnMut(&mut ApplyLoad<'_>) -> bool + 'a;

/// The whole content, for moving it elsewhere. Not filtered: the engine lets only an admin of the org ask.
pub trait Transfer {
    /// Up to `limit` keys of attachments of memories, however they stand, in order, from `after` on.
    fn attached(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>, StoreError>;

    /// An empty stage.
    fn stage(&self) -> Result<Box<dyn Stage>, StoreError>;

    /// Writes several sets as one transaction, and returns after it is durable. `work` is called once, with what applies a
    /// set as [`Store::apply`] does; where it answers false, or a set or the commit fails, nothing was written. Reads see
    /// the store as it was before until then, and other writers wait.
    fn load(&self, work: &mut LoadWork<'_>) -> Result<bool, StoreError>;

    /// Up to `limit` records from `position` on, without mirrors of files, in an order where each refers only to earlier ones, and where the
    /// next page begins; `None` at the end. Rows written meanwhile may or may not be among them.
    fn dump(
        &self,
        position: DumpPosition,
        limit: usize,
    ) -> Result<(Vec<Record>, Option<DumpPosition>), StoreError>;
}
