//! Computes the strength of the evidence that the store knows anything about the question.

use super::scoring::QueryFeatures;
use crate::model::answer::Strength;
use crate::model::search::Item;

/// The minimum weights of strong and of weak evidence. A weight below the second threshold means no evidence.
///
/// The thresholds were calibrated on five conversations with 997 questions that these conversations can answer, and as many
/// questions about another conversation that they cannot answer. The evidence is strong for 76 % of the answerable and 1 %
/// of the unanswerable questions; there is no evidence for 3 % of the answerable and 63 % of the unanswerable questions.
const STRONG: f64 = 0.62;
const WEAK: f64 = 0.38;
/// The weight of closeness, and the weight of coverage.
const BY_MEANING: f64 = 1.0;
const BY_WORDS: f64 = 0.35;

/// The weight of coverage for an item without a vector.
const BY_WORDS_ALONE: f64 = 0.65;

/// Returns the evidence of an item: a weighted sum of the similarity of meaning and of the share of the question's words
/// that the item contains.
pub(crate) fn weight(item: &Item) -> f64 {
    if item.whole.is_none() && item.sentence.is_none() {
        return BY_WORDS_ALONE * f64::from(item.coverage);
    }
    BY_MEANING * f64::from(item.closeness()) + BY_WORDS * f64::from(item.coverage)
}

/// Returns the [`weight`] of an item, but at least weak evidence if the question asks only for a time and the item is of
/// that time.
pub(crate) fn weight_in(item: &Item, features: &QueryFeatures) -> f64 {
    let own = weight(item);
    if features.asks_for_time_of(item) { own.max(WEAK) } else { own }
}

/// Returns the strength of evidence for the largest of these weights.
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
