//! Succession: the rule by which a memory counts as superseded. Recall, lists, reads, related memories and the briefing
//! all use this rule.
//!
//! This module writes nothing. The store contains `updates` links made by callers, and this module decides which of
//! them count at a given time. When a memory becomes valid again, the links that superseded it are removed, so normally
//! no cycle of updates is stored. If two concurrent writers or a dump still create a cycle, the newest link counts.

use std::collections::{HashMap, HashSet};

use crate::model::association::Association;
use crate::model::change::Write;
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{LinkedBy, Relation};
use crate::verbs::access::Ports;

/// Maximum number of links followed to find a successor that counts.
const STEPS: usize = 16;

/// Number of memories whose successors are read at once.
const AT_ONCE: usize = 1_000;

/// The time in question.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PointInTime {
    /// The present: if the successor of a memory is no longer valid, the memory counts again, because it may be the
    /// best known statement.
    Now(Timestamp),
    /// The past: a memory that was superseded by this time had ended, even if its successor is no longer valid.
    Then(Timestamp),
}

impl PointInTime {
    /// Returns true if a successor counts: the successor has become valid, has not expired, and nobody archived it. If
    /// a rule archived it for its age, the memory that it superseded stays superseded.
    fn counts(self, successor: &Memory) -> bool {
        let (at, holds) = match self {
            Self::Now(at) => (at, successor.held_at(at)),
            Self::Then(at) => (at, successor.began_at() <= at),
        };
        holds && !successor.was_put_away(at)
    }
}

/// Sets the successor of each memory to a successor that counts, or to none. Forgotten memories do not change.
pub(crate) fn settle<'a>(
    ports: &Ports,
    caller: &Caller,
    memories: impl IntoIterator<Item = &'a mut Memory>,
    moment: PointInTime,
) -> Result<(), Error> {
    let mut said: Vec<&mut Memory> = memories.into_iter().filter(|memory| is_said(memory)).collect();
    if said.is_empty() {
        return Ok(());
    }
    let ids: Vec<MemoryId> = said.iter().map(|memory| memory.id).collect();
    let succession = Succession::of(ports, caller, ids, moment, &[])?;
    said.iter_mut().for_each(|memory| memory.superseded_by = succession.newest(memory.id));
    Ok(())
}

/// Returns the memories that are superseded.
pub(crate) fn superseded(
    ports: &Ports,
    caller: &Caller,
    ids: &[MemoryId],
    moment: PointInTime,
) -> Result<HashSet<MemoryId>, Error> {
    let mut superseded = HashSet::new();
    for ids in ids.chunks(AT_ONCE) {
        let succession = Succession::of(ports, caller, ids.to_vec(), moment, &[])?;
        superseded.extend(ids.iter().filter(|id| succession.newest(**id).is_some()));
    }
    Ok(superseded)
}

fn is_said(memory: &Memory) -> bool {
    memory.superseded_by.is_some() && memory.status.forgotten_at.is_none()
}

/// Returns the successor of a memory once these writes are made.
pub(crate) fn successor(
    ports: &Ports,
    caller: &Caller,
    memory: &Memory,
    now: Timestamp,
    writes: &[Write],
) -> Result<Option<Memory>, Error> {
    let succession = Succession::of(ports, caller, vec![memory.id], PointInTime::Now(now), writes)?;
    let found = succession.newest(memory.id).map(|id| ports.store.memories(&caller.viewer, &[id]));
    Ok(found.transpose()?.and_then(|mut found| found.pop()))
}

/// Returns the memories on every chain of `updates` links from `source` to `target`, once these writes are made. A new link
/// from `source` to `target` makes the links of these memories obsolete.
pub(crate) fn overtaken(
    ports: &Ports,
    caller: &Caller,
    (source, target): (MemoryId, MemoryId),
    writes: &[Write],
) -> Result<Vec<Memory>, Error> {
    let ways = UpdateLinks::read(ports, caller, &[source], writes)?.ways(source, target);
    if ways.is_empty() { Ok(Vec::new()) } else { Ok(ports.store.memories(&caller.viewer, &ways)?) }
}

