//! What callers get back.

mod briefing;
mod cursor;
mod found;
mod quality;
mod timeline;
mod warning;

use serde::Serialize;

pub use self::briefing::{Briefed, BriefedFile, Briefing, BriefingFiles, BriefingSection};
pub use self::cursor::{Cursor, Position};
pub use self::found::{
    Answer, BestSection, Explanation, FailedBackend, FurtherSection, Hit, Lane, LaneMark, Missing, Part,
    PartName, Strength, Unread,
};
pub use self::quality::{Concerned, Done, Finding, Proposal, Report};
pub use self::timeline::{Ended, Named, Timeline, TimelineEntry};
pub use self::warning::{RedactedSecret, Warning};
use crate::association::Association;
use crate::change::Change;
use crate::id::{MemoryId, MemoryRef, Number, PrincipalId, Seq, SpaceId, Version};
use crate::memory::{Edition, Memory};
use crate::score::Weight;
use crate::time::Timestamp;
use crate::turn::Turn;
use crate::vocabulary::{State, VersionAct};

/// What became of a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// A new memory.
    Created,
    /// The memory of that key or path has a new version.
    Updated,
    /// The memory of that key or path said so already.
    Unchanged,
    /// A memory with the same content was there.
    Duplicate,
}

/// The proof of a save: given only after the commit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Receipt {
    /// The memory that now holds the content.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
    /// Where it is.
    pub space: SpaceId,
    /// What became of the save.
    pub fate: Fate,
    /// Whether an archived memory came back to active.
    pub revived: bool,
    /// The version it has now.
    pub version: Version,
    /// How it stands.
    pub state: State,
    /// The fields that changed because somebody says on purpose what was noted by itself before.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<FieldChange>,
    /// Memories that say nearly the same; the new one was linked to them.
    pub near: Vec<Near>,
    /// What was asked and not done, by name.
    pub warnings: Vec<Warning>,
}

/// A field that a save changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldChange {
    /// The field, as it is written in JSON.
    pub field: &'static str,
    /// What it was.
    pub from: String,
    /// What it is now.
    pub to: String,
}

impl std::fmt::Display for FieldChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} → {}", self.field, self.from, self.to)
    }
}

/// A memory after an edit, or one that was forgotten.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Edited {
    /// As it is now; where it was forgotten, as it was.
    #[serde(flatten)]
    pub memory: Memory,
    /// What was asked and not done, by name.
    pub warnings: Vec<Warning>,
}

/// A todo or a goal that was closed, or opened again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Completed {
    /// As it is now.
    #[serde(flatten)]
    pub memory: Memory,
    /// Whether anything changed; it was so already where not.
    pub changed: bool,
}

/// A link that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Associated {
    /// As it is now.
    #[serde(flatten)]
    pub link: Association,
    /// What it has taken back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// A turn that was logged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Logged {
    /// As it is in the log.
    #[serde(flatten)]
    pub turn: Turn,
    /// What was held back of it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Memories that were moved to another space as one act.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Relocated {
    /// As they are now, in the order in which they were named; also those that were there already.
    pub moved: Vec<Memory>,
    /// What does not exist, is forgotten or may not be seen, as it was named.
    pub missing: Vec<MemoryRef>,
}

/// Memories that were forgotten as one act.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gone {
    /// As they were, in the order in which they were named.
    pub forgotten: Vec<Memory>,
    /// What does not exist, may not be seen or, where it was to be forgotten softly, is so already; as it was named.
    pub missing: Vec<MemoryRef>,
    /// What was held back of the reason, and that what they were noted of stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// Memories that were forgotten because a condition held of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Swept {
    /// Which, newest first.
    pub forgotten: Vec<Forgone>,
    /// What was held back of the reason, and that what they were noted of stays.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// What forgetting by a condition would come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Foreseen {
    /// How many memories would go.
    pub count: u64,
    /// The newest of them, at most [`FORESEEN`](crate::limits::FORESEEN).
    pub newest: Vec<Memory>,
}

/// A memory that was forgotten because a condition held of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Forgone {
    /// Which.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
    /// Whose it was.
    pub owner: PrincipalId,
}

/// Entries of the change log that somebody may see.
///
/// The numbers of entries are those of the whole store, so they tell how much others have written, as the numbers of
/// memories do within a space; nothing else is told of what is hidden.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The entries, in the order of commits.
    pub changes: Vec<Change>,
    /// How far the log was read. The next question begins here, also where nothing was found.
    pub read_to: Seq,
    /// Whether entries after the asked one are missing: the log was trimmed, or another content took the place of what
    /// was there. Who follows has to look at everything again.
    pub gap: bool,
}

/// Whether a request is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Once {
    /// It is: nobody has begun it, or who did has vanished. It was begun now, which tells it from what others begin under
    /// the same key.
    Begun(Timestamp),
    /// It was done, with this answer. Empty means that the answer is not kept: it was longer than
    /// [`KEPT_ANSWER_BYTES`](crate::limits::KEPT_ANSWER_BYTES), newer ones of the principal took its place, or something was
    /// erased since and it might tell of that.
    Answered(String),
    /// Somebody is doing it.
    Running,
    /// The key was used for another request.
    Differs,
}

/// A memory that says nearly the same as the one saved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Near {
    /// Which.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
    /// How alike they are: the cosine of their vectors.
    pub similarity: Weight,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Page {
    /// The memories, in order.
    pub memories: Vec<Memory>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Cursor>,
    /// The backends that could not do all their work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_backends: Vec<FailedBackend>,
}

impl Page {
    /// A page of the built-in backend.
    pub(crate) const fn of(memories: Vec<Memory>, next: Option<Cursor>) -> Self {
        Self { memories, next, failed_backends: Vec::new() }
    }
}

/// One version in a memory's history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// Which version.
    pub version: Version,
    /// Whether it is the one that holds now.
    pub current: bool,
    /// Why it was written.
    pub act: VersionAct,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: PrincipalId,
    /// The name of whom.
    pub by_name: String,
    /// With which agent.
    pub agent: Option<String>,
    /// The fields that differ from the version before.
    pub changed: Vec<&'static str>,
    /// What it said.
    pub edition: Edition,
    /// Whether the content is left out of the edition, because those of newer versions fill the answer. To revert to it
    /// brings it back whole.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// A memory near another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Relative {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// How many hops away.
    pub distance: usize,
    /// The associations by which it was reached, strongest first.
    pub via: Vec<Association>,
}
