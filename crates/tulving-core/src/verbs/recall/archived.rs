//! Finds archived memories that contain every word of a question, so that an answer can mention the memories that it
//! leaves out.

use tulving_text::terms::BegunTerms;

use crate::model::answer::Lane;
use crate::model::error::{Error, IndexError};
use crate::model::id::{MemoryId, MemoryRef};
use crate::model::request::{Caller, Filter, RecallQuestion};
use crate::model::search::SearchQuery;
use crate::model::vocabulary::State;
use crate::rank::descending;
use crate::verbs::access::Ports;
use crate::verbs::retract::named;

use super::lanes;
use super::plan::RecallPlan;

/// Maximum number of memories that are mentioned.
const MENTIONED: usize = 5;
/// Number of candidates that the index returns, from which the mentioned memories are chosen.
const LOOKED_AT: usize = 50;
/// Minimum share of the words that counts as all words. It is slightly below 1 because the sum is rounded.
const ALL_WORDS: f32 = 0.999;

/// Finds the archived memories that contain every word of the question, best match first.
pub(super) fn mentioned(
    ports: &Ports,
    caller: &Caller,
    plan: &RecallPlan,
    ask: &RecallQuestion,
) -> Result<Vec<MemoryRef>, Error> {
    // A question about a past date already finds memories that were archived after that date.
    if ask.as_of.is_some() || !ask.lanes.contains(&Lane::Keyword) {
        return Ok(Vec::new());
    }
    let filter = Filter { states: vec![State::Archived], ..plan.filter.clone() };
    let scope = lanes::scope(ports, caller, &filter)?;
    let BegunTerms { terms, last } = lanes::terms_of(ask, &ask.question);
    let question =
        SearchQuery { terms, exact: true, beginning: last, depth: LOOKED_AT, ..SearchQuery::default() };
    let found = match ports.index.search(&scope, &question) {
        Ok(found) => found,
        Err(IndexError::Store(error)) => return Err(error.into()),
        // The failed lane of the recall already reports the failure of the index.
        Err(_) => return Ok(Vec::new()),
    };
    let whole = found.items.iter().filter(|item| item.candidate && item.coverage >= ALL_WORDS);
    let mut best: Vec<(f64, MemoryId)> = whole.map(|item| (f64::from(item.lexical), item.memory)).collect();
    best.sort_unstable_by(|a, b| descending(*a, *b));
    let mut ids: Vec<MemoryId> = Vec::new();
    for (_, id) in best {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    // The store checks the results of the index again.
    let memories = ports.store.memories(&caller.viewer, &ids)?;
    let mut meant: Vec<_> = memories
        .into_iter()
        .filter(|memory| memory.status.quarantined_at.is_none() && filter.admits(memory))
        .collect();
    meant.sort_by_key(|memory| ids.iter().position(|id| *id == memory.id));
    Ok(meant.iter().take(MENTIONED).map(|memory| named(caller, memory)).collect())
}