/// Returns true if a link supersedes its target.
pub(crate) fn supersedes(link: &Association) -> bool {
    link.relation == Relation::Updates && link.linked_by == LinkedBy::Caller
}

/// The memories that update each memory, as stated by callers.
#[derive(Debug, Default)]
pub(crate) struct UpdateLinks(HashMap<MemoryId, Vec<MemoryId>>);

impl UpdateLinks {
    /// Reads all links from these memories to the end, including the effect of these writes.
    fn read(ports: &Ports, caller: &Caller, ids: &[MemoryId], writes: &[Write]) -> Result<Self, Error> {
        let made = |write: &Write| match write {
            Write::Link(link) if supersedes(link) => Some(link.source),
            _ => None,
        };
        let asked: Vec<MemoryId> = ids.iter().copied().chain(writes.iter().filter_map(made)).collect();
        let mut links = Self::default();
        for (old, new) in ports.store.succession(&caller.viewer, &asked)? {
            links.add(old, new);
        }
        for write in writes {
            match write {
                Write::Link(link) if supersedes(link) => links.add(link.target, link.source),
                Write::Unlink { source, target, relation: Relation::Updates } => {
                    links.remove(*target, *source);
                }
                _ => {}
            }
        }
        Ok(links)
    }

    pub(crate) fn add(&mut self, old: MemoryId, new: MemoryId) {
        let successors = self.0.entry(old).or_default();
        if !successors.contains(&new) {
            successors.push(new);
        }
    }

    fn remove(&mut self, old: MemoryId, new: MemoryId) {
        if let Some(successors) = self.0.get_mut(&old) {
            successors.retain(|id| *id != new);
        }
    }

    /// Returns the memories that update this one.
    pub(crate) fn of(&self, old: MemoryId) -> &[MemoryId] {
        self.0.get(&old).map_or(&[], Vec::as_slice)
    }

    /// Returns the pairs of an old memory and a memory that updates it.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (MemoryId, MemoryId)> {
        self.0.iter().flat_map(|(old, successors)| successors.iter().map(|new| (*old, *new)))
    }

    /// Returns the memories that update `from` and lead to `to`.
    fn ways(&self, from: MemoryId, to: MemoryId) -> Vec<MemoryId> {
        self.of(from).iter().copied().filter(|next| self.reaches(*next, to)).collect()
    }

    fn reaches(&self, from: MemoryId, to: MemoryId) -> bool {
        let (mut seen, mut stack) = (HashSet::from([from]), vec![from]);
        while let Some(id) = stack.pop() {
            if id == to {
                return true;
            }
            stack.extend(self.of(id).iter().filter(|next| seen.insert(**next)));
        }
        false
    }

    /// Returns the memories in cycles of updates, and the memories that lead to a cycle.
    fn around_rings(&self) -> HashSet<MemoryId> {
        let mut earlier: HashMap<MemoryId, Vec<MemoryId>> = HashMap::new();
        let mut open: HashMap<MemoryId, usize> = HashMap::new();
        for (old, new) in self.pairs() {
            earlier.entry(new).or_default().push(old);
            *open.entry(old).or_default() += 1;
            open.entry(new).or_default();
        }
        let mut last: Vec<MemoryId> =
            open.iter().filter(|(_, open)| **open == 0).map(|(id, _)| *id).collect();
        while let Some(over) = last.pop() {
            open.remove(&over);
            for before in earlier.get(&over).into_iter().flatten() {
                if let Some(left) = open.get_mut(before) {
                    *left -= 1;
                    last.extend((*left == 0).then_some(*before));
                }
            }
        }
        open.into_keys().collect()
    }

    /// Removes cycles: in each cycle the newest link counts, and the links that update its source are removed.
    fn open(self, ports: &Ports, caller: &Caller) -> Result<Self, Error> {
        let members: Vec<MemoryId> = self.around_rings().into_iter().collect();
        if members.is_empty() {
            return Ok(self);
        }
        let links = ports.store.associations(&caller.viewer, &members)?;
        Ok(self.opened(&links))
    }

    /// Removes cycles, with the given links instead of links read from the store.
    pub(crate) fn opened(mut self, links: &[Association]) -> Self {
        let mut around = self.around_rings();
        let mut newest: Vec<&Association> = links.iter().filter(|link| supersedes(link)).collect();
        newest.sort_by_key(|link| std::cmp::Reverse((link.created_at, link.source, link.target)));
        for link in newest {
            if around.is_empty() {
                break;
            }
            let (holds, over) = (link.source, link.target);
            if !around.contains(&holds) || !self.of(over).contains(&holds) {
                continue;
            }
            let ways = self.ways(holds, over);
            if !ways.is_empty() {
                ways.into_iter().for_each(|by| self.remove(holds, by));
                around = self.around_rings();
            }
        }
        self
    }
}

