//! The briefing that a session gets at its start.

use schemars::JsonSchema;
use serde::Serialize;

use super::UnreadableFile;
use crate::model::id::MemoryId;

/// The memories to know at the start of a session, most important first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Briefing {
    /// The memories, by section.
    pub sections: Vec<BriefingSection>,
    /// The files in the folder of a group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<BriefingFiles>,
    /// Number of memories that did not fit, by heading. A number of 1,000 or more means that there are at least 1,000.
    pub left_out: Vec<(&'static str, u64)>,
    /// True if there is space only for the total number of memories left out, not for the number in each section.
    #[serde(skip)]
    pub terse: bool,
    /// The files that could not be read.
    pub unread: Vec<UnreadableFile>,
}

/// Memories of one type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BriefingSection {
    /// The heading of the section.
    pub heading: &'static str,
    /// The memories.
    pub memories: Vec<BriefingMemory>,
}

/// A memory in a briefing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BriefingMemory {
    /// Its id.
    pub id: MemoryId,
    /// Its name for people: its number, or the file and line that it mirrors.
    pub name: String,
    /// Its text; for a long document its best section or its beginning. A text that is not the reader's own
    /// begins with a note that says so.
    pub text: String,
    /// The name of its author, if that is not the reader.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

/// The files of a folder in a briefing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BriefingFiles {
    /// The files with their text, last written first.
    pub described: Vec<BriefedFile>,
    /// The files that are listed only by name and size in bytes: large files, files that are not text, and files that did
    /// not fit.
    pub named: Vec<(String, u64)>,
    /// Number of further files.
    pub more: u64,
}

/// A file in a briefing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct BriefedFile {
    /// Its path below the folder.
    pub name: String,
    /// Its text, ending with `…` if it was cut.
    pub text: String,
}
