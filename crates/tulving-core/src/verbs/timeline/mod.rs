//! Builds timelines: the statements about a subject, the interval of each statement, and the reason for its end.
//!
//! Finds memories by name or by subject, follows the `updates` links made by callers in both directions, and lists all
//! their statements in the order in which they became valid. Writes nothing, and reads only memories that the caller
//! may see. Includes archived memories, but no forgotten or quarantined memories.

mod interval;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use crate::model::answer::{FailedLane, NumberedMemory, StatementEnd, Strength, Timeline, TimelineEntry};
use crate::model::association::Association;
use crate::model::error::{Error, Field};
use crate::model::id::{MemoryId, SpaceId, Version};
use crate::model::limits;
use crate::model::memory::{Memory, VersionFields};
use crate::model::request::{
    Caller, Filter, Mode, RecallQuestion, RecallRequest, TimelineRequest, TimelineSubject,
};
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Relation, State};
use crate::rank::evidence;
use crate::verbs::access::{self, Ports};
use crate::verbs::read;
use crate::verbs::recall;
use crate::verbs::succession::{self, UpdateLinks};

use interval::{Statement, StatementVersion, Successor, ValidityInterval, statements};

/// Returns the statements about a subject, and the time in which each was valid.
pub(crate) fn timeline(ports: &Ports, caller: &Caller, request: &TimelineRequest) -> Result<Timeline, Error> {
    let limit = read::bounded(Field::Limit, request.limit, limits::TIMELINE)?;
    // Memories outside the requested time do not count against the limit.
    let any_time = request.since.is_none() && request.until.is_none();
    let most = if any_time { limit } else { limits::TIMELINE };
    let (found, missing) = found(ports, caller, request, most)?;
    let by_rank: Vec<MemoryId> = found.iter().map(|memory| memory.id).collect();
    let web = Web::around(ports, caller, found)?;
    let mut builder = TimelineBuilder { ports, caller, web: &web, now: ports.clock.now(), bytes: 0 };
    let mut entries = Vec::new();
    for memory in web.memories.values() {
        entries.extend(builder.entries(memory)?);
    }
    entries.retain(|entry| {
        request.since.is_none_or(|since| entry.from >= since || entry.until.is_none_or(|until| until > since))
            && request.until.is_none_or(|until| entry.from < until)
    });
    entries.sort_by_key(|entry| (entry.from, entry.memory.id, entry.version));
    let chains = web.chains();
    keep_first(&mut entries, &chains, &by_rank, limit);
    number_chains(&mut entries, &chains);
    name_contradictions(&mut entries, &web);
    Ok(Timeline { entries, cut: web.cut, missing, unread: Vec::new() })
}

/// Returns the memories that match the request, and the lanes that failed.
fn found(
    ports: &Ports,
    caller: &Caller,
    request: &TimelineRequest,
    limit: usize,
) -> Result<(Vec<Memory>, Vec<FailedLane>), Error> {
    let text = match &request.about {
        TimelineSubject::Memory(which) => {
            let memory = access::find(ports, caller, *which)?;
            return match memory.status.quarantined_at {
                None => Ok((vec![memory], Vec::new())),
                Some(_) => Err(access::absent(ports, caller, *which)?),
            };
        }
        TimelineSubject::Text(text) => text,
    };
    let filter = Filter { space: request.space, ..Filter::default() };
    let mode = Mode::Hybrid(Box::new(RecallQuestion::new(text.clone())));
    let answer =
        recall::recall_with_archived(ports, caller, &RecallRequest { mode, filter, sort: None, limit })?;
    let described =
        answer.hits.into_iter().filter(|hit| evidence::strength([hit.evidence()], 0.0) > Strength::None);
    Ok((described.map(|hit| hit.memory).collect(), answer.missing))
}

/// Memories that update one another.
struct Web {
    /// The memories. Contents that are read again with the versions are left out.
    memories: BTreeMap<MemoryId, Memory>,
    /// Memories beyond the limit. They are not listed, but they still end the statements that they update.
    beyond: BTreeMap<MemoryId, Memory>,
    /// The memories that update each memory.
    successors: UpdateLinks,
    /// The `updates` links between the memories.
    updates: Vec<Association>,
    contradictions: Vec<(MemoryId, MemoryId)>,
    /// True if there are more memories than the limit allows.
    cut: bool,
}

