//! Brings together what several backends gave. Pure; the first of them is the primary.
//!
//! What a backend before already gave, by id or by content, is left out. Answers to a question are merged by reciprocal
//! rank: a memory counts by its place in its own backend's list alone, so the backends take turns, and the one before
//! comes first on a tie. Where there is an order, that order holds. Scores and explanations stay as they were given.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::answer::{Answer, Hit};
use crate::id::MemoryId;
use crate::lifecycle::decay;
use crate::limits::BYTES_PER_TOKEN;
use crate::memory::{ContentHash, Memory};
use crate::rank::descending;
use crate::request::Sort;
use crate::time::Timestamp;

/// How the hits of several backends come together.
#[derive(Clone, Copy)]
pub(super) enum Order {
    /// By their places in their own lists.
    Ranks,
    /// By this, as things stand at this time.
    By(Sort, Timestamp),
}

/// One answer of several, the primary's first.
pub(super) fn answers(
    answers: Vec<Answer>,
    order: Order,
    limit: usize,
    token_budget: Option<usize>,
) -> Answer {
    let mut whole = Answer::default();
    let mut known = Known::default();
    let mut ranked: Vec<(usize, Hit)> = Vec::new();
    for answer in answers {
        let given = answer.hits.len();
        let fresh = answer.hits.into_iter().enumerate().filter(|(_, hit)| !known.holds(&hit.memory));
        let fresh: Vec<(usize, Hit)> = fresh.collect();
        known.note(fresh.iter().map(|(_, hit)| &hit.memory));
        whole.total_found += answer.total_found.saturating_sub((given - fresh.len()) as u64);
        whole.evidence = whole.evidence.max(answer.evidence);
        whole.withheld += answer.withheld;
        whole.left_out += answer.left_out;
        whole.archived.extend(answer.archived);
        whole.missing.extend(answer.missing);
        whole.failed_backends.extend(answer.failed_backends);
        ranked.extend(fresh);
    }
    // Stable, so that on a tie the backend before comes first.
    match order {
        Order::Ranks => ranked.sort_by_key(|(rank, _)| *rank),
        Order::By(sort, now) => ranked.sort_by(|(_, a), (_, b)| compare(&a.memory, &b.memory, sort, now)),
    }
    let mut left = token_budget;
    for (_, hit) in ranked.into_iter().take(limit) {
        if let Some(left) = &mut left {
            let tokens = hit.shown().len().div_ceil(BYTES_PER_TOKEN);
            if tokens > *left {
                whole.left_out += 1;
                continue;
            }
            *left -= tokens;
        }
        whole.hits.push(hit);
    }
    if let Some(left) = &mut left {
        whole.hits.iter_mut().for_each(|hit| hit.fit_further(left));
    }
    whole
}

/// Which of two memories comes first.
pub(super) fn compare(a: &Memory, b: &Memory, sort: Sort, now: Timestamp) -> Ordering {
    let (used, other) = (&a.usage, &b.usage);
    match sort {
        Sort::Newest => (other.created_at, b.id).cmp(&(used.created_at, a.id)),
        Sort::Oldest => (used.created_at, a.id).cmp(&(other.created_at, b.id)),
        Sort::Updated => other.updated_at.cmp(&used.updated_at),
        Sort::Accessed => other.accessed_at.cmp(&used.accessed_at),
        Sort::MostAccessed => other.access_count.cmp(&used.access_count),
        Sort::Importance => {
            descending((decay::importance_at(a, now), ()), (decay::importance_at(b, now), ()))
        }
    }
}

/// A part of the list of one backend, in the order of creation.
#[derive(Default)]
pub(super) struct Slice {
    pub(super) memories: Vec<Memory>,
    /// How far it was read, where there is more after that.
    pub(super) read_to: Option<Place>,
}

/// A place in the order of creation.
pub(super) type Place = (Timestamp, MemoryId);

/// Where a memory stands in the order of creation.
pub(super) fn place(memory: &Memory) -> Place {
    (memory.usage.created_at, memory.id)
}

/// Whether one place comes after another.
pub(super) fn is_after(place: Place, other: Place, oldest_first: bool) -> bool {
    if oldest_first { place > other } else { place < other }
}

/// One page of several slices, the primary's first, and where the next one begins. What one backend has not been read up to
/// waits for the next page, so that nothing is skipped.
pub(super) fn slices(slices: Vec<Slice>, oldest_first: bool, limit: usize) -> (Vec<Memory>, Option<Place>) {
    let ends = slices.iter().filter_map(|slice| slice.read_to);
    let end = if oldest_first { ends.min() } else { ends.max() };
    let mut known = Known::default();
    let mut page: Vec<Memory> = Vec::new();
    for slice in slices {
        let begun = page.len();
        page.extend(slice.memories.into_iter().filter(|memory| !known.holds(memory)));
        known.note(&page[begun..]);
    }
    if let Some(end) = end {
        page.retain(|memory| !is_after(place(memory), end, oldest_first));
    }
    page.sort_by_key(place);
    if !oldest_first {
        page.reverse();
    }
    let next = if page.len() > limit { page.get(limit.saturating_sub(1)).map(place) } else { end };
    page.truncate(limit);
    (page, next)
}

/// What the backends before have given.
#[derive(Default)]
struct Known {
    ids: HashSet<MemoryId>,
    contents: HashSet<ContentHash>,
}

impl Known {
    fn holds(&self, memory: &Memory) -> bool {
        self.ids.contains(&memory.id) || self.contents.contains(&memory.edition.text.content_hash)
    }

    fn note<'m>(&mut self, memories: impl IntoIterator<Item = &'m Memory>) {
        for memory in memories {
            self.ids.insert(memory.id);
            self.contents.insert(memory.edition.text.content_hash);
        }
    }
}
