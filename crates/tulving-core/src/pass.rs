//! What work in the background did: one act that can be shown and undone. Ids and facts, never content.

use serde::{Deserialize, Serialize};

use crate::id::{MemoryId, PassId, PrincipalId, SpaceId, Version};
use crate::score::Weight;
use crate::time::Timestamp;
use crate::vocabulary::{PassKind, PassOutcome, Relation};

/// For how many days passes are kept.
pub const KEPT_DAYS: i64 = 180;
/// For how many milliseconds a pass may be under way.
const UNDER_WAY: i64 = 300_000;

/// One pass, as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pass {
    /// Its id, which what it saved carries.
    pub id: PassId,
    /// What sort of work it was.
    pub kind: PassKind,
    /// Where.
    pub space: SpaceId,
    /// In whose name.
    pub by: PrincipalId,
    /// Whose private memories it is about. Nobody else is told of it.
    #[serde(skip)]
    pub private_to: Option<PrincipalId>,
    /// When it began.
    pub began_at: Timestamp,
    /// When it came to its end; `None` where it has not, or was interrupted.
    pub ended_at: Option<Timestamp>,
    /// What became of it.
    pub outcome: PassOutcome,
    /// The language model that was asked; `None` where rules did it.
    pub model: Option<String>,
    /// Further facts.
    pub note: Option<String>,
    /// What it did, in order.
    pub acts: Vec<PassAct>,
}

impl Pass {
    /// A pass that begins, of which nothing is known yet.
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

    /// Whether it has begun and nobody can be at it any more: it is noted only once all that remains is to write.
    pub fn is_interrupted(&self, now: Timestamp) -> bool {
        self.outcome == PassOutcome::Begun && self.began_at.plus_millis(UNDER_WAY) < now
    }

    /// The same once it came to its end.
    #[must_use]
    pub fn ended(self, outcome: PassOutcome, now: Timestamp) -> Self {
        Self { outcome, ended_at: Some(now), ..self }
    }
}

/// Something that a pass did. It says enough to tell whether what stands is still what the pass made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
pub enum PassAct {
    /// A memory was saved.
    Saved {
        /// Which.
        memory: MemoryId,
        /// The version that it had then.
        version: Version,
        /// Whether it was put aside for review.
        aside: bool,
    },
    /// A memory was forgotten softly.
    Forgot {
        /// Which.
        memory: MemoryId,
    },
    /// A memory was edited.
    Edited {
        /// Which.
        memory: MemoryId,
        /// The version that it had.
        from: Version,
        /// The version that it has since.
        to: Version,
    },
    /// An automatic link was removed.
    Unlinked {
        /// The memory that it began at.
        source: MemoryId,
        /// The memory that it led to.
        target: MemoryId,
        /// How they related.
        relation: Relation,
        /// Its weight.
        weight: Weight,
    },
    /// A link was made.
    Linked {
        /// The memory that it begins at.
        source: MemoryId,
        /// The memory that it leads to.
        target: MemoryId,
        /// How they relate.
        relation: Relation,
        /// Its weight.
        weight: Weight,
        /// The weight of the automatic link that was in its place.
        was: Option<Weight>,
    },
    /// An entry was added to a journal.
    Noted {
        /// The path below the folder of the space.
        file: String,
        /// What the entry says, as a [digest](crate::journal::format::digest).
        entry: String,
    },
    /// A file was replaced.
    Replaced {
        /// The path below the folder of the space.
        file: String,
        /// SHA-256 of what it said before, hexadecimal; `None` where there was no such file.
        from: Option<String>,
        /// The same of what it says since.
        to: String,
        /// How many lines are new.
        added: usize,
        /// How many lines are gone.
        removed: usize,
    },
    /// Memories that say nearly the same were judged, whatever came of it: nobody is asked about them again. It changes nothing
    /// and is told to nobody.
    Judged {
        /// Which, as a digest of the memories and their versions.
        case: String,
    },
}

impl PassAct {
    /// Whether it changed something.
    pub fn is_deed(&self) -> bool {
        !matches!(self, Self::Judged { .. })
    }

    /// The memories that it is about.
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

    /// The file that it is about, by its path below the folder of the space.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Noted { file, .. } | Self::Replaced { file, .. } => Some(file),
            _ => None,
        }
    }
}

/// Which passes are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassFilter {
    /// In this space; `None` is every one that the viewer is a member of.
    pub space: Option<SpaceId>,
    /// Only of this kind.
    pub kind: Option<PassKind>,
    /// Only those before this one.
    pub before: Option<PassId>,
    /// How many at the most.
    pub limit: usize,
}

/// A pass with what can be told of its acts.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ToldPass {
    /// The pass. Acts on what the caller may not see, or what is gone for good, are left out.
    #[serde(flatten)]
    pub pass: Pass,
    /// The acts in words, in the same order.
    pub told: Vec<ToldAct>,
}

/// An act in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToldAct {
    /// What was done.
    pub text: String,
    /// The lines that a file lost (`-`) and got (`+`), where what it said is still kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What became of a pass that was to be undone.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Undone {
    /// The pass, as it is now.
    pub pass: Pass,
    /// What was, or would be, taken back of it and what stays, the last act first.
    pub steps: Vec<UndoStep>,
}

impl Undone {
    /// How many acts were taken back, or would be.
    pub fn taken_back(&self) -> usize {
        self.steps.iter().filter(|step| step.stays.is_none()).count()
    }
}

/// One act that was taken back, or stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UndoStep {
    /// What the pass had done.
    pub text: String,
    /// Why it stays; `None` where it was taken back.
    pub stays: Option<String>,
}
