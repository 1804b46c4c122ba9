//! Writes: a [`ChangeSet`] is one transaction, applied in full or not at all.

use serde::{Deserialize, Serialize};

use crate::model::association::Association;
use crate::model::audit::AuditEntry;
use crate::model::file::{ImportedFile, MirroredFile};
use crate::model::id::{ListingId, MemoryId, Number, PrincipalId, Seq, SpaceId, TokenId, Version};
use crate::model::job::Job;
use crate::model::llm::LlmUsage;
use crate::model::memory::{Attachment, Chunk, Embedding, Memory, Sources, Status, VersionFields};
use crate::model::pass::Pass;
use crate::model::record::{LoadOutcome, MemoryRecord, Record};
use crate::model::space::{Membership, Principal, Space, Token, TokenHash};
use crate::model::time::Timestamp;
use crate::model::turn::Turn;
use crate::model::vocabulary::{
    Author, Boundary, ChangeKind, PassOutcome, Relation, Role, System, Trust, VersionAct,
};

/// All writes of one act, with the state that they were decided on.
#[derive(Clone, Debug)]
pub struct ChangeSet {
    /// The actor.
    pub by: Actor,
    /// Time of the act.
    pub at: Timestamp,
    /// The rights that the actor must still have when the set is applied.
    pub rights: Vec<Right>,
    /// The writes, in order.
    pub writes: Vec<Write>,
}

/// The principal who acts, and the agent used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The principal.
    pub principal: PrincipalId,
    /// The agent, if known.
    pub agent: Option<String>,
}

/// A role that the actor must have in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// The space.
    pub space: SpaceId,
    /// The minimum role.
    pub role: Role,
    /// The memory that the right is needed for. The set conflicts if that memory is now in another space, in which the actor may
    /// lack the role.
    pub over: Option<MemoryId>,
}

