//! Recall without a question: the newest, the most important, those of a type, those that hold a text.

use crate::access::Parts;
use crate::answer::{Answer, Hit};
use crate::error::Error;
use crate::lifecycle::decay;
use crate::memory::Memory;
use crate::ports::Extent;
use crate::preview;
use crate::rank::descending;
use crate::read;
use crate::request::{Caller, Mode, Sort};
use crate::score::Score;
use crate::succession::{self, Moment};

use super::plan::Plan;

/// How many of those that were said to matter most are weighed by how much they matter now.
const WEIGHED: usize = 200;

/// The first memories in order.
pub(super) fn answer(
    parts: &Parts,
    caller: &Caller,
    plan: &Plan,
    mode: &Mode,
    sort: Sort,
) -> Result<Answer, Error> {
    let (mut memories, total_found) = find(parts, caller, plan, sort)?;
    succession::settle(parts, caller, &mut memories, Moment::Now(plan.now))?;
    // Those that the bytes of an answer have no room for.
    let left_out = total_found.min(plan.limit as u64).saturating_sub(memories.len() as u64);
    let hits = (1..).zip(memories).map(|(rank, memory)| hit(memory, rank, total_found, mode, sort)).collect();
    Ok(Answer { hits, total_found, left_out, ..Answer::default() })
}

/// The first memories in order, and how many there are. A text is looked for in every content, so once must do.
fn find(parts: &Parts, caller: &Caller, plan: &Plan, sort: Sort) -> Result<(Vec<Memory>, u64), Error> {
    let (store, viewer) = (&parts.store, &caller.viewer);
    if plan.filter.substring.is_some() {
        let ids = store.ids(viewer, &plan.filter, sort)?;
        let first = &ids[..ids.len().min(plan.limit)];
        return Ok((read::nearest(parts, caller, first)?, ids.len() as u64));
    }
    let by_importance = sort == Sort::Importance;
    let looked_at = if by_importance { plan.limit.max(WEIGHED) } else { plan.limit };
    let extent = Extent { limit: looked_at, bytes: parts.limits.answer_bytes };
    let mut memories = store.list_within(viewer, &plan.filter, sort, extent, None)?;
    let whole = memories.len() < looked_at && read::bytes_of(&memories) < extent.bytes;
    let total = if whole { memories.len() as u64 } else { store.count(viewer, &plan.filter)? };
    if by_importance {
        // The store knows what was said to matter; what matters now is faded by idleness and strengthened by use.
        let weight = |memory: &Memory| (decay::importance_at(memory, plan.now), std::cmp::Reverse(memory.id));
        memories.sort_by(|a, b| descending(weight(a), weight(b)));
        memories.truncate(plan.limit);
    }
    Ok((memories, total))
}

fn hit(memory: Memory, rank: u64, total: u64, mode: &Mode, sort: Sort) -> Hit {
    let order = match sort {
        Sort::Newest => "newest first".to_owned(),
        Sort::Oldest => "oldest first".to_owned(),
        Sort::Updated => "last edited first".to_owned(),
        Sort::Accessed => "last used first".to_owned(),
        Sort::Importance => format!("importance {}", memory.edition.class.importance.get()),
        Sort::MostAccessed => match memory.usage.access_count {
            1 => "used 1 time".to_owned(),
            count => format!("used {count} times"),
        },
    };
    let why = match mode {
        Mode::Recent | Mode::Important | Mode::Hybrid(_) => order,
        Mode::Typed => {
            let word = memory.edition.class.memory_type.as_str();
            format!("is {} {word}, {order}", preview::article(word))
        }
        Mode::Substring(text) => format!("holds “{}”, {order}", preview::short(text)),
    };
    Hit {
        memory,
        relevance_score: Score::by_rank(rank, total),
        why,
        section: None,
        further: Vec::new(),
        cut: false,
        explanation: None,
    }
}
