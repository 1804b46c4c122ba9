//! Background work that survives a crash.

use serde::{Deserialize, Serialize};

use crate::id::JobId;
use crate::time::Timestamp;
use crate::vocabulary::JobState;

/// One piece of background work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Which worker does it, for example `embed`.
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

/// A claim on a job that ends by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Who holds it.
    pub holder: String,
    /// Until when.
    pub until: Timestamp,
}
