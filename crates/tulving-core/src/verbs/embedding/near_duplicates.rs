//! Finds memories with nearly the same statement as a new memory, to link them automatically.
//!
//! An automatic link relates two memories, but never marks one as superseded: only a caller can state that one memory
//! replaces another. If the index fails, the new memory is saved without these links.

use std::collections::{HashMap, HashSet};

use crate::model::association::Association;
use crate::model::change::Write;
use crate::model::error::Error;
use crate::model::id::{MemoryId, MemoryNumber, PrincipalId, Seq, SpaceId};
use crate::model::memory::{Embedding, Memory};
use crate::model::request::Filter;
use crate::model::score::Weight;
use crate::model::search::{IndexEntry, QueryVector, SearchQuery, SearchScope};
use crate::model::space::Viewer;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Boundary, ChangeKind, LinkedBy, Relation, State};
use crate::verbs::access::Ports;

/// Cosine similarity above which a new memory is linked to an old memory automatically.
pub(crate) const SAME: f32 = 0.9;
/// Cosine similarity above which an old memory is read, to check if it states another value for the same thing. The
/// similarity of statements that differ in a day or a time is above 0.9; the similarity of statements that differ in a
/// town or a drink is lower.
pub(crate) const ABOUT: f32 = 0.6;
/// Maximum number of automatic links for one memory.
pub(crate) const LINKS: usize = 5;
/// Maximum number of change log entries read to find the memories that others wrote while a save was being decided.
const LATE: usize = 1_000;
/// Number of similar memories read. It is higher than the number of links, because some of the memories may have
/// another boundary.
const LOOKED_AT: usize = 32;

/// The attributes of a new memory that decide what it may be linked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LinkCandidate {
    /// The space of the memory.
    pub(crate) space: SpaceId,
    /// The boundary of the memory.
    pub(crate) boundary: Boundary,
    /// The owner of the memory.
    pub(crate) owner: PrincipalId,
}

impl LinkCandidate {
    /// Returns the attributes of a memory.
    pub(crate) fn of(memory: &Memory) -> Self {
        Self { space: memory.space, boundary: memory.fields.boundary, owner: memory.owner }
    }

    /// Returns true if a new memory with these attributes may be linked automatically to `memory`, which its owner can
    /// see.
    fn meets(self, memory: &Memory) -> bool {
        memory.space == self.space
            && memory.fields.boundary == self.boundary
            && memory.status.quarantined_at.is_none()
    }
}

/// Returns the similarity of two texts if it is high enough for a link.
pub(crate) fn alike(one: &Embedding, other: &Embedding) -> Option<Weight> {
    if one.model != other.model || one.vector.len() != other.vector.len() {
        return None;
    }
    let cosine: f32 = one.vector.iter().zip(&other.vector).map(|(a, b)| a * b).sum();
    (cosine > SAME).then(|| weight(cosine))
}

fn weight(cosine: f32) -> Weight {
    Weight::new(f64::from(cosine).clamp(0.0, 1.0)).unwrap_or(Weight::DEFAULT)
}

/// Returns the memories of a space, by id, that were written after the log position `after` and not after `last`. Reads
/// at most [`LATE`] log entries.
pub(crate) fn written_between(
    ports: &Ports,
    space: SpaceId,
    after: Seq,
    last: Seq,
) -> Result<Vec<MemoryId>, Error> {
    let changes = ports.store.changes(after, LATE)?;
    let mut ids: Vec<MemoryId> = changes
        .into_iter()
        .filter(|change| change.seq <= last && change.space == space)
        .filter(|change| matches!(change.kind, ChangeKind::Saved | ChangeKind::Embedded))
        .map(|change| change.memory)
        .collect();
    ids.sort_unstable();
    ids.dedup();
    Ok(ids)
}

