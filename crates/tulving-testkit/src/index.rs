//! A simple index that reads all data again after every change and scores every item. The real index must return the
//! same results, except for the last digits of scores and the order of sessions; `tulving-store` compares the two.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use tulving_core::model::error::IndexError;
use tulving_core::model::id::{MemoryId, SpaceId};
use tulving_core::model::memory::{Chunk, Memory};
use tulving_core::model::search::{
    Item, QueryVector, SearchQuery, SearchResults, SearchScope, Session, TermUse, TextProperties, Weights,
    WordBeginning, is_person,
};
use tulving_core::ports::{Feed, Index, Log};
use tulving_core::text::terms;
use tulving_text::properties;
use tulving_text::terms::spelling;

const K1: f64 = 1.2;
const B: f64 = 0.6;
/// The weight of a term that only begins with or contains the searched term.
const PARTIAL: f64 = 0.6;
const EXPANSIONS: usize = 16;
/// Maximum number of terms that begin with the letters of an incomplete word.
const BEGUN: usize = 50;
/// Maximum number of unknown terms of the question that are expanded.
const EXPANDED: usize = 8;
/// Number of memories that are read at once.
const PAGE: usize = 1_000;

/// The parts of a store that are read.
trait IndexedStore: Log + Feed + Send + Sync {}

impl<S: Log + Feed + Send + Sync> IndexedStore for S {}

/// All indexed data, in the order of the sessions.
pub struct PlainIndex {
    store: Arc<dyn IndexedStore>,
    state: Mutex<Option<(u64, Arc<Vec<PlainDoc>>)>>,
}

struct PlainDoc {
    memory: Memory,
    chunk: u32,
    chunks: usize,
    counts: HashMap<String, u32>,
    properties: TextProperties,
    vector: Option<(String, Vec<f32>, Vec<Vec<f32>>)>,
}

/// The key that groups items: a conversation, or a memory with several chunks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum PlainSessionKey {
    Conversation(SpaceId, String),
    Memory(MemoryId),
}

impl PlainIndex {
    /// An index over a store.
    pub fn new<S>(store: Arc<S>) -> Self
    where
        S: Log + Feed + Send + Sync + 'static,
    {
        Self { store, state: Mutex::new(None) }
    }

    fn docs(&self) -> Result<Arc<Vec<PlainDoc>>, IndexError> {
        let change_counter = self.store.change_counter()?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((seen, docs)) = state.as_ref()
            && *seen == change_counter
        {
            return Ok(docs.clone());
        }
        let model = self.store.model()?;
        let mut docs = Vec::new();
        let mut after = None;
        loop {
            let entries = self.store.entries_after(after, PAGE, model.as_deref())?;
            let Some(last) = entries.last() else {
                break;
            };
            after = Some(last.memory.id);
            for entry in entries {
                let status = entry.memory.status;
                if status.forgotten_at.is_none() && status.quarantined_at.is_none() {
                    let count = entry.chunks.len();
                    let chunks = (0..).zip(&entry.chunks);
                    docs.extend(chunks.map(|(at, chunk)| doc(&entry.memory, at, count, chunk)));
                }
            }
        }
        docs.sort_by_cached_key(place);
        let docs = Arc::new(docs);
        *state = Some((change_counter, docs.clone()));
        Ok(docs)
    }
}

fn place(doc: &PlainDoc) -> (SpaceId, Option<PlainSessionKey>, i64, i64, MemoryId, u32) {
    let at = doc.memory.fields.span.occurred_at.unwrap_or(doc.memory.usage.created_at).as_micros();
    let position = doc.memory.place.position;
    (doc.memory.space, key(doc), position.unwrap_or(i64::MAX), at, doc.memory.id, doc.chunk)
}

fn key(doc: &PlainDoc) -> Option<PlainSessionKey> {
    match &doc.memory.place.conversation {
        Some(conversation) => Some(PlainSessionKey::Conversation(doc.memory.space, conversation.clone())),
        None if doc.chunks > 1 => Some(PlainSessionKey::Memory(doc.memory.id)),
        None => None,
    }
}

