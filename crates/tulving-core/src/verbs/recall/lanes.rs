//! Finds the candidates for a question, lane by lane.
//!
//! Runs after [`plan`](super::plan) and before the ranking, and writes nothing. If a lane fails, the answer names this
//! lane and uses the other lanes. If the store fails, recall returns an error, because no answer is possible without
//! the store.

use std::collections::BTreeMap;
use std::ops::Range;

use tulving_text::abbreviation::written_out;
use tulving_text::excerpt::excerpt;
use tulving_text::person;
use tulving_text::terms::{self, BegunTerms};
use tulving_text::when::{self, QuestionInterval};

use crate::model::answer::{FailedLane, Lane};
use crate::model::error::{Error, IndexError};
use crate::model::id::MemoryId;
use crate::model::request::{Caller, Filter, Fusion, RecallQuestion, Sort};
use crate::model::search::{QueryVector, SearchQuery, SearchResults, SearchScope};
use crate::model::time::{Timestamp, Zone};
use crate::model::vocabulary::{LinkedBy, Relation};
use crate::rank::scoring::QueryFeatures;
use crate::rank::spread::{self, GraphWalk};
use crate::verbs::access::Ports;
use crate::verbs::embedding;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The results of the lanes, and the other features of the question.
pub(super) struct LaneResults {
    pub(super) found: SearchResults,
    pub(super) features: QueryFeatures,
    /// The words that the keyword lane searched for.
    pub(super) words: String,
    /// The terms of the identifiers that the question names and that few items have.
    pub(super) identifiers: Vec<String>,
    pub(super) missing: Vec<FailedLane>,
}

/// Returns the scope of a search: the memories that the caller may see and that match the filter. The store evaluates
/// in advance the conditions that the index cannot evaluate.
pub(super) fn scope(ports: &Ports, caller: &Caller, filter: &Filter) -> Result<SearchScope, Error> {
    let visibility = ports.store.visibility(&caller.viewer)?;
    let among = match filter.is_plain() {
        true => None,
        false => Some(ports.store.ids(&caller.viewer, filter, Sort::Newest)?),
    };
    Ok(SearchScope { visibility, filter: filter.clone(), among })
}

/// Queries the index.
pub(super) fn gather(
    ports: &Ports,
    caller: &Caller,
    scope: &SearchScope,
    ask: &RecallQuestion,
    depth: usize,
    (now, zone): (Timestamp, &Zone),
) -> Result<LaneResults, Error> {
    let mut missing = Vec::new();
    let uses = |lane: Lane| ask.lanes.contains(&lane);
    let speakers = match ports.index.speakers(scope) {
        Err(IndexError::Store(error)) => return Err(error.into()),
        speakers => speakers.unwrap_or_default(),
    };
    let asked_at = ask.asked_at.or(ask.as_of).unwrap_or(now);
    let prompt = if is_plain(ask) { None } else { excerpt(&ask.question) };
    let addressed = person::address(prompt.as_deref().unwrap_or(&ask.question), &speakers);
    let Wording { embedded, words } = wording(ports, caller, ask, &addressed.stripped, (asked_at, zone))?;
    let meaning = match uses(Lane::Vector).then(|| meaning(ports, &embedded)) {
        None => None,
        Some(Ok(meaning)) => Some(meaning),
        Some(Err(Error::Store(error))) => return Err(error.into()),
        Some(Err(error)) => {
            missing.push(FailedLane { lane: Lane::Vector, why: error.to_string() });
            None
        }
    };
    let BegunTerms { terms, last } =
        if uses(Lane::Keyword) { terms_of(ask, &words) } else { BegunTerms::default() };
    let features = QueryFeatures {
        intervals: when::intervals(&ask.question, asked_at, zone),
        of_time_alone: when::asks_of_time_alone(&ask.question, zone.wall(asked_at)),
        asks_when: when::asks_when(&ask.question),
        unsaid_from: unsaid_from(asked_at, now),
        names: places(&terms, &person::proper_names(&words)),
        addressed,
    };
    let identifiers = rare(ports, scope, terms::identifiers(&words))?;
    let asked = SearchQuery {
        terms,
        exact: ask.exact_words,
        beginning: last,
        meaning,
        depth,
        times: times(ask, &features),
    };
    let found = match ports.index.search(scope, &asked) {
        Ok(found) => found,
        Err(IndexError::Store(error)) => return Err(error.into()),
        Err(error) => {
            missing.clear();
            for lane in [Lane::Keyword, Lane::Vector].into_iter().filter(|lane| uses(*lane)) {
                missing.push(FailedLane { lane, why: error.to_string() });
            }
            SearchResults::default()
        }
    };
    if found.partial {
        let until = "the index is being rebuilt; until then";
        let lanes = [
            (Lane::Keyword, format!("{until} older memories are found only if they contain the exact word")),
            (Lane::Vector, format!("{until} only the latest changes are compared")),
        ];
        let used = lanes.into_iter().filter(|(lane, _)| uses(*lane));
        missing.extend(used.map(|(lane, why)| FailedLane { lane, why }));
    }
    if asked.meaning.is_some() && found.unembedded > 0 {
        missing.push(FailedLane { lane: Lane::Vector, why: waiting(found.unembedded) });
    }
    Ok(LaneResults { found, features, words, identifiers, missing })
}

