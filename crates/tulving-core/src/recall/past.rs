//! What held when: texts as they were, and which memory had taken whose place.

use std::collections::HashMap;

use crate::access::Parts;
use crate::error::Error;
use crate::id::{MemoryId, Version};
use crate::memory::Memory;
use crate::request::Caller;
use crate::time::Timestamp;
use crate::vocabulary::{LinkedBy, Relation, State};

/// Each memory that was edited since with the text that it had then; what was saved later with its first. Where the
/// caller may see no such version, the memory is left out.
pub(super) fn brought_back(
    parts: &Parts,
    caller: &Caller,
    memories: Vec<Memory>,
    then: Timestamp,
) -> Result<Vec<Memory>, Error> {
    let mut back = Vec::with_capacity(memories.len());
    for mut memory in memories {
        if memory.version > Version::FIRST && memory.usage.updated_at > then {
            let mut versions = parts.store.versions(&caller.viewer, memory.id)?;
            versions.retain(|version| version.at <= then || version.version == Version::FIRST);
            let Some(version) = versions.pop() else {
                continue;
            };
            (memory.version, memory.edition) = (version.version, version.edition);
        }
        back.push(memory);
    }
    Ok(back)
}

/// Which of these memories another one updates, and which one does. Only a successor counts that itself held at this
/// time, had not expired and is not archived; of several the newest.
pub(super) fn superseded(
    parts: &Parts,
    caller: &Caller,
    memories: &HashMap<MemoryId, Memory>,
    at: Timestamp,
) -> Result<HashMap<MemoryId, MemoryId>, Error> {
    let targets: Vec<MemoryId> =
        memories.values().filter(|memory| memory.superseded_by.is_some()).map(|memory| memory.id).collect();
    if targets.is_empty() {
        return Ok(HashMap::new());
    }
    let mut edges = parts.store.associations(&caller.viewer, &targets)?;
    edges.retain(|edge| {
        edge.relation == Relation::Updates
            && edge.linked_by == LinkedBy::Caller
            && memories.contains_key(&edge.target)
    });
    let sources: Vec<MemoryId> = edges.iter().map(|edge| edge.source).collect();
    let counting: HashMap<MemoryId, Timestamp> = parts
        .store
        .memories(&caller.viewer, &sources)?
        .into_iter()
        .filter(|successor| {
            successor.held_at(at)
                && successor.standing.state != State::Archived
                && successor.edition.span.expires_at.is_none_or(|expires| expires > at)
        })
        .map(|successor| (successor.id, successor.usage.created_at))
        .collect();
    let mut superseded: HashMap<MemoryId, MemoryId> = HashMap::new();
    for edge in edges {
        let Some(created) = counting.get(&edge.source) else {
            continue;
        };
        let known = superseded.entry(edge.target).or_insert(edge.source);
        if (*created, edge.source) > (counting[known], *known) {
            *known = edge.source;
        }
    }
    Ok(superseded)
}
