//! Computes the strength of the evidence that the store knows anything about the question.

use super::scoring::{QueryFeatures, talking_neighbours};
use crate::model::answer::Strength;
use crate::model::search::{Item, SearchResults};

/// The minimum weights of strong and of weak evidence. The lead over the other results adds to the weight that is compared
/// with the first threshold. A weight below the second threshold means no evidence.
///
/// The thresholds were calibrated on five conversations: on 997 questions that they can answer, 999 questions about
/// another conversation, and 879 questions that ask for another attribute of the same things. The evidence is strong
/// for 75.3 % of the first, 1.2 % of the second and 10.7 % of the third. There is no evidence for 2.8 % of the first
/// and 61.3 % of the second.
const STRONG: f64 = 0.737;
const WEAK: f64 = 0.38;
/// The weight of closeness, and the weight of coverage.
const BY_MEANING: f64 = 1.0;
const BY_WORDS: f64 = 0.35;

/// The weight of the lead over the other results.
const BY_LEAD: f64 = 0.4;
/// The number of first results among which the best must lead, the number of them that may answer the question as well,
/// and the weight that counts for each missing result.
pub(crate) const FIRST: usize = 10;
const FRONT: usize = 3;
const USUAL: f64 = 0.4;
/// Similarity of meaning from which an item may answer the question in other words.
const NEAR: f64 = 0.64;
/// The weight of an identifier that the question names and few memories have.
pub(crate) const BY_IDENTIFIER: f64 = 0.3;

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
    found.covered(terms(found, at))
}

fn terms(found: &SearchResults, at: usize) -> u64 {
    talking_neighbours(found, at).fold(found.items[at].terms, |terms, other| terms | found.items[other].terms)
}

/// Returns true if an item has nothing but proper names of the question, although the question has other words, and is not
/// near it. It is about the right person, but not about what is asked of the person.
pub(crate) fn has_only_names(found: &SearchResults, at: usize, features: &QueryFeatures) -> bool {
    let (has, names) = (terms(found, at), features.names);
    let all = if found.worth.len() < 64 { (1 << found.worth.len()) - 1 } else { u64::MAX };
    let near = f64::from(found.items[at].closeness()) >= NEAR;
    !near && has & names != 0 && has & !names == 0 && all & !names != 0
}

/// Returns the lead of the best of these weights over the other results: over the mean of the fourth to the tenth. The
/// memories that answer a question are few, so the best stands out. `weights` are those of the first ten results.
pub(crate) fn lead(weights: &[f64]) -> f64 {
    let mut sorted: Vec<f64> = weights.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    sorted.resize(FIRST, USUAL);
    let best = weights.iter().copied().fold(0.0, f64::max);
    let others = &sorted[FRONT..];
    best - others.iter().sum::<f64>() / others.len() as f64
}

/// Returns the strength of evidence for the largest of these weights, which leads the other results by this much.
pub(crate) fn strength(weights: impl IntoIterator<Item = f64>, lead: f64) -> Strength {
    let best = weights.into_iter().fold(0.0, f64::max);
    if best + BY_LEAD * lead >= STRONG {
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
        assert_eq!(strength([BY_WORDS_ALONE], lead(&[BY_WORDS_ALONE])), Strength::Strong);
    }

    #[test]
    fn the_best_weight_decides() {
        assert_eq!(strength([], 0.0), Strength::None);
        assert_eq!(strength([WEAK - 0.01], 0.0), Strength::None);
        assert_eq!(strength([0.1, WEAK], 0.0), Strength::Weak);
        assert_eq!(strength([STRONG, 0.1], 0.0), Strength::Strong);
    }

    #[test]
    fn the_best_leads_by_what_the_others_are_behind() {
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(lead(&[0.6]), 0.6 - USUAL);
        near(lead(&[0.6, 0.6, 0.6, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.2]), 0.4);
        near(lead(&[0.6; 10]), 0.0);
        let best = (STRONG + BY_LEAD * 0.3) / (1.0 + BY_LEAD);
        assert_eq!(
            strength([best], lead(&[best, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3])),
            Strength::Strong
        );
        assert_eq!(strength([best], lead(&[best; 10])), Strength::Weak);
    }

    #[test]
    fn names_alone_are_told_from_what_is_asked_of_them() {
        let mut found = turns(1);
        let features = QueryFeatures { names: 0b01, ..QueryFeatures::default() };
        assert!(has_only_names(&found, 0, &features) && !has_only_names(&found, 1, &features));
        assert!(!has_only_names(&found, 0, &QueryFeatures::default()));
        found.items[0].whole = Some(0.7);
        found.items[0].sentence = Some(0.7);
        assert!(!has_only_names(&found, 0, &features), "it says it in other words");
        found = SearchResults { worth: vec![1.0], ..turns(1) };
        assert!(!has_only_names(&found, 0, &features), "nothing else is asked");
    }
}
