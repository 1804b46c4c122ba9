//! The lines of a dump: the whole content of a store, one JSON object per line.

use serde::{Deserialize, Serialize};

use crate::model::association::Association;
use crate::model::audit::AuditEntry;
use crate::model::id::{MemoryId, MemoryNumber, PrincipalId, SpaceId};
use crate::model::memory::{Memory, VersionRecord};
use crate::model::preview;
use crate::model::space::{Membership, Org, Principal, Space, Team};
use crate::model::turn::Turn;
use crate::model::vocabulary::VersionAct;

/// The version of the dump format.
pub const DUMP_FORMAT: u32 = 3;
/// The first version of the format in which a dump that does not end with [`Record::End`] was cut off.
pub(crate) const FORMAT_WITH_END: u32 = 2;

/// A line of a dump. Lines refer only to lines before them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    /// The first line.
    Dump {
        /// The [`DUMP_FORMAT`] with which it was written.
        format: u32,
        /// The version of Tulving that wrote it.
        written_by: String,
        /// The kinds of content in the dump. Empty before format 3, which was the first format with attachments and files.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        holds: Vec<String>,
        /// The kinds of content of the home that are not in the dump.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
    },
    /// An org.
    Org(Org),
    /// A team.
    Team(Team),
    /// A principal.
    Principal(Principal),
    /// A space, with the number that its next memory gets.
    Space {
        /// The space.
        #[serde(flatten)]
        space: Space,
        /// The next number.
        next_number: u64,
        /// The position of its next turn.
        next_turn: u64,
    },
    /// A membership.
    Member(Membership),
    /// A memory with its past versions, forgotten or not.
    Memory(Box<MemoryRecord>),
    /// An association.
    Association(Association),
    /// A turn.
    Turn(Turn),
    /// An audit entry.
    Audit(AuditEntry),
    /// A part of an attachment. The parts of one attachment are consecutive.
    Attachment(PartRecord),
    /// A part of a file of the workspace. The parts of one file are consecutive.
    File(FileRecord),
    /// An attachment or a file that could not be read when the dump was written.
    Missing {
        /// The name of the item.
        what: String,
        /// The reason.
        why: String,
    },
    /// The last line.
    End {
        /// Number of lines between the first one and this one.
        records: u64,
    },
}

impl Record {
    /// Returns true if the record is the first or last line of a dump, which contain no content of a store.
    pub fn is_frame(&self) -> bool {
        matches!(self, Self::Dump { .. } | Self::End { .. })
    }
}

/// A part of the bytes of an attachment or a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRecord {
    /// SHA-256 of all the bytes, hexadecimal.
    pub hash: String,
    /// Total number of bytes.
    pub size: u64,
    /// Number of bytes before this part.
    pub offset: u64,
    /// The bytes of this part, as base64.
    pub data: String,
}

/// A part of a file in the folder of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// The space.
    pub space: SpaceId,
    /// The path of the file below the folder of the space.
    pub path: String,
    /// The part.
    #[serde(flatten)]
    pub part: PartRecord,
}

/// Parses a line of a dump, or returns a description of the error.
pub fn from_line(line: &str) -> Result<Record, String> {
    serde_json::from_str(line).map_err(|error| match serde_json::from_str::<serde_json::Value>(line) {
        Err(wrong) if wrong.is_eof() => "it is not JSON: it ends too soon".to_owned(),
        Err(wrong) => format!("it is not JSON: see column {}", wrong.column()),
        Ok(value) => {
            let said = error.to_string();
            let missing = said.strip_prefix("missing field ").and_then(|rest| rest.split(" at ").next());
            match (value.get("record").and_then(serde_json::Value::as_str), missing) {
                (None, _) => "it is not a line of a dump: it does not say which `record` it is".to_owned(),
                (Some(record), Some(field)) => format!("the {} has no {field}", preview::short(record)),
                (Some(record), None) => {
                    let record = preview::short(record);
                    let article = preview::article(&record);
                    format!("it is not {article} `{record}` as `tulving dump` writes it")
                }
            }
        }
    })
}

/// A memory with everything that is stored about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryRecord {
    /// The memory as it is now.
    #[serde(flatten)]
    pub memory: Memory,
    /// The earlier versions, oldest first.
    pub versions: Vec<VersionRecord>,
    /// The author of the current version, and the reason for it.
    pub current: CurrentVersion,
}

/// The author of the current version of a memory, and the reason for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurrentVersion {
    /// The act that wrote it.
    pub act: VersionAct,
    /// The principal who wrote it.
    pub by: PrincipalId,
    /// The agent that was used.
    pub agent: Option<String>,
}

/// The position at which a dump continues.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DumpPosition {
    /// The kind of record, in the order of [`Record`].
    pub section: u8,
    /// The last row read of that kind.
    pub after: i64,
    /// Number of records before this position. A store returns this number unchanged.
    pub records: u64,
    /// The last attachment or file read. A store does not use it.
    pub name: Option<String>,
}

/// The outcome for a loaded line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadOutcome {
    /// The record was added.
    Added,
    /// The memory was added with another number, because its own number was taken.
    Renumbered {
        /// The number in the dump.
        from: MemoryNumber,
        /// The number in this store.
        to: MemoryNumber,
    },
    /// The store already had it.
    Present,
    /// The store has a memory with the same content, key or path, so the record was left out.
    Duplicate {
        /// The memory that the store already had.
        of: MemoryId,
    },
    /// The record was left out, because it refers to a memory that is not in the store.
    Dangling,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_of_a_dump_are_explained_too() {
        for (line, said) in [
            ("not JSON at all", "it is not JSON: see column 2"),
            ("{}", "it is not a line of a dump: it does not say which `record` it is"),
            (r#"{"record": "org", "id": "x"}"#, "it is not an `org` as `tulving dump` writes it"),
            (r#"{"record": "fish"}"#, "it is not a `fish` as `tulving dump` writes it"),
            (r#"{"record": "dump", "format": 1}"#, "the dump has no `written_by`"),
        ] {
            assert_eq!(from_line(line).expect_err(line), said);
        }
    }
}
