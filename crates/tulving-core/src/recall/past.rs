//! What held when: texts as they were, and which memory had taken whose place.

use std::collections::{HashMap, HashSet};

use crate::access::Parts;
use crate::error::Error;
use crate::id::{MemoryId, Version};
use crate::memory::Memory;
use crate::request::Caller;
use crate::time::Timestamp;
use crate::vocabulary::{LinkedBy, Relation};

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

/// How many links are followed from a memory to the one that took its place.
const LINKS: usize = 16;

/// The time that is asked about.
#[derive(Clone, Copy)]
pub(super) enum Moment {
    /// Now: what a successor that no longer holds has replaced may still be the best that is known.
    Now(Timestamp),
    /// Then: what was superseded by then had ended, whatever became of its successor.
    Then(Timestamp),
}

impl Moment {
    /// Whether a successor counts: it has begun to hold, has not expired and nobody archived it. That a rule has for its age
    /// does not bring back what it replaced.
    fn counts(self, successor: &Memory) -> bool {
        let (at, holds) = match self {
            Self::Now(at) => (at, successor.held_at(at)),
            Self::Then(at) => (at, successor.began_at() <= at),
        };
        holds && !successor.was_put_away(at)
    }
}

/// Which of these memories another one updates, and which one does. Of several that count the newest does; where none of them
/// counts, those do that update them in turn.
pub(super) fn superseded(
    parts: &Parts,
    caller: &Caller,
    memories: &HashMap<MemoryId, Memory>,
    moment: Moment,
) -> Result<HashMap<MemoryId, MemoryId>, Error> {
    let is_target = |memory: &&Memory| memory.superseded_by.is_some();
    let targets: Vec<MemoryId> = memories.values().filter(is_target).map(|memory| memory.id).collect();
    let succession = Succession::of(parts, caller, targets.clone(), moment)?;
    let found = targets.into_iter().filter_map(|target| Some((target, succession.newest(target)?)));
    Ok(found.collect())
}

/// Who updates whom.
#[derive(Default)]
struct Succession {
    successors: HashMap<MemoryId, Vec<MemoryId>>,
    /// Each successor; with the time of its creation where it counts.
    known: HashMap<MemoryId, Option<Timestamp>>,
}

impl Succession {
    /// The successors of these memories, and of such successors as do not count.
    fn of(
        parts: &Parts,
        caller: &Caller,
        mut frontier: Vec<MemoryId>,
        moment: Moment,
    ) -> Result<Self, Error> {
        let mut succession = Self::default();
        for _ in 0..LINKS {
            if frontier.is_empty() {
                break;
            }
            let edges = parts.store.associations(&caller.viewer, &frontier)?;
            let inside: HashSet<MemoryId> = frontier.drain(..).collect();
            let mut new = Vec::new();
            for edge in edges {
                let supersedes = edge.relation == Relation::Updates && edge.linked_by == LinkedBy::Caller;
                if supersedes && inside.contains(&edge.target) {
                    succession.successors.entry(edge.target).or_default().push(edge.source);
                    new.push(edge.source);
                }
            }
            new.retain(|id| !succession.known.contains_key(id));
            for memory in parts.store.memories(&caller.viewer, &new)? {
                let counts = moment.counts(&memory);
                succession.known.insert(memory.id, counts.then_some(memory.usage.created_at));
                if !counts
                    && memory.superseded_by.is_some()
                    && !succession.successors.contains_key(&memory.id)
                {
                    frontier.push(memory.id);
                }
            }
        }
        Ok(succession)
    }

    /// The newest of the nearest successors that count.
    fn newest(&self, target: MemoryId) -> Option<MemoryId> {
        let mut seen = HashSet::from([target]);
        let mut nearest = vec![target];
        while !nearest.is_empty() {
            let next = nearest.iter().filter_map(|id| self.successors.get(id)).flatten().copied();
            nearest = next.filter(|id| seen.insert(*id)).collect();
            let counting = nearest.iter().filter_map(|id| Some(((*self.known.get(id)?)?, *id)));
            if let Some((_, newest)) = counting.max() {
                return Some(newest);
            }
        }
        None
    }
}
