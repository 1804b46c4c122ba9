//! What a session is told at its start.

use serde::Serialize;

use super::Unread;
use crate::id::MemoryId;

/// What to know at the start of a session, in the order in which it matters.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Briefing {
    /// The memories, by what they are about.
    pub sections: Vec<BriefingSection>,
    /// The files in the folder of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<BriefingFiles>,
    /// How many had no room, by heading.
    pub left_out: Vec<(&'static str, u64)>,
    /// Whether there is no room either to say where they are, only how many.
    #[serde(skip)]
    pub terse: bool,
    /// The files that could not be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
}

/// Memories of one sort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BriefingSection {
    /// What they are.
    pub heading: &'static str,
    /// The memories.
    pub memories: Vec<Briefed>,
}

/// A memory in a briefing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Briefed {
    /// Which.
    pub id: MemoryId,
    /// What a person calls it: its number, or the file and line that it mirrors.
    pub name: String,
    /// What it says; of a long document its best section or its beginning. What is not the reader's own says so first.
    pub text: String,
    /// The name of who wrote it, where that is not the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The files of a folder in a briefing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BriefingFiles {
    /// What they say, the last written first.
    pub told: Vec<BriefedFile>,
    /// Those that are not told, by name and size in bytes: large ones, those that are no text, those without room.
    pub named: Vec<(String, u64)>,
    /// How many more there are.
    pub more: u64,
}

/// A file in a briefing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BriefedFile {
    /// Its path below the folder.
    pub name: String,
    /// What it says, ending with `…` where it was cut.
    pub text: String,
}
