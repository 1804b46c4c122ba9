//! Loads what scores best by the match, adds what counts beside it, and puts twins and what is superseded in their places.
//!
//! Comes after [`lanes`](super::lanes) and the recipe. Reads only.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::answer::{LaneMark, Part, PartName};
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory::Memory;
use crate::rank::fuse::Ranking;
use crate::rank::recipe::Scores;
use crate::rank::weigh::{self, Scales};
use crate::rank::{descending, twins};
use crate::search::Found;
use crate::succession;

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

/// What was weighed so far.
#[derive(Default)]
struct Weighed {
    ranked: Vec<Ranked>,
    /// What another one has replaced, and which one.
    superseded: HashMap<MemoryId, MemoryId>,
    /// What stands at the end of such a one, where others stand between that were not looked at.
    ends: HashMap<MemoryId, MemoryId>,
    /// All that was looked at, also what was left out.
    met: HashSet<MemoryId>,
}

impl Weighed {
    /// What has replaced a memory in the end; `None` where nothing has.
    fn end_of(&self, id: MemoryId) -> Option<MemoryId> {
        let mut at = *self.superseded.get(&id)?;
        // A ring of updates ends after as many steps as there are.
        for _ in 0..self.superseded.len() {
            match self.superseded.get(&at).or_else(|| self.ends.get(&at)) {
                Some(next) if *next != at => at = *next,
                _ => break,
            }
        }
        Some(at)
    }

    /// For each in the order in which they stand, whether it steps back: it was replaced, and so was one before it by the same.
    fn stepping_back(&self) -> Vec<bool> {
        let mut told = HashSet::new();
        let steps = |ranked: &Ranked| self.end_of(ranked.memory.id).is_some_and(|end| !told.insert(end));
        self.ranked.iter().map(steps).collect()
    }

    /// Puts what [steps back](Self::stepping_back) behind all else: one of what was replaced is enough beside what is true.
    fn step_back(&mut self) {
        let back = self.stepping_back();
        let mut behind = Vec::new();
        let mut ranked = Vec::with_capacity(self.ranked.len());
        for (one, back) in std::mem::take(&mut self.ranked).into_iter().zip(back) {
            if back { behind.push(one) } else { ranked.push(one) }
        }
        for mut one in behind {
            if let Some(last) = ranked.last().map(Ranked::score) {
                weigh::keep_below(&mut one.parts, last);
            }
            ranked.push(one);
        }
        self.ranked = ranked;
    }
}

