//! What is written: a [`ChangeSet`] is one act, applied whole or not at all.

use serde::{Deserialize, Serialize};

use crate::association::Association;
use crate::audit::AuditEntry;
use crate::file::{ImportedFile, MirroredFile};
use crate::id::{ListingId, MemoryId, Number, PrincipalId, Seq, SpaceId, TokenId, Version};
use crate::job::Job;
use crate::llm::Usage;
use crate::memory::{Attachment, Chunk, Edition, Embedding, Memory, Standing};
use crate::pass::Pass;
use crate::record::{Loaded, MemoryRecord, Record};
use crate::space::{Membership, Principal, Space, Token, TokenHash};
use crate::time::Timestamp;
use crate::turn::Turn;
use crate::vocabulary::{
    Author, Boundary, ChangeKind, PassOutcome, Relation, Role, System, Trust, VersionAct,
};

/// All the writes of one act, with what they were decided on.
#[derive(Clone, Debug)]
pub struct ChangeSet {
    /// Who acts.
    pub by: Actor,
    /// When.
    pub at: Timestamp,
    /// What the actor must still be allowed when the set is applied.
    pub rights: Vec<Right>,
    /// The writes, in order.
    pub writes: Vec<Write>,
}

/// Who acts, and with which agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor {
    /// The principal.
    pub principal: PrincipalId,
    /// The agent, where one is known.
    pub agent: Option<String>,
}

/// A role that the actor must hold in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Right {
    /// Where.
    pub space: SpaceId,
    /// At least this.
    pub role: Role,
    /// The memory that it is needed for. The set conflicts where that is in another space by now, in which the actor may
    /// have no such role.
    pub over: Option<MemoryId>,
}

