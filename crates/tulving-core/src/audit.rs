//! What was done, by whom and why. Ids and facts about the act, never content.

use serde::{Deserialize, Serialize};

use crate::id::{AuditId, MemoryId, PrincipalId, SpaceId};
use crate::time::Timestamp;
use crate::vocabulary::AuditAct;

/// One entry of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    /// Its id.
    pub id: AuditId,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: PrincipalId,
    /// With which agent.
    pub agent: Option<String>,
    /// What was done.
    pub act: AuditAct,
    /// In which space; `None` for acts on the whole store.
    pub space: Option<SpaceId>,
    /// To which memory.
    pub memory: Option<MemoryId>,
    /// Whose private memory it is about. Only its owner and an admin of the org see the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub private_to: Option<PrincipalId>,
    /// Why, in the caller's words.
    pub reason: Option<String>,
    /// Further facts, such as the other end of an association.
    pub detail: Option<String>,
}