/// The texts by which a question is searched.
struct Wording {
    /// The text whose meaning is compared.
    embedded: String,
    /// The text whose words are searched.
    words: String,
}

/// Returns true if the question is searched as it is written.
fn is_plain(ask: &RecallQuestion) -> bool {
    ask.exact_words || ask.fusion == Fusion::Ranks
}

/// Returns the texts by which a question without names of speakers is searched. The name of a project is in most memories of
/// the project, so it is left out of the meaning. Usual abbreviations are written out. A relative day is left out of the
/// words.
fn wording(
    ports: &Ports,
    caller: &Caller,
    ask: &RecallQuestion,
    stripped: &str,
    (asked_at, zone): (Timestamp, &Zone),
) -> Result<Wording, Error> {
    if is_plain(ask) {
        let words = if ask.exact_words { ask.question.as_str() } else { stripped };
        return Ok(Wording { embedded: stripped.to_owned(), words: words.to_owned() });
    }
    let mut candidates: Vec<&str> = Vec::new();
    for word in stripped.split(|c: char| !c.is_alphanumeric() && !"-_.".contains(c)) {
        let word = word.trim_matches(['-', '_', '.']);
        if word.len() >= PROJECT_BYTES
            && !terms::is_stop_word(&word.to_lowercase())
            && !candidates.contains(&word)
        {
            candidates.push(word);
        }
    }
    candidates.truncate(PROJECT_WORDS);
    let projects = ports.store.projects(&caller.viewer, &candidates)?;
    let embedded = match projects.is_empty() {
        true => stripped.to_owned(),
        false => person::address(stripped, &projects).stripped,
    };
    let embedded = written_out(&embedded).map_or(embedded, |out| out.whole);
    let mut words = when::without_relative_days(stripped, asked_at, zone);
    if let Some(out) = written_out(&words) {
        // The last word stays last, because it may be incomplete.
        words = format!("{} {words}", out.added);
    }
    Ok(Wording { embedded, words })
}

/// Minimum length of the name of a project in a question, in bytes, and maximum number of words that may be one.
const PROJECT_BYTES: usize = 3;
const PROJECT_WORDS: usize = 24;
/// Maximum number of items that have an identifier which says by itself what the question is about.
const RARE: u64 = 3;
/// Maximum number of identifiers of a question that are looked up.
const IDENTIFIERS: usize = 16;

/// Returns those of these identifiers that only a few items have.
fn rare(ports: &Ports, scope: &SearchScope, mut identifiers: Vec<String>) -> Result<Vec<String>, Error> {
    identifiers.truncate(IDENTIFIERS);
    if identifiers.is_empty() {
        return Ok(identifiers);
    }
    match ports.index.uses(scope, &identifiers, &[]) {
        Ok(uses) => {
            let found = identifiers.into_iter().zip(uses);
            Ok(found.filter(|(_, found)| (1..=RARE).contains(&found.items)).map(|(name, _)| name).collect())
        }
        Err(IndexError::Store(error)) => Err(error.into()),
        // The search reports the failure.
        Err(_) => Ok(Vec::new()),
    }
}

