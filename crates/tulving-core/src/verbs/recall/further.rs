//! Finds the sections of a long memory that match well besides its best one.
//!
//! Runs after the ranking and does not change it. A memory of one section costs nothing here.

use crate::model::answer::Strength;
use crate::model::search::Found;
use crate::rank::{descending, evidence};

/// Maximum number of further sections of one memory.
const MOST: usize = 3;

/// Minimum share of the best section's score. Sections of one document have much of their score in common, so even an
/// unrelated one has about half.
const SHARE: f64 = 0.75;

/// A section that matches well besides the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Further {
    /// Its item.
    pub(super) at: usize,
    /// Its score as a share of the best one's.
    pub(super) share: f64,
}

/// Returns the items of a memory that match well besides its best one, best first: a lane found each, there is evidence for it
/// alone, and it scores nearly as much.
pub(super) fn further(found: &Found, best: usize, score: impl Fn(usize) -> f64) -> Vec<Further> {
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
        let told = evidence::strength([evidence::weight(&items[at])]) > Strength::None;
        (told && (SHARE..=1.0).contains(&share)).then_some(Further { at, share })
    };
    let mut further: Vec<Further> = others.into_iter().filter_map(fits).collect();
    further.sort_by(|a, b| descending((a.share, a.at), (b.share, b.at)));
    further.truncate(MOST);
    further
}
