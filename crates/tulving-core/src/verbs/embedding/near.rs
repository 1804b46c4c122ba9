//! Finds memories that say nearly the same as a new one, to link them automatically.
//!
//! Such a link relates and never supersedes: only a caller states that one memory replaces another. If the index fails, the
//! links are lost, never the memory.

use std::collections::{HashMap, HashSet};

use crate::model::association::Association;
use crate::model::change::Write;
use crate::model::error::Error;
use crate::model::id::{MemoryId, Number, PrincipalId, Seq, SpaceId};
use crate::model::memory::{Embedding, Memory};
use crate::model::request::Filter;
use crate::model::score::Weight;
use crate::model::search::{Entry, Meaning, Question, SearchScope};
use crate::model::space::Viewer;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Boundary, ChangeKind, LinkedBy, Relation, State};
use crate::verbs::access::Ports;

/// Cosine above which a new memory is linked to an old one automatically.
pub(crate) const SAME: f32 = 0.9;
/// Cosine above which an old memory is read to check if it states the same thing with another value. Statements that differ in
/// a day or a time are more than 0.9 alike, those that differ in a town or a drink less.
pub(crate) const ABOUT: f32 = 0.6;
/// Maximum number of links made for one memory.
pub(crate) const LINKS: usize = 5;
/// Maximum number of log entries read among those written while a save was being decided.
const LATE: usize = 1_000;
/// Number of near memories read, since some may have another boundary.
const LOOKED_AT: usize = 32;

/// The attributes of a new memory that decide what it may be linked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Newcomer {
    /// Its space.
    pub(crate) space: SpaceId,
    /// Its boundary.
    pub(crate) boundary: Boundary,
    /// Its owner.
    pub(crate) owner: PrincipalId,
}

impl Newcomer {
    /// Returns these attributes of a memory.
    pub(crate) fn of(memory: &Memory) -> Self {
        Self { space: memory.space, boundary: memory.fields.boundary, owner: memory.owner }
    }

    /// Returns true if a memory visible to the owner may be linked to automatically.
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

/// Returns the memories of a space written after `after` and up to `last`, by id, from at most [`LATE`] log entries.
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

/// Returns the entries that say nearly the same, nearest first, like [`near`].
pub(crate) fn near_among(
    newcomer: Newcomer,
    embedding: &Embedding,
    entries: &[Entry],
    now: Timestamp,
) -> Vec<(MemoryId, Option<Number>, Weight)> {
    let owned = |memory: &Memory| newcomer.boundary != Boundary::Private || memory.owner == newcomer.owner;
    let stands =
        |memory: &Memory| memory.status.forgotten_at.is_none() && memory.state_at(now) != State::Archived;
    let mut near: Vec<(MemoryId, Option<Number>, Weight)> = entries
        .iter()
        .filter(|Entry { memory, .. }| newcomer.meets(memory) && owned(memory) && stands(memory))
        .filter_map(|Entry { memory, chunks }| {
            let cosines = chunks.iter().filter_map(|chunk| alike(embedding, chunk.embedding.as_ref()?));
            let nearest = cosines.max_by(|a, b| a.get().total_cmp(&b.get()))?;
            Some((memory.id, memory.number, nearest))
        })
        .collect();
    near.sort_by(|a, b| b.2.get().total_cmp(&a.2.get()).then(a.0.cmp(&b.0)));
    near
}

/// Finds the memories of the same space and boundary that say nearly the same as this vector, nearest first, at most
/// [`LINKS`]. If the index fails, the links are lost, never the memory.
pub(crate) fn near(
    ports: &Ports,
    newcomer: Newcomer,
    embedding: &Embedding,
    before: Option<MemoryId>,
) -> Result<Vec<(Memory, Weight)>, Error> {
    let mut found = resembling(ports, newcomer, embedding, SAME)?;
    found.retain(|(memory, _)| before.is_none_or(|newer| memory.id < newer));
    found.truncate(LINKS);
    Ok(found)
}

/// Returns true if memories with this similarity say nearly the same.
pub(crate) fn is_near(similarity: Weight) -> bool {
    similarity.get() > f64::from(SAME)
}

/// Finds the memories of the same space and boundary that are more similar to this vector than a bound, nearest first. If the
/// index fails, it finds none.
pub(crate) fn resembling(
    ports: &Ports,
    newcomer: Newcomer,
    embedding: &Embedding,
    least: f32,
) -> Result<Vec<(Memory, Weight)>, Error> {
    let viewer = Viewer { principal: newcomer.owner, within: Some(vec![newcomer.space]) };
    let states = State::unarchived();
    let states_at = Some(ports.clock.now());
    let filter = Filter { space: Some(newcomer.space), states, states_at, ..Filter::default() };
    let scope = SearchScope { sight: ports.store.sight(&viewer)?, filter, among: None };
    let meaning = Meaning { model: embedding.model.clone(), vector: embedding.vector.clone() };
    let question = Question { meaning: Some(meaning), depth: LOOKED_AT, ..Question::default() };
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
    Ok(met.filter(|(memory, _)| newcomer.meets(memory)).collect())
}

/// Builds the link from a new memory to one that says nearly the same. It relates and does not demote.
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
