//! The answers that callers get.

mod briefing;
mod cursor;
mod hits;
mod near;
mod quality;
mod timeline;
mod warning;

use schemars::JsonSchema;
use serde::Serialize;

pub use self::briefing::{BriefedFile, Briefing, BriefingFiles, BriefingMemory, BriefingSection};
pub use self::cursor::{Cursor, Position};
pub use self::hits::{
    Answer, BestSection, Explanation, FailedBackend, FailedLane, FurtherSection, Hit, LaneMark, ListAnswer,
    PartName, ScorePart, UnreadableFile,
};
pub use self::near::{NearPairs, PossibleUpdate};
pub use self::quality::{AppliedProposal, FindingMemory, QualityFinding, QualityProposal, QualityReport};
pub use self::timeline::{NumberedMemory, StatementEnd, Timeline, TimelineEntry};
pub(crate) use self::warning::with_messages;
pub use self::warning::{RedactedSecret, Warning, WarningMessage};
use crate::model::association::Association;
use crate::model::change::Change;
use crate::model::id::{MemoryId, MemoryNumber, MemoryRef, PrincipalId, Seq, Version};
use crate::model::memory::{Memory, VersionFields};
use crate::model::score::Weight;
use crate::model::time::Timestamp;
use crate::model::turn::Turn;
use crate::model::vocabulary::VersionAct;
pub use crate::model::vocabulary::{Lane, SaveOutcome, Strength};

/// The proof of a save: given only after the commit.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "SaveReceipt")]
pub struct Receipt {
    /// The memory that now has the content, as this save left it.
    #[serde(flatten)]
    pub memory: Memory,
    /// The outcome of the save.
    #[serde(rename = "status")]
    pub outcome: SaveOutcome,
    /// True if an archived memory became active again.
    pub revived: bool,
    /// The fields that changed because a caller saved a statement that had been captured automatically.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<FieldChange>,
    /// Memories that say nearly the same; the new one was linked to them.
    pub near: Vec<NearMemory>,
    /// Memories that state the same thing with another value, the newest first: the new one may update them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub possible_updates: Vec<PossibleUpdate>,
    /// The requests that were not carried out, by name.
    #[serde(serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

/// The receipts of several memories, in the order of the requests.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct SavedMemories {
    /// The receipts.
    pub memories: Vec<Receipt>,
    /// A sentence that names the new memories that may update, or nearly repeat, existing memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resembles: Option<String>,
}

impl SavedMemories {
    /// Collects receipts.
    pub fn of(memories: Vec<Receipt>) -> Self {
        let advice =
            "if one replaces the other, link the newer to the older with an association that `updates` it";
        let resembles = NearPairs::of(&memories).map(|pairs| format!("{pairs}; {advice}"));
        Self { memories, resembles }
    }
}

/// A field that a save changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FieldChange {
    /// The name of the field in JSON.
    pub field: &'static str,
    /// The old value.
    pub from: String,
    /// The new value.
    pub to: String,
}

impl std::fmt::Display for FieldChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} → {}", self.field, self.from, self.to)
    }
}

