//! Finds the sections of a long memory, other than its best section, that match well.
//!
//! Runs after the ranking and does not change the ranking. For a memory with one section there is nothing to compute.

use crate::model::answer::Strength;
use crate::model::search::SearchResults;
use crate::rank::{descending, evidence};

/// Maximum number of further sections of one memory.
const MOST: usize = 3;

/// Minimum share of the best section's score. Sections of one document share much of their score, so even an unrelated
/// section has about half of the best score.
const SHARE: f64 = 0.75;

/// A section other than the best that matches well.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MatchingSection {
    /// The index of the section's item.
    pub(super) at: usize,
    /// The score of the section, relative to the score of the best section.
    pub(super) share: f64,
}

/// Returns the items of a memory, other than its best item, that match well, best first. Each of them was found by a
/// lane, has enough evidence of its own, and has nearly the score of the best item.
pub(super) fn further(
    found: &SearchResults,
    best: usize,
    score: impl Fn(usize) -> f64,
) -> Vec<MatchingSection> {
    let items = &found.items;
    let same = |at: &usize| items[*at].memory == items[best].memory;
    // Items of a memory are adjacent.
    let (before, after) = ((0..best).rev().take_while(same), (best + 1..items.len()).take_while(same));
    let others: Vec<usize> = before.chain(after).filter(|at| items[*at].candidate).collect();
    if others.is_empty() {
        return Vec::new();
    }
    let most = score(best);
    let fits = |at: usize| {
        let share = score(at) / most;
        let described = evidence::strength([evidence::alone(&items[at], items[at].coverage.into())], 0.0)
            > Strength::None;
        (described && (SHARE..=1.0).contains(&share)).then_some(MatchingSection { at, share })
    };
    let mut further: Vec<MatchingSection> = others.into_iter().filter_map(fits).collect();
    further.sort_by(|a, b| descending((a.share, a.at), (b.share, b.at)));
    further.truncate(MOST);
    further
}
