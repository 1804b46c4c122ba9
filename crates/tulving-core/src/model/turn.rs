//! Turns of a conversation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::id::{PrincipalId, SpaceId, TurnId};
use crate::model::space::Space;
use crate::model::time::Timestamp;
use crate::model::vocabulary::TurnRole;

/// Number of turns that the log of a space keeps.
pub const TURNS_KEPT: u64 = 200;
/// Number of inserts after which the log is trimmed to [`TURNS_KEPT`].
pub const TURNS_BETWEEN_PRUNES: u64 = 50;

/// Sources of turns that a program made and nobody said. Such turns are not read.
const UNSAID: [&str; 5] = ["cron", "heartbeat", "scheduler", "pass", "system"];

/// The settings for reading turns in the background. By default, no turns are read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnReadingSettings {
    /// True if turns of users are searched for facts worth keeping.
    pub enabled: bool,
    /// Spaces whose turns are not read, by name or id.
    pub except: Vec<String>,
    /// Sources whose facts are quarantined for review.
    pub untrusted: Vec<String>,
    /// True if rules read turns even if a language model is configured.
    pub by_rules: bool,
    /// The settings for journaling answers to users.
    pub journal: JournalSettings,
}

/// The settings for journaling answers to users.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalSettings {
    /// True if answers are journaled. This needs a language model.
    pub enabled: bool,
    /// A model of the same service to use instead of the configured one.
    pub model: Option<String>,
}

impl TurnReadingSettings {
    /// Returns true if a turn of a space is read in the background. Only turns that a user said are read.
    pub fn hears(&self, turn: &Turn, space: &Space) -> bool {
        self.enabled && turn.role == TurnRole::User && turn.is_said() && self.is_open(space)
    }

    /// Returns true if a turn of a space is an answer that may be journaled. Turns from untrusted sources may not be
    /// journaled, because nobody reviews a journal.
    pub fn notes(&self, turn: &Turn, space: &Space) -> bool {
        self.journal.enabled
            && turn.role == TurnRole::Assistant
            && turn.is_said()
            && self.trusts(turn)
            && self.is_open(space)
    }

    fn is_open(&self, space: &Space) -> bool {
        !self.except.iter().any(|name| *name == space.name || *name == space.id.to_string())
    }

    /// Returns true if the source of this turn is trusted.
    pub fn trusts(&self, turn: &Turn) -> bool {
        !self.untrusted.iter().any(|source| turn.source.eq_ignore_ascii_case(source))
    }
}

/// A turn of a conversation, as a host logged it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Turn {
    /// Its id.
    pub id: TurnId,
    /// The space whose log it is in.
    #[serde(rename = "hub_id", alias = "space")]
    pub space: SpaceId,
    /// The principal who logged it.
    pub logged_by: PrincipalId,
    /// The channel that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// Its position in the space's log: ascends, never reused. Assigned by the store; 0 before.
    pub position: u64,
    /// The role of the speaker.
    pub role: TurnRole,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
    /// The text.
    pub content: String,
    /// The source: `telegram`, `tui`, `unknown` or any other.
    pub source: String,
    /// Time of the turn.
    pub at: Timestamp,
}

impl Turn {
    /// Returns the source note of memories that are captured from this turn: `turn 3 (telegram)`.
    pub(crate) fn note(&self) -> String {
        format!("turn {} ({})", self.position, self.source)
    }

    /// Parses the position of a turn from its [note](Self::note).
    pub(crate) fn noted(note: &str) -> Option<u64> {
        note.strip_prefix("turn ")?.split_once(" (")?.0.parse().ok()
    }

    /// Returns true if somebody said the turn: its source is not a scheduler, a pass or the like.
    pub fn is_said(&self) -> bool {
        !UNSAID.iter().any(|source| self.source.eq_ignore_ascii_case(source))
    }
}
