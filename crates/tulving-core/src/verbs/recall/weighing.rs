//! Loads the best matches, applies the other weights, and moves duplicates and superseded memories to their final
//! positions.
//!
//! Runs after [`lanes`](super::lanes) and the score, and writes nothing.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::model::answer::{LaneMark, PartName, ScorePart};
use crate::model::error::Error;
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::search::SearchResults;
use crate::model::time::Timestamp;
use crate::rank::fuse::LaneRanking;
use crate::rank::scoring::ItemScores;
use crate::rank::ties::{self, ConflictCandidate};
use crate::rank::weigh::{self, WeighingContext};
use crate::rank::{descending, duplicates};
use crate::verbs::succession;

use super::answer::RankedMemory;
use super::lanes::LinkedMemory;
use super::query_context::QueryContext;

/// The maximum number of memories loaded and weighed is [`SPARE`] times the requested number, but at least
/// [`MOST_WEIGHED`].
const SPARE: usize = 3;
const MOST_WEIGHED: usize = 50;
/// Number of additional memories that are loaded together with the requested number.
const AT_ONCE: usize = 5;

/// The best item of a memory.
pub(super) struct BestItem {
    pub(super) memory: MemoryId,
    pub(super) at: usize,
    pub(super) score: f64,
}

/// The data needed for weighing.
pub(super) struct Weighing<'a> {
    pub(super) asked: &'a QueryContext<'a>,
    pub(super) found: &'a SearchResults,
    pub(super) scores: &'a ItemScores<'a>,
    pub(super) lanes: &'a [LaneRanking],
    /// The memories that the graph lane reached.
    pub(super) linked: BTreeMap<MemoryId, LinkedMemory>,
    /// The highest possible score.
    pub(super) most: f64,
}

/// A memory to be weighed, with its best item if a lane of the index found it.
struct Candidate {
    memory: MemoryId,
    item: Option<usize>,
}

impl Candidate {
    fn of(best: &BestItem) -> Self {
        Self { memory: best.memory, item: Some(best.at) }
    }
}

/// The memories weighed so far.
#[derive(Default)]
struct WeighedMemories {
    ranked: Vec<RankedMemory>,
    /// The superseded memories, each with its successor.
    superseded: HashMap<MemoryId, MemoryId>,
    /// The final successor of each successor, if there are memories in between that were not loaded.
    ends: HashMap<MemoryId, MemoryId>,
    /// All memories considered, including those that were left out.
    met: HashSet<MemoryId>,
}

impl WeighedMemories {
    /// Returns the final successor of a memory; `None` if nothing supersedes it.
    fn end_of(&self, id: MemoryId) -> Option<MemoryId> {
        let mut at = *self.superseded.get(&id)?;
        // The maximum number of steps prevents an endless loop if updates form a cycle.
        for _ in 0..self.superseded.len() {
            match self.superseded.get(&at).or_else(|| self.ends.get(&at)) {
                Some(next) if *next != at => at = *next,
                _ => break,
            }
        }
        Some(at)
    }

    /// Returns, for each ranked memory, true if it moves to the end: an earlier memory in the ranking has the same
    /// final successor.
    fn stepping_back(&self) -> Vec<bool> {
        let mut described = HashSet::new();
        let steps =
            |ranked: &RankedMemory| self.end_of(ranked.memory.id).is_some_and(|end| !described.insert(end));
        self.ranked.iter().map(steps).collect()
    }

    /// Moves [these memories](Self::stepping_back) to the end, so that at most one superseded memory of a chain is
    /// shown near its successor.
    fn step_back(&mut self) {
        let back = self.stepping_back();
        let mut behind = Vec::new();
        let mut ranked = Vec::with_capacity(self.ranked.len());
        for (one, back) in std::mem::take(&mut self.ranked).into_iter().zip(back) {
            if back { behind.push(one) } else { ranked.push(one) }
        }
        for mut one in behind {
            if let Some(last) = ranked.last().map(RankedMemory::score) {
                weigh::keep_below(&mut one.parts, last);
            }
            ranked.push(one);
        }
        self.ranked = ranked;
    }

