//! Passes: background work, recorded so that each pass can be shown and undone. The record contains ids and facts, never
//! content.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::id::{MemoryId, PassId, PrincipalId, SpaceId, Version};
use crate::model::score::Weight;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{PassKind, PassOutcome, Relation};

/// Number of days that passes are kept.
pub const KEPT_DAYS: i64 = 180;
/// Maximum duration of a pass in milliseconds.
const UNDER_WAY: i64 = 300_000;

/// A pass as it is stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pass {
    /// The id of the pass, which is stored with the memories that the pass wrote.
    pub id: PassId,
    /// The kind of work.
    pub kind: PassKind,
    /// The space.
    pub space: SpaceId,
    /// The principal in whose name it ran.
    pub by: PrincipalId,
    /// The owner, if the pass is about private memories. No other principal sees such a pass.
    #[serde(skip)]
    pub private_to: Option<PrincipalId>,
    /// Time at which it began.
    pub began_at: Timestamp,
    /// Time at which the pass ended; `None` if the pass is running or was interrupted.
    pub ended_at: Option<Timestamp>,
    /// The outcome.
    pub outcome: PassOutcome,
    /// The language model that was used; `None` if rules did the work.
    pub model: Option<String>,
    /// Further facts.
    pub note: Option<String>,
    /// The acts of the pass, in order.
    pub acts: Vec<PassAct>,
}

impl Pass {
    /// Creates a pass that begins now, without any results.
    pub fn begun(id: PassId, kind: PassKind, space: SpaceId, by: PrincipalId, now: Timestamp) -> Self {
        Self {
            id,
            kind,
            space,
            by,
            private_to: None,
            began_at: now,
            ended_at: None,
            outcome: PassOutcome::Begun,
            model: None,
            note: None,
            acts: Vec::new(),
        }
    }

    /// Returns true if the pass began and cannot still be running. A pass is recorded only when the writes begin, so it
    /// cannot run for long after that.
    pub fn is_interrupted(&self, now: Timestamp) -> bool {
        self.outcome == PassOutcome::Begun && self.began_at.plus_millis(UNDER_WAY) < now
    }

    /// Returns the pass with its outcome.
    #[must_use]
    pub fn ended(self, outcome: PassOutcome, now: Timestamp) -> Self {
        Self { outcome, ended_at: Some(now), ..self }
    }
}

/// An act of a pass. An act contains enough data to check whether the current state is still the result of the pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum PassAct {
    /// A memory was saved.
    Saved {
        /// The memory.
        memory: MemoryId,
        /// Its version at that time.
        version: Version,
        /// True if it was quarantined for review.
        aside: bool,
    },
    /// A memory was softly forgotten.
    Forgot {
        /// The memory.
        memory: MemoryId,
    },
    /// A memory was edited.
    Edited {
        /// The memory.
        memory: MemoryId,
        /// The old version.
        from: Version,
        /// The new version.
        to: Version,
    },
    /// An automatic link was removed.
    Unlinked {
        /// The memory that it started from.
        source: MemoryId,
        /// The memory that it pointed to.
        target: MemoryId,
        /// The relation.
        relation: Relation,
        /// Its weight.
        weight: Weight,
    },
    /// A link was made.
    Linked {
        /// The memory that it starts from.
        source: MemoryId,
        /// The memory that it points to.
        target: MemoryId,
        /// The relation.
        relation: Relation,
        /// Its weight.
        weight: Weight,
        /// The weight of the automatic link that it replaced.
        was: Option<Weight>,
    },
    /// An entry was added to a journal.
    Noted {
        /// The path below the folder of the space.
        file: String,
        /// A [digest](crate::files::format::digest) of the entry.
        entry: String,
    },
    /// A file was replaced.
    Replaced {
        /// The path below the folder of the space.
        file: String,
        /// SHA-256 of the old content, hexadecimal; `None` if there was no such file.
        from: Option<String>,
        /// SHA-256 of the new content.
        to: String,
        /// Number of lines added.
        added: usize,
        /// Number of lines removed.
        removed: usize,
    },
    /// The model compared memories that say nearly the same, so it is not asked about these memories again. This act changes
    /// nothing and is never shown.
    Judged {
        /// A digest of the memories and their versions.
        case: String,
    },
}

impl PassAct {
    /// Returns true if the act changed something.
    pub fn is_deed(&self) -> bool {
        !matches!(self, Self::Judged { .. })
    }

    /// Returns the memories concerned.
    pub fn memories(&self) -> Vec<MemoryId> {
        match self {
            Self::Saved { memory, .. } | Self::Forgot { memory } | Self::Edited { memory, .. } => {
                vec![*memory]
            }
            Self::Linked { source, target, .. } | Self::Unlinked { source, target, .. } => {
                vec![*source, *target]
            }
            Self::Noted { .. } | Self::Replaced { .. } | Self::Judged { .. } => Vec::new(),
        }
    }

    /// Returns the file concerned, by its path below the folder of the space.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Noted { file, .. } | Self::Replaced { file, .. } => Some(file),
            _ => None,
        }
    }
}

/// A filter for passes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassFilter {
    /// Only in this space; `None` means every space that the viewer is a member of.
    pub space: Option<SpaceId>,
    /// Only of this kind.
    pub kind: Option<PassKind>,
    /// Only passes before this one.
    pub before: Option<PassId>,
    /// Maximum number of passes.
    pub limit: usize,
}

/// A pass with its acts in words.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DescribedPass {
    /// The pass. Acts on memories that the caller may not see, and on erased memories, are left out.
    #[serde(flatten)]
    pub pass: Pass,
    /// The acts in words, in the same order.
    pub described: Vec<DescribedAct>,
}

/// An act in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "PassAct")]
pub struct DescribedAct {
    /// The act in words.
    pub text: String,
    /// The removed (`-`) and added (`+`) lines of a file, if both texts are still stored.
    pub diff: Option<String>,
}

/// The result of undoing a pass.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PassUndoResult {
    /// The pass as it is now.
    pub pass: Pass,
    /// The acts that were undone (or would be undone) and the acts that stay, the last act first.
    pub steps: Vec<UndoStep>,
}

impl PassUndoResult {
    /// Returns the number of acts that were undone, or would be undone.
    pub fn taken_back(&self) -> usize {
        self.steps.iter().filter(|step| step.stays.is_none()).count()
    }
}

/// An act that was undone, or that stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UndoStep {
    /// The act in words.
    pub text: String,
    /// The reason why it stays; null if it was undone.
    pub stays: Option<String>,
}

/// The last change, which was undone or would be undone.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LastUndoOutcome {
    /// The change of a pass, undone as far as its effects still existed.
    Pass(PassUndoResult),
    /// The change of a caller, undone in full.
    Change(UndoneChange),
}

/// A change by a caller, which was undone or would be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UndoneChange {
    /// Time of the change.
    pub at: Timestamp,
    /// The agent that made it; `None` if there was none.
    pub agent: Option<String>,
    /// True if another undo redoes it.
    pub redoable: bool,
    /// The undone acts. Every act was undone.
    pub steps: Vec<UndoStep>,
}
