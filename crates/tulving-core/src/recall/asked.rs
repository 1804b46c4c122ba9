//! Recall with a question: what the lanes found, ranked and answered.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::access::Parts;
use crate::answer::{Answer, Lane, LaneMark, Missing, Part};
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory::Memory;
use crate::rank::fuse::{self, Ranking};
use crate::rank::recipe::Scores;
use crate::rank::weigh::{self, Scales};
use crate::rank::{descending, evidence, spread, twins};
use crate::request::{Ask, Caller, Fusion};
use crate::search::{Found, Item};
use crate::vocabulary::{LinkedBy, Relation};

use super::answer::{self, Ranked};
use super::lanes::{self, Gathered};
use super::plan::{BEST, Plan};

/// How many memories are loaded and weighed at the most: so many times what is asked for, or so many.
const SPARE: usize = 3;
const MOST_WEIGHED: usize = 50;
/// How many more than asked for are loaded at once.
const AT_ONCE: usize = 5;
/// How many of the best speak for the evidence.
const WITNESSES: usize = 5;

/// The memories that the question is about, best first.
pub(super) fn answer(parts: &Parts, caller: &Caller, plan: &Plan, ask: &Ask) -> Result<Answer, Error> {
    let scope = lanes::scope(parts, caller, &plan.filter)?;
    let depth = BEST.max(plan.limit);
    let mut gathered = lanes::gather(parts, &scope, ask, depth, plan.now);
    let lanes = rankings(&gathered.found, ask, depth);
    let (ranked, total_found) = match ask.fusion {
        Fusion::Measured => measured(parts, caller, plan, ask, &mut gathered, &lanes)?,
        Fusion::Ranks => fused(parts, caller, plan, ask, &mut gathered, lanes)?,
    };
    let witnesses = ranked.iter().take(WITNESSES).filter_map(|ranked| ranked.item);
    let strength = evidence::strength(witnesses.map(|at| &gathered.found.items[at]));
    if ask.abstain_below.is_some_and(|least| strength < least) {
        let withheld = total_found;
        let missing = gathered.missing;
        return Ok(Answer { evidence: Some(strength), withheld, missing, ..Answer::default() });
    }
    let hits = answer::hits(parts, caller, ranked, &gathered.found, plan.limit, ask)?;
    Ok(Answer { hits, total_found, evidence: Some(strength), withheld: 0, missing: gathered.missing })
}

/// What each lane of the index found, in its own order.
fn rankings(found: &Found, ask: &Ask, depth: usize) -> Vec<Ranking> {
    let lane = |lane: Lane, score: fn(&Item) -> f32| {
        let items = found.items.iter().filter(|item| item.candidate && score(item) > 0.0);
        let mut ranking = Ranking::of(lane, items.map(|item| (item.memory, f64::from(score(item)))));
        ranking.memories.truncate(depth);
        ranking
    };
    let keyword = || lane(Lane::Keyword, |item| item.lexical);
    let vector = || lane(Lane::Vector, Item::closeness);
    let wanted = |lane: Lane| ask.lanes.contains(&lane);
    let both = [wanted(Lane::Keyword).then(keyword), wanted(Lane::Vector).then(vector)];
    both.into_iter().flatten().collect()
}

/// The best of each lane, from where the graph lane begins.
fn seeds(lanes: &[Ranking]) -> Vec<MemoryId> {
    lanes
        .iter()
        .flat_map(|lane| lane.memories.iter().take(spread::SEEDS).map(|(memory, _)| *memory))
        .collect()
}

/// The graph lane, where it is asked for. That it fails is said and costs only itself.
fn graph(
    parts: &Parts,
    caller: &Caller,
    ask: &Ask,
    seeds: Vec<MemoryId>,
    missing: &mut Vec<Missing>,
) -> Vec<(MemoryId, f64)> {
    if !ask.lanes.contains(&Lane::Graph) || seeds.is_empty() {
        return Vec::new();
    }
    lanes::graph(parts, caller, ask.fusion, seeds).unwrap_or_else(|error| {
        missing.push(Missing { lane: Lane::Graph, why: error.to_string() });
        Vec::new()
    })
}

