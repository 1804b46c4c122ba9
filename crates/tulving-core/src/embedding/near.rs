//! Which memories say nearly the same as a new one, so that it is linked to them by itself.
//!
//! Such a link relates and never supersedes: only a caller says that one memory takes the place of another. An index that
//! does not answer costs the links, never the memory.

use std::collections::HashSet;

use crate::access::Parts;
use crate::association::Association;
use crate::change::Write;
use crate::error::Error;
use crate::id::{MemoryId, Number, PrincipalId, Seq, SpaceId};
use crate::memory::{Embedding, Memory};
use crate::request::Filter;
use crate::score::Weight;
use crate::search::{Entry, Meaning, Question, Scope};
use crate::space::Viewer;
use crate::time::Timestamp;
use crate::vocabulary::{Boundary, ChangeKind, LinkedBy, Relation, State};

/// From this cosine on a new memory is linked to an old one by itself.
const SAME: f32 = 0.9;
/// Most links made for one memory.
pub(crate) const LINKS: usize = 5;
/// Of what was written while a save was being decided, so many entries of the log are looked at.
const LATE: usize = 1_000;
/// How many near memories are looked at, since some may be of another boundary.
const LOOKED_AT: usize = 32;

/// Where a new memory stands among those that it may be linked to.
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
    /// Where a memory stands.
    pub(crate) fn of(memory: &Memory) -> Self {
        Self { space: memory.space, boundary: memory.edition.boundary, owner: memory.owner }
    }

    /// Whether a memory that its owner may see stands where links to it are made by themselves.
    fn meets(self, memory: &Memory) -> bool {
        memory.space == self.space
            && memory.edition.boundary == self.boundary
            && memory.standing.quarantined_at.is_none()
    }
}

/// How alike two texts are, where that is so near that they are linked.
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

/// The memories that others have written from `after` up to `last`, in the order of the log, at most [`LATE`].
pub(crate) fn written_between(
    parts: &Parts,
    space: SpaceId,
    after: Seq,
    last: Seq,
) -> Result<Vec<MemoryId>, Error> {
    let changes = parts.store.changes(after, LATE)?;
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

/// Those of these entries that say nearly the same, nearest first: what [`near`] would find among them.
pub(crate) fn near_among(
    newcomer: Newcomer,
    embedding: &Embedding,
    entries: &[Entry],
    now: Timestamp,
) -> Vec<(MemoryId, Option<Number>, Weight)> {
    let owned = |memory: &Memory| newcomer.boundary != Boundary::Private || memory.owner == newcomer.owner;
    let stands =
        |memory: &Memory| memory.standing.forgotten_at.is_none() && memory.state_at(now) != State::Archived;
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

/// The memories of the same space and boundary that say nearly the same as this vector, nearest first, at most
/// [`LINKS`]. An index that does not answer costs the links, never the memory.
pub(crate) fn near(
    parts: &Parts,
    newcomer: Newcomer,
    embedding: &Embedding,
    before: Option<MemoryId>,
) -> Result<Vec<(Memory, Weight)>, Error> {
    let viewer = Viewer { principal: newcomer.owner, within: Some(vec![newcomer.space]) };
    let states = State::unarchived();
    let states_at = Some(parts.clock.now());
    let filter = Filter { space: Some(newcomer.space), states, states_at, ..Filter::default() };
    let scope = Scope { sight: parts.store.sight(&viewer)?, filter, among: None };
    let meaning = Meaning { model: embedding.model.clone(), vector: embedding.vector.clone() };
    let question = Question { meaning: Some(meaning), depth: LOOKED_AT, ..Question::default() };
    let Ok(found) = parts.index.search(&scope, &question) else {
        return Ok(Vec::new());
    };
    let mut nearest: Vec<(MemoryId, f32)> = found
        .items
        .iter()
        .filter_map(|item| item.whole.filter(|cosine| *cosine > SAME).map(|cosine| (item.memory, cosine)))
        .filter(|(memory, _)| before.is_none_or(|newer| *memory < newer))
        .collect();
    if nearest.is_empty() {
        return Ok(Vec::new());
    }
    nearest.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut seen = HashSet::new();
    nearest.retain(|(memory, _)| seen.insert(*memory));
    let ids: Vec<MemoryId> = nearest.iter().map(|(memory, _)| *memory).collect();
    let memories = parts.store.memories(&viewer, &ids)?;
    let of =
        |memory: &Memory| nearest.iter().find(|(id, _)| *id == memory.id).map_or(0.0, |(_, cosine)| *cosine);
    let same = memories.into_iter().filter(|memory| newcomer.meets(memory));
    let weighed = same.map(|memory| {
        let weight = weight(of(&memory));
        (memory, weight)
    });
    Ok(weighed.take(LINKS).collect())
}

/// The link from a new memory to one that says nearly the same. It relates and does not demote.
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
