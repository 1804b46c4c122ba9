//! Recall with a question: ranks the results of the lanes and builds the answer.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};

use tulving_text::asked_form::{asked_form, has_form};
use tulving_text::terms;
use tulving_text::when::QuestionInterval;

use crate::model::answer::{Answer, FailedLane, Hit, Lane, Strength};
use crate::model::error::{Error, IndexError};
use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::request::{Caller, Fusion, RecallQuestion};
use crate::model::search::{Item, SearchResults, SearchScope, is_person};
use crate::model::vocabulary::State;
use crate::rank::fuse::{self, LaneRanking};
use crate::rank::scoring::{ItemScores, talking_neighbours};
use crate::rank::{descending, evidence, spread, walk, weigh};
use crate::verbs::access::Ports;
use crate::verbs::read;
use crate::verbs::succession::{self, PointInTime};

use super::answer::{self, RankedMemory};
use super::further::further;
use super::lanes::{self, LaneResults, LinkedMemory};
use super::past;
use super::phrase;
use super::plan::{BEST, RecallPlan};
use super::weighing::{BestItem, Weighing};

/// Number of the best hits that count as evidence.
const EVIDENCE_HITS: usize = 5;
/// The remark on the memories that are nearest to a question that nothing seems to answer.
const NEAREST: &str = "Nothing stored seems to answer this. Nearest:";
/// The lead in evidence at which a turn of somebody else counts as the answer to a question about a person.
const SAID_BY_ANOTHER: f64 = 0.1;
/// Number of the best hits that must contain the form of value that the question asks for.
const FORM_HITS: usize = 3;

/// A question being answered.
pub(super) struct QueryContext<'a> {
    pub(super) parts: &'a Ports,
    pub(super) caller: &'a Caller,
    pub(super) plan: &'a RecallPlan,
    pub(super) ask: &'a RecallQuestion,
    scope: &'a SearchScope,
    /// The past time that the question names, unless the call names one.
    pub(super) past: Option<QuestionInterval>,
    /// The memories that match the filter, if the index cannot evaluate the filter alone. No other memories are
    /// allowed.
    among: Option<HashSet<MemoryId>>,
    /// The contents loaded so far.
    loaded: RefCell<LoadedContents>,
}

/// The contents that a recall has loaded. Once they are too many, further contents are cut, and read again if they are
/// shown.
#[derive(Debug, Default)]
struct LoadedContents {
    bytes: usize,
    cut: HashSet<MemoryId>,
}

/// Maximum bytes of contents that a recall loads in full, and the length in bytes to which it cuts each further
/// content.
const HELD_BYTES: usize = 32_000_000;
const HELD_EACH: usize = 4_000;

/// Returns the memories that the question is about, best first.
pub(super) fn answer(
    parts: &Ports,
    caller: &Caller,
    plan: &RecallPlan,
    ask: &RecallQuestion,
) -> Result<Answer, Error> {
    let mut filter = plan.filter.clone();
    if ask.as_of.is_some() {
        // Memories that a rule archived later were still active at the past date. Memories that were already archived
        // then are removed after loading.
        filter.states.push(State::Archived);
    }
    let scope = lanes::scope(parts, caller, &filter)?;
    let depth = BEST.max(plan.limit);
    let mut gathered = lanes::gather(parts, caller, &scope, ask, depth, (plan.now, &caller.zone))?;
    let asked = QueryContext {
        parts,
        caller,
        plan,
        ask,
        scope: &scope,
        past: gathered
            .features
            .past(plan.now)
            .filter(|_| ask.as_of.is_none() && ask.fusion == Fusion::Measured),
        among: among(&scope),
        loaded: RefCell::default(),
    };
    let lanes = rankings(&gathered.found, ask, depth);
    let (mut ranked, total_found) = match ask.fusion {
        Fusion::Measured => asked.measured(&mut gathered, &lanes)?,
        Fusion::Ranks => asked.fused(&mut gathered, lanes)?,
    };
    ranked.iter_mut().for_each(|one| one.evidence = evidence_of(one, &gathered));
    let weights: Vec<f64> = ranked.iter().take(evidence::FIRST).map(|one| one.evidence).collect();
    let lead = evidence::lead(&weights);
    let lacks = has_only_names(&ranked, &gathered) || asked.lacks_the_asked_form(&ranked, &gathered.found)?;
    let strongest = if lacks { Strength::Weak } else { Strength::Strong };
    let best = weights.into_iter().take(EVIDENCE_HITS);
    let mut strength = evidence::strength(best, lead).min(strongest);
    let is_weaker = |strength: Strength| ask.abstain_below.is_some_and(|least| strength < least);
    if is_weaker(strength) {
        let (evidence, missing) = (Some(strength), gathered.missing);
        return Ok(Answer { evidence, withheld: total_found, missing, ..Answer::default() });
    }
    let mut note = match strength {
        Strength::None => {
            if let Some(limit) = ask.nearest_limit {
                ranked.truncate(limit);
                weigh::lower_nearest(ranked.iter_mut().map(|one| (&mut one.parts, one.most)));
            }
            Some(NEAREST.to_owned())
        }
        _ => asked.said_by_another(&ranked, &gathered),
    };
    let (mut hits, mut left_out) = answer::hits(&asked, ranked, &gathered)?;
    if left_out > 0 {
        // The strength must come from the returned hits, because hits that did not fit are not in the answer.
        strength =
            evidence::strength(hits.iter().take(EVIDENCE_HITS).map(Hit::evidence), lead).min(strongest);
        if is_weaker(strength) {
            left_out += hits.drain(..).len() as u64;
        }
        if strength == Strength::None {
            note = Some(NEAREST.to_owned());
        }
    }
    let (evidence, missing) = (Some(strength), gathered.missing);
    let note = note.filter(|_| !hits.is_empty());
    Ok(Answer { hits, total_found, evidence, note, left_out, missing, ..Answer::default() })
}

