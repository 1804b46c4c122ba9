//! Finds the candidates for a question, lane by lane.
//!
//! Runs after [`plan`](super::plan) and before the ranking, and writes nothing. If a lane fails, the answer names this
//! lane and uses the other lanes. If the store fails, recall returns an error, because no answer is possible without
//! the store.

use std::ops::Range;

use tulving_text::terms::{self, BegunTerms};
use tulving_text::when::QuestionInterval;
use tulving_text::{person, when};

use crate::model::answer::{FailedLane, Lane};
use crate::model::error::{Error, IndexError, ModelError};
use crate::model::id::MemoryId;
use crate::model::request::{Caller, Filter, Fusion, RecallQuestion, Sort};
use crate::model::search::{QueryVector, SearchQuery, SearchResults, SearchScope};
use crate::model::time::{Timestamp, Zone};
use crate::model::vocabulary::LinkedBy;
use crate::rank::scoring::QueryFeatures;
use crate::rank::spread::{self, GraphWalk};
use crate::verbs::access::Ports;
use crate::verbs::embedding;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The results of the lanes, and the other features of the question.
pub(super) struct LaneResults {
    pub(super) found: SearchResults,
    pub(super) features: QueryFeatures,
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
    let addressed = person::address(&ask.question, &speakers);
    let meaning = match uses(Lane::Vector).then(|| meaning(ports, &addressed.stripped)) {
        None => None,
        Some(Ok(meaning)) => Some(meaning),
        Some(Err(Error::Store(error))) => return Err(error.into()),
        Some(Err(error)) => {
            missing.push(FailedLane { lane: Lane::Vector, why: error.to_string() });
            None
        }
    };
    let words = if ask.exact_words { &ask.question } else { &addressed.stripped };
    let BegunTerms { terms, last } =
        if uses(Lane::Keyword) { terms_of(ask, words) } else { BegunTerms::default() };
    let asked_at = ask.asked_at.or(ask.as_of).unwrap_or(now);
    let features = QueryFeatures {
        intervals: when::intervals(&ask.question, asked_at, zone),
        of_time_alone: when::asks_of_time_alone(&ask.question, zone.wall(asked_at)),
        asks_when: when::asks_when(&ask.question),
        unsaid_from: unsaid_from(asked_at, now),
        addressed,
    };
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
    Ok(LaneResults { found, features, missing })
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
    match embedder.embed(&[text])?.pop() {
        Some(vector) => Ok(QueryVector { model, vector }),
        None => Err(ModelError::Failed { model, why: "it gave no vector".to_owned() }.into()),
    }
}

/// Follows associations from the best results of the other lanes. The engine's own ranking uses only associations that
/// a caller created. An automatic association only means that two memories are similar, and the vector lane already
/// measures how similar each memory is to the question.
pub(super) fn graph(
    ports: &Ports,
    caller: &Caller,
    fusion: Fusion,
    seeds: Vec<(MemoryId, f64)>,
) -> Result<Vec<(MemoryId, f64)>, Error> {
    let mut walk = GraphWalk::from(seeds);
    for _ in 0..spread::HOPS {
        let frontier = walk.frontier();
        if frontier.is_empty() {
            break;
        }
        let mut edges = ports.store.associations(&caller.viewer, &frontier)?;
        edges.retain(|edge| fusion == Fusion::Ranks || edge.linked_by == LinkedBy::Caller);
        walk.hop(&edges);
    }
    Ok(walk.scores().collect())
}
