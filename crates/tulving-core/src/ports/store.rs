//! The port to a store.
//!
//! Every store keeps these promises, and `tulving-testkit` has the suite that checks them:
//!
//! - [`Store::apply`] is the only method that adds or changes data, called alone or inside [`Transfer::load`]. Called alone,
//!   it writes a set as one transaction: all writes of the set or none. The writes are durable when the call returns.
//! - A write decided on outdated state returns [`StoreError::Conflict`] and changes nothing.
//! - Every read of a memory takes a [`Viewer`] and answers as if memories that the viewer may not see did not exist. A
//!   memory with the boundary private is visible to its owner. The boundary hub makes it visible to all members of the
//!   space. The boundary team adds the direct members of the space's team. The boundary org adds the
//!   members of the org, of any team of the org, and of any hub space of the org; a principal who is a member only of a
//!   sealed group does not count as being in the org. [`Viewer::within`] restricts every read to some spaces.
//! - The positions in the change log ascend in the order of commits. A reader that has read up to position n has missed no
//!   entry up to n.

use std::collections::HashMap;

use crate::model::association::Association;
use crate::model::audit::{AuditEntry, LastChange};
use crate::model::change::{Actor, Applied, Change, ChangeSet, FrozenOrder, ImportRecord};
use crate::model::claim::Claim;
use crate::model::error::StoreError;
use crate::model::file::{ImportedFile, MirroredEntry, MirroredFile};
use crate::model::id::{JobId, ListingId, MemoryId, MemoryRef, PassId, PrincipalId, Seq, SpaceId, TurnId};
use crate::model::job::Job;
use crate::model::life::LifecycleData;
use crate::model::llm::LlmUsage;
use crate::model::memory::{ContentHash, Memory, VersionRecord};
use crate::model::pass::{Pass, PassFilter};
use crate::model::record::{DumpPosition, Record};
use crate::model::request::{AuditFilter, Filter, ForgottenFilter, Sort, TurnFilter};
use crate::model::search::{IndexEntry, Section, VisibilityScope};
use crate::model::space::{MemberOf, Membership, Principal, Space, Team, Token, TokenHash, Viewer};
use crate::model::time::Timestamp;
use crate::model::turn::Turn;
use crate::model::vocabulary::{Boundary, JobState, Role, System};

/// All ports of a store together.
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
    /// Writes a set as one transaction and returns after the writes are durable.
    ///
    /// Inside the transaction, the store checks in this order: the actor has every [`RequiredRole`](crate::model::change::RequiredRole) by
    /// a direct membership of the space, and the memory that the right is needed for is still in that space; the `from` of
    /// each write is still current; keys, source paths and contents stay unique.
    ///
    /// Each change of a memory or association also writes one entry to the change log. A narrower boundary or another space
    /// can hide a memory from principals who could see the memory before. Such a change first writes an entry of the kind
    /// [`Erased`](crate::model::vocabulary::ChangeKind::Erased) with the old space and boundary.
    fn apply(&self, changes: &ChangeSet) -> Result<Applied, StoreError>;

    /// Returns [`StoreError::ReadOnly`] if the store can never be written. Callers check this before they write a file or an
    /// object that a later set refers to.
    fn require_writable(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A query for existing memories that a new memory would collide with, within one audience of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateQuery<'a> {
    /// The space.
    pub space: SpaceId,
    /// The boundary of the new memory.
    pub boundary: Boundary,
    /// The owner of the new memory.
    pub owner: PrincipalId,
    /// The key to look for in the audience: the owner's private memories, or all shared ones.
    pub key: Option<&'a str>,
    /// The path to look for in the same audience.
    pub source_path: Option<&'a str>,
    /// The content to look for among records with exactly this boundary and without key or conversation.
    pub content_hash: Option<ContentHash>,
    /// The hash of the file to look for among the same records.
    pub attachment_hash: Option<&'a str>,
}

impl DuplicateQuery<'_> {
    /// Creates a query that looks for nothing yet.
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

/// The maximum size of a list to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadLimit {
    /// Maximum number of memories.
    pub limit: usize,
    /// Number of bytes of content after which the list ends. The list always has at least one memory, if any memory matches.
    pub bytes: usize,
    /// Maximum number of characters returned of each content. The content hash is still the hash of the full content.
    pub each: usize,
}

