//! Background work that survives a crash.

use serde::{Deserialize, Serialize};

use crate::id::{JobId, MemoryId, PrincipalId, SpaceId, TurnId};
use crate::time::Timestamp;
use crate::turn::Turn;
use crate::vocabulary::JobState;

/// Reads the text out of the file that a memory describes.
pub const EXTRACT: &str = "extract";
/// Makes a memory of a link ready.
pub const LINK: &str = "link";
/// Removes a file that no memory describes.
pub const DROP: &str = "drop";
/// Looks at a turn for what is worth keeping.
pub const PROACTIVE: &str = "proactive";
/// Looks at an answer for what belongs in the journal of the day.
pub const SHADOW: &str = "shadow_journal";
/// Most answers that wait to be looked at, or were given up. Where there are more, the oldest is dropped.
pub const SHADOWS: usize = 64;

/// Applies the rules of every space, time and again.
pub const TEND: &str = "tend";
/// Consolidates the journals of every space, time and again.
pub const CONSOLIDATE: &str = "consolidate";

/// One piece of background work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// What is to be done, for example [`EXTRACT`].
    pub kind: String,
    /// What the worker needs to know: ids and facts, never content.
    pub payload: serde_json::Value,
    /// Where it stands.
    pub state: JobState,
    /// Not before this.
    pub due_at: Timestamp,
    /// Who does it, and until when nobody else may.
    pub lease: Option<Lease>,
    /// How often it was begun.
    pub attempts: u32,
    /// After how many it is given up.
    pub max_attempts: u32,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
}

impl Job {
    /// Work on a memory, due at once.
    pub fn about(kind: &str, memory: MemoryId, now: Timestamp) -> Self {
        Self::new(kind, serde_json::json!({ "memory": memory }), ATTEMPTS, now)
    }

    /// The removal of what is kept under a key, once no memory describes it. It is not given up: what was erased must go.
    pub fn drop_of(object_key: &str, now: Timestamp) -> Self {
        Self::new(DROP, serde_json::json!({ "object": object_key }), u32::MAX, now)
    }

    /// A look at a turn, in the name of who logged it.
    pub fn look_at(turn: &Turn, now: Timestamp) -> Self {
        Self::of_turn(PROACTIVE, turn, now)
    }

    /// A look at an answer for what belongs in the journal, likewise.
    pub fn journal(turn: &Turn, now: Timestamp) -> Self {
        Self::of_turn(SHADOW, turn, now)
    }

    fn of_turn(kind: &str, turn: &Turn, now: Timestamp) -> Self {
        let payload = serde_json::json!({ "space": turn.space, "turn": turn.id, "by": turn.logged_by });
        Self::new(kind, payload, ATTEMPTS, now)
    }

    /// Work that waits, due at once.
    pub fn new(kind: &str, payload: serde_json::Value, max_attempts: u32, now: Timestamp) -> Self {
        Self {
            id: JobId::mint(now),
            kind: kind.to_owned(),
            payload,
            state: JobState::Waiting,
            due_at: now,
            lease: None,
            attempts: 0,
            max_attempts,
            last_error: None,
            created_at: now,
        }
    }

    /// The memory that it is about.
    pub fn memory(&self) -> Option<MemoryId> {
        serde_json::from_value(self.payload.get("memory")?.clone()).ok()
    }

    /// The key of the file that it is about.
    pub fn object(&self) -> Option<&str> {
        self.payload.get("object")?.as_str()
    }

    /// The turn that it is about, its space, and who logged it.
    pub fn turn(&self) -> Option<(SpaceId, TurnId, PrincipalId)> {
        let part = |name: &str| self.payload.get(name).cloned();
        Some((
            serde_json::from_value(part("space")?).ok()?,
            serde_json::from_value(part("turn")?).ok()?,
            serde_json::from_value(part("by")?).ok()?,
        ))
    }

    /// Whether all its attempts were begun and the last one never ended. Who claims such a job may only give it up.
    pub fn is_spent(&self) -> bool {
        self.attempts > self.max_attempts
    }
}

/// How often work on a memory is tried.
const ATTEMPTS: u32 = 3;

/// A claim on a job that ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who holds it.
    pub holder: String,
    /// Until when.
    pub until: Timestamp,
}
