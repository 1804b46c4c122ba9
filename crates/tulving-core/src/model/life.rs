//! The data of a memory that lifecycle rules need to decide how the memory ages. It does not include the content.

use crate::model::id::{MemoryId, PrincipalId, SpaceId, Version};
use crate::model::memory::{Classification, Memory, Status, Usage};
use crate::model::time::Timestamp;
use crate::model::vocabulary::Boundary;

/// The data of a memory that lifecycle rules need.
#[derive(Clone, Debug, PartialEq)]
pub struct LifecycleData {
    /// The memory.
    pub id: MemoryId,
    /// Its space.
    pub space: SpaceId,
    /// Its owner.
    pub owner: PrincipalId,
    /// Its boundary.
    pub boundary: Boundary,
    /// Its version.
    pub version: Version,
    /// Its classification.
    pub class: Classification,
    /// Its labels.
    pub tags: Vec<String>,
    /// Its status.
    pub status: Status,
    /// The times at which it was saved, changed and used.
    pub usage: Usage,
    /// Time from which recall no longer finds it.
    pub expires_at: Option<Timestamp>,
}

impl LifecycleData {
    /// Returns true if the memory is a todo or a goal that is not done yet.
    pub fn is_open(&self) -> bool {
        self.class.memory_type.can_be_done() && self.status.done_at.is_none()
    }

    /// Extracts this data from a memory.
    pub fn of(memory: &Memory) -> Self {
        let fields = &memory.fields;
        Self {
            id: memory.id,
            space: memory.space,
            owner: memory.owner,
            boundary: fields.boundary,
            version: memory.version,
            class: fields.class,
            tags: fields.text.tags.clone(),
            status: memory.status,
            usage: memory.usage,
            expires_at: fields.span.expires_at,
        }
    }
}
