//! Lines of a conversation.

use serde::{Deserialize, Serialize};

use crate::id::{PrincipalId, SpaceId, TurnId};
use crate::space::Space;
use crate::time::Timestamp;
use crate::vocabulary::TurnRole;

/// How many turns of a space the log keeps.
pub const TURNS_KEPT: u64 = 200;
/// After how many inserts the log is cut back to [`TURNS_KEPT`].
pub const TURNS_BETWEEN_PRUNES: u64 = 50;

/// Where a host logs what nobody said: such turns are not looked at.
const UNSAID: [&str; 5] = ["cron", "heartbeat", "scheduler", "pass", "system"];

/// Which turns are looked at in the background, for what, and by whom. By itself, none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listening {
    /// Whether what users say is looked at for what is worth keeping.
    pub enabled: bool,
    /// But for the turns of these spaces, by name or id.
    pub except: Vec<String>,
    /// What is said there is put aside for review.
    pub untrusted: Vec<String>,
    /// Whether rules look at it also where a language model is set up.
    pub by_rules: bool,
    /// Whether answers to users are looked at for what belongs in the journal of the day.
    pub journal: Journaling,
}

/// How answers to users come into the journal of the day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journaling {
    /// Whether they do. It takes a language model.
    pub enabled: bool,
    /// Another model of the same service than the one that is set up.
    pub model: Option<String>,
}

impl Listening {
    /// Whether a turn of a space is looked at: what a user said, there and then.
    pub fn hears(&self, turn: &Turn, space: &Space) -> bool {
        self.enabled && turn.role == TurnRole::User && turn.is_said() && self.is_open(space)
    }

    /// Whether a turn of a space is an answer that may be noted in its journal. What comes from where nothing is trusted is
    /// not: nobody reviews a journal.
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

    /// Whether what is said where this turn was may be taken as it is.
    pub fn trusts(&self, turn: &Turn) -> bool {
        !self.untrusted.iter().any(|source| turn.source.eq_ignore_ascii_case(source))
    }
}

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

impl Turn {
    /// How what was made of it names it: `turn 3 (telegram)`.
    pub(crate) fn note(&self) -> String {
        format!("turn {} ({})", self.position, self.source)
    }

    /// The place in the log of the turn that was named by its [note](Self::note).
    pub(crate) fn noted(note: &str) -> Option<u64> {
        note.strip_prefix("turn ")?.split_once(" (")?.0.parse().ok()
    }

    /// Whether somebody said it, and not a clock or a program.
    pub fn is_said(&self) -> bool {
        !UNSAID.iter().any(|source| self.source.eq_ignore_ascii_case(source))
    }
}