/// A memory that was edited or forgotten.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "EditedMemory")]
pub struct EditedMemory {
    /// The memory as it is now; if it was forgotten, as it was before.
    #[serde(flatten)]
    pub memory: Memory,
    /// The requests that were not carried out, by name.
    #[serde(serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

/// A todo or a goal that was closed or reopened.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CompletedMemory")]
pub struct CompletedMemory {
    /// The memory as it is now.
    #[serde(flatten)]
    pub memory: Memory,
    /// True if anything changed, false if it was in that state already.
    pub changed: bool,
}

/// A link that was made.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "CreatedAssociation")]
pub struct CreatedAssociation {
    /// The link as it is now.
    #[serde(flatten)]
    pub link: Association,
    /// The supersessions that the link undid.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

/// A turn that was logged.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "LoggedTurn")]
pub struct LoggedTurn {
    /// The turn as it is in the log.
    #[serde(flatten)]
    pub turn: Turn,
    /// The redactions in the turn.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

/// A page of the log of turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct TurnPage {
    /// The turns, oldest first.
    pub turns: Vec<Turn>,
    /// True if the log has turns before the first of these.
    pub earlier: bool,
}

/// Memories that were moved to another space in one transaction.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MovedMemories")]
pub struct MovedMemories {
    /// The memories as they are now, in the order given, including those that were already in that space.
    pub moved: Vec<Memory>,
    /// References to memories that do not exist, are forgotten or may not be seen.
    pub missing: Vec<MemoryRef>,
}

/// Memories that were forgotten in one transaction.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ForgottenMemories")]
pub struct ForgottenMemories {
    /// The memories as they were, in the order given.
    pub forgotten: Vec<Memory>,
    /// References to memories that do not exist or may not be seen. For a soft forget, also those that are forgotten
    /// already.
    pub missing: Vec<MemoryRef>,
    /// Redactions in the reason, and a note that the turns the memories came from stay.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

/// Memories that were forgotten because they matched a condition.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MatchingForgotten")]
pub struct ForgottenMatches {
    /// The forgotten memories, newest first.
    pub forgotten: Vec<ForgottenMemory>,
    /// Redactions in the reason, and a note that the turns the memories came from stay.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "with_messages")]
    #[schemars(with = "Vec<WarningMessage>")]
    pub warnings: Vec<Warning>,
}

/// A preview of forgetting by a condition.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "ForgetPreview")]
pub struct ForgetWherePreview {
    /// Number of memories that would be forgotten.
    pub count: u64,
    /// The newest of them, at most [`FORESEEN`](crate::model::limits::FORESEEN).
    pub newest: Vec<Memory>,
}

/// A memory that was forgotten because it matched a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "ForgottenMemory")]
pub struct ForgottenMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<MemoryNumber>,
    /// Its owner.
    #[serde(rename = "owner_id")]
    pub owner: PrincipalId,
}

/// Entries of the change log that a caller may see.
///
/// Entry numbers count all changes of the store, so they reveal how much other principals have written, as memory numbers do
/// within a space. They reveal no other fact about hidden entries.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// The entries, in the order of commits.
    pub changes: Vec<Change>,
    /// The position up to which the log was read. The next request starts at this position, even if no entries were
    /// returned.
    pub read_to: Seq,
    /// True if entries after the requested position are missing: the log was trimmed, or a restore replaced the content. A
    /// follower must then read everything again.
    pub gap: bool,
}

/// The decision on whether to run a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdempotencyDecision {
    /// The request must run, because nobody began it, or because it was begun but not answered in time. The start time
    /// distinguishes this run from other runs with the same key.
    Begun(Timestamp),
    /// The request is done, and this is its answer. An empty text means that the answer is not stored: the answer was longer
    /// than [`KEPT_ANSWER_BYTES`](crate::model::limits::KEPT_ANSWER_BYTES), newer answers of the principal replaced it, or a
    /// memory was erased since and the answer might reveal the erased content.
    Answered(String),
    /// The request is running.
    Running,
    /// The key was used for another request.
    Differs,
}

/// A memory that says nearly the same as the one saved.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "NearMemory")]
pub struct NearMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<MemoryNumber>,
    /// The cosine similarity of their vectors.
    pub similarity: Weight,
    /// True if it may be a duplicate: no other number, name or negation tells the two apart, nothing has replaced it, and
    /// the caller did not link them.
    pub duplicate: bool,
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MemoryPage")]
pub struct Page {
    /// The memories, in order.
    pub memories: Vec<Memory>,
    /// Number of memories on all pages; `None` if it was not asked for, or if backends are asked that do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// The start of the next page; `None` at the end.
    #[serde(rename = "next_cursor")]
    pub next: Option<Cursor>,
    /// The backends that failed in whole or in part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed_backends: Vec<FailedBackend>,
}

impl Page {
    /// Returns a page of the built-in backend.
    pub(crate) const fn of(memories: Vec<Memory>, next: Option<Cursor>) -> Self {
        Self { memories, total: None, next, failed_backends: Vec::new() }
    }
}

/// One version in a memory's history.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "MemoryVersion")]
pub struct HistoryEntry {
    /// The version number.
    pub version: Version,
    /// True if it is the current version.
    pub current: bool,
    /// The act that wrote it.
    pub act: VersionAct,
    /// The time at which it was written.
    pub at: Timestamp,
    /// The principal who wrote it.
    pub by: PrincipalId,
    /// The name of that principal.
    pub by_name: String,
    /// The agent that was used.
    pub agent: Option<String>,
    /// The fields that differ from the version before.
    pub changed: Vec<&'static str>,
    /// The content and fields of this version.
    #[serde(flatten)]
    pub fields: VersionFields,
    /// True if the content is left out because newer versions fill the answer. A revert still restores it in
    /// full.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// A memory near another one.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "RelatedMemory")]
pub struct RelatedMemory {
    /// The memory.
    #[serde(flatten)]
    pub memory: Memory,
    /// Number of hops to it.
    pub distance: usize,
    /// The associations by which it was reached, strongest first.
    pub via: Vec<Association>,
}
