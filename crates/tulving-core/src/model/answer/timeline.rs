//! The timeline: how the knowledge about a subject changed.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::model::id::{MemoryId, MemoryNumber, MemoryRef, SpaceId, Version};
use crate::model::time::Timestamp;

use super::{FailedLane, UnreadableFile};

/// The statements about something, and when each was true.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Timeline {
    /// The statements, in the order in which they became true.
    pub entries: Vec<TimelineEntry>,
    /// True if it has more memories than were read.
    pub cut: bool,
    /// Lanes that failed in whole or in part, if a text was asked about.
    #[serde(rename = "failed_lanes", skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<FailedLane>,
    /// Files that could not be read.
    #[serde(rename = "unread_files", skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<UnreadableFile>,
}

impl Timeline {
    /// Returns one line for each source that could not be searched.
    pub fn troubles(&self) -> impl Iterator<Item = String> {
        self.missing.iter().map(ToString::to_string).chain(self.unread.iter().map(ToString::to_string))
    }
}

/// A statement and the interval in which it was true.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TimelineEntry {
    /// The memory that says it.
    #[serde(flatten)]
    pub memory: NumberedMemory,
    /// The space of that memory.
    #[serde(rename = "hub_id")]
    pub space: SpaceId,
    /// The name of that space, computed at read time.
    #[serde(rename = "hub_name", skip_serializing_if = "Option::is_none")]
    pub space_name: Option<String>,
    /// File and line, if the memory mirrors an entry of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The first version with this content.
    pub version: Version,
    /// The text of the statement.
    pub content: String,
    /// True if the content is left out because others fill the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
    /// Start of the interval.
    pub from: Timestamp,
    /// End of the interval; `None` if nothing ended it, or if the time is unknown.
    pub until: Option<Timestamp>,
    /// The reason for its end, past or future.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<EndedSchema>")]
    pub ended: Option<StatementEnd>,
    /// True if it is true now.
    pub holds: bool,
    /// True if the memory is archived.
    pub archived: bool,
    /// The number of the chain of updates that it belongs to, from 1.
    pub chain: usize,
    /// The memories of this answer that contradict it, or that it contradicts.
    pub contradicts: Vec<NumberedMemory>,
}

/// A memory by id and number. The number is known only in the space of the caller, where it is unambiguous.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "MemoryName")]
pub struct NumberedMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<MemoryNumber>,
}

impl fmt::Display for NumberedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MemoryRef::of(self.number, self.id).fmt(f)
    }
}

/// The reason why a statement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum StatementEnd {
    /// Another memory took its place.
    Superseded {
        /// The memory that superseded it.
        by: NumberedMemory,
    },
    /// An edit gave the memory another content.
    Edited {
        /// The version that the edit made.
        version: Version,
    },
    /// The end of its validity was reached.
    NoLongerValid,
    /// The memory expired.
    Expired,
    /// The memory was archived; the time is unknown.
    Archived,
}

// The schema is one object, because generated clients read one object more easily than a choice of objects.
/// The reason why a statement ended.
#[derive(JsonSchema)]
#[schemars(rename = "TimelineEnd")]
#[expect(dead_code, reason = "only its schema is used")]
struct EndedSchema {
    /// The reason.
    why: EndReason,
    /// The memory that superseded it.
    #[schemars(skip_serializing_if = "Option::is_none")]
    by: Option<NumberedMemory>,
    /// The version that an edit made.
    #[schemars(skip_serializing_if = "Option::is_none")]
    version: Option<Version>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
#[expect(dead_code, reason = "only its schema is used")]
enum EndReason {
    Superseded,
    Edited,
    NoLongerValid,
    Expired,
    Archived,
}

impl fmt::Display for StatementEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Superseded { by } => write!(f, "superseded by {by}"),
            Self::Edited { version } => write!(f, "edited to version {version}"),
            Self::NoLongerValid => f.write_str("no longer valid"),
            Self::Expired => f.write_str("expired"),
            Self::Archived => f.write_str("archived"),
        }
    }
}