/// Returns the memories of the given entries with nearly the same statement, nearest first. Unlike [`near`], it does
/// not search the index.
pub(crate) fn near_among(
    new_memory: LinkCandidate,
    embedding: &Embedding,
    entries: &[IndexEntry],
    now: Timestamp,
) -> Vec<(MemoryId, Option<MemoryNumber>, Weight)> {
    let owned =
        |memory: &Memory| new_memory.boundary != Boundary::Private || memory.owner == new_memory.owner;
    let stands =
        |memory: &Memory| memory.status.forgotten_at.is_none() && memory.state_at(now) != State::Archived;
    let mut near: Vec<(MemoryId, Option<MemoryNumber>, Weight)> = entries
        .iter()
        .filter(|IndexEntry { memory, .. }| new_memory.meets(memory) && owned(memory) && stands(memory))
        .filter_map(|IndexEntry { memory, chunks }| {
            let cosines = chunks.iter().filter_map(|chunk| alike(embedding, chunk.embedding.as_ref()?));
            let nearest = cosines.max_by(|a, b| a.get().total_cmp(&b.get()))?;
            Some((memory.id, memory.number, nearest))
        })
        .collect();
    near.sort_by(|a, b| b.2.get().total_cmp(&a.2.get()).then(a.0.cmp(&b.0)));
    near
}

/// Finds at most [`LINKS`] memories of the same space and boundary whose statement is nearly the same, by this vector,
/// nearest first. If the index fails, returns no memories, so that the save still succeeds.
pub(crate) fn near(
    ports: &Ports,
    new_memory: LinkCandidate,
    embedding: &Embedding,
    before: Option<MemoryId>,
) -> Result<Vec<(Memory, Weight)>, Error> {
    let mut found = resembling(ports, new_memory, embedding, SAME)?;
    found.retain(|(memory, _)| before.is_none_or(|newer| memory.id < newer));
    found.truncate(LINKS);
    Ok(found)
}

/// Returns true if two memories with this similarity have nearly the same statement.
pub(crate) fn is_near(similarity: Weight) -> bool {
    similarity.get() > f64::from(SAME)
}

/// Finds the memories of the same space and boundary whose similarity to this vector is above a bound, nearest first.
/// If the index fails, returns no memories.
pub(crate) fn resembling(
    ports: &Ports,
    new_memory: LinkCandidate,
    embedding: &Embedding,
    least: f32,
) -> Result<Vec<(Memory, Weight)>, Error> {
    let viewer = Viewer { principal: new_memory.owner, within: Some(vec![new_memory.space]) };
    let states = State::unarchived();
    let states_at = Some(ports.clock.now());
    let filter = Filter { space: Some(new_memory.space), states, states_at, ..Filter::default() };
    let scope = SearchScope { visibility: ports.store.visibility(&viewer)?, filter, among: None };
    let meaning = QueryVector { model: embedding.model.clone(), vector: embedding.vector.clone() };
    let question = SearchQuery { meaning: Some(meaning), depth: LOOKED_AT, ..SearchQuery::default() };
    let Ok(found) = ports.index.search(&scope, &question) else {
        return Ok(Vec::new());
    };
    let mut nearest: Vec<(MemoryId, f32)> = found
        .items
        .iter()
        .filter_map(|item| item.whole.filter(|cosine| *cosine > least).map(|cosine| (item.memory, cosine)))
        .collect();
    if nearest.is_empty() {
        return Ok(Vec::new());
    }
    nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut seen = HashSet::new();
    nearest.retain(|(memory, _)| seen.insert(*memory));
    let ids: Vec<MemoryId> = nearest.iter().map(|(memory, _)| *memory).collect();
    let memories = ports.store.memories(&viewer, &ids)?;
    let mut memories: HashMap<MemoryId, Memory> =
        memories.into_iter().map(|memory| (memory.id, memory)).collect();
    let met = nearest.into_iter().filter_map(|(id, cosine)| Some((memories.remove(&id)?, weight(cosine))));
    Ok(met.filter(|(memory, _)| new_memory.meets(memory)).collect())
}

/// Builds the link from a new memory to an old memory with nearly the same statement. The link does not lower the rank
/// of the old memory.
pub(crate) fn link(new: MemoryId, old: MemoryId, weight: Weight, at: Timestamp) -> Write {
    Write::Link(Association {
        source: new,
        target: old,
        relation: Relation::Updates,
        weight,
        linked_by: LinkedBy::Auto,
        created_at: at,
    })
}