/// One write. A write that names a `from` conflicts where the row is no longer so.
#[derive(Clone, Debug)]
pub enum Write {
    /// A new memory. The store gives a record its number.
    Insert(Box<NewMemory>),
    /// A new version of a memory.
    Revise(Box<Revision>),
    /// A move without a version.
    Move {
        /// Which memory.
        id: MemoryId,
        /// As it stood when the move was decided.
        from: Standing,
        /// As it shall stand.
        to: Standing,
    },
    /// A memory goes to another space, whole, and gets the next number there. No version. Conflicts where it is
    /// forgotten.
    Relocate {
        /// Which memory.
        id: MemoryId,
        /// The space that it was in when this was decided, and the version that it had.
        from: (SpaceId, Version),
        /// Where it goes.
        to: SpaceId,
    },
    /// Row, versions, chunks, vectors and associations go for good, and so do all kept answers: see [`Write::Answer`].
    Erase {
        /// Which memory.
        id: MemoryId,
        /// The version this was decided on; `None` takes whatever is there.
        from: Option<Version>,
    },
    /// A new memory in the place of one that goes as with [`Write::Erase`]. Its associations are those of the new one from then on, also
    /// where nobody who acts may see their other ends: whoever saw one of them sees it still, and nobody else does.
    Replace {
        /// Which memory goes.
        id: MemoryId,
        /// The version this was decided on.
        from: Version,
        /// What takes its place.
        new: Box<NewMemory>,
    },
    /// Chunks of a memory got their vectors. No version; conflicts where the content is no longer that of the version
    /// it was decided on, because its chunks may be others.
    Embed {
        /// Which memory.
        id: MemoryId,
        /// The version whose chunks were embedded.
        from: Version,
        /// The vectors, by the ordinal of the chunk. One of the same model is replaced.
        embeddings: Vec<(u32, Embedding)>,
    },
    /// A model could not embed a memory. It waits for it behind those that failed less often, until its content changes.
    /// No version and no entry of the log.
    NotEmbedded {
        /// Which memory.
        id: MemoryId,
        /// The model.
        model: String,
    },
    /// Another model's vectors answer from now on. Those of all others are read no more, and may go at any time.
    ChooseModel {
        /// The model that answered when this was decided.
        from: Option<String>,
        /// The one that shall.
        to: String,
    },
    /// The entry that a mirror mirrors begins at another line by now. No version and no entry of the log.
    Reline {
        /// Which memory.
        id: MemoryId,
        /// The line, from 1.
        line: u32,
    },
    /// What is known of a mirrored file is replaced, or goes. Conflicts where somebody else has mirrored it since.
    Mirrored {
        /// The space.
        space: SpaceId,
        /// The path below the workspace.
        path: String,
        /// What was known when this was decided.
        from: Option<MirroredFile>,
        /// What is known from now on; `None` where the file is gone.
        to: Option<MirroredFile>,
    },
    /// What is known of a file that the actor imported into a space is replaced, or goes.
    Imported {
        /// The space.
        space: SpaceId,
        /// The path.
        path: String,
        /// What is known from now on; `None` where it is forgotten.
        to: Option<ImportedFile>,
    },
    /// The file that a memory is an import of has another path by now. No version. Conflicts where the memory had another
    /// path than the one that this was decided on.
    Repath {
        /// Which memory.
        id: MemoryId,
        /// The path it had.
        from: String,
        /// The path it has.
        to: String,
    },
    /// The work on a memory is done that it waited for: what was read takes the place of what stood for it. No version;
    /// conflicts where the memory is no longer what the work was begun on.
    Settle(Box<Settled>),
    /// An association is made, or its weight and maker replaced. What a caller said stays where the engine would say it by itself.
    Link(Association),
    /// An association is removed.
    Unlink {
        /// The memory that says it.
        source: MemoryId,
        /// The memory it is about.
        target: MemoryId,
        /// How they relate.
        relation: Relation,
    },
    /// Memories were recalled. Not logged, but for a cooling one, which is active again.
    Touch(Vec<Touch>),
    /// A turn is logged; the store gives it its position.
    LogTurn(Turn),
    /// All but the newest turns of a space go.
    PruneTurns {
        /// Which space.
        space: SpaceId,
        /// How many stay.
        keep: u64,
    },
    /// Work is asked for.
    Enqueue(Job),
    /// A job of which nothing is to be known any more goes. Conflicts where it has moved on.
    RemoveJob(Box<Job>),
    /// A job moves on.
    MoveJob {
        /// Its state and attempts when this was decided.
        from: Box<Job>,
        /// As it shall be.
        to: Box<Job>,
    },
    /// What was spent is added to what was before on that day, with that model for that purpose.
    Spend(Usage),
    /// What a pass did is noted. Conflicts where the pass is not in the state that this was decided on. With a new one, those of its
    /// space go that began more than [`KEPT_DAYS`](crate::pass::KEPT_DAYS) before it.
    Pass {
        /// What was known to have become of it; `None` where it was not known.
        from: Option<PassOutcome>,
        /// What is known from now on.
        to: Box<Pass>,
    },
    /// A space is made.
    AddSpace(Space),
    /// A principal is made.
    AddPrincipal(Principal),
    /// A membership is given or its role replaced.
    SetMember(Membership),
    /// A membership is taken away.
    RemoveMember(Membership),
    /// Nothing is written, but the set conflicts where the space has no admin after the writes before this one.
    RequireAdmin(SpaceId),
    /// A token is made.
    AddToken(Token, TokenHash),
    /// A token is revoked.
    RevokeToken(TokenId),
    /// A request of the actor's is begun. Conflicts where the actor has another claim of that key than the one that this
    /// was decided on.
    Claim {
        /// What the actor calls it.
        key: String,
        /// What it asks, as a digest.
        fingerprint: [u8; 32],
        /// When the claim that it replaces was last written; `None` where there was none.
        from: Option<Timestamp>,
    },
    /// A claim of the actor's is answered, where there is one that was begun then and is not. Where something was erased since it was begun,
    /// the answer is kept as an empty one, because it may tell what is gone; those that were kept before became empty
    /// then.
    Answer {
        /// What the actor calls it.
        key: String,
        /// When it was begun. One that was begun later is somebody else's.
        begun: Timestamp,
        /// What was answered.
        answer: String,
    },
    /// A claim of the actor's goes, where there is one that was begun then and is not answered.
    DropClaim {
        /// What the actor calls it.
        key: String,
        /// When it was begun.
        begun: Timestamp,
    },
    /// All but so many of the actor's claims go: first those answered, then the others, the oldest first.
    BoundClaims {
        /// How many stay.
        keep: usize,
    },
    /// The answers of the actor's claims become empty, the oldest first, until the others have at most so many bytes.
    BoundAnswers {
        /// How many bytes stay.
        keep: usize,
    },
    /// Some of the claims that were last written before a time go, whosever they are, the oldest first.
    PruneClaims {
        /// Before when.
        before: Timestamp,
        /// How many at the most.
        most: usize,
    },
    /// The order of a listing is frozen until it expires.
    FreezeListing(Listing),
    /// An act is recorded.
    Audit(AuditEntry),
    /// Some of the audit entries of a space, or of none, that were written before a time go, the oldest first.
    PruneAudit {
        /// Which space; `None` for entries about the whole store.
        space: Option<SpaceId>,
        /// Before when.
        before: Timestamp,
        /// How many at the most.
        most: usize,
    },
    /// A line of a dump is taken in as it is, where nothing of that identity is there yet.
    Load(Box<Record>),
    /// A memory of another system is taken in like a line of a dump, but for its number, which is a new one where it has
    /// none, and its links, which are still to be made. It is noted which memory stands for it: itself, or the one that holds
    /// its content, key or path. Where its id is taken, nothing is written.
    Adopt(Box<Adoption>),
    /// It is noted that a memory stands for one of another system, as it is by now.
    Adopted {
        /// What is known of that.
        item: ForeignItem,
        /// The memory that stands for it.
        memory: MemoryId,
    },
}

