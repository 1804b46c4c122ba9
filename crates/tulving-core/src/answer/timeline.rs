//! How what is known about something changed.

use std::fmt;

use serde::Serialize;

use crate::id::{MemoryId, MemoryRef, Number, SpaceId, Version};
use crate::time::Timestamp;

use super::{Missing, Unread};

/// What held about something, and when.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Timeline {
    /// What held, in the order in which it began to.
    pub entries: Vec<TimelineEntry>,
    /// Whether more memories belong to it than are looked at.
    pub cut: bool,
    /// Lanes that could not do all their work, and why, where a text was asked about.
    pub missing: Vec<Missing>,
    /// Files that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

impl Timeline {
    /// What could not be looked at, each in a line.
    pub fn troubles(&self) -> impl Iterator<Item = String> {
        self.missing.iter().map(ToString::to_string).chain(self.unread.iter().map(ToString::to_string))
    }
}

/// A statement, and a stretch of time in which it held.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimelineEntry {
    /// The memory that says it.
    #[serde(flatten)]
    pub memory: Named,
    /// Where that is.
    pub space: SpaceId,
    /// File and line, where the memory mirrors an entry of a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The first version with this content.
    pub version: Version,
    /// What it says.
    pub content: String,
    /// Whether the content is left out, because others fill the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
    /// From when on it held.
    pub from: Timestamp,
    /// Until when; `None` where nothing ended it, or nobody knows when.
    pub until: Option<Timestamp>,
    /// What ended it, or will.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// Whether it holds now.
    pub holds: bool,
    /// Whether the memory is archived.
    pub archived: bool,
    /// Which chain of memories that update one another it belongs to, from 1.
    pub chain: usize,
    /// The memories of this answer that contradict it, or that it contradicts.
    pub contradicts: Vec<Named>,
}

/// A memory by its names. Its number is known where that means it: in the space of who names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Named {
    /// Its id.
    pub id: MemoryId,
    /// Its number.
    pub number: Option<Number>,
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        MemoryRef::of(self.number, self.id).fmt(f)
    }
}

/// What ended a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "why", rename_all = "snake_case")]
pub enum Ended {
    /// Another memory took its place.
    Superseded {
        /// Which.
        by: Named,
    },
    /// An edit gave the memory another content.
    Edited {
        /// The version that it made.
        version: Version,
    },
    /// It was said to hold until then.
    NoLongerValid,
    /// It expired.
    Expired,
    /// It was archived; nobody knows when.
    Archived,
}

impl fmt::Display for Ended {
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
