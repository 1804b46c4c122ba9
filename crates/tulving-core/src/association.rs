//! Typed, weighted edges between memories.

use serde::{Deserialize, Serialize};

use crate::id::MemoryId;
use crate::score::Weight;
use crate::time::Timestamp;
use crate::vocabulary::{LinkedBy, Relation};

/// An edge from one memory to another, unique per pair and relation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Association {
    /// The memory that says it.
    pub source: MemoryId,
    /// The memory it is about.
    pub target: MemoryId,
    /// How they relate, read from source to target.
    pub relation: Relation,
    /// How strongly.
    pub weight: Weight,
    /// Who made it. Only a caller's `updates` supersedes its target.
    pub linked_by: LinkedBy,
    /// When.
    pub created_at: Timestamp,
}
