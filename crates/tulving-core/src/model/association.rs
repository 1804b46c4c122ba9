//! Typed, weighted edges between memories.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::id::MemoryId;
use crate::model::score::Weight;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{LinkedBy, Relation};

/// An edge from one memory to another, unique per pair and relation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Association {
    /// The memory that the link starts from.
    pub source: MemoryId,
    /// The memory that the link points to.
    pub target: MemoryId,
    /// The relation, read from source to target.
    pub relation: Relation,
    /// The strength of the relation.
    pub weight: Weight,
    /// The maker of the link. Only an `updates` made by a caller supersedes its target.
    pub linked_by: LinkedBy,
    /// Time of creation.
    pub created_at: Timestamp,
}
