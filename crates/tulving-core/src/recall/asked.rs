//! Recall with a question: what the lanes found, ranked and answered.

use std::collections::{BTreeMap, HashMap};

use crate::access::Parts;
use crate::answer::{Answer, Lane, LaneMark, Missing, Part};
use crate::error::Error;
use crate::id::MemoryId;
use crate::memory::Memory;
use crate::rank::fuse::{self, Ranking};
use crate::rank::recipe::Scored;
use crate::rank::weigh::{self, Scales};
use crate::rank::{descending, evidence, recipe, spread, twins};
use crate::request::{Ask, Caller, Fusion};
use crate::search::{Found, Item};
use crate::vocabulary::{LinkedBy, Relation};

use super::answer::{self, Ranked};
use super::lanes::{self, Gathered};
use super::plan::{BEST, Plan};

/// How many more memories than asked for are loaded and weighed, so that weighing can still change who is first.
const SPARE: usize = 3;
const FEWEST_WEIGHED: usize = 50;
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
    let scored = recipe::score(&gathered.found, &gathered.aspects);
    let score: Vec<f64> = scored.iter().map(Scored::score).collect();
    let best = best_items(&gathered.found, |at| score[at]);
    let mut best: Vec<(MemoryId, usize, f64)> =
        best.into_iter().map(|(memory, at)| (memory, at, score[at])).collect();
    best.sort_by(|a, b| descending((a.2, a.0), (b.2, b.0)));
    let total = best.len() as u64;
    let first = best.iter().take(spread::SEEDS).map(|(memory, ..)| *memory).collect();
    let linked: BTreeMap<MemoryId, f64> =
        graph(parts, caller, ask, first, &mut gathered.missing).into_iter().collect();
    let mut ids: Vec<MemoryId> =
        best.iter().take((SPARE * plan.limit).max(FEWEST_WEIGHED)).map(|(memory, ..)| *memory).collect();
    let items: HashMap<MemoryId, usize> = best.iter().map(|(memory, item, _)| (*memory, *item)).collect();
    ids.extend(linked.keys().filter(|memory| !items.contains_key(memory)));
    let memories = load(parts, caller, plan, &ids)?;
    let superseded = superseded(parts, caller, ask, &memories)?;
    let mut marks = marks(lanes);
    let mut ranked: Vec<Ranked> = ids
        .into_iter()
        .filter_map(|id| memories.get(&id))
        .map(|memory| {
            let item = items.get(&memory.id).copied();
            let mut parts: Vec<Part> = item.map_or_else(Vec::new, |at| scored[at].parts.clone());
            parts.extend(weigh::weigh(
                memory,
                &Scales {
                    now: plan.now,
                    channel: ask.channel.as_deref(),
                    superseded: superseded.contains_key(&memory.id),
                    graph: linked.get(&memory.id).copied().unwrap_or(0.0),
                    fit: item.map_or(0.0, |at| weigh::fit(&gathered.found.items[at])),
                },
            ));
            let marks = marks.remove(&memory.id).unwrap_or_default();
            Ranked { memory: memory.clone(), item, marks, parts, most: weigh::MOST }
        })
        .collect();
    ranked.sort_by(|a, b| descending((a.score(), a.memory.id), (b.score(), b.memory.id)));
    behind_successors(&mut ranked, &superseded);
    let contents = ranked.iter().map(|ranked| ranked.memory.edition.text.content.as_str());
    let order = twins::last(contents, plan.limit);
    let mut slots: Vec<Option<Ranked>> = ranked.into_iter().map(Some).collect();
    Ok((order.into_iter().filter_map(|at| slots[at].take()).collect(), total))
}

/// The item of each memory that scores best.
fn best_items(found: &Found, score: impl Fn(usize) -> f64) -> BTreeMap<MemoryId, usize> {
    let mut best: BTreeMap<MemoryId, usize> = BTreeMap::new();
    for (at, item) in found.items.iter().enumerate() {
        let known = best.entry(item.memory).or_insert(at);
        if score(at) > score(*known) {
            *known = at;
        }
    }
    best
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

/// The places of each memory in the lanes.
fn marks(lanes: &[Ranking]) -> HashMap<MemoryId, Vec<LaneMark>> {
    let mut marks: HashMap<MemoryId, Vec<LaneMark>> = HashMap::new();
    for (memory, mark) in lanes.iter().flat_map(Ranking::marks) {
        marks.entry(memory).or_default().push(mark);
    }
    marks
}