impl Web {
    /// Collects these memories and all that they update or are updated by, as far as the caller may see them.
    fn around(ports: &Ports, caller: &Caller, found: Vec<Memory>) -> Result<Self, Error> {
        let mut web = Self {
            memories: BTreeMap::new(),
            beyond: BTreeMap::new(),
            successors: UpdateLinks::default(),
            updates: Vec::new(),
            contradictions: Vec::new(),
            cut: false,
        };
        // Contents that do not fit into an answer are not kept in memory either.
        let mut held = 0;
        let mut load = |ids: &[MemoryId]| -> Result<Vec<Memory>, Error> {
            let mut memories = Vec::new();
            read::each(ports, caller, ids, &mut |memory| {
                let mut memory = without_content(memory);
                held += memory.fields.text.content.len();
                if held > ports.limits.answer_bytes {
                    memory.fields.text.content = String::new();
                }
                memories.push(memory);
            })?;
            memories.retain(|memory| memory.status.quarantined_at.is_none());
            Ok(memories)
        };
        let mut next = found;
        while !next.is_empty() {
            let frontier: Vec<MemoryId> = next.iter().map(|memory| memory.id).collect();
            web.memories.extend(next.into_iter().map(|memory| (memory.id, without_content(memory))));
            let edges = ports.store.associations(&caller.viewer, &frontier)?;
            let mut wanted = web.take(&edges);
            let room = limits::TIMELINE_MEMORIES.saturating_sub(web.memories.len());
            let mut over = wanted.split_off(wanted.len().min(room));
            web.cut |= !over.is_empty();
            over.truncate(limits::TIMELINE_MEMORIES);
            let beyond = load(&over)?.into_iter().map(|memory| (memory.id, without_content(memory)));
            web.beyond.extend(beyond);
            next = load(&wanted)?;
        }
        web.successors = std::mem::take(&mut web.successors).opened(&web.updates);
        Ok(web)
    }

    /// Adds edges, and returns the memories that are new.
    fn take(&mut self, edges: &[Association]) -> Vec<MemoryId> {
        let mut wanted = BTreeSet::new();
        for edge in edges {
            match edge.relation {
                _ if succession::supersedes(edge) => {
                    self.successors.add(edge.target, edge.source);
                    self.updates.push(*edge);
                    wanted.extend([edge.source, edge.target]);
                }
                Relation::Contradicts => self.contradictions.push((edge.source, edge.target)),
                _ => {}
            }
        }
        wanted.retain(|id| !self.memories.contains_key(id) && !self.beyond.contains_key(id));
        wanted.into_iter().collect()
    }

    /// Returns the direct and indirect successors of a memory, in the order in which they became valid. An archived
    /// successor counts too; a successor that expires counts until it expires.
    fn successors_of(&self, memory: &Memory) -> Vec<Successor> {
        let mut seen = BTreeSet::from([memory.id]);
        let mut frontier = VecDeque::from([memory.id]);
        let mut all: Vec<Successor> = Vec::new();
        while let Some(id) = frontier.pop_front() {
            for next in self.successors.of(id) {
                let other = self.memories.get(next).or_else(|| self.beyond.get(next));
                if let Some(other) = other.filter(|other| seen.insert(other.id)) {
                    frontier.push_back(other.id);
                    let named = named(other, memory.space);
                    let until = other.fields.span.expires_at;
                    all.push(Successor { named, from: other.began_at(), until });
                }
            }
        }
        // The sort is stable: if several successors begin at the same time, the nearest comes first, because it was
        // found first.
        all.sort_by_key(|successor| successor.from);
        all
    }

    fn chains(&self) -> StatementChains {
        let mut linked: HashMap<MemoryId, Vec<MemoryId>> = HashMap::new();
        for Association { source, target, .. } in &self.updates {
            linked.entry(*target).or_default().push(*source);
            linked.entry(*source).or_default().push(*target);
        }
        let mut chains = HashMap::new();
        for first in self.memories.keys() {
            let mut frontier = vec![*first];
            while let Some(id) = frontier.pop() {
                if self.memories.contains_key(&id) && !chains.contains_key(&id) {
                    chains.insert(id, *first);
                    frontier.extend(linked.get(&id).into_iter().flatten());
                }
            }
        }
        StatementChains(chains)
    }
}

/// The chain of each memory, named by its first memory.
struct StatementChains(HashMap<MemoryId, MemoryId>);

impl StatementChains {
    /// Returns the chain of a memory. A memory without links is its own chain.
    fn of(&self, id: MemoryId) -> MemoryId {
        self.0.get(&id).copied().unwrap_or(id)
    }
}

/// Returns the name of a memory for a reader in this space.
fn named(memory: &Memory, from: SpaceId) -> NumberedMemory {
    NumberedMemory { id: memory.id, number: memory.number.filter(|_| memory.space == from) }
}

/// Drops a content that is read again with its versions, because it may be long.
fn without_content(mut memory: Memory) -> Memory {
    if memory.version > Version::FIRST {
        memory.fields.text.content = String::new();
    }
    memory
}

/// Builds the entries of a timeline.
struct TimelineBuilder<'a> {
    ports: &'a Ports,
    caller: &'a Caller,
    web: &'a Web,
    now: Timestamp,
    /// Total bytes of the contents so far.
    bytes: usize,
}