/// Returns a bit for each of the first 64 different terms of a question that is one of these.
fn places(terms: &[String], some: &[String]) -> u64 {
    let mut different: Vec<&String> = Vec::new();
    terms.iter().for_each(|term| {
        if !different.contains(&term) {
            different.push(term);
        }
    });
    let bits = different.iter().take(64).enumerate().filter(|(_, term)| some.contains(term));
    bits.fold(0, |bits, (at, _)| bits | 1 << at)
}

/// Returns the terms of a question, or of its words without names. If its last word may be incomplete and is still there,
/// that word is the beginning of a word.
pub(super) fn terms_of(ask: &RecallQuestion, words: &str) -> BegunTerms {
    let last = |text: &str| text.split_whitespace().next_back().map(str::to_owned);
    if ask.prefix && last(words) == last(&ask.question) {
        terms::begun_terms(words)
    } else {
        BegunTerms { terms: terms::terms(words), last: None }
    }
}

/// Returns the intervals of a question that asks only for a time; all memories of these intervals are candidates. With
/// rank fusion, times are ignored.
fn times(ask: &RecallQuestion, features: &QueryFeatures) -> Vec<Range<Timestamp>> {
    if !features.of_time_alone || ask.fusion == Fusion::Ranks {
        return Vec::new();
    }
    features.intervals.iter().map(QuestionInterval::span).collect()
}

/// Returns the time from which statements are later than a question that was asked in the past; `None` for a current
/// question, because no stored statement is later. This time is at least a day after the question, because stored times
/// may be in another time zone or have no hour.
fn unsaid_from(asked_at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    Some(asked_at.plus_millis(MILLIS_PER_DAY)).filter(|from| *from < now)
}

fn waiting(count: u64) -> String {
    match count {
        1 => "1 memory waits to be embedded; it is found by its words".to_owned(),
        count => format!("{count} memories wait to be embedded; they are found by their words"),
    }
}

/// Returns the vector of a text by the answering model.
fn meaning(ports: &Ports, text: &str) -> Result<QueryVector, Error> {
    let embedder = embedding::answering(ports)?;
    let model = embedder.model()?;
    Ok(QueryVector { model, vector: embedder.embed_query(text)? })
}

/// Follows associations from the best results of the other lanes. The engine's own ranking uses only associations that
/// a caller created. An automatic association only means that two memories are similar, and the vector lane already
/// measures how similar each memory is to the question.
pub(super) fn graph(
    ports: &Ports,
    caller: &Caller,
    fusion: Fusion,
    seeds: Vec<(MemoryId, f64)>,
) -> Result<Vec<LinkedMemory>, Error> {
    let mut by_others = GraphWalk::from(seeds.iter().copied());
    let mut walk = GraphWalk::from(seeds);
    for _ in 0..spread::HOPS {
        let frontier = walk.frontier();
        if frontier.is_empty() {
            break;
        }
        let mut edges = ports.store.associations(&caller.viewer, &frontier)?;
        edges.retain(|edge| fusion == Fusion::Ranks || edge.linked_by == LinkedBy::Caller);
        walk.hop(&edges);
        edges.retain(|edge| edge.relation != Relation::Updates);
        by_others.hop(&edges);
    }
    let by_others: BTreeMap<MemoryId, f64> = by_others.scores().collect();
    let linked = walk.scores().map(|(memory, score)| {
        let besides_updates = by_others.get(&memory).copied().unwrap_or(0.0);
        LinkedMemory { memory, score, besides_updates }
    });
    Ok(linked.collect())
}

/// A memory that the graph lane reached.
pub(super) struct LinkedMemory {
    pub(super) memory: MemoryId,
    pub(super) score: f64,
    /// The score without links that state an update. A memory that another lane found too gets only this score, because an
    /// update already counts in another way: the successor counts as matching as well as the memory that it updates.
    pub(super) besides_updates: f64,
}