fn doc(memory: &Memory, at: u32, chunks: usize, chunk: &Chunk) -> PlainDoc {
    let terms = terms::of_chunk(memory, chunk);
    let body = memory.fields.text.content.get(chunk.start..chunk.end).unwrap_or_default();
    let properties = properties::of(body, &terms.body);
    let mut counts: HashMap<String, u32> = HashMap::new();
    for term in terms.body.into_iter().chain(terms.labels) {
        *counts.entry(term).or_default() += 1;
    }
    // A count is stored as a byte.
    counts.values_mut().for_each(|count| *count = (*count).min(255));
    let vector = chunk.embedding.as_ref().map(|embedding| {
        let sentences = embedding.sentences.iter().map(|vector| coarse(vector)).collect();
        (embedding.model.clone(), coarse(&embedding.vector), sentences)
    });
    PlainDoc { memory: memory.clone(), chunk: at, chunks, counts, properties, vector }
}

/// A vector after each number was rounded to a byte.
fn coarse(vector: &[f32]) -> Vec<f32> {
    let largest = vector.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    if largest == 0.0 {
        return vector.to_vec();
    }
    let scale = largest / 127.0;
    vector.iter().map(|x| (x / scale).round() * scale).collect()
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The docs within a scope.
fn within<'a>(docs: &'a [PlainDoc], scope: &SearchScope) -> Vec<&'a PlainDoc> {
    let among: Option<HashSet<MemoryId>> = scope.among.as_ref().map(|ids| ids.iter().copied().collect());
    let seen = docs.iter().filter(|doc| {
        let memory = &doc.memory;
        scope.visibility.sees(memory.space, memory.owner, memory.fields.boundary)
            && scope.filter.admits(memory)
            && among.as_ref().is_none_or(|among| among.contains(&memory.id))
    });
    seen.collect()
}

impl PlainDoc {
    /// Returns true if the item has a vector that can be compared with the vector of the question.
    fn fits(&self, meaning: &QueryVector) -> bool {
        let vector = self.vector.as_ref();
        vector.is_some_and(|(model, whole, _)| *model == meaning.model && whole.len() == meaning.vector.len())
    }
}

/// The known terms that replace an unknown term of the question.
fn expanded(known: &BTreeMap<&str, f64>, term: &str) -> Vec<String> {
    let first = |test: &dyn Fn(&str) -> bool| {
        let mut like: Vec<&str> = known.keys().copied().filter(|known| test(known)).collect();
        like.sort_by_key(|known| (known.len(), *known));
        like.into_iter().take(EXPANSIONS).map(str::to_owned).collect::<Vec<_>>()
    };
    let mut found = Vec::new();
    if spelling::may_be_part(term) {
        found = first(&|known| known.starts_with(term));
        if found.is_empty() {
            found = first(&|known| known.contains(term));
        }
    }
    if found.is_empty() {
        found = first(&|known| spelling::is_misspelt(term, known));
    }
    found
}

/// The known terms that begin with the letters of an incomplete word, or whose words do.
fn begun(known: &BTreeMap<&str, f64>, beginning: &WordBeginning, term: &str) -> Vec<String> {
    let begins = |known: &&str| known.starts_with(&beginning.letters) && *known != term;
    let mut most: Vec<&str> = known.keys().copied().filter(begins).collect();
    most.sort_by(|a, b| known[b].total_cmp(&known[a]).then(a.cmp(b)));
    most.truncate(BEGUN);
    let stems = beginning.stems.iter().map(String::as_str);
    let stems = stems.filter(|stem| known.contains_key(stem) && *stem != term);
    most.into_iter().chain(stems).map(str::to_owned).collect()
}

struct PlainQueryTerms {
    /// The terms to look for: the position in the question, the term and its weight.
    terms: Vec<(usize, String, f64)>,
    rarities: Vec<f32>,
    /// The weight of each term of the question by its rarity. A term that no doc contains has the rarity of a term
    /// without docs.
    worth: Vec<f32>,
    /// The position of each term of the question among the different ones.
    different: Vec<usize>,
    average: f64,
}

