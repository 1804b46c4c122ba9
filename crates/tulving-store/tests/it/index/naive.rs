//! Searches as plainly as can be, to check the index against: no segments, no bits, no windows.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use tulving_core::id::MemoryId;
use tulving_core::memory::Memory;
use tulving_core::ports::Index;
use tulving_core::search::{Entry, Found, Item, Question, Scope};
use tulving_core::text::terms;
use tulving_store::SearchIndex;

use super::ask::{any_question, any_scope};
use super::fake::{Fake, any_act};

/// A chunk with all that is asked of it.
struct Doc<'a> {
    memory: &'a Memory,
    chunk: u32,
    terms: HashMap<String, f64>,
    length: f64,
    session: Option<String>,
    closeness: Option<f64>,
}

struct Naive<'a> {
    docs: Vec<Doc<'a>>,
    visible: Vec<usize>,
    /// For each term of the question those that it stands for, and what each counts. Taken from what is visible alone.
    asked: Vec<Vec<(String, f64)>>,
}

fn docs<'a>(entries: &'a [Entry], question: &Question) -> Vec<Doc<'a>> {
    let mut docs = Vec::new();
    for entry in entries {
        let memory = &entry.memory;
        if memory.standing.forgotten_at.is_some() || memory.standing.quarantined_at.is_some() {
            continue;
        }
        for (n, chunk) in entry.chunks.iter().enumerate() {
            let said = terms::of_chunk(memory, chunk);
            let mut counts: HashMap<String, f64> = HashMap::new();
            for term in said.body.iter().chain(&said.labels) {
                *counts.entry(term.clone()).or_default() += 1.0;
            }
            let session = match &memory.place.conversation {
                Some(talk) => Some(format!("{} talk {talk}", memory.space)),
                None if entry.chunks.len() > 1 => Some(format!("{} memory {}", memory.space, memory.id)),
                None => None,
            };
            let closeness =
                chunk.embedding.as_ref().zip(question.meaning.as_ref()).map(|(embedding, asked)| {
                    let dot =
                        |v: &[f32]| v.iter().zip(&asked.vector).map(|(a, b)| f64::from(a * b)).sum::<f64>();
                    let best = embedding.sentences.iter().map(|v| dot(v)).reduce(f64::max);
                    let whole = dot(&embedding.vector);
                    best.map_or(whole, |best| 0.5 * whole + 0.5 * best).max(0.0)
                });
            let length = said.body.len() as f64;
            docs.push(Doc { memory, chunk: n as u32, terms: counts, length, session, closeness });
        }
    }
    docs
}

impl<'a> Naive<'a> {
    fn of(entries: &'a [Entry], scope: &Scope, question: &Question) -> Self {
        let docs = docs(entries, question);
        let sees = |memory: &Memory| {
            scope.sight.sees(memory.space, memory.owner, memory.edition.boundary)
                && scope.filter.admits(memory)
                && scope.among.as_ref().is_none_or(|among| among.contains(&memory.id))
        };
        let visible = (0..docs.len()).filter(|&n| sees(docs[n].memory)).collect();
        let mut made = Self { docs, visible, asked: Vec::new() };
        let mut known: BTreeMap<&str, f64> = BTreeMap::new();
        for term in made.visible.iter().flat_map(|&n| made.docs[n].terms.keys()) {
            *known.entry(term).or_default() += 1.0;
        }
        made.asked = question.terms.iter().map(|term| made.meant(term, &known)).collect();
        if question.exact {
            made.asked
                .iter_mut()
                .zip(&question.terms)
                .for_each(|(meant, term)| meant.retain(|(one, _)| one == term));
        }
        made
    }

    /// The terms that one stands for and what each counts, given how many docs have each term.
    fn meant(&self, term: &str, known: &BTreeMap<&str, f64>) -> Vec<(String, f64)> {
        let all = self.visible.len() as f64;
        let rarity = |other: &str| ((all - known[other] + 0.5) / (known[other] + 0.5)).ln_1p();
        if known.contains_key(term) {
            return vec![(term.to_owned(), rarity(term))];
        }
        let mut found: Vec<&str> = known.keys().copied().filter(|other| other.starts_with(term)).collect();
        if found.is_empty() && term.chars().count() >= 4 {
            found = known.keys().copied().filter(|other| other.contains(term)).collect();
        }
        found.sort_by_key(|other| (other.len(), *other));
        found.into_iter().take(16).map(|other| (other.to_owned(), 0.6 * rarity(other))).collect()
    }