    /// If memories state different values for the same thing and match about equally well, moves the newer memory
    /// first. Memories that are superseded or not valid at the time in question keep their positions.
    fn newest_first(&mut self, at: Timestamp) {
        let contender = |ranked: &'_ RankedMemory| {
            !self.superseded.contains_key(&ranked.memory.id) && ranked.memory.held_at(at)
        };
        let contenders: Vec<_> = self
            .ranked
            .iter()
            .map(|ranked| {
                let stands = contender(ranked);
                (ConflictCandidate::of(&ranked.memory).filter(|_| stands), ranked.score())
            })
            .collect();
        let order = ties::newest_first(&contenders);
        drop(contenders);
        let mut slots: Vec<Option<RankedMemory>> =
            std::mem::take(&mut self.ranked).into_iter().map(Some).collect();
        self.ranked = order
            .into_iter()
            .filter_map(|(place, raised)| {
                let mut ranked = slots[place].take()?;
                if raised > 0.0 {
                    weigh::raise(&mut ranked.parts, raised);
                }
                Some(ranked)
            })
            .collect();
    }
}

impl Weighing<'_> {
    /// Returns the best memories in display order, and the total number found. Loads only memories that could still be
    /// among the requested number.
    pub(super) fn ranked(&self, best: &[BestItem]) -> Result<(Vec<RankedMemory>, u64), Error> {
        let limit = self.asked.plan.limit;
        let most = (SPARE * limit).max(MOST_WEIGHED);
        let at_once = limit + AT_ONCE;
        let past = self.asked.past.is_some();
        let gain = weigh::most(self.asked.ask.channel.as_deref(), past, false);
        let mut weighed = WeighedMemories::default();
        self.weigh(self.linked_alone(best), best, &mut weighed)?;
        let total = (best.len() + weighed.ranked.len()) as u64;
        let mut rest = best;
        loop {
            weighed.ranked.sort_by(|a, b| descending((a.score(), a.memory.id), (b.score(), b.memory.id)));
            let back = weighed.stepping_back();
            let WeighedMemories { ranked, superseded, .. } = &mut weighed;
            // Superseded memories do not count against the limit.
            let room = (most + superseded.len()).saturating_sub(best.len() - rest.len()).min(rest.len());
            let mut status = ranked.iter().zip(back).filter(|(_, back)| !back).map(|(ranked, _)| ranked);
            let last = limit.checked_sub(1).and_then(|last| status.nth(last));
            let reaches = |next: &BestItem| last.is_none_or(|last| next.score + gain >= last.score());
            if room > 0 && rest.first().is_some_and(reaches) {
                let (next, later) = rest.split_at(rest.len().min(at_once));
                self.weigh(next.iter().map(Candidate::of), best, &mut weighed)?;
                rest = later;
                continue;
            }
            behind_successors(ranked, superseded);
            weighed.step_back();
            let past = self.asked.past.map(|past| past.until.plus_millis(-1));
            weighed.newest_first(self.asked.ask.as_of.or(past).unwrap_or(self.asked.plan.now));
            let contents = weighed.ranked.iter().map(|ranked| ranked.memory.fields.text.content.as_str());
            let apart = duplicates::apart(contents, limit);
            if apart.firsts < limit && room > 0 {
                // Duplicates used some of the positions, so later memories may still be among the requested number.
                let (next, later) = rest.split_at(room);
                self.weigh(next.iter().map(Candidate::of), best, &mut weighed)?;
                rest = later;
                continue;
            }
            let mut ranked = in_order(weighed.ranked, &apart);
            behind_successors(&mut ranked, &weighed.superseded);
            return Ok((ranked, total));
        }
    }

    /// Returns the memories that only the graph lane found.
    fn linked_alone(&self, best: &[BestItem]) -> Vec<Candidate> {
        if self.linked.is_empty() {
            return Vec::new();
        }
        let known: HashSet<MemoryId> = best.iter().map(|best| best.memory).collect();
        let alone = self.linked.keys().filter(|memory| !known.contains(memory));
        alone.map(|memory| Candidate { memory: *memory, item: None }).collect()
    }

    /// Loads the candidates, applies the other weights to their scores, and adds their final successors.
    fn weigh(
        &self,
        candidates: impl IntoIterator<Item = Candidate>,
        best: &[BestItem],
        weighed: &mut WeighedMemories,
    ) -> Result<(), Error> {
        let candidates: Vec<Candidate> =
            candidates.into_iter().filter(|candidate| weighed.met.insert(candidate.memory)).collect();
        let replaced = self.add(&candidates, weighed)?;
        let mut found: HashMap<MemoryId, usize> = HashMap::new();
        for Candidate { memory, item } in candidates {
            let Some((successor, item)) = replaced.get(&memory).copied().zip(item) else { continue };
            let at = found.entry(successor).or_insert(item);
            if self.scores.score(item) > self.scores.score(*at) {
                *at = item;
            }
        }
        if !found.is_empty() {
            self.bring(&found, best, weighed)?;
        }
        Ok(())
    }

    /// Adds the final successors of memories that a lane found. A lane may have missed a successor because it has other
    /// words or a low rank. A successor counts as matching as well as the memory that it supersedes.
    fn bring(
        &self,
        found: &HashMap<MemoryId, usize>,
        best: &[BestItem],
        weighed: &mut WeighedMemories,
    ) -> Result<(), Error> {
        let own = |weighed: &WeighedMemories, id: MemoryId| {
            weighed.ranked.iter().any(|ranked| ranked.memory.id == id && ranked.item.is_some())
        };
        let (known, unknown): (Vec<MemoryId>, Vec<MemoryId>) =
            found.keys().partition(|id| own(weighed, **id));
        let mut ends = match unknown.is_empty() {
            true => HashMap::new(),
            false => succession::ends(self.asked.parts, self.asked.caller, &unknown, self.asked.moment())?,
        };
        for (id, ends) in &ends {
            weighed.ends.extend(ends.first().map(|end| (*id, *end)));
        }
        ends.extend(known.into_iter().map(|id| (id, vec![weighed.end_of(id).unwrap_or(id)])));
        let mut evidence_items: BTreeMap<MemoryId, usize> = BTreeMap::new();
        for (id, ends) in ends {
            for end in ends {
                let at = evidence_items.entry(end).or_insert(found[&id]);
                if self.scores.score(found[&id]) > self.scores.score(*at) {
                    *at = found[&id];
                }
            }
        }
        let item = |id: MemoryId| best.iter().find(|best| best.memory == id).map(|best| best.at);
        let new = evidence_items.keys().filter(|end| weighed.met.insert(**end));
        let new: Vec<Candidate> = new.map(|end| Candidate { memory: *end, item: item(*end) }).collect();
        self.add(&new, weighed)?;
        for ranked in &mut weighed.ranked {
            if let Some(at) = evidence_items.get(&ranked.memory.id) {
                self.lift(ranked, *at);
            }
        }
        Ok(())
    }

    /// Raises the score of a successor by the difference between the item score of the superseded memory and its own
    /// item score.
    fn lift(&self, ranked: &mut RankedMemory, at: usize) {
        let own = ranked.item.map_or(0.0, |item| self.scores.score(item));
        let part = ScorePart::new(PartName::Succession, self.scores.score(at) - own, 1.0);
        let before = ranked.parts.iter().position(|part| part.name == PartName::Succession);
        if part.value <= before.map_or(0.0, |before| ranked.parts[before].value) {
            return;
        }
        ranked.evidence_item = Some(at);
        match before {
            Some(before) => ranked.parts[before] = part,
            None => ranked.parts.insert(0, part),
        }
    }

    /// Loads the candidates and applies the other weights to their scores. Returns the superseded memories, with their
    /// successors.
    fn add(
        &self,
        candidates: &[Candidate],
        weighed: &mut WeighedMemories,
    ) -> Result<HashMap<MemoryId, MemoryId>, Error> {
        let ids: Vec<MemoryId> = candidates.iter().map(|candidate| candidate.memory).collect();
        let mut memories = self.asked.load(&ids)?;
        let replaced = self.asked.settle_successors(&mut memories)?;
        weighed.superseded.extend(&replaced);
        let mut marks = marks(self.lanes, &memories);
        let ranked = candidates.iter().filter_map(|Candidate { memory, item }| {
            let (memory, item) = (memories.remove(memory)?, *item);
            let mut parts: Vec<ScorePart> = item.map_or_else(Vec::new, |at| self.scores.parts(at));
            parts.extend(weigh::weigh(
                &memory,
                &WeighingContext {
                    now: self.asked.plan.now,
                    as_of: self.asked.ask.as_of,
                    past: self.asked.past,
                    channel: self.asked.ask.channel.as_deref(),
                    superseded: replaced.contains_key(&memory.id),
                    graph: self.linked.get(&memory.id).map_or(0.0, |linked| match item {
                        Some(_) => linked.besides_updates,
                        None => linked.score,
                    }),
                    fit: item.map_or(0.0, |at| weigh::fit(&self.found.items[at])),
                },
            ));
            let marks = marks.remove(&memory.id).unwrap_or_default();
            let (most, further) = (self.most, Vec::new());
            Some(RankedMemory {
                memory,
                item,
                evidence_item: item,
                evidence: 0.0,
                marks,
                parts,
                most,
                duplicate_of: None,
                further,
            })
        });
        weighed.ranked.extend(ranked);
        Ok(replaced)
    }
}