/// Reciprocal rank fusion, and nothing after it.
fn fused(
    parts: &Parts,
    caller: &Caller,
    plan: &Plan,
    ask: &Ask,
    gathered: &mut Gathered,
    mut lanes: Vec<Ranking>,
) -> Result<(Vec<Ranked>, u64), Error> {
    let linked = graph(parts, caller, ask, seeds(&lanes), &mut gathered.missing);
    let unseen: Vec<MemoryId> = linked.iter().map(|(memory, _)| *memory).collect();
    let admitted = load(parts, caller, plan, &unseen)?;
    let linked = linked.into_iter().filter(|(memory, _)| admitted.contains_key(memory));
    lanes.push(Ranking::of(Lane::Graph, linked));
    let fused = fuse::fuse(&lanes);
    let total = fused.len() as u64;
    let items = &gathered.found.items;
    let best = best_items(&gathered.found, |at| f64::from(items[at].closeness() + items[at].lexical));
    let best: HashMap<MemoryId, usize> = best.into_iter().map(|best| (best.memory, best.at)).collect();
    let ids: Vec<MemoryId> = fused.iter().take(plan.limit).map(|fused| fused.memory).collect();
    let mut memories = load(parts, caller, plan, &ids)?;
    let most = fuse::most(ask.lanes.len());
    let ranked = fused.into_iter().filter_map(|fused| {
        let memory = memories.remove(&fused.memory)?;
        let item = best.get(&fused.memory).copied();
        Some(Ranked { memory, item, marks: fused.marks, parts: fused.parts, most })
    });
    Ok((ranked.collect(), total))
}

/// The engine's own way: the recipe, then what counts beside the match, then twins apart.
fn measured(
    parts: &Parts,
    caller: &Caller,
    plan: &Plan,
    ask: &Ask,
    gathered: &mut Gathered,
    lanes: &[Ranking],
) -> Result<(Vec<Ranked>, u64), Error> {
    let scores = Scores::of(&gathered.found, &gathered.aspects);
    let mut best = best_items(&gathered.found, |at| scores.score(at));
    best.sort_unstable_by(|a, b| descending((a.score, a.memory), (b.score, b.memory)));
    let total = best.len() as u64;
    let first = best.iter().take(spread::SEEDS).map(|best| best.memory).collect();
    let linked = graph(parts, caller, ask, first, &mut gathered.missing).into_iter().collect();
    let weighing =
        Weighing { parts, caller, plan, ask, found: &gathered.found, scores: &scores, lanes, linked };
    Ok((weighing.ranked(&best)?, total))
}

/// A memory's item that scores best.
struct Best {
    memory: MemoryId,
    at: usize,
    score: f64,
}

/// The item of each memory that scores best. Items of a memory follow one another.
fn best_items(found: &Found, score: impl Fn(usize) -> f64) -> Vec<Best> {
    let mut best: Vec<Best> = Vec::with_capacity(found.items.len());
    for (at, item) in found.items.iter().enumerate() {
        let score = score(at);
        match best.last_mut().filter(|last| last.memory == item.memory) {
            Some(last) if score > last.score => (last.at, last.score) = (at, score),
            Some(_) => {}
            None => best.push(Best { memory: item.memory, at, score }),
        }
    }
    best
}

/// Loads what scores best by the match, and weighs it.
struct Weighing<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    plan: &'a Plan,
    ask: &'a Ask,
    found: &'a Found,
    scores: &'a Scores<'a>,
    lanes: &'a [Ranking],
    linked: BTreeMap<MemoryId, f64>,
}