impl Weighing<'_> {
    /// The best, in the order in which they are shown, and how many were found in all. No more are loaded than could
    /// still come among those that are asked for.
    pub(super) fn ranked(&self, best: &[Best]) -> Result<(Vec<Ranked>, u64), Error> {
        let limit = self.asked.plan.limit;
        let most = (SPARE * limit).max(MOST_WEIGHED);
        let at_once = limit + AT_ONCE;
        let gain = weigh::most(self.asked.ask.channel.as_deref(), false);
        let mut weighed = Weighed::default();
        self.weigh(self.linked_alone(best), best, &mut weighed)?;
        let total = (best.len() + weighed.ranked.len()) as u64;
        let mut rest = best;
        loop {
            weighed.ranked.sort_by(|a, b| descending((a.score(), a.memory.id), (b.score(), b.memory.id)));
            let back = weighed.stepping_back();
            let Weighed { ranked, superseded, .. } = &mut weighed;
            // What was replaced takes no place from what was not.
            let room = (most + superseded.len()).saturating_sub(best.len() - rest.len()).min(rest.len());
            let mut standing = ranked.iter().zip(back).filter(|(_, back)| !back).map(|(ranked, _)| ranked);
            let last = limit.checked_sub(1).and_then(|last| standing.nth(last));
            let reaches = |next: &Best| last.is_none_or(|last| next.score + gain >= last.score());
            if room > 0 && rest.first().is_some_and(reaches) {
                let (next, later) = rest.split_at(rest.len().min(at_once));
                self.weigh(next.iter().map(Candidate::of), best, &mut weighed)?;
                rest = later;
                continue;
            }
            behind_successors(ranked, superseded);
            weighed.step_back();
            let contents = weighed.ranked.iter().map(|ranked| ranked.memory.edition.text.content.as_str());
            let apart = twins::apart(contents, limit);
            if apart.firsts < limit && room > 0 {
                // Twins took places that others may still have.
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

    /// What only links lead to.
    fn linked_alone(&self, best: &[Best]) -> Vec<Candidate> {
        if self.linked.is_empty() {
            return Vec::new();
        }
        let known: HashSet<MemoryId> = best.iter().map(|best| best.memory).collect();
        let alone = self.linked.keys().filter(|memory| !known.contains(memory));
        alone.map(|memory| Candidate { memory: *memory, item: None }).collect()
    }

    /// Loads these, adds to the score of each what counts beside the match, and brings what has replaced them.
    fn weigh(
        &self,
        candidates: impl IntoIterator<Item = Candidate>,
        best: &[Best],
        weighed: &mut Weighed,
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

    /// Brings what stands at the end of these successors, each of which replaced what a lane found: it may say the same in
    /// other words, or be one of more than the lanes hold. It matches as well as what it replaced.
    fn bring(
        &self,
        found: &HashMap<MemoryId, usize>,
        best: &[Best],
        weighed: &mut Weighed,
    ) -> Result<(), Error> {
        let own = |weighed: &Weighed, id: MemoryId| {
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
        let mut witnesses: BTreeMap<MemoryId, usize> = BTreeMap::new();
        for (id, ends) in ends {
            for end in ends {
                let at = witnesses.entry(end).or_insert(found[&id]);
                if self.scores.score(found[&id]) > self.scores.score(*at) {
                    *at = found[&id];
                }
            }
        }
        let item = |id: MemoryId| best.iter().find(|best| best.memory == id).map(|best| best.at);
        let new = witnesses.keys().filter(|end| weighed.met.insert(**end));
        let new: Vec<Candidate> = new.map(|end| Candidate { memory: *end, item: item(*end) }).collect();
        self.add(&new, weighed)?;
        for ranked in &mut weighed.ranked {
            if let Some(at) = witnesses.get(&ranked.memory.id) {
                self.lift(ranked, *at);
            }
        }
        Ok(())
    }

    /// Adds to the score of a memory by how much the item of what it replaced matches better than its own.
    fn lift(&self, ranked: &mut Ranked, at: usize) {
        let own = ranked.item.map_or(0.0, |item| self.scores.score(item));
        let part = Part::new(PartName::Succession, self.scores.score(at) - own, 1.0);
        let before = ranked.parts.iter().position(|part| part.name == PartName::Succession);
        if part.value <= before.map_or(0.0, |before| ranked.parts[before].value) {
            return;
        }
        ranked.witness = Some(at);
        match before {
            Some(before) => ranked.parts[before] = part,
            None => ranked.parts.insert(0, part),
        }
    }

    /// Loads these and adds to the score of each what counts beside the match. Says which of them were replaced by what.
    fn add(
        &self,
        candidates: &[Candidate],
        weighed: &mut Weighed,
    ) -> Result<HashMap<MemoryId, MemoryId>, Error> {
        let ids: Vec<MemoryId> = candidates.iter().map(|candidate| candidate.memory).collect();
        let mut memories = self.asked.load(&ids)?;
        let replaced = self.asked.settle_successors(&mut memories)?;
        weighed.superseded.extend(&replaced);
        let mut marks = marks(self.lanes, &memories);
        let ranked = candidates.iter().filter_map(|Candidate { memory, item }| {
            let (memory, item) = (memories.remove(memory)?, *item);
            let mut parts: Vec<Part> = item.map_or_else(Vec::new, |at| self.scores.parts(at));
            parts.extend(weigh::weigh(
                &memory,
                &Scales {
                    now: self.asked.plan.now,
                    as_of: self.asked.ask.as_of,
                    channel: self.asked.ask.channel.as_deref(),
                    superseded: replaced.contains_key(&memory.id),
                    graph: self.linked.get(&memory.id).copied().unwrap_or(0.0),
                    fit: item.map_or(0.0, |at| weigh::fit(&self.found.items[at])),
                },
            ));
            let marks = marks.remove(&memory.id).unwrap_or_default();
            let (most, further) = (self.most, Vec::new());
            Some(Ranked { memory, item, witness: item, marks, parts, most, twin_of: None, further })
        });
        weighed.ranked.extend(ranked);
        Ok(replaced)
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