/// A write. A write with a `from` conflicts if the row has changed since.
#[derive(Clone, Debug)]
pub enum Write {
    /// Inserts a memory. The store numbers records.
    Insert(Box<NewMemory>),
    /// Adds a version to a memory.
    Revise(Box<Revision>),
    /// Changes the status of a memory without a new version.
    Move {
        /// The memory.
        id: MemoryId,
        /// The status on which the change was decided.
        from: Status,
        /// The new status.
        to: Status,
    },
    /// Moves a memory to another space, with everything that belongs to it. It gets the next number there. No version. Conflicts
    /// if it is forgotten.
    Relocate {
        /// The memory.
        id: MemoryId,
        /// The space and version on which this was decided.
        from: (SpaceId, Version),
        /// The new space.
        to: SpaceId,
    },
    /// Deletes row, versions, chunks, vectors and associations for good, and all kept answers: see [`Write::Answer`].
    Erase {
        /// The memory.
        id: MemoryId,
        /// The version on which this was decided; `None` erases any version.
        from: Option<Version>,
    },
    /// Replaces a memory, which is deleted as by [`Write::Erase`]. The new memory inherits its associations, including those
    /// whose other ends the actor may not see. Each association stays visible to the same people as before.
    Replace {
        /// The memory to delete.
        id: MemoryId,
        /// The version on which this was decided.
        from: Version,
        /// The new memory.
        new: Box<NewMemory>,
    },
    /// Adds vectors to chunks of a memory. No version. Conflicts if the content is no longer that of the given version, because
    /// its chunks may differ.
    Embed {
        /// The memory.
        id: MemoryId,
        /// The version whose chunks were embedded.
        from: Version,
        /// The vectors, by the ordinal of the chunk. A vector of the same model is replaced.
        embeddings: Vec<(u32, Embedding)>,
    },
    /// Records that a model could not embed a memory. The memory waits behind those that failed less often, until its content
    /// changes. No version and no log entry.
    NotEmbedded {
        /// The memory.
        id: MemoryId,
        /// The model.
        model: String,
    },
    /// Makes another model's vectors the ones that answer. Those of all other models are no longer read and may be deleted at any
    /// time.
    ChooseModel {
        /// The answering model on which this was decided.
        from: Option<String>,
        /// The new answering model.
        to: String,
    },
    /// Records that the entry behind a mirror now begins at another line. No version and no log entry.
    Reline {
        /// The memory.
        id: MemoryId,
        /// The line, from 1.
        line: u32,
    },
    /// Replaces or removes the record of a mirrored file. Conflicts if somebody else has mirrored it since.
    Mirrored {
        /// The space.
        space: SpaceId,
        /// The path below the workspace.
        path: String,
        /// The record on which this was decided.
        from: Option<MirroredFile>,
        /// The new record; `None` if the file is gone.
        to: Option<MirroredFile>,
    },
    /// Replaces or removes the record of a file that the actor imported into a space.
    Imported {
        /// The space.
        space: SpaceId,
        /// The path.
        path: String,
        /// The new record; `None` to forget it.
        to: Option<ImportedFile>,
    },
    /// Adds files with the same content to a memory, or removes them. No version. Conflicts if its sources have changed since, or
    /// if another memory of its audience has one of the paths.
    SetSources {
        /// The memory.
        id: MemoryId,
        /// The old sources.
        from: Sources,
        /// The new sources.
        to: Sources,
    },
    /// Changes the path of a file that a memory was imported from. No version. Conflicts if the memory has no file with the old
    /// path.
    Repath {
        /// The memory.
        id: MemoryId,
        /// The old path.
        from: String,
        /// The new path.
        to: String,
    },
    /// Finishes the work that a memory waited for: the extracted text replaces the placeholder. No version. Conflicts if the
    /// memory has changed since the work began.
    Settle(Box<Settled>),
    /// Creates an association, or replaces its weight and maker. A caller's association is kept if the engine would make the same
    /// one.
    Link(Association),
    /// Removes an association.
    Unlink {
        /// The memory that it starts from.
        source: MemoryId,
        /// The memory that it points to.
        target: MemoryId,
        /// The relation.
        relation: Relation,
    },
    /// Counts recalls of memories. Not logged, except for a cooling memory, which becomes active again.
    Touch(Vec<Touch>),
    /// Logs a turn; the store assigns its position.
    LogTurn(Turn),
    /// Deletes all but the newest turns of a space.
    PruneTurns {
        /// The space.
        space: SpaceId,
        /// Number of turns to keep.
        keep: u64,
    },
    /// Enqueues a job.
    Enqueue(Job),
    /// Deletes a job and every trace of it. Conflicts if it has changed.
    RemoveJob(Box<Job>),
    /// Changes a job.
    MoveJob {
        /// The job on which this was decided: its state and attempts.
        from: Box<Job>,
        /// The new job.
        to: Box<Job>,
    },
    /// Adds to the usage of that day, model and purpose.
    Spend(LlmUsage),
    /// Records a pass. Conflicts if the pass is not in the state on which this was decided. A new pass deletes those of its space
    /// that began more than [`KEPT_DAYS`](crate::model::pass::KEPT_DAYS) before it.
    Pass {
        /// The recorded outcome; `None` if there was none.
        from: Option<PassOutcome>,
        /// The new record.
        to: Box<Pass>,
    },
    /// Adds a space.
    AddSpace(Space),
    /// Adds a principal.
    AddPrincipal(Principal),
    /// Adds a membership or replaces its role.
    SetMember(Membership),
    /// Removes a membership.
    RemoveMember(Membership),
    /// Writes nothing. Conflicts if the space has no admin after the writes before this one.
    RequireAdmin(SpaceId),
    /// Adds a token.
    AddToken(Token, TokenHash),
    /// Revokes a token.
    RevokeToken(TokenId),
    /// Begins a request of the actor. Conflicts if the actor's claim of that key is not the one on which this was decided.
    Claim {
        /// The actor's key for the request.
        key: String,
        /// A digest of the request.
        fingerprint: [u8; 32],
        /// Time of the last write of the claim that this replaces; `None` if there was none.
        from: Option<Timestamp>,
    },
    /// Answers a claim of the actor that began at that time and has no answer. If something was erased since it began, an empty
    /// answer is kept, because the answer may reveal the erased content. Answers kept earlier became empty at the erasure.
    Answer {
        /// The actor's key for the request.
        key: String,
        /// Time at which it began. A claim that began later belongs to somebody else.
        begun: Timestamp,
        /// The answer.
        answer: String,
    },
    /// Deletes a claim of the actor that began at that time and has no answer.
    DropClaim {
        /// The actor's key for the request.
        key: String,
        /// Time at which it began.
        begun: Timestamp,
    },
    /// Deletes all but `keep` of the actor's claims: first those answered, then the others, the oldest first.
    BoundClaims {
        /// Number of claims to keep.
        keep: usize,
    },
    /// Empties answers of the actor's claims, the oldest first, until the others have at most `keep` bytes.
    BoundAnswers {
        /// Number of bytes to keep.
        keep: usize,
    },
    /// Deletes some of the claims last written before a time, of any principal, the oldest first.
    PruneClaims {
        /// The time limit.
        before: Timestamp,
        /// Maximum number to delete.
        most: usize,
    },
    /// Freezes the order of a listing until it expires.
    FreezeListing(Listing),
    /// Adds an audit entry.
    Audit(AuditEntry),
    /// Deletes some of the audit entries of a space, or of none, that were written before a time, the oldest first.
    PruneAudit {
        /// The space; `None` for entries about the whole store.
        space: Option<SpaceId>,
        /// The time limit.
        before: Timestamp,
        /// Maximum number to delete.
        most: usize,
    },
    /// Loads a line of a dump as it is, if nothing with that identity exists yet.
    Load(Box<Record>),
    /// Imports a memory of another system like a line of a dump. Two things differ: it gets a new number if it has none, and its
    /// links follow later. The store records the memory imported for it: itself, or the one that has its content, key or path. If
    /// its id is taken, nothing is written.
    Adopt(Box<Adoption>),
    /// Records that a memory corresponds to one of another system in its current form.
    Adopted {
        /// The record of the foreign memory.
        item: ForeignItem,
        /// The corresponding memory.
        memory: MemoryId,
    },
}