/// A memory of another system, to be taken in.
#[derive(Clone, Debug)]
pub struct Adoption {
    /// What is known of it.
    pub item: ForeignItem,
    /// The memory that it shall be.
    pub record: MemoryRecord,
    /// The parts of its content.
    pub chunks: Vec<Chunk>,
    /// Where its number is taken, or it has none, it gets one above this: the others come with theirs.
    pub above: u64,
}

/// What is known of a memory of another system that the actor took into a space. Nothing of it tells what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForeignItem {
    /// The space.
    pub space: SpaceId,
    /// The system.
    pub system: System,
    /// What it is called there, as a digest.
    pub name: [u8; 32],
    /// What it says there, as a digest.
    pub says: [u8; 32],
}

/// What is known of a memory of another system, and of the one that stands for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdoptedItem {
    /// What it is called there, as a digest.
    pub name: [u8; 32],
    /// What it said there when it was last taken in, as a digest.
    pub says: [u8; 32],
    /// The memory that stands for it.
    pub memory: MemoryId,
    /// The version that this had then.
    pub version: Version,
    /// The version that it has now.
    pub current: Version,
    /// The space that it is in now.
    pub space: SpaceId,
    /// How it stands now.
    pub standing: Standing,
}

/// A memory to insert, with its chunks.
#[derive(Clone, Debug)]
pub struct NewMemory {
    /// The memory; its number is ignored.
    pub memory: Memory,
    /// What is embedded and indexed of it.
    pub chunks: Vec<Chunk>,
}

/// A new version of a memory.
#[derive(Clone, Debug)]
pub struct Revision {
    /// Which memory.
    pub id: MemoryId,
    /// The version this was decided on.
    pub from: Version,
    /// Why it is written.
    pub act: VersionAct,
    /// What it says now.
    pub edition: Edition,
    /// As it stood when this was decided.
    pub stood: Standing,
    /// How it stands now.
    pub standing: Standing,
    /// New chunks, where the content changed.
    pub chunks: Option<Vec<Chunk>>,
    /// Another file, or none any more, where that changed.
    pub attachment: Option<Option<Attachment>>,
    /// Who stands for it from now on, where that changed.
    pub vouched: Option<Vouched>,
}

/// That somebody says on purpose what was noted by itself before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vouched {
    /// Whether somebody asked for it.
    pub author: Author,
    /// How far its source is trusted.
    pub trust: Trust,
}

/// What came of the work on a memory.
#[derive(Clone, Debug)]
pub struct Settled {
    /// Which memory.
    pub id: MemoryId,
    /// The version that the work was begun on.
    pub from: Version,
    /// What it says now.
    pub edition: Edition,
    /// As it stood when this was decided.
    pub stood: Standing,
    /// How it stands now.
    pub standing: Standing,
    /// The file it describes, with what went wrong.
    pub attachment: Option<Attachment>,
    /// New chunks, where the content changed.
    pub chunks: Option<Vec<Chunk>>,
}

/// That a memory was recalled a number of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Which memory.
    pub id: MemoryId,
    /// How often.
    pub count: u64,
    /// When last.
    pub at: Timestamp,
}

/// The order of a listing, frozen so that its pages neither skip nor repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its id, which the cursor carries.
    pub id: ListingId,
    /// Whose it is; nobody else may use it.
    pub principal: PrincipalId,
    /// When it goes.
    pub expires_at: Timestamp,
    /// The memories in order.
    pub ids: Vec<MemoryId>,
}

/// What `apply` gave back.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The numbers of the memories inserted and relocated, in the order of the writes.
    pub numbers: Vec<Option<Number>>,
    /// The positions of the turns logged, in the order of the writes.
    pub positions: Vec<u64>,
    /// How many audit entries went.
    pub pruned: usize,
    /// What became of each line loaded and each memory adopted, in the order of the writes.
    pub loaded: Vec<Loaded>,
    /// The last entry of the change log that this wrote.
    pub seq: Option<Seq>,
}

/// One entry of the change log. Everything derived follows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its place, in the order of commits.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// What happened.
    pub kind: ChangeKind,
    /// To which memory.
    pub memory: MemoryId,
    /// In which space.
    pub space: SpaceId,
    /// Whose memory it is.
    pub owner: PrincipalId,
    /// Who may see it, after the change.
    pub boundary: Boundary,
}
