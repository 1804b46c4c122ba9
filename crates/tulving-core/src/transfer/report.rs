//! The outcome of a load, as every surface answers it.

use serde::Serialize;

use crate::id::MemoryId;
use crate::record::Loaded;
use crate::vocabulary::Role;

/// The outcome of a load.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LoadReport {
    /// How many lines were new.
    pub added: u64,
    /// How many were there already.
    pub present: u64,
    /// Memories that got another number, because theirs was taken.
    pub renumbered: Vec<Loaded>,
    /// How many memories were left out, because one with the same content, key or path is here.
    pub duplicates: u64,
    /// How many lines were left out, because they refer to what is not here.
    pub dangling: u64,
    /// Which lines were left out, and why.
    pub left_out: Vec<LeftOut>,
    /// The memberships that were taken over. Each is in the audit.
    pub roles: Vec<LoadedRole>,
    /// The memberships that were left out, because only a load [with roles](super::LoadOptions::with_roles) takes them.
    pub roles_left_out: Vec<LoadedRole>,
    /// How many memories were new.
    pub memories: u64,
    /// How many attachments were new.
    pub attachments: u64,
    /// How many attachments were there already.
    pub attachments_present: u64,
    /// New memories whose attachment is neither in the dump nor here, by what the file was called.
    pub attachments_missing: Vec<String>,
    /// How many files were written.
    pub files: u64,
    /// How many files were there already, with the same content.
    pub files_present: u64,
    /// Files that are here with another content and stay as they are, by their path below the workspace.
    pub files_differ: Vec<String>,
    /// Attachments and files that could not be read when the dump was written, or not be written here, and why.
    pub missing: Vec<(String, String)>,
    /// What the dump says in its first line that it does not hold.
    pub left_out_of_dump: Vec<String>,
}

/// A line that was left out of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// Which line.
    pub line: u64,
    /// The memory it is of, where it is one.
    pub memory: Option<MemoryId>,
    /// Why.
    pub loaded: Loaded,
}

/// A membership in a dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LoadedRole {
    /// Which line.
    pub line: u64,
    /// The name of the principal.
    pub principal: String,
    /// `space`, `team` or `org`.
    pub realm: &'static str,
    /// The name of the space, team or org, or its id where it has none here.
    pub of: String,
    /// As what.
    pub role: Role,
}