/// The succession at a time.
struct Succession {
    links: UpdateLinks,
    /// The successors read so far, each with its creation time if it counts.
    known: HashMap<MemoryId, Option<Timestamp>>,
}

impl Succession {
    /// Reads the successors of these memories. If a successor does not count, reads its successors too.
    fn of(
        ports: &Ports,
        caller: &Caller,
        ids: Vec<MemoryId>,
        moment: PointInTime,
        writes: &[Write],
    ) -> Result<Self, Error> {
        let links = UpdateLinks::read(ports, caller, &ids, writes)?.open(ports, caller)?;
        let mut known = HashMap::new();
        let mut frontier = ids;
        for _ in 0..STEPS {
            let next: HashSet<MemoryId> = frontier.iter().flat_map(|id| links.of(*id)).copied().collect();
            let new: Vec<MemoryId> = next.into_iter().filter(|id| !known.contains_key(id)).collect();
            if new.is_empty() {
                break;
            }
            frontier.clear();
            for memory in ports.store.memories(&caller.viewer, &new)? {
                let counts = moment.counts(&memory);
                known.insert(memory.id, counts.then_some(memory.usage.created_at));
                frontier.extend((!counts).then_some(memory.id));
            }
        }
        Ok(Self { links, known })
    }

    /// Returns the newest of the nearest successors that count. If none of them counts, continues with the successors
    /// of these successors.
    fn newest(&self, target: MemoryId) -> Option<MemoryId> {
        let mut seen = HashSet::from([target]);
        let mut nearest = vec![target];
        while !nearest.is_empty() {
            let next = nearest.iter().flat_map(|id| self.links.of(*id)).copied();
            nearest = next.filter(|id| seen.insert(*id)).collect();
            let counting = nearest.iter().filter_map(|id| Some(((*self.known.get(id)?)?, *id)));
            if let Some((_, newest)) = counting.max() {
                return Some(newest);
            }
        }
        None
    }
}

/// Returns the final successors of each memory. A final successor counts and has no successor that counts. For a memory
/// without a successor, the result is the memory itself.
pub(crate) fn ends(
    ports: &Ports,
    caller: &Caller,
    ids: &[MemoryId],
    moment: PointInTime,
) -> Result<HashMap<MemoryId, Vec<MemoryId>>, Error> {
    let links = UpdateLinks::read(ports, caller, ids, &[])?.open(ports, caller)?;
    let mut open: HashMap<MemoryId, usize> = ids.iter().map(|id| (*id, 0)).collect();
    let mut earlier: HashMap<MemoryId, Vec<MemoryId>> = HashMap::new();
    for (old, new) in links.pairs() {
        *open.entry(old).or_default() += 1;
        open.entry(new).or_default();
        earlier.entry(new).or_default().push(old);
    }
    // Starts with the memories that have no successor. Goes back to older memories as long as the newer ones do not
    // count.
    let mut last: Vec<MemoryId> = open.iter().filter(|(_, open)| **open == 0).map(|(id, _)| *id).collect();
    let mut ends = HashSet::new();
    while !last.is_empty() {
        let loaded = ports.store.memories(&caller.viewer, &last)?;
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
            stack.extend(links.of(id).iter().filter(|next| seen.insert(**next)));
        }
        found.sort_unstable();
        found
    };
    Ok(ids.iter().map(|id| (*id, reached(*id))).collect())
}
