//! Background jobs that survive a crash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::id::{JobId, MemoryId, PrincipalId, SpaceId, TurnId};
use crate::model::time::Timestamp;
use crate::model::turn::Turn;
use crate::model::vocabulary::JobState;

/// Extracts the text of the file that a memory describes.
pub const EXTRACT: &str = "extract";
/// Prepares the memory of a link.
pub const LINK: &str = "link";
/// Removes a file that no memory describes.
pub const DROP: &str = "drop";
/// Searches a turn for facts worth keeping.
pub const PROACTIVE: &str = "proactive";
/// Searches an answer for notes that belong in the day's journal.
pub const SHADOW: &str = "shadow_journal";
/// Maximum number of [`SHADOW`] jobs that wait or have failed for good. If there are more, the oldest is dropped.
pub const SHADOWS: usize = 64;

/// Applies the lifecycle rules of every space, periodically.
pub const TEND: &str = "tend";
/// Consolidates the journals of every space, periodically.
pub const CONSOLIDATE: &str = "consolidate";

/// A background job.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// The kind of work, for example `extract`.
    pub kind: String,
    /// The data for the worker: ids and facts, never content.
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub payload: serde_json::Value,
    /// Its state.
    pub state: JobState,
    /// Earliest time to run it.
    pub due_at: Timestamp,
    /// The current holder, and the time until which nobody else may take it.
    #[serde(skip)]
    pub lease: Option<Lease>,
    /// Number of attempts begun.
    pub attempts: u32,
    /// Number of attempts after which the job is given up.
    pub max_attempts: u32,
    /// The reason why the last attempt failed.
    pub last_error: Option<String>,
    /// Time at which it was enqueued.
    pub created_at: Timestamp,
}

impl Job {
    /// Creates a job about a memory, due at once.
    pub fn about(kind: &str, memory: MemoryId, now: Timestamp) -> Self {
        Self::new(kind, serde_json::json!({ "memory": memory }), ATTEMPTS, now)
    }

    /// Creates a job that deletes the object with this key once no memory describes it. The job is never given up, because
    /// erased content must be deleted.
    pub fn drop_of(object_key: &str, now: Timestamp) -> Self {
        Self::new(DROP, serde_json::json!({ "object": object_key }), u32::MAX, now)
    }

    /// Creates a job that reads a turn, in the name of its logger.
    pub fn look_at(turn: &Turn, now: Timestamp) -> Self {
        Self::of_turn(PROACTIVE, turn, now)
    }

    /// Creates a job that journals an answer, in the name of its logger.
    pub fn journal(turn: &Turn, now: Timestamp) -> Self {
        Self::of_turn(SHADOW, turn, now)
    }

    fn of_turn(kind: &str, turn: &Turn, now: Timestamp) -> Self {
        let payload = serde_json::json!({ "space": turn.space, "turn": turn.id, "by": turn.logged_by });
        Self::new(kind, payload, ATTEMPTS, now)
    }

    /// Creates a waiting job, due at once.
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

    /// Returns the memory that the job is about.
    pub fn memory(&self) -> Option<MemoryId> {
        serde_json::from_value(self.payload.get("memory")?.clone()).ok()
    }

    /// Returns the key of the object that the job is about.
    pub fn object(&self) -> Option<&str> {
        self.payload.get("object")?.as_str()
    }

    /// Returns the space, the id and the logger of the turn that the job is about.
    pub fn turn(&self) -> Option<(SpaceId, TurnId, PrincipalId)> {
        let part = |name: &str| self.payload.get(name).cloned();
        Some((
            serde_json::from_value(part("space")?).ok()?,
            serde_json::from_value(part("turn")?).ok()?,
            serde_json::from_value(part("by")?).ok()?,
        ))
    }

    /// Returns true if all its attempts have begun and the last one never ended. A worker that claims such a job may only
    /// give it up.
    pub fn is_spent(&self) -> bool {
        self.attempts > self.max_attempts
    }
}

/// Number of attempts for a job about a memory.
const ATTEMPTS: u32 = 3;

/// A temporary claim on a job. The claim ends at the given time without any action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The holder's name.
    pub holder: String,
    /// End of the lease.
    pub until: Timestamp,
}
