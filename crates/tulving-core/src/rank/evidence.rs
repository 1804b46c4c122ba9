//! How strong the evidence is that the store knows anything about the question at all.

use super::recipe::Aspects;
use crate::answer::Strength;
use crate::search::Item;

/// From here on the evidence is strong, from there on weak; below it there is none.
///
/// Calibrated on five conversations that were asked 997 questions of their own and as many of another conversation, which
/// they cannot answer: 76 % of the first and 1 % of the second are strong, 3 % of the first and 63 % of the second none.
const STRONG: f64 = 0.62;
const WEAK: f64 = 0.38;
/// What closeness and coverage count for.
const BY_MEANING: f64 = 1.0;
const BY_WORDS: f64 = 0.35;

/// What coverage counts for where nothing is known of the meaning.
const BY_WORDS_ALONE: f64 = 0.65;

/// How much speaks for an item: nearness of meaning and the share of the question's words that it has.
pub(crate) fn weight(item: &Item) -> f64 {
    if item.whole.is_none() && item.sentence.is_none() {
        return BY_WORDS_ALONE * f64::from(item.coverage);
    }
    BY_MEANING * f64::from(item.closeness()) + BY_WORDS * f64::from(item.coverage)
}

/// The same for a question that asks for a time and nothing else: of what is of that time, there is some evidence at the least.
pub(crate) fn weight_in(item: &Item, aspects: &Aspects) -> f64 {
    let own = weight(item);
    if aspects.asks_for_time_of(item) { own.max(WEAK) } else { own }
}

/// The strength of what has the most of these weights.
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
