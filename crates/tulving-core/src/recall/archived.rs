//! Finds archived memories that have every word of a question, so that an answer can mention what it leaves out.

use crate::access::Parts;
use crate::answer::Lane;
use crate::error::{Error, IndexError};
use crate::id::{MemoryId, MemoryRef};
use crate::rank::descending;
use crate::request::{Ask, Caller, Filter};
use crate::retract::named;
use crate::search::Question;
use crate::text::terms;
use crate::vocabulary::State;

use super::lanes;
use super::plan::Plan;

/// Most memories that are mentioned.
const MENTIONED: usize = 5;
/// The number of candidates that are looked at for them.
const LOOKED_AT: usize = 50;
/// The share of the words from which on it has all of them; what is missing to 1 is the rounding of a sum.
const ALL_WORDS: f32 = 0.999;

/// The archived memories that have every word of the question, those that fit best first.
pub(super) fn mentioned(
    parts: &Parts,
    caller: &Caller,
    plan: &Plan,
    ask: &Ask,
) -> Result<Vec<MemoryRef>, Error> {
    // As of a date, what was archived since is found anyway.
    if ask.as_of.is_some() || !ask.lanes.contains(&Lane::Keyword) {
        return Ok(Vec::new());
    }
    let filter = Filter { states: vec![State::Archived], ..plan.filter.clone() };
    let scope = lanes::scope(parts, caller, &filter)?;
    let question =
        Question { terms: terms::terms(&ask.question), exact: true, depth: LOOKED_AT, ..Question::default() };
    let found = match parts.index.search(&scope, &question) {
        Ok(found) => found,
        Err(IndexError::Store(error)) => return Err(error.into()),
        // That the index failed is said by the lane that failed.
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
    // What the index said is checked again.
    let memories = parts.store.memories(&caller.viewer, &ids)?;
    let mut meant: Vec<_> = memories
        .into_iter()
        .filter(|memory| memory.standing.quarantined_at.is_none() && filter.admits(memory))
        .collect();
    meant.sort_by_key(|memory| ids.iter().position(|id| *id == memory.id));
    Ok(meant.iter().take(MENTIONED).map(|memory| named(caller, memory)).collect())
}
