//! Writes: a [`ChangeSet`] is one transaction, applied in full or not at all.

use serde::{Deserialize, Serialize};

use crate::model::association::Association;
use crate::model::audit::AuditEntry;
use crate::model::file::{ImportedFile, MirroredFile};
use crate::model::id::{ListingId, MemoryId, MemoryNumber, PrincipalId, Seq, SpaceId, TokenId, Version};
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

/// All writes of one act. The writes contain the state on which they were decided.
#[derive(Clone, Debug)]
pub struct ChangeSet {
    /// The actor.
    pub by: Actor,
    /// Time of the act.
    pub at: Timestamp,
    /// The rights that the actor must still have when the set is applied.
    pub rights: Vec<RequiredRole>,
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
pub struct RequiredRole {
    /// The space.
    pub space: SpaceId,
    /// The minimum role.
    pub role: Role,
    /// The memory that the right is needed for. The set conflicts if that memory is now in another space, because the actor
    /// may not have the role there.
    pub over: Option<MemoryId>,
}

/// A write. A write with a `from` conflicts if the row no longer has that state.
#[derive(Clone, Debug)]
pub enum Write {
    /// Inserts a memory. If the memory is a record, the store assigns its number.
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
    /// Moves a memory to another space, with all data that belongs to the memory. The memory gets the next number of the new
    /// space. Creates no version. Conflicts if the memory is forgotten.
    Relocate {
        /// The memory.
        id: MemoryId,
        /// The space and version on which this was decided.
        from: (SpaceId, Version),
        /// The new space.
        to: SpaceId,
    },
    /// Deletes a memory permanently: row, versions, chunks, vectors and associations. Also empties all stored answers: see
    /// [`Write::Answer`].
    Erase {
        /// The memory.
        id: MemoryId,
        /// The version on which this was decided; `None` erases any version.
        from: Option<Version>,
    },
    /// Replaces a memory. The old memory is deleted as by [`Write::Erase`]. The new memory gets all associations of the old
    /// memory, including associations with memories that the actor may not see. Each association stays visible to the same
    /// people as before.
    Replace {
        /// The memory to delete.
        id: MemoryId,
        /// The version on which this was decided.
        from: Version,
        /// The new memory.
        new: Box<NewMemory>,
    },
    /// Adds vectors to chunks of a memory. Creates no version. Conflicts if the content has changed since the given version,
    /// because the chunks may differ.
    Embed {
        /// The memory.
        id: MemoryId,
        /// The version whose chunks were embedded.
        from: Version,
        /// The vectors, each with the ordinal of its chunk. An existing vector of the same model is replaced.
        embeddings: Vec<(u32, Embedding)>,
    },
    /// Records that a model could not embed a memory. Until its content changes, the memory waits behind memories that
    /// failed less often. Creates no version and no log entry.
    NotEmbedded {
        /// The memory.
        id: MemoryId,
        /// The model.
        model: String,
    },
    /// Chooses the model whose vectors recall uses. Vectors of other models are no longer read, and may be deleted at any
    /// time.
    ChooseModel {
        /// The model in use on which this was decided.
        from: Option<String>,
        /// The model to use from now on.
        to: String,
    },
    /// Requests that a model replaces the one in use. From now on, the store records the memories that wait for its vectors.
    /// Cancels an earlier request for another model. Changes nothing if no model is in use yet. Creates no log entry.
    RequestModel {
        /// The model.
        model: String,
    },
    /// Records that the entry of a mirror now begins at another line of its file. Creates no version and no log entry.
    Reline {
        /// The memory.
        id: MemoryId,
        /// The line, from 1.
        line: u32,
    },
    /// Replaces or removes the record of a mirrored file. Conflicts if somebody else has mirrored the file since.
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
        /// The new record; `None` to remove the record.
        to: Option<ImportedFile>,
    },
    /// Adds files with the same content to a memory, or removes such files. Creates no version. Conflicts if the sources of
    /// the memory have changed since, or if another memory of the same audience has any of the paths.
    SetSources {
        /// The memory.
        id: MemoryId,
        /// The old sources.
        from: Sources,
        /// The new sources.
        to: Sources,
    },
    /// Changes the path of a file that a memory was imported from. Creates no version. Conflicts if the memory has no file
    /// with the old path.
    Repath {
        /// The memory.
        id: MemoryId,
        /// The old path.
        from: String,
        /// The new path.
        to: String,
    },
    /// Finishes the background work on a memory: the extracted text replaces the placeholder. Creates no version. Conflicts
    /// if the memory has changed since the work began.
    Settle(Box<BackgroundResult>),
    /// Creates an association, or replaces its weight and maker. An association that a caller made is not replaced by the
    /// same association of the engine.
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
    /// Counts recalls of memories. A recalled memory that is cooling becomes active again, and only this change is logged.
    Touch(Vec<RecallCount>),
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
    /// Deletes all data of a job. Conflicts if the job has changed.
    RemoveJob(Box<Job>),
    /// Changes a job.
    MoveJob {
        /// The job on which this was decided: its state and attempts.
        from: Box<Job>,
        /// The new job.
        to: Box<Job>,
    },
    /// Adds to the usage of a language model for a day and a purpose.
    Spend(LlmUsage),
    /// Records a pass. Conflicts if the pass is not in the state on which this was decided. A new pass deletes the passes of
    /// its space that began more than [`KEPT_DAYS`](crate::model::pass::KEPT_DAYS) days earlier.
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
    /// Records that a request of the actor begins. Conflicts if the actor's claim with that key is not the claim on which
    /// this was decided.
    Claim {
        /// The actor's key for the request.
        key: String,
        /// A digest of the request.
        fingerprint: [u8; 32],
        /// Time of the last write of the claim that this replaces; `None` if there was none.
        from: Option<Timestamp>,
    },
    /// Adds the answer to the actor's claim that began at the given time, if it has no answer yet. If any memory was erased
    /// since the claim began, an empty answer is stored, because the answer may reveal the erased content. For the same
    /// reason, each erasure empties all answers that are already stored.
    Answer {
        /// The actor's key for the request.
        key: String,
        /// Time at which the request began. A claim that began later belongs to another request.
        begun: Timestamp,
        /// The answer.
        answer: String,
    },
    /// Deletes the actor's claim that began at that time, if it has no answer yet.
    DropClaim {
        /// The actor's key for the request.
        key: String,
        /// Time at which it began.
        begun: Timestamp,
    },
    /// Deletes claims of the actor until at most `keep` claims remain: first answered claims, then other claims, each the
    /// oldest first.
    BoundClaims {
        /// Number of claims to keep.
        keep: usize,
    },
    /// Empties answers of the actor's claims, the oldest first, until the remaining answers have at most `keep` bytes in
    /// total.
    BoundAnswers {
        /// Number of bytes to keep.
        keep: usize,
    },
    /// Deletes claims of any principal that were last written before a time, the oldest first.
    PruneClaims {
        /// The time limit.
        before: Timestamp,
        /// Maximum number of entries to delete.
        most: usize,
    },
    /// Freezes the order of a listing until it expires.
    FreezeListing(FrozenOrder),
    /// Adds an audit entry.
    Audit(AuditEntry),
    /// Deletes audit entries of a space, or about the whole store, that were written before a time, the oldest first.
    PruneAudit {
        /// The space; `None` for entries about the whole store.
        space: Option<SpaceId>,
        /// The time limit.
        before: Timestamp,
        /// Maximum number of entries to delete.
        most: usize,
    },
    /// Loads a line of a dump unchanged, if the store does not have the record yet.
    Load(Box<Record>),
    /// Imports a memory of another system like a line of a dump, with two differences: a memory without a number gets a new
    /// number, and the links are added later. The store records which memory corresponds to the foreign memory: the new
    /// memory, or an existing memory with the same content, key or path. If the id already exists, nothing is written.
    Adopt(Box<ImportedRecord>),
    /// Records that a memory corresponds to the current content of a memory of another system.
    Adopted {
        /// The record of the foreign memory.
        item: ForeignItem,
        /// The corresponding memory.
        memory: MemoryId,
    },
}