impl ReadLimit {
    /// Creates a limit on the number and on the bytes of the memories. Contents are returned in full.
    pub const fn whole(limit: usize, bytes: usize) -> Self {
        Self { limit, bytes, each: usize::MAX }
    }
}

/// Reads of memories.
pub trait Memories {
    /// Returns a memory if the viewer may see it. A number is looked up in `space`.
    ///
    /// A forgotten memory is found only with [`ForgottenFilter::Only`], and only by its owner or, if it is not private, by an admin of
    /// its space.
    fn memory(
        &self,
        viewer: &Viewer,
        space: SpaceId,
        which: MemoryRef,
        forgotten: ForgottenFilter,
    ) -> Result<Option<Memory>, StoreError>;

    /// Returns the memories with these ids that the viewer may see and that are not forgotten, in the order of the ids.
    fn memories(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
        self.memories_within(viewer, ids, usize::MAX)
    }

    /// Returns the same memories as [`memories`](Self::memories), but ends with the memory at which the contents reach
    /// `bytes` bytes in total. Later memories are not read.
    fn memories_within(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
        bytes: usize,
    ) -> Result<Vec<Memory>, StoreError>;

    /// Returns the first `limit` memories that match, in order. With `after`, returns the first `limit` memories that follow
    /// that position. Ties are ordered by id, in the same direction as the sort. Callers give `after` only with a
    /// [fixed](Sort::is_fixed) sort.
    fn list(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        sort: Sort,
        limit: usize,
        after: Option<(Timestamp, MemoryId)>,
    ) -> Result<Vec<Memory>, StoreError> {
        self.list_within(viewer, filter, sort, ReadLimit::whole(limit, usize::MAX), after)
    }

    /// Returns the same memories as [`list`](Self::list), up to a limit: the list also ends with the memory at which
    /// the contents reach the number of bytes, and each content is cut. Later memories are not read. If the limit cuts
    /// contents, at most one full content is in memory at a time.
    fn list_within(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        sort: Sort,
        extent: ReadLimit,
        after: Option<(Timestamp, MemoryId)>,
    ) -> Result<Vec<Memory>, StoreError>;

    /// Returns the ids of all memories that match, in order.
    fn ids(&self, viewer: &Viewer, filter: &Filter, sort: Sort) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns the number of memories that match.
    fn count(&self, viewer: &Viewer, filter: &Filter) -> Result<u64, StoreError> {
        self.count_up_to(viewer, filter, u64::MAX)
    }

    /// Returns the number of memories that match, or `most` if there are more. Counting stops there.
    fn count_up_to(&self, viewer: &Viewer, filter: &Filter, most: u64) -> Result<u64, StoreError>;

    /// Returns those of these names that are the project of a memory that lists show, as they are written there, in any
    /// order. Capitals do not matter.
    fn projects(&self, viewer: &Viewer, names: &[&str]) -> Result<Vec<String>, StoreError>;

    /// Returns a frozen listing if the listing belongs to the viewer and has not expired at `now`.
    fn listing(
        &self,
        viewer: &Viewer,
        id: ListingId,
        now: Timestamp,
    ) -> Result<Option<FrozenOrder>, StoreError>;

    /// Finds the memory that a save would collide with: by key, then by path, then by content. Returns only a visible memory
    /// that is not forgotten.
    fn duplicate(
        &self,
        viewer: &Viewer,
        duplicate_query: &DuplicateQuery<'_>,
    ) -> Result<Option<Memory>, StoreError>;

