//! The audit log: each act with its author and reason. An entry contains ids and facts about the act, never content.

use serde::{Deserialize, Serialize};

use crate::model::id::{AuditId, MemoryId, PrincipalId, SpaceId, Version};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, VersionAct};

/// The agent name in entries for acts of the home itself, such as creating its own token. Undo ignores these entries.
pub const HOME_AGENT: &str = "home";

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its id.
    pub id: AuditId,
    /// Time of the act.
    pub at: Timestamp,
    /// The principal who acted.
    pub by: PrincipalId,
    /// The name of the agent that the principal used.
    pub agent: Option<String>,
    /// The act.
    pub act: AuditAct,
    /// The space; `None` for acts on the whole store.
    pub space: Option<SpaceId>,
    /// The memory concerned.
    pub memory: Option<MemoryId>,
    /// The owner, if the entry is about a private memory. Only the owner and an admin of the org see the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_to: Option<PrincipalId>,
    /// The reason, in the caller's words.
    pub reason: Option<String>,
    /// Further facts, such as the other end of an association.
    pub detail: Option<String>,
}

/// The last change that a principal made in a space: audit entries and versions with the same timestamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastChange {
    /// Time of the change.
    pub at: Timestamp,
    /// The name of the agent that the principal used.
    pub agent: Option<String>,
    /// Its audit entries, in order.
    pub audited: Vec<AuditEntry>,
    /// The versions that it wrote.
    pub versions: Vec<WrittenVersion>,
    /// Later audit entries by anyone about the same memories, newest first.
    pub since: Vec<AuditEntry>,
}

/// A version that a principal wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenVersion {
    /// The memory.
    pub memory: MemoryId,
    /// The version number.
    pub version: Version,
    /// The act that wrote it.
    pub act: VersionAct,
}