/// A memory of another system to import.
#[derive(Clone, Debug)]
pub struct ImportedRecord {
    /// The record of the foreign memory.
    pub item: ForeignItem,
    /// The memory to create.
    pub record: MemoryRecord,
    /// The chunks of its content.
    pub chunks: Vec<Chunk>,
    /// The lower bound for a new number, which is used if the memory's own number is taken or missing. The bound protects
    /// the numbers of the other imported memories.
    pub above: u64,
}

/// The record of a memory of another system that the actor imported into a space. It does not reveal the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignItem {
    /// The space.
    pub space: SpaceId,
    /// The system.
    pub system: System,
    /// A digest of the memory's name in the other system.
    pub name: [u8; 32],
    /// A digest of the memory's content in the other system.
    pub says: [u8; 32],
}

/// The record of a memory of another system, and of the corresponding memory in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImportRecord {
    /// A digest of the memory's name in the other system.
    pub name: [u8; 32],
    /// A digest of the memory's content in the other system at the last import.
    pub says: [u8; 32],
    /// The corresponding memory.
    pub memory: MemoryId,
    /// The version that the corresponding memory had at the last import.
    pub version: Version,
    /// The current version of the corresponding memory.
    pub current: Version,
    /// The current space of the corresponding memory.
    pub space: SpaceId,
    /// The current status of the corresponding memory.
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
    /// The act that writes the new version.
    pub act: VersionAct,
    /// The new content and fields.
    pub fields: VersionFields,
    /// The status on which this was decided.
    pub stood: Status,
    /// The new status.
    pub status: Status,
    /// New chunks, if the content changed.
    pub chunks: Option<Vec<Chunk>>,
    /// The new attachment, if the attachment changed; `Some(None)` removes the attachment.
    pub attachment: Option<Option<Attachment>>,
    /// The new author and trust, if they changed.
    pub confirmed: Option<ConfirmedOrigin>,
}