    /// Returns the versions of a memory, oldest first, including the current version. Versions whose own boundary hid them
    /// from the viewer are left out. The list is empty if the viewer may not see the memory, or if the memory is forgotten.
    fn versions(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<VersionRecord>, StoreError>;

    /// Calls `show` with each of the [`versions`](Self::versions), newest first, without loading all versions into memory at
    /// once.
    fn each_version(
        &self,
        viewer: &Viewer,
        id: MemoryId,
        show: &mut dyn FnMut(VersionRecord),
    ) -> Result<(), StoreError>;

    /// Returns the author of the current version of each of these memories. Memories that the viewer may not see and
    /// forgotten memories are left out.
    fn writers(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
    ) -> Result<HashMap<MemoryId, PrincipalId>, StoreError>;

    /// Returns the associations that start or end at any of these memories, strongest first. An association is included only
    /// if the viewer may see both memories and neither memory is forgotten or quarantined.
    fn associations(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<Association>, StoreError>;

    /// Follows the `updates` links that callers made, from these memories to the memories that update them, and so on to the
    /// newest. Returns each link as a pair of the old and the new memory, in any order. A link is included only if the
    /// viewer may see both memories and neither memory is forgotten or quarantined. Extremely long chains are cut off.
    fn succession(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<(MemoryId, MemoryId)>, StoreError>;

    /// Returns the sections of a memory, in order, without their vectors. The list is empty if the viewer may not see the
    /// memory, or if the memory is forgotten.
    fn sections(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<Section>, StoreError>;

    /// Returns the turn with this id if the viewer is a member of its space.
    fn turn(&self, viewer: &Viewer, id: TurnId) -> Result<Option<Turn>, StoreError>;

    /// Returns the newest turns of a space, oldest first. Their contents have at most `bytes` bytes in total, but at least
    /// one turn is returned if any matches. If the viewer is not a member of the space, the list is empty.
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
    /// Returns the viewer's visibility: the spaces and boundaries of the memories that the viewer may see. Every read of
    /// [`Memories`] follows the same rules.
    fn visibility(&self, viewer: &Viewer) -> Result<VisibilityScope, StoreError>;

    /// Returns the spaces that the viewer is a member of, or whose team or org the viewer administers, ordered by name.
    fn spaces(&self, viewer: &Viewer) -> Result<Vec<Space>, StoreError>;

    /// Returns one of the viewer's [`spaces`](Self::spaces), and the viewer's role in that space by direct membership.
    fn space(&self, viewer: &Viewer, id: SpaceId) -> Result<Option<(Space, Option<Role>)>, StoreError>;

    /// Returns the teams that the viewer is a member of, directly or through the team's org.
    fn teams(&self, viewer: &Viewer) -> Result<Vec<Team>, StoreError>;

    /// Returns the role that a principal has by direct membership of a space, team or org.
    fn role(&self, principal: PrincipalId, of: MemberOf) -> Result<Option<Role>, StoreError>;

    /// Returns the members of a space, team or org, with their names, ordered by name.
    fn members(&self, of: MemberOf) -> Result<Vec<(Principal, Membership)>, StoreError>;

    /// Returns the principal with this name.
    fn principal_named(&self, name: &str) -> Result<Option<Principal>, StoreError>;

    /// Returns the principals with these ids, in any order.
    fn principals(&self, ids: &[PrincipalId]) -> Result<Vec<Principal>, StoreError>;

    /// Returns the token with this hash, even if the token is revoked. The hashes are compared in constant time.
    fn token_by_hash(&self, hash: &TokenHash) -> Result<Option<Token>, StoreError>;

    /// Returns all tokens of one principal, or of all principals, newest first.
    fn tokens(&self, principal: Option<PrincipalId>) -> Result<Vec<Token>, StoreError>;
}

/// Reads of the change log and of the audit log, and the trimming of the change log.
pub trait Log {
    /// Returns up to `limit` entries of the change log after the position `after`, in the order of commits.
    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError>;

    /// Removes the oldest entries of the change log up to the position `up_to`, at most `most` entries, and returns their
    /// number. The newest entry of the log is never removed. A follower that is behind notices the gap, because the position
    /// of the next entry does not directly follow the last position that the follower read.
    fn trim(&self, up_to: Seq, most: usize) -> Result<usize, StoreError>;

    /// Returns the position of the newest entry of the change log.
    fn head(&self) -> Result<Seq, StoreError>;

    /// Returns a number that changes whenever any process, including this process, commits. The call must be cheap, because
    /// it is made before every recall.
    fn change_counter(&self) -> Result<u64, StoreError>;

    /// Returns a random id that changes whenever the content of the store is completely replaced, as by a restore. Data that
    /// was derived under another id is invalid.
    fn epoch(&self) -> Result<[u8; 16], StoreError>;

    /// Returns the newest audit entries of the spaces where the viewer is an admin, without the entries about private
    /// memories of other principals. An admin of the org gets the entries of every space of the org, including entries about
    /// private memories, and the entries without a space.
    fn audit(&self, viewer: &Viewer, filter: &AuditFilter) -> Result<Vec<AuditEntry>, StoreError>;

    /// Returns the last change that the actor made in a space or to the whole store; `None` if no change is known. Creating
    /// a space is a change to the whole store. If the actor names an agent, only changes by that agent count; otherwise,
    /// changes by the principal and by all agents of the principal count. The change is found by the actor's audit entries,
    /// without entries of rules and of the home itself, and by the versions that the actor wrote in the space, as far back
    /// as the change log reaches. Mirrors and saves by passes do not count.
    fn last_change(&self, by: &Actor, space: SpaceId) -> Result<Option<LastChange>, StoreError>;
}

/// Reads for derived data, without a check of access. Only the index and the job that embeds waiting memories use these
/// reads.
pub trait Feed {
    /// Returns the current state of these memories, with the vectors of this model, in the order of the ids. Erased memories
    /// are left out.
    fn entries(&self, ids: &[MemoryId], model: Option<&str>) -> Result<Vec<IndexEntry>, StoreError>;

    /// Returns up to `limit` memories with ids above `after`, ascending.
    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<IndexEntry>, StoreError>;

    /// Returns up to `limit` memories of one space, or of all spaces, whose contents contain any of these texts, ignoring
    /// case. Memories that contain more of the texts come first, then newer memories. Forgotten, quarantined and archived
    /// memories are left out. Callers use this only if there is no index, because it reads every content.
    fn holding(
        &self,
        texts: &[&str],
        space: Option<SpaceId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns the number of memories with any status.
    fn size(&self) -> Result<u64, StoreError>;

    /// Returns the model whose vectors recall uses, if a model was chosen.
    fn model(&self) -> Result<Option<String>, StoreError>;

    /// Returns the model that will replace the one in use once every memory has its vectors, if a change was requested or
    /// has begun.
    fn next_model(&self) -> Result<Option<String>, StoreError>;

    /// Returns the number of memories with a vector of this model. Reads the list of all vectors.
    fn embedded(&self, model: &str) -> Result<u64, StoreError>;

    /// Returns the number of memories that have a chunk without a vector of this model. Forgotten, quarantined and archived
    /// memories do not count.
    fn unembedded(&self, model: &str) -> Result<u64, StoreError>;

    /// Returns up to `limit` of the [`unembedded`](Self::unembedded) memories whose embedding
    /// [failed](crate::model::change::Write::NotEmbedded) fewer than `tried` times. Memories with fewer failures come first,
    /// then memories that entered the store earlier. This call and `unembedded` are fast for the model in use, and for a
    /// model whose vectors [`Write::Embed`](crate::model::change::Write::Embed) has already added. For any other model, both
    /// calls read the whole store.
    fn unembedded_ids(&self, model: &str, tried: u32, limit: usize) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns the given memories that were [inserted](crate::model::change::Write::Insert) with a chunk without a vector
    /// and have got no vectors since. Memories loaded from a dump are left out.
    fn unlinked(&self, ids: &[MemoryId]) -> Result<Vec<MemoryId>, StoreError>;
}

/// Reads for lifecycle rules, without a check of access. Only the job that applies the rules uses these reads.
pub trait Aging {
    /// Returns up to `limit` records of these spaces with ids above `after`, ascending. Records whose state no rule may
    /// change are left out: quarantined records, records that are still being processed, and records that somebody
    /// archived and that are not forgotten.
    fn lives(
        &self,
        spaces: &[SpaceId],
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<LifecycleData>, StoreError>;

    /// Counts the audit entries of a space that were written before a time; with `None`, the entries without a space.
    fn audited_before(&self, space: Option<SpaceId>, before: Timestamp) -> Result<u64, StoreError>;
}

/// Background jobs.
pub trait Jobs {
    /// Returns the job with this id.
    fn job(&self, id: JobId) -> Result<Option<Job>, StoreError>;

    /// Returns up to `limit` jobs of these states and kinds, the earliest due first. An empty list matches all states or
    /// kinds.
    fn jobs(&self, states: &[JobState], kinds: &[&str], limit: usize) -> Result<Vec<Job>, StoreError>;

    /// Returns up to `limit` jobs of these kinds that may begin at `now`, the earliest due first. A job may begin if it is
    /// waiting and due, or if it is running with an expired lease. A time more than a day in the future counts as past,
    /// because the clock that set it was wrong.
    fn claimable(&self, kinds: &[&str], now: Timestamp, limit: usize) -> Result<Vec<Job>, StoreError>;
}

/// Reads of claims, which make requests idempotent.
pub trait Claims {
    /// Returns the claim of this principal with this key.
    fn claim(&self, principal: PrincipalId, key: &str) -> Result<Option<Claim>, StoreError>;
}

/// Reads of the records of mirrored files, without a check of access.
pub trait Mirrors {
    /// Returns the mirrored files of a space, ordered by path.
    fn mirrored(&self, space: SpaceId) -> Result<Vec<MirroredFile>, StoreError>;

    /// Returns the memories that mirror entries of one file of a space, in any order. An entry is identified by its hash and
    /// occurrence, and has only one memory; a second memory for the same entry is a
    /// [conflict](crate::model::error::Unique::Entry).
    fn mirrors(&self, space: SpaceId, path: &str) -> Result<Vec<MirroredEntry>, StoreError>;
}

/// The records of imported files and of memories imported from other systems.
pub trait Imports {
    /// Returns the files that a principal imported into a space, ordered by path. Files whose memory is now in another space
    /// are left out. Files whose memory was forgotten and replaced by another memory of the principal are also left out,
    /// because importing such a file again leads to the other memory.
    fn imported(&self, space: SpaceId, owner: PrincipalId) -> Result<Vec<ImportedFile>, StoreError>;

    /// Returns the records of memories that a principal imported from another system into a space, in any order. `names`
    /// contains the digests of the names in the other system. The imported memories may now be in another space.
    fn adopted(
        &self,
        space: SpaceId,
        owner: PrincipalId,
        system: System,
        names: &[[u8; 32]],
    ) -> Result<Vec<ImportRecord>, StoreError>;

    /// Returns true if any memory, with any status, describes the object under this key.
    fn is_attached(&self, object_key: &str) -> Result<bool, StoreError>;
}

/// Reads of the cost of the language model, without a check of access. The engine itself reads only the data that the budget
/// needs, and returns more only to an admin of the org.
pub trait Usages {
    /// Returns the [usage](crate::model::change::Write::Spend) since this day, given as `YYYY-MM-DD`. The newest day comes
    /// first; each day is ordered by service, model and purpose.
    fn usage(&self, from: &str) -> Result<Vec<LlmUsage>, StoreError>;
}

/// Reads of the records of passes.
pub trait Passes {
    /// Returns the matching passes, newest first. Only passes of spaces that the viewer is a member of are returned, and no
    /// passes about private memories of other principals.
    fn passes(&self, viewer: &Viewer, filter: &PassFilter) -> Result<Vec<Pass>, StoreError>;

    /// Returns the pass with this id, if [`passes`](Self::passes) may return the pass to this viewer.
    fn pass(&self, viewer: &Viewer, id: PassId) -> Result<Option<Pass>, StoreError>;
}

/// Temporary storage for records that wait to be loaded, in the order in which they were added. The records are stored
/// neither in main memory nor in the store, and are deleted when the stage is dropped, even by a crash.
pub trait Stage: Send + std::fmt::Debug {
    /// Adds a record with its line number. Must not be called after [`next`](Self::next).
    fn push(&mut self, line: u64, record: &Record) -> Result<(), StoreError>;

    /// Returns the next record and its line number, starting with the first record; `None` after the last record.
    fn next(&mut self) -> Result<Option<(u64, Record)>, StoreError>;
}

/// Applies one set of a load.
pub type ApplyLoad<'a> = dyn FnMut(&ChangeSet) -> Result<Applied, StoreError> + 'a;

/// Applies the sets of a load, and returns true to commit them.
pub type LoadWork<'a> = dyn FnMut(&mut ApplyLoad<'_>) -> bool + 'a;

/// Reads and writes of the whole content of a store, without a check of access. The engine allows a transfer only to an
/// admin of the org.
pub trait Transfer {
    /// Returns up to `limit` keys of attachments after the key `after`, in order. Attachments of memories with any status
    /// are included.
    fn attached(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Returns an empty stage.
    fn stage(&self) -> Result<Box<dyn Stage>, StoreError>;

    /// Writes several sets as one transaction, and returns after the writes are durable. `work` is called once, with a
    /// function that applies a set as [`Store::apply`] does. If `work` returns false, or if a set or the commit fails,
    /// nothing is written. Until the commit, reads see the previous state of the store, and other writers wait.
    fn load(&self, work: &mut LoadWork<'_>) -> Result<bool, StoreError>;

    /// Returns up to `limit` records from `position` on, and the position of the next page (`None` at the end). Mirrors of
    /// files are left out. Each record refers only to earlier records. Rows that are written during the dump may or may not
    /// be included.
    fn dump(
        &self,
        position: DumpPosition,
        limit: usize,
    ) -> Result<(Vec<Record>, Option<DumpPosition>), StoreError>;
}
