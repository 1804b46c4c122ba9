//! Lines of a conversation.

use serde::{Deserialize, Serialize};

use crate::id::{PrincipalId, SpaceId, TurnId};
use crate::time::Timestamp;
use crate::vocabulary::TurnRole;

/// How many turns of a space the log keeps.
pub const TURNS_KEPT: u64 = 200;
/// After how many inserts the log is cut back to [`TURNS_KEPT`].
pub const TURNS_BETWEEN_PRUNES: u64 = 50;

/// One line of a conversation, as a host logged it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// The space whose log it is in.
    pub space: SpaceId,
    /// Who logged it.
    pub logged_by: PrincipalId,
    /// The channel it belongs to.
    pub channel: Option<String>,
    /// Its place in the space's log: ascends, never reused. Given by the store; 0 before.
    pub position: u64,
    /// Who said it.
    pub role: TurnRole,
    /// The speaker's name.
    pub speaker: Option<String>,
    /// What was said.
    pub content: String,
    /// Where it was said: `telegram`, `tui`, `unknown` or any other.
    pub source: String,
    /// When.
    pub at: Timestamp,
}