impl Weighing<'_> {
    /// The best, in the order in which they are shown. No more are loaded than could still come among them.
    fn ranked(&self, best: &[Best]) -> Result<Vec<Ranked>, Error> {
        let limit = self.plan.limit;
        let most = best.len().min((SPARE * limit).max(MOST_WEIGHED));
        let at_once = limit + AT_ONCE;
        let gain = weigh::most_gain(self.ask.channel.as_deref());
        let mut taken = most.min(at_once);
        let mut superseded = HashMap::new();
        let mut ranked = self.weigh(self.linked_alone(best), &mut superseded)?;
        ranked.extend(self.weigh(best[..taken].iter().map(Candidate::of), &mut superseded)?);
        loop {
            ranked.sort_by(|a, b| descending((a.score(), a.memory.id), (b.score(), b.memory.id)));
            let rest = &best[taken..most];
            let reaches = |next: &Best| {
                let last = limit.checked_sub(1).and_then(|last| ranked.get(last));
                last.is_none_or(|last| next.score + gain >= last.score())
            };
            if rest.first().is_some_and(reaches) {
                let next = rest.len().min(at_once);
                ranked.extend(self.weigh(rest[..next].iter().map(Candidate::of), &mut superseded)?);
                taken += next;
                continue;
            }
            behind_successors(&mut ranked, &superseded);
            let contents = ranked.iter().map(|ranked| ranked.memory.edition.text.content.as_str());
            let apart = twins::apart(contents, limit);
            if apart.firsts < limit && !rest.is_empty() {
                // Twins took places that others may still have.
                ranked.extend(self.weigh(rest.iter().map(Candidate::of), &mut superseded)?);
                taken = most;
                continue;
            }
            let mut slots: Vec<Option<Ranked>> = ranked.into_iter().map(Some).collect();
            return Ok(apart.order.into_iter().filter_map(|at| slots[at].take()).collect());
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
        let mut memories = load(self.parts, self.caller, self.plan, &ids)?;
        superseded.extend(self::superseded(self.parts, self.caller, self.ask, &memories)?);
        let mut marks = marks(self.lanes, &memories);
        let ranked = candidates.into_iter().filter_map(|Candidate { memory, item }| {
            let memory = memories.remove(&memory)?;
            let mut parts: Vec<Part> = item.map_or_else(Vec::new, |at| self.scores.parts(at));
            parts.extend(weigh::weigh(
                &memory,
                &Scales {
                    now: self.plan.now,
                    channel: self.ask.channel.as_deref(),
                    superseded: superseded.contains_key(&memory.id),
                    graph: self.linked.get(&memory.id).copied().unwrap_or(0.0),
                    fit: item.map_or(0.0, |at| weigh::fit(&self.found.items[at])),
                },
            ));
            let marks = marks.remove(&memory.id).unwrap_or_default();
            Some(Ranked { memory, item, marks, parts, most: weigh::MOST })
        });
        Ok(ranked.collect())
    }
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

/// The memories with these ids, where the caller may see them and asks for them: what the index said is checked again.
fn load(
    parts: &Parts,
    caller: &Caller,
    plan: &Plan,
    ids: &[MemoryId],
) -> Result<HashMap<MemoryId, Memory>, Error> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let memories = parts.store.memories(&caller.viewer, ids)?.into_iter();
    let meant = memories
        .filter(|memory| memory.standing.quarantined_at.is_none() && plan.filter.admits(memory))
        .map(|memory| (memory.id, memory));
    Ok(meant.collect())
}

/// Which of these memories another one updates, and which one does; as of a date, only those that held by then.
fn superseded(
    parts: &Parts,
    caller: &Caller,
    ask: &Ask,
    memories: &HashMap<MemoryId, Memory>,
) -> Result<HashMap<MemoryId, MemoryId>, Error> {
    let by = |memory: &Memory| memory.superseded_by.map(|successor| (memory.id, successor));
    let now: HashMap<MemoryId, MemoryId> = memories.values().filter_map(by).collect();
    let Some(then) = ask.as_of else {
        return Ok(now);
    };
    if now.is_empty() {
        return Ok(now);
    }
    let targets: Vec<MemoryId> = now.keys().copied().collect();
    let edges = parts.store.associations(&caller.viewer, &targets)?;
    let updates = edges.into_iter().filter(|edge| {
        edge.relation == Relation::Updates
            && edge.linked_by == LinkedBy::Caller
            && now.contains_key(&edge.target)
    });
    let updates: Vec<(MemoryId, MemoryId)> = updates.map(|edge| (edge.source, edge.target)).collect();
    let sources: Vec<MemoryId> = updates.iter().map(|(source, _)| *source).collect();
    let began: HashMap<MemoryId, bool> = parts
        .store
        .memories(&caller.viewer, &sources)?
        .into_iter()
        .map(|memory| (memory.id, memory.began_at() <= then))
        .collect();
    let held = updates.into_iter().filter(|(source, _)| began.get(source).copied().unwrap_or(false));
    Ok(held.map(|(source, target)| (target, source)).collect())
}

/// Moves each superseded memory behind the one that updates it, where that was found too.
fn behind_successors(ranked: &mut Vec<Ranked>, superseded: &HashMap<MemoryId, MemoryId>) {
    let mut at = 0;
    // Each move brings one memory behind its successor; a ring of updates ends after as many moves as there are.
    let mut moves = ranked.len();
    while at < ranked.len() && moves > 0 {
        let successor = superseded.get(&ranked[at].memory.id);
        let place = successor.and_then(|id| ranked.iter().position(|other| other.memory.id == *id));
        match place.filter(|place| *place > at) {
            Some(place) => {
                let old = ranked.remove(at);
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
