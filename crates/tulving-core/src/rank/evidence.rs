//! The strength of the evidence that the store knows anything about the question at all.

use super::scoring::QueryFeatures;
use crate::model::answer::Strength;
use crate::model::search::Item;

/// Thresholds of strong and weak evidence; below the second there is none.
///
/// Calibrated on five conversations that were asked 997 questions of their own and as many of another conversation, which they
/// cannot answer: 76 % of the first and 1 % of the second are strong, 3 % of the first and 63 % of the second none.
const STRONG: f64 = 0.62;
const WEAK: f64 = 0.38;
/// The weights of closeness and coverage.
const BY_MEANING: f64 = 1.0;
const BY_WORDS: f64 = 0.35;

/// The weight of coverage if there is no vector.
const BY_WORDS_ALONE: f64 = 0.65;

/// Returns the evidence of an item: similarity of meaning and the share of the question's words that it has.
pub(crate) fn weight(item: &Item) -> f64 {
    if item.whole.is_none() && item.sentence.is_none() {
        return BY_WORDS_ALONE * f64::from(item.coverage);
    }
    BY_MEANING * f64::from(item.closeness()) + BY_WORDS * f64::from(item.coverage)
}

/// Returns the same, but at least weak evidence if the question asks only for a time and the item is of that time.
pub(crate) fn weight_in(item: &Item, aspects: &QueryFeatures) -> f64 {
    let own = weight(item);
    if aspects.asks_for_time_of(item) { own.max(WEAK) } else { own }
}

/// Returns the strength of the largest of these weights.
pub(crate) fn strength(weights: impl IntoIterator<Item = f64>) -> Strength {
    let best = weights.into_iter().fold(0.0, f64::max);
    if best >= STRONG {
        Strength::Strong
    } else if best >= WEAK {
        Strength::Weak
    } else {
        Strength::None
    }
}
