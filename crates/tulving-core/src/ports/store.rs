//! The port to a store.
//!
//! Every store keeps these promises, and `tulving-testkit` has the suite that checks them:
//!
//! - [`Store::apply`] is the only way in. It is one transaction: all writes of a set or none, durable when it returns.
//! - A write decided on outdated state returns [`StoreError::Conflict`] and changes nothing.
//! - Every read of a memory takes a [`Viewer`] and answers as if memories that the viewer may not see did not exist. A private
//!   memory is visible to its owner; hub, to the members of its space; team, also to the direct members of the space's team; org,
//!   also to the members of the org, of any of its teams and of any of its hub spaces (being a member only of a sealed group does
//!   not count as being in the org). [`Viewer::within`] restricts all of it.
//! - The log ascends in the order of commits: a reader who has read up to `seq` n misses nothing at or below n.

use std::collections::HashMap;

use crate::model::association::Association;
use crate::model::audit::{AuditEntry, LastChange};
use crate::model::change::{Actor, AdoptedItem, Applied, Change, ChangeSet, Listing};
use crate::model::claim::Claim;
use crate::model::error::StoreError;
use crate::model::file::{ImportedFile, MirroredEntry, MirroredFile};
use crate::model::id::{JobId, ListingId, MemoryId, MemoryRef, PassId, PrincipalId, Seq, SpaceId, TurnId};
use crate::model::job::Job;
use crate::model::life::Life;
use crate::model::llm::LlmUsage;
use crate::model::memory::{ContentHash, Memory, VersionRecord};
use crate::model::pass::{Pass, PassFilter};
use crate::model::record::{DumpPosition, Record};
use crate::model::request::{AuditFilter, Filter, Forgotten, Sort, TurnFilter};
use crate::model::search::{Entry, Section, Sight};
use crate::model::space::{MemberOf, Membership, Principal, Space, Team, Token, TokenHash, Viewer};
use crate::model::time::Timestamp;
use crate::model::turn::Turn;
use crate::model::vocabulary::{Boundary, JobState, Role, System};

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
    /// Inside the transaction it checks, in this order: the actor has every [`Right`](crate::model::change::Right) by a direct
    /// membership of the space, and the memory it is needed for is still there; each write's `from` is still current; keys,
    /// source paths and contents stay unique.
    ///
    /// Each change of a memory or association also writes one entry of the change log. A change that hides the memory from some
    /// who saw it, by a narrower boundary or another space, first writes an entry of
    /// [`Erased`](crate::model::vocabulary::ChangeKind::Erased) with the old space and boundary.
    fn apply(&self, changes: &ChangeSet) -> Result<Applied, StoreError>;

    /// Returns [`StoreError::ReadOnly`] if the store can never be written. Called before something is written elsewhere that a
    /// set would refer to.
    fn require_writable(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

/// A query for memories that a new one would collide with, within one audience of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probe<'a> {
    /// The space.
    pub space: SpaceId,
    /// The boundary of the new memory.
    pub boundary: Boundary,
    /// Its owner.
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

impl Probe<'_> {
    /// Creates a probe that looks for nothing yet.
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

/// The extent of a list to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Maximum number of memories.
    pub limit: usize,
    /// Bytes of content after which it ends, though not before the first memory.
    pub bytes: usize,
    /// Maximum characters of each content; the rest is not returned. The content hash is that of the whole.
    pub each: usize,
}

impl Extent {
    /// Creates an extent of full contents, limited by number and by bytes.
    pub const fn whole(limit: usize, bytes: usize) -> Self {
        Self { limit, bytes, each: usize::MAX }
    }
}

/// Reads of memories.
pub trait Memories {
    /// Returns a memory if the viewer may see it. A number is looked up in `space`.
    ///
    /// A forgotten memory is found only with [`Forgotten::Only`], and only by its owner or, if it is not private, by an admin of
    /// its space.
    fn memory(
        &self,
        viewer: &Viewer,
        space: SpaceId,
        which: MemoryRef,
        forgotten: Forgotten,
    ) -> Result<Option<Memory>, StoreError>;

    /// Returns the memories with these ids that the viewer may see and that are not forgotten, in the order of the ids.
    fn memories(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
        self.memories_within(viewer, ids, usize::MAX)
    }

    /// Returns the same, ending with the memory at which the contents reach `bytes` bytes. The rest is not read.
    fn memories_within(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
        bytes: usize,
    ) -> Result<Vec<Memory>, StoreError>;

    /// Returns the first `limit` memories that match, in order; with `after`, those that follow it. Ties are ordered by id, in
    /// the same direction as the sort. `after` is only given with a [fixed](Sort::is_fixed) sort.
    fn list(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        sort: Sort,
        limit: usize,
        after: Option<(Timestamp, MemoryId)>,
    ) -> Result<Vec<Memory>, StoreError> {
        self.list_within(viewer, filter, sort, Extent::whole(limit, usize::MAX), after)
    }