/// Returns the evidence for a memory. An identifier that the question names and that few memories have adds to it.
fn evidence_of(ranked: &RankedMemory, gathered: &LaneResults) -> f64 {
    let Some(at) = ranked.evidence_item else { return 0.0 };
    let weight = evidence::weight(&gathered.found, at, &gathered.features);
    let names = || terms::of_text(&ranked.memory.fields.text.content);
    let is_named =
        !gathered.identifiers.is_empty() && names().iter().any(|term| gathered.identifiers.contains(term));
    if is_named { weight + evidence::BY_IDENTIFIER } else { weight }
}

/// Returns true if the memory with the most evidence has only proper names of the question.
fn has_only_names(ranked: &[RankedMemory], gathered: &LaneResults) -> bool {
    let best = ranked.iter().take(EVIDENCE_HITS).max_by(|a, b| a.evidence.total_cmp(&b.evidence));
    let item = best.and_then(|best| best.evidence_item);
    item.is_some_and(|at| evidence::has_only_names(&gathered.found, at, &gathered.features))
}

fn among(scope: &SearchScope) -> Option<HashSet<MemoryId>> {
    scope.among.as_ref().map(|among| among.iter().copied().collect())
}

/// Returns the results of each lane of the index, in the order of that lane.
fn rankings(found: &SearchResults, ask: &RecallQuestion, depth: usize) -> Vec<LaneRanking> {
    let lane = |lane: Lane, score: fn(&Item) -> f32| {
        let items = found.items.iter().filter(|item| item.candidate && score(item) > 0.0);
        let mut ranking = LaneRanking::of(lane, items.map(|item| (item.memory, f64::from(score(item)))));
        ranking.memories.truncate(depth);
        ranking
    };
    let keyword = || lane(Lane::Keyword, |item| item.lexical);
    let vector = || lane(Lane::Vector, Item::closeness);
    let wanted = |lane: Lane| ask.lanes.contains(&lane);
    let both = [wanted(Lane::Keyword).then(keyword), wanted(Lane::Vector).then(vector)];
    both.into_iter().flatten().collect()
}

/// Returns the best results of each lane as seeds of the graph lane. The best seed has the score 1, the next 1/2 and so
/// on, so that links of better results come first.
fn seeds(lanes: &[LaneRanking]) -> Vec<(MemoryId, f64)> {
    let first =
        |lane: &LaneRanking| lane.memories.iter().take(spread::SEEDS).map(|(memory, _)| *memory).collect();
    let best: HashSet<MemoryId> = lanes.iter().flat_map(|lane| -> Vec<MemoryId> { first(lane) }).collect();
    let seeds =
        fuse::fuse(lanes).into_iter().map(|fused| fused.memory).filter(|memory| best.contains(memory));
    seeds.zip(1_u32..).map(|(memory, rank)| (memory, 1.0 / f64::from(rank))).collect()
}

