//! Loads what scores best by the match, adds what counts beside it, and puts twins and what is superseded in their places.
//!
//! Comes after [`lanes`](super::lanes) and the recipe. Reads only.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::answer::{LaneMark, Part};
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory::Memory;
use crate::rank::fuse::Ranking;
use crate::rank::recipe::Scores;
use crate::rank::weigh::{self, Scales};
use crate::rank::{descending, twins};
use crate::search::Found;

use super::answer::Ranked;
use super::asked::Asked;

/// How many memories are loaded and weighed at the most: so many times what is asked for, or so many.
const SPARE: usize = 3;
const MOST_WEIGHED: usize = 50;
/// How many more than asked for are loaded at once.
const AT_ONCE: usize = 5;

/// A memory's item that scores best.
pub(super) struct Best {
    pub(super) memory: MemoryId,
    pub(super) at: usize,
    pub(super) score: f64,
}

/// What weighing needs to know.
pub(super) struct Weighing<'a> {
    pub(super) asked: &'a Asked<'a>,
    pub(super) found: &'a Found,
    pub(super) scores: &'a Scores<'a>,
    pub(super) lanes: &'a [Ranking],
    /// What the graph lane reached.
    pub(super) linked: BTreeMap<MemoryId, f64>,
    /// The most that a score can come to.
    pub(super) most: f64,
}

/// A memory to be weighed, with its best item where a lane of the index found it.
struct Candidate {
    memory: MemoryId,
    item: Option<usize>,
}

impl Candidate {
    fn of(best: &Best) -> Self {
        Self { memory: best.memory, item: Some(best.at) }
    }
}

impl Weighing<'_> {
    /// The best, in the order in which they are shown, and how many were found in all. No more are loaded than could
    /// still come among those that are asked for.
    pub(super) fn ranked(&self, best: &[Best]) -> Result<(Vec<Ranked>, u64), Error> {
        let limit = self.asked.plan.limit;
        let most = best.len().min((SPARE * limit).max(MOST_WEIGHED));
        let at_once = limit + AT_ONCE;
        let gain = weigh::most(self.asked.ask.channel.as_deref(), false);
        let mut superseded = HashMap::new();
        let mut ranked = self.weigh(self.linked_alone(best), &mut superseded)?;
        let total = (best.len() + ranked.len()) as u64;
        let mut rest = &best[..most];
        loop {
            ranked.sort_by(|a, b| descending((a.score(), a.memory.id), (b.score(), b.memory.id)));
            let last = limit.checked_sub(1).and_then(|last| ranked.get(last));
            let reaches = |next: &Best| last.is_none_or(|last| next.score + gain >= last.score());
            if rest.first().is_some_and(reaches) {
                let (next, later) = rest.split_at(rest.len().min(at_once));
                ranked.extend(self.weigh(next.iter().map(Candidate::of), &mut superseded)?);
                rest = later;
                continue;
            }
            behind_successors(&mut ranked, &superseded);
            let contents = ranked.iter().map(|ranked| ranked.memory.edition.text.content.as_str());
            let apart = twins::apart(contents, limit);
            if apart.firsts < limit && !rest.is_empty() {
                // Twins took places that others may still have.
                ranked.extend(self.weigh(rest.iter().map(Candidate::of), &mut superseded)?);
                rest = &[];
                continue;
            }
            let mut ranked = in_order(ranked, &apart);
            behind_successors(&mut ranked, &superseded);
            return Ok((ranked, total));
        }
    }

    /// What only links lead to.
    fn linked_alone(&self, best: &[Best]) -> Vec<Candidate> {
        if self.linked.is_empty() {
            return Vec::new();
        }
        let known: HashSet<MemoryId> = best.iter().map(|best| best.memory).collect();
        let alone = self.linked.keys().filter(|memory| !known.contains(memory));
        alone.map(|memory| Candidate { memory: *memory, item: None }).collect()
    }

    /// Loads these and adds to the score of each what counts beside the match.
    fn weigh(
        &self,
        candidates: impl IntoIterator<Item = Candidate>,
        superseded: &mut HashMap<MemoryId, MemoryId>,
    ) -> Result<Vec<Ranked>, Error> {
        let candidates: Vec<Candidate> = candidates.into_iter().collect();
        let ids: Vec<MemoryId> = candidates.iter().map(|candidate| candidate.memory).collect();
        let mut memories = self.asked.load(&ids)?;
        superseded.extend(self.asked.settle_successors(&mut memories)?);
        let mut marks = marks(self.lanes, &memories);
        let ranked = candidates.into_iter().filter_map(|Candidate { memory, item }| {
            let memory = memories.remove(&memory)?;
            let mut parts: Vec<Part> = item.map_or_else(Vec::new, |at| self.scores.parts(at));
            parts.extend(weigh::weigh(
                &memory,
                &Scales {
                    now: self.asked.plan.now,
                    as_of: self.asked.ask.as_of,
                    channel: self.asked.ask.channel.as_deref(),
                    superseded: superseded.contains_key(&memory.id),
                    graph: self.linked.get(&memory.id).copied().unwrap_or(0.0),
                    fit: item.map_or(0.0, |at| weigh::fit(&self.found.items[at])),
                },
            ));
            let marks = marks.remove(&memory.id).unwrap_or_default();
            let further = Vec::new();
            Some(Ranked { memory, item, marks, parts, most: self.most, twin_of: None, further })
        });
        Ok(ranked.collect())
    }
}

/// Twins behind what says something of its own, each with whose twin it is.
fn in_order(ranked: Vec<Ranked>, apart: &twins::Apart) -> Vec<Ranked> {
    let names: Vec<_> = ranked.iter().map(|ranked| ranked.memory.reference()).collect();
    let mut slots: Vec<Option<Ranked>> = ranked.into_iter().map(Some).collect();
    for (twin, of) in &apart.twins {
        if let Some(Some(ranked)) = slots.get_mut(*twin) {
            ranked.twin_of = Some(names[*of]);
        }
    }
    apart.order.iter().filter_map(|at| slots[*at].take()).collect()
}

/// Moves each superseded memory behind the one that updates it, where that was found too, and lowers its score to fit.
fn behind_successors(ranked: &mut Vec<Ranked>, superseded: &HashMap<MemoryId, MemoryId>) {
    let mut at = 0;
    // Each move brings one memory behind its successor; a ring of updates ends after as many moves as there are.
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

/// The places of these memories in the lanes.
fn marks(lanes: &[Ranking], memories: &HashMap<MemoryId, Memory>) -> HashMap<MemoryId, Vec<LaneMark>> {
    let mut marks: HashMap<MemoryId, Vec<LaneMark>> = HashMap::new();
    for (memory, mark) in lanes.iter().flat_map(Ranking::marks) {
        if memories.contains_key(&memory) {
            marks.entry(memory).or_default().push(mark);
        }
    }
    marks
}