impl PlainQueryTerms {
    /// The question's terms among the docs within the scope. Other docs do not count.
    fn of(seen: &[&PlainDoc], question: &SearchQuery) -> Self {
        let count = seen.len() as f64;
        let average = seen.iter().map(|doc| f64::from(doc.properties.length)).sum::<f64>() / count.max(1.0);
        let mut known: BTreeMap<&str, f64> = BTreeMap::new();
        for term in seen.iter().flat_map(|doc| doc.counts.keys()) {
            *known.entry(term).or_default() += 1.0;
        }
        let rarity = |holders: f64| (1.0 + (count - holders + 0.5) / (holders + 0.5)).ln();
        let mut first: Vec<&str> = Vec::new();
        let different = question.terms.iter().map(|term| {
            first.iter().position(|known| known == term).unwrap_or_else(|| {
                first.push(term);
                first.len() - 1
            })
        });
        let different: Vec<usize> = different.collect();
        let mut made =
            Self { terms: Vec::new(), rarities: Vec::new(), worth: Vec::new(), different, average };
        let mut unknown: BTreeSet<&str> = BTreeSet::new();
        for (at, term) in question.terms.iter().enumerate() {
            let beginning =
                question.beginning.as_ref().filter(|begun| question.terms.get(begun.at) == Some(term));
            let begun = beginning.map_or_else(Vec::new, |beginning| begun(&known, beginning, term));
            let together: f64 = begun.iter().map(|known_term| known[known_term.as_str()]).sum();
            let by_beginning = PARTIAL * rarity(together.min(count));
            let (share, meant) = if !known.contains_key(term.as_str()) && !begun.is_empty() {
                (1.0, Vec::new())
            } else if known.contains_key(term.as_str()) {
                (1.0, vec![term.clone()])
            } else if !question.exact && (unknown.contains(term.as_str()) || unknown.len() < EXPANDED) {
                unknown.insert(term);
                (PARTIAL, expanded(&known, term))
            } else {
                (PARTIAL, Vec::new())
            };
            let weighed = meant.into_iter().map(|known_term| {
                let weight = share * rarity(known[known_term.as_str()]);
                (at, known_term, weight)
            });
            let begun = begun.into_iter().map(|known_term| (at, known_term, by_beginning));
            let weighed: Vec<_> = begun.chain(weighed).collect();
            let best = weighed.iter().map(|(.., weight)| *weight).fold(0.0, f64::max);
            made.rarities.push(best as f32);
            made.worth.push(if weighed.is_empty() { rarity(0.0) } else { best } as f32);
            made.terms.extend(weighed);
        }
        made
    }

    fn score(&self, counts: &HashMap<String, u32>, length: f64, average: f64) -> f64 {
        let parts = self.terms.iter().map(|(_, term, weight)| {
            let count = f64::from(counts.get(term).copied().unwrap_or(0));
            let room = K1 * (1.0 - B + B * length / average.max(1e-9));
            weight * count * (K1 + 1.0) / (count + room)
        });
        parts.sum()
    }

    fn worth_of_different(&self) -> Vec<f32> {
        let mut sums = vec![0.0; self.different.iter().max().map_or(0, |most| most + 1)];
        self.different.iter().zip(&self.worth).for_each(|(at, worth)| sums[*at] += worth);
        sums
    }

    fn terms_in(&self, doc: &PlainDoc) -> u64 {
        let has = self.terms.iter().filter(|(_, term, _)| doc.counts.contains_key(term));
        has.fold(0, |bits, (at, ..)| bits | 1_u64.checked_shl(self.different[*at] as u32).unwrap_or(0))
    }

    fn coverage(&self, doc: &PlainDoc) -> f32 {
        let all: f32 = self.worth.iter().sum();
        let has: BTreeSet<usize> = self
            .terms
            .iter()
            .filter(|(_, term, _)| doc.counts.contains_key(term))
            .map(|(at, ..)| *at)
            .collect();
        let has: f32 = has.into_iter().map(|at| self.worth[at]).sum();
        if all > 0.0 { has / all } else { 0.0 }
    }
}