impl QueryContext<'_> {
    /// Runs the graph lane if the request includes it. A failure is reported and affects only this lane.
    fn graph(&self, seeds: Vec<(MemoryId, f64)>, missing: &mut Vec<FailedLane>) -> Vec<LinkedMemory> {
        if !self.ask.lanes.contains(&Lane::Graph) || seeds.is_empty() {
            return Vec::new();
        }
        lanes::graph(self.parts, self.caller, self.ask.fusion, seeds).unwrap_or_else(|error| {
            missing.push(FailedLane { lane: Lane::Graph, why: error.to_string() });
            Vec::new()
        })
    }

    /// Ranks by reciprocal rank fusion alone.
    fn fused(
        &self,
        gathered: &mut LaneResults,
        mut lanes: Vec<LaneRanking>,
    ) -> Result<(Vec<RankedMemory>, u64), Error> {
        let known = self.prefer(&mut lanes)?;
        let linked = self.graph(seeds(&lanes), &mut gathered.missing);
        let unseen: Vec<MemoryId> = linked.iter().map(|linked| linked.memory).collect();
        let admitted = self.load(&unseen)?;
        let linked = linked.into_iter().map(|linked| (linked.memory, linked.score));
        let linked = linked.filter(|(memory, _)| admitted.contains_key(memory));
        lanes.push(LaneRanking::of(Lane::Graph, linked));
        let importance =
            |memory: &MemoryId| admitted.get(memory).or_else(|| known.get(memory)).map_or(0.0, importance);
        let mut fused = fuse::fuse(&lanes);
        fuse::settle_ties(&mut fused, importance);
        let total = fused.len() as u64;
        let items = &gathered.found.items;
        let score = |at: usize| f64::from(items[at].closeness() + items[at].lexical);
        let best = best_items(&gathered.found, score);
        let best: HashMap<MemoryId, usize> = best.into_iter().map(|best| (best.memory, best.at)).collect();
        let ids: Vec<MemoryId> = fused.iter().take(self.plan.limit).map(|fused| fused.memory).collect();
        let mut memories = self.load(&ids)?;
        self.settle_successors(&mut memories)?;
        let most = fuse::most(self.ask.lanes.len());
        let ranked = fused.into_iter().filter_map(|fused| {
            let memory = memories.remove(&fused.memory)?;
            let item = best.get(&fused.memory).copied();
            let (marks, parts, further) = (fused.marks, fused.parts, Vec::new());
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
        let mut ranked: Vec<RankedMemory> = ranked.collect();
        self.add_further(&mut ranked, &gathered.found, score);
        Ok((ranked, total))
    }

    /// Moves memories that contain the quoted phrases of the question to the front of the keyword lane, and orders equal
    /// matches of words and of meaning by importance. Returns the memories that the lanes found.
    fn prefer(&self, lanes: &mut [LaneRanking]) -> Result<HashMap<MemoryId, Memory>, Error> {
        let found: HashSet<MemoryId> =
            lanes.iter().flat_map(|lane| lane.memories.iter().map(|(memory, _)| *memory)).collect();
        let known = self.load(&found.into_iter().collect::<Vec<_>>())?;
        // In an exact-words search, quotation marks have no special meaning.
        let phrases = if self.ask.exact_words { Vec::new() } else { phrase::quoted(&self.ask.question) };
        let says = |memory: &Memory| {
            let text = &memory.fields.text;
            phrase::says(&text.content, &phrases)
                || text.title.as_deref().is_some_and(|title| phrase::says(title, &phrases))
        };
        for lane in lanes {
            let by_phrase = lane.lane == Lane::Keyword && !phrases.is_empty();
            lane.prefer(|memory| match known.get(memory) {
                Some(memory) => (by_phrase && says(memory), importance(memory)),
                None => (false, 0.0),
            });
        }
        Ok(known)
    }

    /// Ranks with the engine's own formula: computes the score, applies the other weights, and moves duplicates to the
    /// end.
    fn measured(
        &self,
        gathered: &mut LaneResults,
        lanes: &[LaneRanking],
    ) -> Result<(Vec<RankedMemory>, u64), Error> {
        let mut scores = ItemScores::of(&gathered.found, &gathered.features);
        let between_people = (0..gathered.found.items.len()).any(|at| scores.is_of_people(at));
        if between_people {
            scores.set_shared(self.shared_words(&gathered.found, &scores, &mut gathered.missing)?);
        }
        let mut best = best_items(&gathered.found, |at| scores.score(at));
        best.retain(|best| scores.says_something(best.at));
        best.sort_unstable_by(|a, b| descending((a.score, a.memory), (b.score, b.memory)));
        let first = best.iter().take(spread::SEEDS).map(|best| (best.memory, 1.0)).collect();
        let linked = self.graph(first, &mut gathered.missing);
        let channel = self.ask.channel.as_deref();
        let most = scores.most() + weigh::most(channel, self.past.is_some(), !linked.is_empty());
        let weighing = Weighing {
            asked: self,
            found: &gathered.found,
            scores: &scores,
            lanes,
            linked: linked.into_iter().map(|linked| (linked.memory, linked)).collect(),
            most,
        };
        let (mut ranked, total) = weighing.ranked(&best)?;
        self.add_further(&mut ranked, &gathered.found, |at| scores.score(at));
        Ok((ranked, total))
    }

    /// Returns the remark that somebody else said the best result, if the question names a person and nothing that this
    /// person said matches about as well.
    fn said_by_another(&self, ranked: &[RankedMemory], gathered: &LaneResults) -> Option<String> {
        let (found, features) = (&gathered.found, &gathered.features);
        let best = ranked.first()?.evidence_item?;
        let named = &features.addressed.named;
        let speaker =
            |at: usize| found.items[at].speaker.and_then(|speaker| found.speakers.get(speaker as usize));
        let other = speaker(best).filter(|name| is_person(name) && !named.contains(name))?;
        let weight = |at: usize| evidence::weight(found, at, features);
        let theirs =
            (0..found.items.len()).filter(|at| speaker(*at).is_some_and(|name| named.contains(name)));
        let nearest = theirs.map(weight).reduce(f64::max)?;
        (weight(best) > nearest + SAID_BY_ANOTHER)
            .then(|| format!("Said by {other}, not by {}.", named.join(" or ")))
    }

    /// Returns true if the question asks for a value of a certain form, such as a phone number, and neither the best
    /// memories nor the turns around them contain one. Then the evidence is not strong, however near the memories are.
    fn lacks_the_asked_form(&self, ranked: &[RankedMemory], found: &SearchResults) -> Result<bool, Error> {
        let Some(form) = asked_form(&self.ask.question) else { return Ok(false) };
        let best = &ranked[..ranked.len().min(FORM_HITS)];
        if best.is_empty() || best.iter().any(|one| has_form(&one.memory.fields.text.content, form)) {
            return Ok(false);
        }
        let around =
            best.iter().filter_map(|one| one.evidence_item).flat_map(|at| talking_neighbours(found, at));
        let ids: Vec<MemoryId> = around.map(|at| found.items[at].memory).collect();
        let loaded = self.load(&ids)?;
        Ok(!loaded.values().any(|memory| has_form(&memory.fields.text.content, form)))
    }

    /// Returns for each item how many rare words it shares with the best items, among the turns of conversations
    /// between people.
    fn shared_words(
        &self,
        found: &SearchResults,
        scores: &ItemScores<'_>,
        missing: &mut Vec<FailedLane>,
    ) -> Result<Vec<f64>, Error> {
        let turns =
            (0..found.items.len()).filter(|at| scores.is_of_people(*at) && scores.says_something(*at));
        let mut turns: Vec<(usize, f64)> = turns.map(|at| (at, scores.score(at))).collect();
        turns.sort_unstable_by(|a, b| descending((a.1, a.0), (b.1, b.0)));
        turns.truncate(walk::REACHED);
        let starts = &turns[..turns.len().min(walk::STARTS)];
        let ids: Vec<MemoryId> = starts.iter().map(|(at, _)| found.items[*at].memory).collect();
        let loaded = self.load(&ids)?;
        let texts = ids.iter().filter_map(|id| Some(&loaded.get(id)?.fields.text.content));
        let words: BTreeSet<String> = texts.flat_map(|text| terms::terms(text)).collect();
        let words: Vec<String> = words.into_iter().collect();
        let items: Vec<(MemoryId, u32)> =
            turns.iter().map(|(at, _)| (found.items[*at].memory, found.items[*at].chunk)).collect();
        let uses = match self.parts.index.uses(self.scope, &words, &items) {
            Ok(uses) => uses,
            Err(IndexError::Store(error)) => return Err(error.into()),
            Err(error) => {
                missing.push(FailedLane { lane: Lane::Keyword, why: error.to_string() });
                Vec::new()
            }
        };
        let first: Vec<f64> = starts.iter().map(|(_, score)| *score).collect();
        let shares = walk::shares(&first, items.len(), &uses, found.within);
        let mut shared = vec![0.0; found.items.len()];
        turns.iter().zip(shares).for_each(|((at, _), share)| shared[*at] = share);
        Ok(shared)
    }

    /// Finds further sections of the memories that are returned.
    fn add_further(&self, ranked: &mut [RankedMemory], found: &SearchResults, score: impl Fn(usize) -> f64) {
        for ranked in ranked.iter_mut().take(self.plan.limit) {
            ranked.further = ranked.item.map_or_else(Vec::new, |best| further(found, best, &score));
        }
    }

    /// Loads the memories with these ids that the caller may see and that match the filter, so the results of the index
    /// are checked again. For a past date, returns the memories in their state at that date.
    pub(super) fn load(&self, ids: &[MemoryId]) -> Result<HashMap<MemoryId, Memory>, Error> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let mut memories = Vec::new();
        read::each(self.parts, self.caller, ids, &mut |memory| memories.push(self.held(memory)))?;
        if let Some(then) = self.ask.as_of {
            memories = past::brought_back(self.parts, self.caller, memories, then)?;
            for memory in memories.iter_mut().filter(|memory| memory.stood_at(then) != State::Archived) {
                if memory.status.state == State::Archived {
                    memory.status = memory.status.moved(State::Active);
                }
            }
        }
        let meant = memories.into_iter().filter(|memory| {
            memory.status.quarantined_at.is_none()
                && self.plan.filter.admits(memory)
                && self.among.as_ref().is_none_or(|among| among.contains(&memory.id))
        });
        Ok(meant.map(|memory| (memory.id, memory)).collect())
    }

    /// Cuts the content of a memory if other memories have used the room. For a past date, no content is cut.
    fn held(&self, mut memory: Memory) -> Memory {
        let loaded = &mut *self.loaded.borrow_mut();
        let content = &mut memory.fields.text.content;
        let over = loaded.bytes > HELD_BYTES && self.ask.as_of.is_none();
        if over && content.len() > HELD_EACH {
            content.truncate(content.floor_char_boundary(HELD_EACH));
            content.shrink_to_fit();
            loaded.cut.insert(memory.id);
        }
        loaded.bytes += content.len();
        memory
    }

    /// Loads the full content of a memory that is shown.
    pub(super) fn whole(&self, memory: &mut Memory) -> Result<(), Error> {
        if self.loaded.borrow().cut.contains(&memory.id)
            && let Some(found) = self.parts.store.memories(&self.caller.viewer, &[memory.id])?.pop()
        {
            memory.fields.text.content = found.fields.text.content;
        }
        Ok(())
    }

    /// Returns the time that the question is about: that of the call, else the end of the past time that it names, else now.
    pub(super) fn moment(&self) -> PointInTime {
        let then = self.ask.as_of.or(self.past.map(|past| past.until));
        then.map_or(PointInTime::Now(self.plan.now), PointInTime::Then)
    }

    /// Marks as superseded only memories whose successor counts at the time in question, and returns these memories.
    /// For a past date of the call, superseded memories were no longer valid and are left out. For a past time that the
    /// question names, a memory that was superseded only later is marked, but not among those returned.
    pub(super) fn settle_successors(
        &self,
        memories: &mut HashMap<MemoryId, Memory>,
    ) -> Result<HashMap<MemoryId, MemoryId>, Error> {
        let today = self.ask.as_of.map_or(PointInTime::Now(self.plan.now), PointInTime::Then);
        succession::settle(self.parts, self.caller, memories.values_mut(), today)?;
        let replaced = memories.values().filter_map(|memory| Some((memory.id, memory.superseded_by?)));
        let mut superseded: HashMap<MemoryId, MemoryId> = replaced.collect();
        if self.past.is_some() && !superseded.is_empty() {
            let ids: Vec<MemoryId> = superseded.keys().copied().collect();
            let then = succession::superseded(self.parts, self.caller, &ids, self.moment())?;
            superseded.retain(|id, _| then.contains(id));
        }
        if self.ask.as_of.is_some() {
            memories.retain(|id, _| !superseded.contains_key(id));
        }
        Ok(superseded)
    }
}

fn importance(memory: &Memory) -> f64 {
    memory.fields.class.importance.get()
}

/// Returns the best item of each memory. Items of a memory are adjacent.
fn best_items(found: &SearchResults, score: impl Fn(usize) -> f64) -> Vec<BestItem> {
    let mut best: Vec<BestItem> = Vec::with_capacity(found.items.len());
    for (at, item) in found.items.iter().enumerate() {
        let score = score(at);
        match best.last_mut().filter(|last| last.memory == item.memory) {
            Some(last) if score > last.score => (last.at, last.score) = (at, score),
            Some(_) => {}
            None => best.push(BestItem { memory: item.memory, at, score }),
        }
    }
    best
}