/// The author and trust of a memory after a caller stated on purpose a content that was captured automatically before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConfirmedOrigin {
    /// The author: on request or automatic.
    pub author: Author,
    /// The trust in its source.
    pub trust: Trust,
}

/// The result of background work on a memory.
#[derive(Clone, Debug)]
pub struct BackgroundResult {
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
    /// The attachment that the memory describes, with the reason if its text could not be read.
    pub attachment: Option<Attachment>,
    /// New chunks, if the content changed.
    pub chunks: Option<Vec<Chunk>>,
}

/// The number of new recalls of a memory, to add to its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecallCount {
    /// The memory.
    pub id: MemoryId,
    /// Number of recalls.
    pub count: u64,
    /// Time of the last recall.
    pub at: Timestamp,
}

/// The frozen order of a listing, so that its pages neither skip nor repeat memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrozenOrder {
    /// The id of the listing, which the cursor contains.
    pub id: ListingId,
    /// The owner of the listing; no other principal may use it.
    pub principal: PrincipalId,
    /// Time of expiry.
    pub expires_at: Timestamp,
    /// The memories in order.
    pub ids: Vec<MemoryId>,
}

/// The results of [`Store::apply`](crate::ports::Store::apply).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The numbers of the memories inserted and relocated, in the order of the writes.
    pub numbers: Vec<Option<MemoryNumber>>,
    /// The positions of the turns logged, in the order of the writes.
    pub positions: Vec<u64>,
    /// Number of audit entries deleted.
    pub pruned: usize,
    /// The outcome for each line loaded and each memory imported, in the order of the writes.
    pub loaded: Vec<LoadOutcome>,
    /// The position of the last change log entry that the set wrote.
    pub seq: Option<Seq>,
}

/// An entry of the change log. All derived data follows this log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// The position of the entry, in the order of commits.
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