impl Index for PlainIndex {
    fn search(&self, scope: &SearchScope, question: &SearchQuery) -> Result<SearchResults, IndexError> {
        let docs = self.docs()?;
        let seen = within(&docs, scope);
        let words = PlainQueryTerms::of(&seen, question);
        let mut names = Vec::new();
        let mut items: Vec<Item> = seen.iter().map(|doc| item(doc, &words, question, &mut names)).collect();
        mark(&mut items, question);
        let sessions = sessions(&seen, &mut items, &names, &words);
        let memories = |test: &dyn Fn(&PlainDoc, &Item) -> bool| {
            let some = seen.iter().zip(&items).filter(|(doc, item)| test(doc, item));
            some.map(|(_, item)| item.memory).collect::<HashSet<MemoryId>>().len() as u64
        };
        let meaning = question.meaning.as_ref();
        let fits = |doc: &PlainDoc| meaning.is_some_and(|meaning| doc.fits(meaning));
        let (with_terms, with_meaning, unembedded) = (
            memories(&|_, item| item.lexical > 0.0),
            memories(&|doc, _| fits(doc)),
            memories(&|doc, _| meaning.is_some() && !fits(doc)),
        );
        let within = items.len() as u64;
        let (mut items, sessions) = near(items, sessions);
        let speakers = spoken(&mut items, &names);
        let worth = words.worth_of_different();
        let rarities = words.rarities;
        let partial = false;
        Ok(SearchResults {
            items,
            speakers,
            sessions,
            with_terms,
            with_meaning,
            unembedded,
            within,
            partial,
            rarities,
            worth,
        })
    }

    fn uses(
        &self,
        scope: &SearchScope,
        terms: &[String],
        items: &[(MemoryId, u32)],
    ) -> Result<Vec<TermUse>, IndexError> {
        let docs = self.docs()?;
        let seen = within(&docs, scope);
        let uses = terms.iter().map(|term| {
            let with: Vec<_> = seen.iter().filter(|doc| doc.counts.contains_key(term)).collect();
            let has = |item: &(MemoryId, u32)| with.iter().any(|doc| (doc.memory.id, doc.chunk) == *item);
            let among = (0..).zip(items).filter(|(_, item)| has(item)).map(|(at, _)| at).collect();
            TermUse { items: with.len() as u64, among }
        });
        Ok(uses.collect())
    }

    fn speakers(&self, scope: &SearchScope) -> Result<Vec<String>, IndexError> {
        let docs = self.docs()?;
        let speakers = within(&docs, scope).into_iter().filter_map(|doc| doc.memory.place.speaker.clone());
        let names: BTreeSet<String> = speakers.collect();
        Ok(names.into_iter().collect())
    }
}

/// Returns the names in the order of the items, and sets each item's index in this list.
fn spoken(items: &mut [Item], names: &[String]) -> Vec<String> {
    let mut spoken = Vec::new();
    for item in items {
        item.speaker = item.speaker.map(|at| named(&mut spoken, &names[at as usize]));
    }
    spoken
}

/// Returns the index of a name. Adds the name if it is missing.
fn named(names: &mut Vec<String>, name: &str) -> u32 {
    let at = names.iter().position(|known| known == name).unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    });
    u32::try_from(at).unwrap_or(u32::MAX)
}

fn item(doc: &PlainDoc, words: &PlainQueryTerms, question: &SearchQuery, names: &mut Vec<String>) -> Item {
    // No vector is similar to a zero vector.
    let says = |meaning: &&QueryVector| meaning.vector.iter().any(|x| *x != 0.0);
    let meaning = question.meaning.as_ref().filter(says).filter(|meaning| doc.fits(meaning));
    let vector = doc.vector.as_ref().zip(meaning);
    let whole = vector.map(|((_, whole, _), meaning)| cosine(whole, &meaning.vector));
    let sentence = vector.and_then(|((_, _, sentences), meaning)| {
        sentences.iter().map(|sentence| cosine(sentence, &meaning.vector)).reduce(f32::max)
    });
    let memory = &doc.memory;
    let class = &memory.fields.class;
    Item {
        memory: memory.id,
        chunk: doc.chunk,
        candidate: false,
        lexical: words.score(&doc.counts, f64::from(doc.properties.length), words.average) as f32,
        coverage: words.coverage(doc),
        terms: words.terms_in(doc),
        whole,
        sentence,
        session: None,
        order: 0,
        speaker: memory.place.speaker.as_deref().map(|name| named(names, name)),
        at: memory.fields.span.occurred_at.unwrap_or(memory.usage.created_at),
        properties: doc.properties,
        weights: Weights {
            stability: class.stability,
            state: memory.status.state,
            importance: class.importance,
        },
    }
}

