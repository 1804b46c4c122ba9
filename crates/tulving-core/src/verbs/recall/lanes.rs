//! Finds the candidates for a question, lane by lane.
//!
//! Runs after [`plan`](super::plan), before ranking. Reads only. A lane that fails is named; the others still answer. If the
//! store fails, its content is unknown, so that is an error.

use std::ops::Range;

use tulving_text::when::QuestionInterval;
use tulving_text::{person, terms, when};

use crate::model::answer::{Lane, Missing};
use crate::model::error::{Error, IndexError, ModelError};
use crate::model::id::MemoryId;
use crate::model::request::{Ask, Caller, Filter, Fusion, Sort};
use crate::model::search::{Found, Meaning, Question, SearchScope};
use crate::model::time::{Timestamp, Zone};
use crate::model::vocabulary::LinkedBy;
use crate::rank::scoring::QueryFeatures;
use crate::rank::spread::{self, GraphWalk};
use crate::verbs::access::Ports;
use crate::verbs::embedding;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// The results of the lanes, and the other aspects of the question.
pub(super) struct Gathered {
    pub(super) found: Found,
    pub(super) aspects: QueryFeatures,
    pub(super) missing: Vec<Missing>,
}

/// Returns the scope: what the caller may see and asks for. The store evaluates in advance what the index does not know of a
/// memory.
pub(super) fn scope(ports: &Ports, caller: &Caller, filter: &Filter) -> Result<SearchScope, Error> {
    let sight = ports.store.sight(&caller.viewer)?;
    let among = match filter.is_plain() {
        true => None,
        false => Some(ports.store.ids(&caller.viewer, filter, Sort::Newest)?),
    };
    Ok(SearchScope { sight, filter: filter.clone(), among })
}

/// Queries the index.
pub(super) fn gather(
    ports: &Ports,
    scope: &SearchScope,
    ask: &Ask,
    depth: usize,
    (now, zone): (Timestamp, &Zone),
) -> Result<Gathered, Error> {
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
            missing.push(Missing { lane: Lane::Vector, why: error.to_string() });
            None
        }
    };
    let words = if ask.exact_words { &ask.question } else { &addressed.stripped };
    let terms = if uses(Lane::Keyword) { terms::terms(words) } else { Vec::new() };
    let asked_at = ask.asked_at.or(ask.as_of).unwrap_or(now);
    let aspects = QueryFeatures {
        intervals: when::intervals(&ask.question, asked_at, zone),
        of_time_alone: when::asks_of_time_alone(&ask.question, zone.wall(asked_at)),
        asks_when: when::asks_when(&ask.question),
        unsaid_from: unsaid_from(asked_at, now),
        addressed,
    };
    let asked = Question { terms, exact: ask.exact_words, meaning, depth, times: times(ask, &aspects) };
    let found = match ports.index.search(scope, &asked) {
        Ok(found) => found,
        Err(IndexError::Store(error)) => return Err(error.into()),
        Err(error) => {
            missing.clear();
            for lane in [Lane::Keyword, Lane::Vector].into_iter().filter(|lane| uses(*lane)) {
                missing.push(Missing { lane, why: error.to_string() });
            }
            Found::default()
        }
    };
    if found.partial {
        let until = "the index is being rebuilt; until then";
        let lanes = [
            (Lane::Keyword, format!("{until} older memories are found only by the exact letters of a word")),
            (Lane::Vector, format!("{until} only what changed last is compared")),
        ];
        let used = lanes.into_iter().filter(|(lane, _)| uses(*lane));
        missing.extend(used.map(|(lane, why)| Missing { lane, why }));
    }
    if asked.meaning.is_some() && found.unembedded > 0 {
        missing.push(Missing { lane: Lane::Vector, why: waiting(found.unembedded) });
    }
    Ok(Gathered { found, aspects, missing })
}

/// Returns the intervals whose memories may all be meant: those of a question that asks only for a time. With rank fusion, no
/// time counts.
fn times(ask: &Ask, aspects: &QueryFeatures) -> Vec<Range<Timestamp>> {
    if !aspects.of_time_alone || ask.fusion == Fusion::Ranks {
        return Vec::new();
    }
    aspects.intervals.iter().map(QuestionInterval::span).collect()
}

/// Returns the time from which statements come after a question of the past; `None` for a current question, which comes after
/// everything stored. It is at least a day later, because times are often those of another zone, or days without an hour.
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
fn meaning(ports: &Ports, text: &str) -> Result<Meaning, Error> {
    let embedder = embedding::answering(ports)?;
    let model = embedder.model()?;
    match embedder.embed(&[text])?.pop() {
        Some(vector) => Ok(Meaning { model, vector }),
        None => Err(ModelError::Failed { model, why: "it gave no vector".to_owned() }.into()),
    }
}

/// Follows associations from the best results of the other lanes. The engine's own ranking uses only those made by a caller:
/// an automatic one says that two memories are alike, which their own similarity to the question shows better.
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