    /// Returns the same within an extent: it also ends with the memory at which the contents reach a number of bytes, and cuts
    /// each content. The rest is not read. If only beginnings are requested, no two full contents are in memory at once.
    fn list_within(
        &self,
        viewer: &Viewer,
        filter: &Filter,
        sort: Sort,
        extent: Extent,
        after: Option<(Timestamp, MemoryId)>,
    ) -> Result<Vec<Memory>, StoreError>;

    /// Returns the ids of all memories that match, in order.
    fn ids(&self, viewer: &Viewer, filter: &Filter, sort: Sort) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns the number of memories that match.
    fn count(&self, viewer: &Viewer, filter: &Filter) -> Result<u64, StoreError>;

    /// Returns a frozen order if it belongs to the viewer and has not expired at `now`.
    fn listing(&self, viewer: &Viewer, id: ListingId, now: Timestamp) -> Result<Option<Listing>, StoreError>;

    /// Finds the memory that a save would collide with, by key, then path, then content; not forgotten, visible.
    fn duplicate(&self, viewer: &Viewer, probe: &Probe<'_>) -> Result<Option<Memory>, StoreError>;

    /// Returns all versions of a visible memory, oldest first, the current one last, without those that their own boundary hid
    /// from the viewer. Empty if the memory may not be seen or is forgotten.
    fn versions(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<VersionRecord>, StoreError>;

    /// Visits the same versions one by one, newest first, without keeping them all in memory.
    fn each_version(
        &self,
        viewer: &Viewer,
        id: MemoryId,
        show: &mut dyn FnMut(VersionRecord),
    ) -> Result<(), StoreError>;

    /// Returns the author of the current version of each of these memories that the viewer may see and that are not forgotten, in
    /// any order.
    fn writers(
        &self,
        viewer: &Viewer,
        ids: &[MemoryId],
    ) -> Result<HashMap<MemoryId, PrincipalId>, StoreError>;

    /// Returns the associations that start or end at one of these memories, if the viewer may see both ends and neither is
    /// forgotten or quarantined. Strongest first.
    fn associations(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<Association>, StoreError>;

    /// Returns the `updates` links made by callers to these memories, to the memories that update them, and so on to the end.
    /// Each is a pair of the old and the new memory; the viewer may see both, and neither is forgotten or quarantined. In any
    /// order; chains far longer than real ones are cut off.
    fn succession(&self, viewer: &Viewer, ids: &[MemoryId]) -> Result<Vec<(MemoryId, MemoryId)>, StoreError>;

    /// Returns the sections of a visible memory, in order, without their vectors. Empty if the memory may not be seen or is
    /// forgotten.
    fn sections(&self, viewer: &Viewer, id: MemoryId) -> Result<Vec<Section>, StoreError>;

    /// Returns the turn with this id if the viewer is a member of its space.
    fn turn(&self, viewer: &Viewer, id: TurnId) -> Result<Option<Turn>, StoreError>;

    /// Returns the newest turns of a space, oldest first: as many as have at most `bytes` of content together, but at least one.
    /// Only members of the space see any.
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
    /// Returns the viewer's sight: what it may see in which spaces. It agrees with every read of [`Memories`].
    fn sight(&self, viewer: &Viewer) -> Result<Sight, StoreError>;

    /// Returns the spaces that the viewer is a member of, or whose team or org it administers, by name.
    fn spaces(&self, viewer: &Viewer) -> Result<Vec<Space>, StoreError>;

    /// Returns one of those spaces, and the viewer's role there by direct membership.
    fn space(&self, viewer: &Viewer, id: SpaceId) -> Result<Option<(Space, Option<Role>)>, StoreError>;

    /// Returns the teams that the viewer is a member of, directly or through its org.
    fn teams(&self, viewer: &Viewer) -> Result<Vec<Team>, StoreError>;

    /// Returns the role of a principal by direct membership.
    fn role(&self, principal: PrincipalId, of: MemberOf) -> Result<Option<Role>, StoreError>;

    /// Returns the members of a space, team or org, with their names, by name.
    fn members(&self, of: MemberOf) -> Result<Vec<(Principal, Membership)>, StoreError>;

    /// Returns the principal with this name.
    fn principal_named(&self, name: &str) -> Result<Option<Principal>, StoreError>;

    /// Returns the principals with these ids, in any order.
    fn principals(&self, ids: &[PrincipalId]) -> Result<Vec<Principal>, StoreError>;

    /// Returns the token with this hash, revoked or not. Compared in constant time.
    fn token_by_hash(&self, hash: &TokenHash) -> Result<Option<Token>, StoreError>;

    /// Returns all tokens, of one principal or of all, newest first.
    fn tokens(&self, principal: Option<PrincipalId>) -> Result<Vec<Token>, StoreError>;
}

/// The change log and the audit.
pub trait Log {
    /// Returns up to `limit` entries after `after`, in the order of commits.
    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError>;

    /// Removes up to `most` of the oldest entries up to `up_to`, and returns their number. The newest entry of all stays. A
    /// follower that is behind sees the gap: the next entry is not the one after the last that it read.
    fn trim(&self, up_to: Seq, most: usize) -> Result<usize, StoreError>;

    /// Returns the last entry written.
    fn head(&self) -> Result<Seq, StoreError>;

    /// Returns a number that differs from the last one whenever any process, including this one, has committed in between. Cheap:
    /// it is called before every recall.
    fn change_counter(&self) -> Result<u64, StoreError>;

    /// Returns a random id that changes whenever the content is replaced as a whole. Data derived under another id is invalid.
    fn epoch(&self) -> Result<[u8; 16], StoreError>;

    /// Returns the newest audit entries of spaces where the viewer is an admin, except those about private memories of others. An
    /// admin of the org also gets those, the entries of every space of its org, and those without a space.
    fn audit(&self, viewer: &Viewer, filter: &AuditFilter) -> Result<Vec<AuditEntry>, StoreError>;

    /// Returns the last change that the actor made in a space or to the whole store; creating a space counts as the latter. An
    /// actor with an agent means that agent alone; one without means the principal itself and all agents that act for it. The
    /// change is found by its audit entries, except those of rules and of the home itself, and by the versions that the actor
    /// wrote in the space, as far back as the change log goes. Mirrors and saves by passes do not count. `None` if nothing is
    /// known.
    fn last_change(&self, by: &Actor, space: SpaceId) -> Result<Option<LastChange>, StoreError>;
}

/// Unfiltered reads for derived data. Only the index and the embedding of waiting memories use them.
pub trait Feed {
    /// Returns these memories as they are now, with the vectors of this model, in the order of the ids. Erased ones are missing.
    fn entries(&self, ids: &[MemoryId], model: Option<&str>) -> Result<Vec<Entry>, StoreError>;

    /// Returns up to `limit` memories with ids above `after`, ascending.
    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<Entry>, StoreError>;

    /// Returns up to `limit` memories, of one space or of all, whose contents contain any of these texts, ignoring case: those
    /// with more of them first, then the newest. Forgotten, quarantined or archived ones do not count. Reads every content, so it
    /// is for when there is no index.
    fn holding(
        &self,
        texts: &[&str],
        space: Option<SpaceId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns the number of memories with any status.
    fn size(&self) -> Result<u64, StoreError>;

    /// Returns the model whose vectors answer, if one was chosen.
    fn model(&self) -> Result<Option<String>, StoreError>;

    /// Returns the number of memories that have a chunk without a vector of this model. Forgotten, quarantined or archived ones
    /// do not count.
    fn unembedded(&self, model: &str) -> Result<u64, StoreError>;

    /// Returns up to `limit` of those that [could not be embedded](crate::model::change::Write::NotEmbedded) fewer than `tried` times:
    /// the fewest times first, then in the order in which they came into the store. Both calls are fast for the answering model
    /// and for one that [`Write::Embed`](crate::model::change::Write::Embed) has begun with; for others the whole store is read.
    fn unembedded_ids(&self, model: &str, tried: u32, limit: usize) -> Result<Vec<MemoryId>, StoreError>;

    /// Returns those of these memories that were [inserted](crate::model::change::Write::Insert) with a chunk without a vector, and that
    /// have got none since. Loaded memories are not among them.
    fn unlinked(&self, ids: &[MemoryId]) -> Result<Vec<MemoryId>, StoreError>;
}

/// Reads for lifecycle rules. Not filtered: only the job that applies rules uses them.
pub trait Aging {
    /// Returns up to `limit` records of these spaces with ids above `after`, ascending. Records that no rule may move are left
    /// out: quarantined ones, those still being processed and, unless forgotten, those archived by somebody.
    fn lives(
        &self,
        spaces: &[SpaceId],
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<Life>, StoreError>;

    /// Counts the audit entries of a space, or of none, that were written before a time.
    fn audited_before(&self, space: Option<SpaceId>, before: Timestamp) -> Result<u64, StoreError>;
}

/// Background jobs.
pub trait Jobs {
    /// Returns the job with this id.
    fn job(&self, id: JobId) -> Result<Option<Job>, StoreError>;

    /// Returns the jobs of these states and kinds (empty: all), oldest due first, at most `limit`.
    fn jobs(&self, states: &[JobState], kinds: &[&str], limit: usize) -> Result<Vec<Job>, StoreError>;

    /// Returns up to `limit` jobs of these kinds that may begin at `now`: waiting and due, or running with an expired lease.
    /// Oldest due first. A time more than a day ahead was set by a clock that was ahead, and counts as past.
    fn claimable(&self, kinds: &[&str], now: Timestamp, limit: usize) -> Result<Vec<Job>, StoreError>;
}

/// Idempotent requests.
pub trait Claims {
    /// Returns the claim of that principal and key.
    fn claim(&self, principal: PrincipalId, key: &str) -> Result<Option<Claim>, StoreError>;
}

/// The records of mirrored files. Not filtered: only the mirror itself reads here.
pub trait Mirrors {
    /// Returns the mirrored files of a space, by path.
    fn mirrored(&self, space: SpaceId) -> Result<Vec<MirroredFile>, StoreError>;

    /// Returns the memories that mirror entries of one file of a space, in any order. Each entry, identified by hash and
    /// occurrence, has one: another [conflicts](crate::model::error::Unique::Entry).
    fn mirrors(&self, space: SpaceId, path: &str) -> Result<Vec<MirroredEntry>, StoreError>;
}

/// The records of imported files and of memories imported from other systems.
pub trait Imports {
    /// Returns the files that a principal imported into a space, by path. Left out are files whose memory is now in another
    /// space, and files whose memory was forgotten and replaced by another of the principal: a file read again becomes that one.
    fn imported(&self, space: SpaceId, owner: PrincipalId) -> Result<Vec<ImportedFile>, StoreError>;

    /// Returns the records of these memories of another system, by the digests of their names, that a principal imported into a
    /// space, in any order. The memories imported for them may now be in another space.
    fn adopted(
        &self,
        space: SpaceId,
        owner: PrincipalId,
        system: System,
        names: &[[u8; 32]],
    ) -> Result<Vec<AdoptedItem>, StoreError>;

    /// Returns true if any memory, with any status, describes the object under this key.
    fn is_attached(&self, object_key: &str) -> Result<bool, StoreError>;
}

/// The cost of the language model. Not filtered: the engine lets only an admin of the org ask for more than the budget needs.
pub trait Usages {
    /// Returns the [usage](crate::model::change::Write::Spend) since this day, as `YYYY-MM-DD`: the newest day first, then by service,
    /// model and purpose.
    fn usage(&self, from: &str) -> Result<Vec<LlmUsage>, StoreError>;
}

/// The records of passes.
pub trait Passes {
    /// Returns the matching passes, newest first: those of spaces that the viewer is a member of, except those about private
    /// memories of others.
    fn passes(&self, viewer: &Viewer, filter: &PassFilter) -> Result<Vec<Pass>, StoreError>;

    /// Returns one of these passes.
    fn pass(&self, viewer: &Viewer, id: PassId) -> Result<Option<Pass>, StoreError>;
}

/// Records that wait to be loaded, in the order in which they came. They are kept outside of memory and of the store, and are
/// gone when this is dropped, even by a crash.
pub trait Stage: Send + std::fmt::Debug {
    /// Adds a record with its line number. Must not be called after [`next`](Self::next).
    fn push(&mut self, line: u64, record: &Record) -> Result<(), StoreError>;

    /// Returns the next record, starting with the first; `None` after the last.
    fn next(&mut self) -> Result<Option<(u64, Record)>, StoreError>;
}

/// Applies one set of a load.
pub type ApplyLoad<'a> = dyn FnMut(&ChangeSet) -> Result<Applied, StoreError> + 'a;

/// Applies the sets of a load, and returns true to commit them.
pub type LoadWork<'a> = dyn FnMut(&mut ApplyLoad<'_>) -> bool + 'a;

/// The whole content, for a transfer. Not filtered: the engine lets only an admin of the org ask.
pub trait Transfer {
    /// Returns up to `limit` keys of attachments of memories with any status, in order, after `after`.
    fn attached(&self, after: Option<&str>, limit: usize) -> Result<Vec<String>, StoreError>;

    /// Returns an empty stage.
    fn stage(&self) -> Result<Box<dyn Stage>, StoreError>;

    /// Writes several sets as one transaction, and returns after it is durable. `work` is called once, with a function that
    /// applies a set as [`Store::apply`] does. If it returns false, or a set or the commit fails, nothing was written. Until then
    /// reads see the store as it was before, and other writers wait.
    fn load(&self, work: &mut LoadWork<'_>) -> Result<bool, StoreError>;

    /// Returns up to `limit` records from `position` on, without mirrors of files, and the start of the next page; `None` at the
    /// end. Each record refers only to earlier ones. Rows written meanwhile may or may not be among them.
    fn dump(
        &self,
        position: DumpPosition,
        limit: usize,
    ) -> Result<(Vec<Record>, Option<DumpPosition>), StoreError>;
}