/// Moves duplicates to the end, and records for each duplicate the memory that it repeats.
fn in_order(ranked: Vec<RankedMemory>, apart: &duplicates::DeduplicatedOrder) -> Vec<RankedMemory> {
    let names: Vec<_> = ranked.iter().map(|ranked| ranked.memory.reference()).collect();
    let mut slots: Vec<Option<RankedMemory>> = ranked.into_iter().map(Some).collect();
    for (duplicate, of) in &apart.duplicates {
        if let Some(Some(ranked)) = slots.get_mut(*duplicate) {
            ranked.duplicate_of = Some(names[*of]);
        }
    }
    apart.order.iter().filter_map(|at| slots[*at].take()).collect()
}

/// Moves each superseded memory behind its successor, if the successor was found too, and lowers its score to match the
/// new position.
fn behind_successors(ranked: &mut Vec<RankedMemory>, superseded: &HashMap<MemoryId, MemoryId>) {
    let mut at = 0;
    // Each move brings one memory behind its successor. The maximum number of moves prevents an endless loop if updates
    // form a cycle.
    let mut moves = ranked.len();
    while at < ranked.len() && moves > 0 {
        let successor = superseded.get(&ranked[at].memory.id);
        let place = successor.and_then(|id| ranked.iter().position(|other| other.memory.id == *id));
        match place.filter(|place| *place > at) {
            Some(place) => {
                let most = ranked[place].score();
                let mut old = ranked.remove(at);
                weigh::keep_below(&mut old.parts, most);
                ranked.insert(place, old);
                moves -= 1;
            }
            None => at += 1,
        }
    }
}

/// Returns the ranks of these memories in the lanes.
fn marks(lanes: &[LaneRanking], memories: &HashMap<MemoryId, Memory>) -> HashMap<MemoryId, Vec<LaneMark>> {
    let mut marks: HashMap<MemoryId, Vec<LaneMark>> = HashMap::new();
    for (memory, mark) in lanes.iter().flat_map(LaneRanking::marks) {
        if memories.contains_key(&memory) {
            marks.entry(memory).or_default().push(mark);
        }
    }
    marks
}