    fn bm25(weight: f64, count: f64, length: f64, mean: f64) -> f64 {
        weight * count * 2.2 / (count + 1.2 * (0.4 + 0.6 * length / mean))
    }

    fn lexical(&self, counts: &HashMap<String, f64>, length: f64, mean: f64) -> f64 {
        let words = self.asked.iter().flatten();
        let gains =
            words.filter_map(|(term, weight)| Some(Self::bm25(*weight, *counts.get(term)?, length, mean)));
        gains.sum()
    }

    fn mean(&self) -> f64 {
        let total: f64 = self.visible.iter().map(|&n| self.docs[n].length).sum();
        if total > 0.0 { total / self.visible.len() as f64 } else { 1.0 }
    }

    /// The share of what was asked that a doc has. What nothing has is as rare as can be.
    fn coverage(&self, n: usize) -> f64 {
        let nowhere = ((self.visible.len() as f64 + 0.5) / 0.5).ln_1p();
        let worth = |words: &[(String, f64)]| match words.is_empty() {
            true => nowhere,
            false => words.iter().map(|(_, weight)| *weight).fold(0.0, f64::max),
        };
        let all: f64 = self.asked.iter().map(|words| worth(words)).sum();
        let has =
            |words: &&Vec<(String, f64)>| words.iter().any(|(term, _)| self.docs[n].terms.contains_key(term));
        let has: f64 = self.asked.iter().filter(has).map(|words| worth(words)).sum();
        if all > 0.0 { has / all } else { 0.0 }
    }

    /// The visible docs of each session, in order.
    fn sessions(&self) -> BTreeMap<String, Vec<usize>> {
        let mut sessions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for &n in &self.visible {
            if let Some(session) = &self.docs[n].session {
                sessions.entry(session.clone()).or_default().push(n);
            }
        }
        for docs in sessions.values_mut() {
            docs.sort_by_key(|&n| {
                let (doc, memory) = (&self.docs[n], self.docs[n].memory);
                let at = memory.edition.span.occurred_at.unwrap_or(memory.usage.created_at);
                (memory.place.position.unwrap_or(i64::MAX), at, memory.id, doc.chunk)
            });
        }
        sessions
    }
}

fn close(one: f64, other: f64, within: f64, what: &str) {
    assert!((one - other).abs() <= within, "{what}: {one} and {other}");
}

fn check(entries: &[Entry], scope: &Scope, question: &Question, found: &Found) {
    let naive = Naive::of(entries, scope, question);
    let by_name: HashMap<(MemoryId, u32), usize> =
        naive.visible.iter().map(|&n| ((naive.docs[n].memory.id, naive.docs[n].chunk), n)).collect();
    check_counts(&naive, question, found);
    let mean = naive.mean();
    let lexical = |n: usize| naive.lexical(&naive.docs[n].terms, naive.docs[n].length, mean);
    for item in &found.items {
        let n = *by_name.get(&(item.memory, item.chunk)).expect("nothing that is not visible is found");
        close(f64::from(item.lexical), lexical(n), 1e-4, "lexical");
        close(f64::from(item.coverage), naive.coverage(n), 1e-4, "coverage");
        let expected = naive.docs[n].closeness;
        assert_eq!(item.whole.is_some(), expected.is_some());
        close(f64::from(item.closeness()), expected.unwrap_or(0.0), 0.006, "closeness");
        let memory = naive.docs[n].memory;
        let speaker = item.speaker.map(|at| found.speakers[at as usize].as_str());
        assert_eq!(speaker, memory.place.speaker.as_deref());
        assert_eq!(item.weights.importance, memory.edition.class.importance);
        assert_eq!(item.weights.state, memory.standing.state);
        assert_eq!(item.weights.stability, memory.edition.class.stability);
    }
    // Whatever is clearly among the best of a lane is a candidate.
    let is_candidate =
        |n: usize| found.items.iter().any(|item| item.candidate && by_name[&(item.memory, item.chunk)] == n);
    for (score, slack) in [
        (&lexical as &dyn Fn(usize) -> f64, 1e-4),
        (&|n: usize| naive.docs[n].closeness.unwrap_or(-1.0), 0.012),
    ] {
        let mut best: Vec<f64> =
            naive.visible.iter().map(|&n| score(n)).filter(|score| *score > 0.0).collect();
        best.sort_by(|one, other| other.total_cmp(one));
        let bar = best.get(question.depth).copied().unwrap_or(0.0) + slack;
        for &n in &naive.visible {
            assert!(score(n) <= bar || question.depth == 0 || is_candidate(n), "{} above {bar}", score(n));
        }
    }
    check_sessions(&naive, found, &by_name);
}

