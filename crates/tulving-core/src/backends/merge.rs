//! Merges the results of several backends. Pure; the first backend is the primary.
//!
//! A memory with the same id or content as one from an earlier backend is left out. Answers to a question are merged by
//! reciprocal rank: only the rank in each backend's own list counts, so the merged list alternates between the backends. In
//! a tie, the earlier backend comes first. If the request has a sort order, that order applies. Scores and explanations are
//! not changed.

use std::collections::HashSet;

use crate::model::answer::{Answer, Hit};
use crate::model::id::MemoryId;
use crate::model::limits::BYTES_PER_TOKEN;
use crate::model::memory::{ContentHash, Memory};
use crate::model::request::Sort;
use crate::model::time::Timestamp;
use crate::rank::order::compare;

/// The order in which the hits of several backends are merged.
#[derive(Clone, Copy)]
pub(super) enum MergeOrder {
    /// The rank of each hit in the list of its own backend.
    Ranks,
    /// A sort order, evaluated at this time.
    By(Sort, Timestamp),
}

/// Merges several answers into one. The answer of the primary is the first.
pub(super) fn answers(
    answers: Vec<Answer>,
    order: MergeOrder,
    limit: usize,
    token_budget: Option<usize>,
) -> Answer {
    let mut whole = Answer::default();
    let mut known = KnownMemories::default();
    let mut ranked: Vec<(usize, Hit)> = Vec::new();
    let mut note = None;
    for answer in answers {
        if ranked.is_empty() {
            // A note is about the first hit, which comes from the first backend that returned hits.
            note = answer.note.map(|note| (answer.evidence, note));
        }
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
    whole.note = note.filter(|(evidence, _)| *evidence == whole.evidence).map(|(_, note)| note);
    // The sort is stable, so in a tie the earlier backend comes first.
    match order {
        MergeOrder::Ranks => ranked.sort_by_key(|(rank, _)| *rank),
        MergeOrder::By(sort, now) => {
            ranked.sort_by(|(_, a), (_, b)| compare(&a.memory, &b.memory, sort, now));
        }
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

/// A slice of one backend's list, in order of creation.
#[derive(Default)]
pub(super) struct BackendSlice {
    pub(super) memories: Vec<Memory>,
    /// The position of the last memory that was read, if the backend has more.
    pub(super) read_to: Option<MergePosition>,
}

/// A position in the order of creation.
pub(super) type MergePosition = (Timestamp, MemoryId);

/// Returns the position of a memory in the order of creation.
pub(super) fn place(memory: &Memory) -> MergePosition {
    (memory.usage.created_at, memory.id)
}

/// Returns true if `place` comes after `other`.
pub(super) fn is_after(place: MergePosition, other: MergePosition, oldest_first: bool) -> bool {
    if oldest_first { place > other } else { place < other }
}

/// Merges several slices, beginning with the primary's, into a page, and returns the start of the next page. Each backend
/// was read only up to its own position. Memories after the first of these positions are left for the next page, so that
/// none is skipped.
pub(super) fn slices(
    slices: Vec<BackendSlice>,
    oldest_first: bool,
    limit: usize,
) -> (Vec<Memory>, Option<MergePosition>) {
    let ends = slices.iter().filter_map(|slice| slice.read_to);
    let end = if oldest_first { ends.min() } else { ends.max() };
    let mut known = KnownMemories::default();
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

/// The memories that earlier backends returned.
#[derive(Default)]
struct KnownMemories {
    ids: HashSet<MemoryId>,
    contents: HashSet<ContentHash>,
}

impl KnownMemories {
    fn holds(&self, memory: &Memory) -> bool {
        self.ids.contains(&memory.id) || self.contents.contains(&memory.fields.text.content_hash)
    }

    fn note<'m>(&mut self, memories: impl IntoIterator<Item = &'m Memory>) {
        for memory in memories {
            self.ids.insert(memory.id);
            self.contents.insert(memory.fields.text.content_hash);
        }
    }
}