impl TimelineBuilder<'_> {
    /// Returns the entries of a memory, statement by statement.
    fn entries(&mut self, memory: &Memory) -> Result<Vec<TimelineEntry>, Error> {
        let successors = self.web.successors_of(memory);
        let statements = statements(self.wordings(memory)?, memory.usage.created_at);
        let last = statements.len();
        let described = (1..).zip(statements).flat_map(|(nth, statement)| {
            let ends = memory.status.state == State::Archived && nth == last;
            self.tell(memory, &statement, &successors, ends)
        });
        Ok(described.collect())
    }

    /// Returns an entry for each interval of a statement. If the memory is archived, the archiving ends the last
    /// interval, unless the interval ended before.
    fn tell(
        &self,
        memory: &Memory,
        statement: &Statement,
        successors: &[Successor],
        archived: bool,
    ) -> Vec<TimelineEntry> {
        let intervals = statement.intervals(successors);
        let tell = |interval: ValidityInterval| {
            let over = interval.end.is_some_and(|(until, _)| until <= self.now);
            let end = match archived && !over {
                true => (None, Some(StatementEnd::Archived)),
                false => interval.end.map_or((None, None), |(until, why)| (Some(until), Some(why))),
            };
            let wording = &statement.wording;
            TimelineEntry {
                memory: named(memory, memory.space),
                space: memory.space,
                space_name: None,
                place: memory.place_in_file(),
                version: wording.version,
                content: wording.content.clone(),
                left_out: wording.left_out,
                from: interval.from,
                until: end.0,
                ended: end.1,
                holds: interval.from <= self.now && !over && !archived,
                archived: memory.status.state == State::Archived,
                chain: 0,
                contradicts: Vec::new(),
            }
        };
        intervals.into_iter().map(tell).collect()
    }

    /// Returns the versions of a memory that the caller may see, oldest first. Once the contents fill an answer,
    /// further versions have no content.
    fn wordings(&mut self, memory: &Memory) -> Result<Vec<StatementVersion>, Error> {
        let mut all = Vec::new();
        let (bytes, most) = (&mut self.bytes, self.ports.limits.answer_bytes);
        let mut take = |version, at, fields: VersionFields| {
            *bytes += fields.text.content.len();
            let left_out = *bytes > most || fields.text.content.is_empty();
            all.push(StatementVersion {
                version,
                at,
                span: fields.span,
                hash: fields.text.content_hash,
                content: if left_out { String::new() } else { fields.text.content },
                left_out,
            });
        };
        if memory.version == Version::FIRST {
            take(memory.version, memory.usage.created_at, memory.fields.clone());
        } else {
            let (store, viewer) = (&self.ports.store, &self.caller.viewer);
            store.each_version(viewer, memory.id, &mut |record| {
                take(record.version, record.at, record.fields);
            })?;
            all.reverse();
        }
        Ok(all)
    }
}

/// Keeps the chains of the first `limit` memories that have entries left.
fn keep_first(
    entries: &mut Vec<TimelineEntry>,
    chains: &StatementChains,
    by_rank: &[MemoryId],
    limit: usize,
) {
    let left: BTreeSet<MemoryId> = entries.iter().map(|entry| chains.of(entry.memory.id)).collect();
    let described = by_rank.iter().map(|id| chains.of(*id)).filter(|chain| left.contains(chain)).take(limit);
    let described: BTreeSet<MemoryId> = described.collect();
    entries.retain(|entry| described.contains(&chains.of(entry.memory.id)));
}

/// Numbers the chains in the order in which they appear.
fn number_chains(entries: &mut [TimelineEntry], chains: &StatementChains) {
    let mut numbers: HashMap<MemoryId, usize> = HashMap::new();
    for entry in entries {
        let next = numbers.len() + 1;
        entry.chain = *numbers.entry(chains.of(entry.memory.id)).or_insert(next);
    }
}

/// Adds to each entry the other listed memories that contradict it or that it contradicts.
fn name_contradictions(entries: &mut [TimelineEntry], web: &Web) {
    let described: BTreeSet<MemoryId> = entries.iter().map(|entry| entry.memory.id).collect();
    let mut against: BTreeMap<MemoryId, BTreeSet<MemoryId>> = BTreeMap::new();
    for (one, other) in &web.contradictions {
        if described.contains(one) && described.contains(other) {
            against.entry(*one).or_default().insert(*other);
            against.entry(*other).or_default().insert(*one);
        }
    }
    for entry in entries {
        let others = against.get(&entry.memory.id).into_iter().flatten();
        let others = others.filter_map(|id| web.memories.get(id));
        entry.contradicts = others.map(|other| named(other, entry.space)).collect();
    }
}
