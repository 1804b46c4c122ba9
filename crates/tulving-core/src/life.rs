//! A memory as rules see it: all that tells how it ages, and nothing of what it says.

use crate::id::{MemoryId, PrincipalId, SpaceId, Version};
use crate::memory::{Classification, Memory, Standing, Usage};
use crate::time::Timestamp;
use crate::vocabulary::Boundary;

/// How a memory has lived so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Life {
    /// Which memory.
    pub id: MemoryId,
    /// Where it lives.
    pub space: SpaceId,
    /// Whose it is.
    pub owner: PrincipalId,
    /// Who may see it.
    pub boundary: Boundary,
    /// The version of its edition.
    pub version: Version,
    /// What sort of memory it is.
    pub class: Classification,
    /// Its labels.
    pub tags: Vec<String>,
    /// Where it stands.
    pub standing: Standing,
    /// When it was saved, changed and used.
    pub usage: Usage,
    /// From when on recall no longer finds it.
    pub expires_at: Option<Timestamp>,
}

impl Life {
    /// Whether it is a todo or a goal that is not done yet.
    pub fn is_open(&self) -> bool {
        self.class.memory_type.can_be_done() && self.standing.done_at.is_none()
    }

    /// The life of a memory.
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
