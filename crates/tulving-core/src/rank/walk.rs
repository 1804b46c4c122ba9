//! One step from the best items over the rare words that they share with other items.
//!
//! In a conversation between people, the answer to a question often uses none of its words, but words of another turn
//! that does. The step finds such turns.

use crate::model::search::TermUse;

/// Number of the best items from which the step starts.
pub(crate) const STARTS: usize = 10;
/// Number of items that the step can reach.
pub(crate) const REACHED: usize = 200;
/// Maximum share of all items with a word, above which the word is too common to connect items.
const COMMON: f64 = 0.03;
/// The difference in score at which an item counts 1/e of the best one.
const SOFTNESS: f64 = 0.15;

/// Returns the share of each item, 0 to 1. The first items are the best ones, with their scores. `terms` are the words
/// of the best items, and `all` is the number of items in the store.
pub(crate) fn shares(scores: &[f64], items: usize, terms: &[TermUse], all: u64) -> Vec<f64> {
    let mut shares = vec![0.0; items];
    let Some(best) = scores.first() else { return shares };
    let starts: Vec<f64> = scores.iter().map(|score| ((score - best) / SOFTNESS).exp()).collect();
    let total: f64 = starts.iter().sum();
    #[expect(clippy::cast_precision_loss, reason = "counts of items are far below 2^53")]
    let (all, uses): (f64, Vec<f64>) = (all as f64, terms.iter().map(|term| term.items as f64).collect());
    let connects = |at: usize| uses[at] >= 2.0 && uses[at] <= (COMMON * all).max(2.0);
    let weight = |at: usize| (all / uses[at]).ln().max(0.0) / uses[at].sqrt();
    let mut row_sums = vec![0.0; scores.len()];
    for (at, term) in terms.iter().enumerate().filter(|(at, _)| connects(*at)) {
        for item in &term.among {
            if let Some(sum) = row_sums.get_mut(*item as usize) {
                *sum += weight(at);
            }
        }
    }
    for (at, term) in terms.iter().enumerate().filter(|(at, _)| connects(*at)) {
        let from: f64 = term
            .among
            .iter()
            .map(|item| *item as usize)
            .take_while(|item| *item < scores.len())
            .map(|item| starts[item] / total * weight(at) / row_sums[item])
            .sum();
        for item in &term.among {
            shares[*item as usize] += from / uses[at];
        }
    }
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest > 0.0 {
        shares.iter_mut().for_each(|share| *share /= largest);
    }
    shares
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn used(items: u64, among: &[u32]) -> TermUse {
        TermUse { items, among: among.to_vec() }
    }

    #[test]
    fn what_shares_a_rare_word_with_the_best_is_raised() {
        let shared = shares(&[1.0, 0.9], 4, &[used(2, &[0, 2])], 1_000);
        assert_eq!(shared, [1.0, 0.0, 1.0, 0.0]);
    }

    #[test]
    fn a_rarer_word_and_a_better_start_count_more() {
        let rarer = shares(&[1.0, 1.0], 4, &[used(2, &[0, 2]), used(20, &[1, 3])], 1_000);
        assert!(rarer[2] > rarer[3] && rarer[3] > 0.0, "{rarer:?}");
        let better = shares(&[1.0, 0.5], 4, &[used(2, &[0, 2]), used(2, &[1, 3])], 1_000);
        assert!(better[2] > better[3] && better[3] > 0.0, "{better:?}");
    }

    #[test]
    fn a_common_word_and_a_word_of_a_single_item_connect_nothing() {
        for term in [used(31, &[0, 1, 2]), used(1, &[0]), used(0, &[])] {
            assert_eq!(shares(&[1.0], 3, std::slice::from_ref(&term), 1_000), [0.0; 3], "{term:?}");
        }
        assert_eq!(shares(&[1.0], 3, &[used(30, &[0, 2])], 1_000), [1.0, 0.0, 1.0]);
        assert_eq!(shares(&[1.0], 3, &[used(2, &[0, 2])], 3), [1.0, 0.0, 1.0], "two are never too many");
    }

    #[test]
    fn a_word_that_none_of_the_best_has_leads_nowhere() {
        assert_eq!(shares(&[1.0], 3, &[used(2, &[1, 2])], 1_000), [0.0; 3]);
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert!(shares(&[], 0, &[], 0).is_empty());
        assert_eq!(shares(&[], 2, &[used(2, &[0, 1])], 10), [0.0; 2]);
        assert_eq!(shares(&[1.0], 2, &[], 0), [0.0; 2]);
    }

    proptest! {
        #[test]
        fn a_share_is_between_0_and_1(
            scores in proptest::collection::vec(-1.0_f64..3.0, 0..6),
            among in proptest::collection::vec(proptest::collection::btree_set(0_u32..12, 0..12), 0..8),
            more in 0_u64..40,
        ) {
            let mut scores = scores;
            scores.sort_by(|a, b| b.total_cmp(a));
            let terms = among.into_iter().map(|among| TermUse {
                items: among.len() as u64 + more,
                among: among.into_iter().collect(),
            });
            for share in shares(&scores, 12, &terms.collect::<Vec<_>>(), 12 + more) {
                prop_assert!((0.0..=1.0).contains(&share), "{share}");
            }
        }
    }
}