/// A memory of another system to import.
#[derive(Clone, Debug)]
pub struct Adoption {
    /// The record of the foreign memory.
    pub item: ForeignItem,
    /// The memory to create.
    pub record: MemoryRecord,
    /// The chunks of its content.
    pub chunks: Vec<Chunk>,
    /// The lower bound for a new number, used if its own is taken or missing: the other memories keep theirs.
    pub above: u64,
}

/// The record of a memory of another system that the actor imported into a space. It does not reveal the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignItem {
    /// The space.
    pub space: SpaceId,
    /// The system.
    pub system: System,
    /// A digest of its name there.
    pub name: [u8; 32],
    /// A digest of its content there.
    pub says: [u8; 32],
}

/// The record of a memory of another system and of the one imported for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptedItem {
    /// A digest of its name there.
    pub name: [u8; 32],
    /// A digest of its content there at the last import.
    pub says: [u8; 32],
    /// The memory imported for it.
    pub memory: MemoryId,
    /// The version that this memory had then.
    pub version: Version,
    /// The version that it has now.
    pub current: Version,
    /// The space that it is in now.
    pub space: SpaceId,
    /// Its current status.
    pub status: Status,
}

/// A memory to insert, with its chunks.
#[derive(Clone, Debug)]
pub struct NewMemory {
    /// The memory; its number is ignored.
    pub memory: Memory,
    /// The chunks to embed and index.
    pub chunks: Vec<Chunk>,
}

/// A new version of a memory.
#[derive(Clone, Debug)]
pub struct Revision {
    /// The memory.
    pub id: MemoryId,
    /// The version on which this was decided.
    pub from: Version,
    /// The act that writes it.
    pub act: VersionAct,
    /// The new content and fields.
    pub fields: VersionFields,
    /// The status on which this was decided.
    pub stood: Status,
    /// The new status.
    pub status: Status,
    /// New chunks, if the content changed.
    pub chunks: Option<Vec<Chunk>>,
    /// The new file, or none, if that changed.
    pub attachment: Option<Option<Attachment>>,
    /// The new author and trust, if they changed.
    pub vouched: Option<Vouched>,
}

/// The author and trust of a memory, after somebody stated on purpose what was captured automatically before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vouched {
    /// The author: on request or automatic.
    pub author: Author,
    /// The trust in its source.
    pub trust: Trust,
}

/// The result of the work on a memory.
#[derive(Clone, Debug)]
pub struct Settled {
    /// The memory.
    pub id: MemoryId,
    /// The version on which the work began.
    pub from: Version,
    /// The new content and fields.
    pub fields: VersionFields,
    /// The status on which this was decided.
    pub stood: Status,
    /// The new status.
    pub status: Status,
    /// The file that it describes, with any error.
    pub attachment: Option<Attachment>,
    /// New chunks, if the content changed.
    pub chunks: Option<Vec<Chunk>>,
}

/// A number of recalls of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The memory.
    pub id: MemoryId,
    /// Number of recalls.
    pub count: u64,
    /// Time of the last one.
    pub at: Timestamp,
}

/// The order of a listing, frozen so that its pages neither skip nor repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its id, which the cursor carries.
    pub id: ListingId,
    /// Its owner; nobody else may use it.
    pub principal: PrincipalId,
    /// Time of expiry.
    pub expires_at: Timestamp,
    /// The memories in order.
    pub ids: Vec<MemoryId>,
}

/// The results of `apply`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The numbers of the memories inserted and relocated, in the order of the writes.
    pub numbers: Vec<Option<Number>>,
    /// The positions of the turns logged, in the order of the writes.
    pub positions: Vec<u64>,
    /// Number of audit entries deleted.
    pub pruned: usize,
    /// The outcome for each line loaded and each memory adopted, in the order of the writes.
    pub loaded: Vec<LoadOutcome>,
    /// The last entry of the change log that this wrote.
    pub seq: Option<Seq>,
}

/// An entry of the change log. Everything derived follows this log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its position, in the order of commits.
    pub seq: Seq,
    /// Time of the change.
    pub at: Timestamp,
    /// The kind of change.
    pub kind: ChangeKind,
    /// The memory.
    pub memory: MemoryId,
    /// The space.
    pub space: SpaceId,
    /// The owner of the memory.
    pub owner: PrincipalId,
    /// The boundary after the change.
    pub boundary: Boundary,
}
