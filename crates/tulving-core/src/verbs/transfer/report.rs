//! The outcome of a load, as every surface answers it.

use serde::Serialize;

use crate::model::id::MemoryId;
use crate::model::record::LoadOutcome;
use crate::model::vocabulary::Role;

/// The outcome of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoadReport {
    /// Number of lines whose records were added.
    pub added: u64,
    /// Number of lines whose records existed already.
    pub present: u64,
    /// Memories that got another number because their own number was taken.
    pub renumbered: Vec<LoadOutcome>,
    /// Number of memories left out because one with the same content, key or path exists.
    pub duplicates: u64,
    /// Number of lines left out because they reference a missing record.
    pub dangling: u64,
    /// The lines that were left out, and why.
    pub left_out: Vec<SkippedDumpLine>,
    /// The memberships that were loaded. Each is in the audit.
    pub roles: Vec<DumpMembership>,
    /// The memberships that were left out because only a load [with roles](super::LoadOptions::with_roles) includes
    /// them.
    pub roles_left_out: Vec<DumpMembership>,
    /// Number of new memories.
    pub memories: u64,
    /// Number of new attachments.
    pub attachments: u64,
    /// Number of attachments that existed already.
    pub attachments_present: u64,
    /// New memories whose attachment is neither in the dump nor here, by the name of the file.
    pub attachments_missing: Vec<String>,
    /// Number of files written.
    pub files: u64,
    /// Number of files that existed already with the same content.
    pub files_present: u64,
    /// Files that exist with another content and stay unchanged, by their path below the workspace.
    pub files_differ: Vec<String>,
    /// Attachments and files that could not be read when the dump was written, or could not be written here, and why.
    pub missing: Vec<(String, String)>,
    /// The contents that the first line of the dump declares missing.
    pub left_out_of_dump: Vec<String>,
}

/// A line that was left out of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedDumpLine {
    /// The line number.
    pub line: u64,
    /// The memory of the line, if the line is a memory.
    pub memory: Option<MemoryId>,
    /// The reason.
    pub loaded: LoadOutcome,
}

/// A membership in a dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DumpMembership {
    /// The line number.
    pub line: u64,
    /// The name of the principal.
    pub principal: String,
    /// `space`, `team` or `org`.
    pub realm: &'static str,
    /// The name of the space, team or org, or its id if it has none here.
    pub of: String,
    /// The role.
    pub role: Role,
}
