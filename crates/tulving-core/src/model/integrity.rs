//! The result of a check of a store, and the data that a check of attachments and mirrored files needs.

use std::fmt;

use crate::model::id::{MemoryId, MemoryNumber};

/// The depth of a check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoreCheckDepth {
    /// Checks the whole structure and a sample of the contents.
    #[default]
    Usual,
    /// Checks the whole structure and all contents.
    Deep,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong.
    Fine,
    /// The store works, but something needs attention.
    Warn,
    /// Something is broken.
    Bad,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCheckFinding {
    /// The subject of the check, in one or two words.
    pub name: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// The result in words.
    pub text: String,
    /// The hint for the user.
    pub hint: Option<&'static str>,
}

impl StoreCheckFinding {
    /// Creates a finding that nothing is wrong.
    pub fn fine(name: &'static str, text: impl Into<String>) -> Self {
        Self { name, severity: Severity::Fine, text: text.into(), hint: None }
    }

    /// Creates a finding of something that needs attention.
    pub fn warn(name: &'static str, text: impl Into<String>, hint: &'static str) -> Self {
        Self { name, severity: Severity::Warn, text: text.into(), hint: Some(hint) }
    }

    /// Creates a finding of something broken.
    pub fn bad(name: &'static str, text: impl Into<String>, hint: &'static str) -> Self {
        Self { name, severity: Severity::Bad, text: text.into(), hint: Some(hint) }
    }
}

/// All findings, in the order they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoreCheckReport {
    /// The findings.
    pub findings: Vec<StoreCheckFinding>,
}

impl StoreCheckReport {
    /// Returns the highest severity of the findings.
    pub fn severity(&self) -> Severity {
        self.findings.iter().map(|finding| finding.severity).max().unwrap_or(Severity::Fine)
    }
}

/// The name of a memory for the maintainer of a home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryName {
    /// Its number in the space; `None` for entries of files.
    pub number: Option<MemoryNumber>,
    /// The name of its space.
    pub space: String,
    /// Its id.
    pub id: MemoryId,
}

impl fmt::Display for MemoryName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Some(number) => write!(f, "{number} of {} ({})", self.space, self.id),
            None => write!(f, "memory {} of {}", self.id, self.space),
        }
    }
}

/// A memory that has an attachment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryAttachment {
    /// The memory.
    pub memory: MemoryName,
    /// The key of the attachment.
    pub key: String,
    /// The size of the attachment when it was saved.
    pub size: u64,
}

/// A memory that is an entry of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MirroredMemory {
    /// The memory.
    pub memory: MemoryName,
    /// The path of the file below the workspace.
    pub path: String,
}
