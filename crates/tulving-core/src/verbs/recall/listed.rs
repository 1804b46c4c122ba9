//! Recall without a question: the newest memories, the most important memories, the memories of a type, or the memories
//! that contain a text.

use std::ops::Range;

use tulving_text::chunk;
use tulving_text::fold;

use crate::model::answer::{Answer, BestSection, Hit};
use crate::model::error::Error;
use crate::model::memory::Memory;
use crate::model::preview;
use crate::model::request::{Caller, Mode, Sort};
use crate::model::score::Score;
use crate::model::search::Section;
use crate::ports::ReadLimit;
use crate::rank::decay;
use crate::rank::descending;
use crate::verbs::access::Ports;
use crate::verbs::read;
use crate::verbs::succession::{self, PointInTime};

use super::answer;
use super::matched::{self, MatchedSection};
use super::plan::RecallPlan;

/// Number of memories with the highest stated importance that are weighed by their current importance.
const WEIGHED: usize = 200;

/// Returns the first memories in order.
pub(super) fn listed(
    ports: &Ports,
    caller: &Caller,
    plan: &RecallPlan,
    mode: &Mode,
    sort: Sort,
) -> Result<Answer, Error> {
    let (mut memories, total_found) = find(ports, caller, plan, sort)?;
    succession::settle(ports, caller, &mut memories, PointInTime::Now(plan.now))?;
    // The memories that do not fit into the size limit of an answer.
    let left_out = total_found.min(plan.limit as u64).saturating_sub(memories.len() as u64);
    let mut hits: Vec<Hit> =
        (1..).zip(memories).map(|(rank, memory)| hit(memory, rank, total_found, mode, sort)).collect();
    if let Some(text) = &plan.filter.substring {
        for hit in &mut hits {
            hit.section = section_with(ports, caller, &hit.memory, text)?;
        }
    }
    Ok(Answer { hits, total_found, left_out, ..Answer::default() })
}

/// Returns the first section of a long content that contains a text, ignoring case.
fn section_with(
    ports: &Ports,
    caller: &Caller,
    memory: &Memory,
    text: &str,
) -> Result<Option<BestSection>, Error> {
    let written = &memory.fields.text;
    let content = written.content.as_str();
    if content.len() <= answer::SHORT {
        return Ok(None);
    }
    let sections = ports.store.sections(&caller.viewer, memory.id)?;
    let text = fold::folded(text);
    let has = |range: &Range<usize>| {
        content.get(range.clone()).is_some_and(|part| fold::folded(part).contains(&text))
    };
    let found = sections.iter().filter(|_| sections.len() > 1).find(|section| has(&section.range));
    Ok(found.map(|Section { range, heading_path }| {
        let within = chunk::parts_within(content, written.form(), range.clone());
        let matched = match within.iter().position(|part| has(&part.range)) {
            Some(at) => matched::cover(&within, &[at], range),
            None => MatchedSection { range: range.clone(), heading_path: heading_path.clone() },
        };
        answer::best_section(content, matched)
    }))
}

/// Returns the first memories in order, and their total. A text search reads every content, so it must run only
/// once.
fn find(ports: &Ports, caller: &Caller, plan: &RecallPlan, sort: Sort) -> Result<(Vec<Memory>, u64), Error> {
    let (store, viewer) = (&ports.store, &caller.viewer);
    if plan.filter.substring.is_some() {
        let ids = store.ids(viewer, &plan.filter, sort)?;
        let first = &ids[..ids.len().min(plan.limit)];
        return Ok((read::nearest(ports, caller, first)?, ids.len() as u64));
    }
    let by_importance = sort == Sort::Importance;
    let looked_at = if by_importance { plan.limit.max(WEIGHED) } else { plan.limit };
    let extent = ReadLimit::whole(looked_at, ports.limits.answer_bytes);
    let mut memories = store.list_within(viewer, &plan.filter, sort, extent, None)?;
    let whole = memories.len() < looked_at && read::bytes_of(&memories) < extent.bytes;
    let total = if whole { memories.len() as u64 } else { store.count(viewer, &plan.filter)? };
    if by_importance {
        // The store sorts by the stated importance; the current one is reduced by idleness and raised by use.
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
        Sort::Happened => "last happened first".to_owned(),
        Sort::Agenda => "open ones first".to_owned(),
        Sort::Importance => format!("importance {}", memory.fields.class.importance.get()),
        Sort::MostAccessed => match memory.usage.access_count {
            1 => "used 1 time".to_owned(),
            count => format!("used {count} times"),
        },
    };
    let why = match mode {
        Mode::Recent | Mode::Important | Mode::Hybrid(_) | Mode::Filtered(_) => order,
        Mode::Typed => {
            let word = memory.fields.class.memory_type.as_str();
            format!("is {} {word}, {order}", preview::article(word))
        }
        Mode::Substring(text) => format!("contains “{}”, {order}", preview::short(text)),
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
