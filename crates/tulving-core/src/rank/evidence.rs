//! Computes the strength of the evidence that the store knows anything about the question.

use super::scoring::{QueryFeatures, talking_neighbours};
use crate::model::answer::Strength;
use crate::model::search::{Item, SearchResults};

/// The minimum weights of strong and of weak evidence. A weight below the second threshold means no evidence.
///
/// The thresholds were calibrated on five conversations: on 997 questions that they can answer, 999 questions about
/// another conversation, and 879 questions that ask for another attribute of the same things. The evidence is strong
/// for 75.8 % of the first, 1.3 % of the second and 11.5 % of the third. There is no evidence for 2.8 % of the first
/// and 61.3 % of the second.
const STRONG: f64 = 0.64;
const WEAK: f64 = 0.38;
/// The weight of closeness, and the weight of coverage.
const BY_MEANING: f64 = 1.0;
const BY_WORDS: f64 = 0.35;

/// The weight of coverage for an item without a vector.
const BY_WORDS_ALONE: f64 = 0.65;

/// Returns the evidence of an item: a weighted sum of the similarity of meaning and of the share of the question's
/// words that the item and its neighbours in a conversation contain. It is at least weak if the question asks only for
/// a time and the item is of that time.
pub(crate) fn weight(found: &SearchResults, at: usize, features: &QueryFeatures) -> f64 {
    let item = &found.items[at];
    let own = alone(item, coverage(found, at));
    if features.asks_for_time_of(item) { own.max(WEAK) } else { own }
}

/// Returns the evidence of an item with this share of the question's words, without regard to its time.
pub(crate) fn alone(item: &Item, coverage: f64) -> f64 {
    match (item.whole, item.sentence) {
        (None, None) => BY_WORDS_ALONE * coverage,
        _ => BY_MEANING * f64::from(item.closeness()) + BY_WORDS * coverage,
    }
}

/// Returns the share of the question's words that an item contains, together with the turns directly before and after
/// it.
fn coverage(found: &SearchResults, at: usize) -> f64 {
    let terms = talking_neighbours(found, at)
        .fold(found.items[at].terms, |terms, other| terms | found.items[other].terms);
    found.covered(terms)
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

#[cfg(test)]
mod tests {
    use super::super::scoring::tests::{item, talk};
    use super::*;

    /// Returns two consecutive turns. The first has the first word of the question, and the second has the other word.
    fn turns(speakers: u32) -> SearchResults {
        let said = |n, terms| Item { terms, coverage: 0.5, ..item(n, 1.0, 0.3) };
        SearchResults { worth: vec![1.0, 1.0], ..talk(vec![said(1, 0b01), said(2, 0b10)], speakers) }
    }

    #[test]
    fn the_words_of_the_turns_around_it_count_in_a_conversation() {
        let weighed = |found: &SearchResults, at| weight(found, at, &QueryFeatures::default());
        let (talk, monologue) = (turns(2), turns(1));
        let near = f64::from(0.3_f32);
        assert_eq!([weighed(&talk, 0), weighed(&talk, 1)], [near + BY_WORDS; 2]);
        assert_eq!(weighed(&monologue, 0), near + BY_WORDS / 2.0);
        let mut apart = turns(2);
        apart.items[1].order = 2;
        assert_eq!(weighed(&apart, 0), near + BY_WORDS / 2.0, "it is not next to it");
    }

    #[test]
    fn words_alone_are_evidence_where_there_is_no_vector() {
        let mut found = turns(1);
        found.items[0] = Item { whole: None, sentence: None, terms: 0b11, ..found.items[0] };
        assert_eq!(weight(&found, 0, &QueryFeatures::default()), BY_WORDS_ALONE);
        assert_eq!(strength([BY_WORDS_ALONE]), Strength::Strong);
    }

    #[test]
    fn the_best_weight_decides() {
        assert_eq!(strength([]), Strength::None);
        assert_eq!(strength([WEAK - 0.01]), Strength::None);
        assert_eq!(strength([0.1, WEAK]), Strength::Weak);
        assert_eq!(strength([STRONG, 0.1]), Strength::Strong);
    }
}