fn check_counts(naive: &Naive<'_>, question: &Question, found: &Found) {
    let memories = |is: &dyn Fn(usize) -> bool| {
        let some = naive.visible.iter().filter(|&&n| is(n));
        some.map(|&n| naive.docs[n].memory.id).collect::<BTreeSet<_>>().len() as u64
    };
    assert_eq!(found.within, naive.visible.len() as u64);
    let has_term =
        |n: usize| naive.asked.iter().flatten().any(|(term, _)| naive.docs[n].terms.contains_key(term));
    assert_eq!(found.with_terms, memories(&has_term));
    let asked = question.meaning.is_some();
    assert_eq!(found.with_meaning, memories(&|n| asked && naive.docs[n].closeness.is_some()));
    assert_eq!(found.unembedded, memories(&|n| asked && naive.docs[n].closeness.is_none()));
    for (rarity, words) in found.rarities.iter().zip(&naive.asked) {
        let best = words.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
        close(f64::from(*rarity), best, 1e-4, "rarity");
    }
    assert_eq!(found.rarities.len(), question.terms.len());
}

fn check_sessions(naive: &Naive<'_>, found: &Found, by_name: &HashMap<(MemoryId, u32), usize>) {
    let sessions = naive.sessions();
    let mut given: BTreeMap<u32, Vec<&Item>> = BTreeMap::new();
    for item in &found.items {
        let n = by_name[&(item.memory, item.chunk)];
        assert_eq!(item.session.is_some(), naive.docs[n].session.is_some());
        if let Some(session) = item.session {
            given.entry(session).or_default().push(item);
        }
    }
    assert_eq!(given.len(), found.sessions.len());
    let name_of = |items: &[&Item]| {
        let n = by_name[&(items[0].memory, items[0].chunk)];
        naive.docs[n].session.clone().expect("it is in one")
    };
    let length = |docs: &[usize]| docs.iter().map(|&n| naive.docs[n].length).sum::<f64>();
    let total: f64 = given.values().map(|items| length(&sessions[&name_of(items)])).sum();
    let mean = total / found.sessions.len().max(1) as f64;
    for (session, items) in &given {
        let docs = &sessions[&name_of(items)];
        let about = &found.sessions[*session as usize];
        assert_eq!(about.items as usize, docs.len());
        let speakers: BTreeSet<_> = docs.iter().map(|&n| &naive.docs[n].memory.place.speaker).collect();
        assert_eq!(about.speakers as usize, speakers.len());
        let mut counts: HashMap<String, f64> = HashMap::new();
        for (term, count) in docs.iter().flat_map(|&n| &naive.docs[n].terms) {
            *counts.entry(term.clone()).or_default() += count;
        }
        let lexical = naive.lexical(&counts, length(docs), mean);
        close(f64::from(about.lexical), lexical, 1e-3, "lexical of a session");
        let best = docs.iter().filter_map(|&n| naive.docs[n].closeness).fold(0.0, f64::max);
        close(f64::from(about.closeness), best, 0.006, "closeness of a session");
        let orders: Vec<usize> = items.iter().map(|item| item.order as usize).collect();
        assert!(orders.is_sorted_by(|one, other| one < other), "{orders:?}");
        for item in items {
            assert_eq!(docs[item.order as usize], by_name[&(item.memory, item.chunk)]);
        }
        let near: BTreeSet<usize> = items
            .iter()
            .filter(|item| item.candidate)
            .flat_map(|item| (item.order as usize).saturating_sub(2)..docs.len().min(item.order as usize + 3))
            .collect();
        assert_eq!(orders, near.into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn answers_are_those_of_a_plain_search() {
    for seed in 100..115 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let store = Fake::new(Some("m1"));
        let index = SearchIndex::in_memory(std::sync::Arc::clone(&store));
        for _ in 0..6 {
            (0..random.usize(..40)).for_each(|_| any_act(&store, &mut random));
            let entries = store.all(Some("m1"));
            for _ in 0..6 {
                let (scope, question) = (any_scope(&store, &mut random), any_question(&mut random));
                let found = index.search(&scope, &question).expect("an answer");
                check(&entries, &scope, &question, &found);
                let naive = Naive::of(&entries, &scope, &question);
                let speaker = |n: &usize| naive.docs[*n].memory.place.speaker.clone();
                let speakers: BTreeSet<String> = naive.visible.iter().filter_map(speaker).collect();
                let named: BTreeSet<String> = index.speakers(&scope).expect("names").into_iter().collect();
                assert_eq!(named, speakers);
            }
        }
    }
}
