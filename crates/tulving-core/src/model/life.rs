//! A memory as lifecycle rules see it: everything that decides how it ages, and no content.

use crate::model::id::{MemoryId, PrincipalId, SpaceId, Version};
use crate::model::memory::{Classification, Memory, Standing, Usage};
use crate::model::time::Timestamp;
use crate::model::vocabulary::Boundary;

/// The data of a memory that lifecycle rules need.
#[derive(Clone, Debug, PartialEq)]
pub struct Life {
    /// The memory.
    pub id: MemoryId,
    /// Its space.
    pub space: SpaceId,
    /// Its owner.
    pub owner: PrincipalId,
    /// Its boundary.
    pub boundary: Boundary,
    /// The version of its edition.
    pub version: Version,
    /// Its classification.
    pub class: Classification,
    /// Its labels.
    pub tags: Vec<String>,
    /// Its status.
    pub standing: Standing,
    /// The times at which it was saved, changed and used.
    pub usage: Usage,
    /// Time from which recall no longer finds it.
    pub expires_at: Option<Timestamp>,
}

impl Life {
    /// Returns true if it is a todo or a goal that is not done yet.
    pub fn is_open(&self) -> bool {
        self.class.memory_type.can_be_done() && self.standing.done_at.is_none()
    }

    /// Extracts this data from a memory.
    pub fn of(memory: &Memory) -> Self {
        let edition = &memory.edition;
        Self {
            id: memory.id,
            space: memory.space,
            owner: memory.owner,
            boundary: edition.boundary,
            version: memory.version,
            class: edition.class,
            tags: edition.text.tags.clone(),
            standing: memory.standing,
            usage: memory.usage,
            expires_at: edition.span.expires_at,
        }
    }
}
