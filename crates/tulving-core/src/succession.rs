//! Who took whose place: the one rule by which a memory counts as superseded, for recall, lists, reads, relatives and the briefing.
//!
//! Reads only. That a caller said "this updates that" is stored; whether it counts depends on the time that is asked about.

use std::collections::{HashMap, HashSet};

use crate::access::Parts;
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory::Memory;
use crate::request::Caller;
use crate::time::Timestamp;
use crate::vocabulary::{LinkedBy, Relation};

/// How many links are followed from a memory to the one that took its place, where those between do not count.
const LINKS: usize = 16;

/// The time that is asked about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Moment {
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

/// Lets only those of these memories be superseded whose successor counts, by that one. What was forgotten stays as it was said.
pub(crate) fn settle<'a>(
    parts: &Parts,
    caller: &Caller,
    memories: impl IntoIterator<Item = &'a mut Memory>,
    moment: Moment,
) -> Result<(), Error> {
    let mut said: Vec<&mut Memory> = memories.into_iter().filter(|memory| is_said(memory)).collect();
    if said.is_empty() {
        return Ok(());
    }
    let ids = said.iter().map(|memory| memory.id).collect();
    let succession = Succession::of(parts, caller, ids, moment)?;
    said.iter_mut().for_each(|memory| memory.superseded_by = succession.newest(memory.id));
    Ok(())
}

fn is_said(memory: &Memory) -> bool {
    memory.superseded_by.is_some() && memory.standing.forgotten_at.is_none()
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

    /// Of the nearest successors that count the newest; where none of them counts, one of those that update them in turn.
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

/// For each of these memories the ones at the end of what updates it: those that count and that nothing which counts has
/// replaced. A memory that nothing replaced is its own end; a ring has none.
pub(crate) fn ends(
    parts: &Parts,
    caller: &Caller,
    ids: &[MemoryId],
    moment: Moment,
) -> Result<HashMap<MemoryId, Vec<MemoryId>>, Error> {
    let mut later: HashMap<MemoryId, Vec<MemoryId>> = ids.iter().map(|id| (*id, Vec::new())).collect();
    let mut earlier: HashMap<MemoryId, Vec<MemoryId>> = HashMap::new();
    for (old, new) in parts.store.succession(&caller.viewer, ids)? {
        later.entry(old).or_default().push(new);
        later.entry(new).or_default();
        earlier.entry(new).or_default().push(old);
    }
    // From the last ones back, as far as those that came later do not count.
    let mut open: HashMap<MemoryId, usize> = later.iter().map(|(id, new)| (*id, new.len())).collect();
    let mut last: Vec<MemoryId> = open.iter().filter(|(_, open)| **open == 0).map(|(id, _)| *id).collect();
    let mut ends = HashSet::new();
    while !last.is_empty() {
        let loaded = parts.store.memories(&caller.viewer, &last)?;
        ends.extend(loaded.iter().filter(|memory| moment.counts(memory)).map(|memory| memory.id));
        let mut next = Vec::new();
        for over in last.iter().filter(|id| !ends.contains(id)) {
            for before in earlier.get(over).into_iter().flatten() {
                let open = open.entry(*before).or_default();
                *open = open.saturating_sub(1);
                if *open == 0 {
                    next.push(*before);
                }
            }
        }
        last = next;
    }
    let reached = |from: MemoryId| {
        let (mut seen, mut stack, mut found) = (HashSet::from([from]), vec![from], Vec::new());
        while let Some(id) = stack.pop() {
            found.extend(ends.contains(&id).then_some(id));
            stack.extend(later.get(&id).into_iter().flatten().filter(|next| seen.insert(**next)));
        }
        found.sort_unstable();
        found
    };
    Ok(ids.iter().map(|id| (*id, reached(*id))).collect())
}