/// Marks the best items of each lane, and the newest items of the requested times.
fn mark(items: &mut [Item], question: &SearchQuery) {
    type Lane = (fn(&Item) -> f32, fn(&Item) -> bool);
    let lanes: [Lane; 2] =
        [(|item| item.lexical, |item| item.lexical > 0.0), (Item::closeness, |item| item.whole.is_some())];
    for (score, found) in lanes {
        let mut order: Vec<usize> = (0..items.len()).filter(|at| found(&items[*at])).collect();
        order.sort_by(|a, b| {
            let (a, b) = (&items[*a], &items[*b]);
            score(b).total_cmp(&score(a)).then((a.memory, a.chunk).cmp(&(b.memory, b.chunk)))
        });
        order.truncate(question.depth);
        order.into_iter().for_each(|at| items[at].candidate = true);
    }
    let in_time = |item: &Item| question.times.iter().any(|time| time.contains(&item.at));
    let mut of_times: Vec<&mut Item> = items.iter_mut().filter(|item| in_time(item)).collect();
    of_times.sort_by_key(|item| (Reverse(item.at), item.memory, item.chunk));
    of_times.into_iter().take(question.depth).for_each(|item| item.candidate = true);
}

/// Sets the session of each item and its position in the session. The docs are in the order of the sessions.
fn sessions(
    docs: &[&PlainDoc],
    items: &mut [Item],
    names: &[String],
    words: &PlainQueryTerms,
) -> Vec<Session> {
    let mut groups: BTreeMap<PlainSessionKey, Vec<usize>> = BTreeMap::new();
    for (at, doc) in docs.iter().enumerate() {
        if let Some(key) = key(doc) {
            groups.entry(key).or_default().push(at);
        }
    }
    // Only sessions with a candidate count.
    groups.retain(|_, members| members.iter().any(|at| items[*at].candidate));
    let lengths: Vec<f64> = groups
        .values()
        .map(|members| members.iter().map(|at| f64::from(docs[*at].properties.length)).sum())
        .collect();
    let average = lengths.iter().sum::<f64>() / (lengths.len() as f64).max(1.0);
    let mut sessions = Vec::new();
    for ((at, (key, members)), length) in (0..).zip(groups).zip(lengths) {
        let document = matches!(key, PlainSessionKey::Memory(_));
        let mut counts: HashMap<String, u32> = HashMap::new();
        let (mut speakers, mut closeness) = (BTreeSet::new(), 0.0_f32);
        for (order, member) in (0..).zip(&members) {
            items[*member].session = Some(at);
            items[*member].order = order;
            closeness = closeness.max(items[*member].closeness());
            speakers.insert(items[*member].speaker);
            for (term, count) in &docs[*member].counts {
                *counts.entry(term.clone()).or_default() += count;
            }
        }
        let people =
            speakers.iter().flatten().filter(|speaker| is_person(&names[**speaker as usize])).count();
        sessions.push(Session {
            document,
            people: u32::try_from(people).unwrap_or(u32::MAX),
            items: u32::try_from(members.len()).unwrap_or(u32::MAX),
            speakers: u32::try_from(speakers.len()).unwrap_or(u32::MAX),
            lexical: words.score(&counts, length, average) as f32,
            closeness,
        });
    }
    sessions
}

/// Keeps only candidates and up to two items on each side of them.
fn near(items: Vec<Item>, sessions: Vec<Session>) -> (Vec<Item>, Vec<Session>) {
    let wanted: HashSet<(u32, u32)> = items
        .iter()
        .filter(|item| item.candidate)
        .filter_map(|item| item.session.map(|session| (session, item.order)))
        .flat_map(|(session, order)| (order.saturating_sub(2)..=order + 2).map(move |at| (session, at)))
        .collect();
    let kept = items.into_iter().filter(|item| {
        item.candidate || item.session.is_some_and(|session| wanted.contains(&(session, item.order)))
    });
    let mut kept: Vec<Item> = kept.collect();
    kept.sort_by_key(|item| (item.session.is_none(), item.session, item.order, item.memory, item.chunk));
    (kept, sessions)
}
