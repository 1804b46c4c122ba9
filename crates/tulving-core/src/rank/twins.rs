//! Tells memories that say nearly the same, so that one of them does not take the place of something else.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// From this share of common words on, two texts say the same.
const ALIKE: f64 = 0.9;
/// Texts with fewer words are too short to tell.
const FEWEST: usize = 5;
/// Only so many bytes of a text are looked at.
const LOOKED_AT: usize = 2_000;

/// The words of a text, for comparing it with others.
struct Fingerprint {
    words: HashSet<u64>,
    /// How long the text is: texts of which one is much longer are not alike, whatever their beginnings.
    length: usize,
}

impl Fingerprint {
    fn of(text: &str) -> Self {
        let mut end = text.len().min(LOOKED_AT);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let words = text[..end].split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        Self { words: words.map(hash).collect(), length: text.len() }
    }

    fn is_like(&self, other: &Self) -> bool {
        let (short, long) = (self.length.min(other.length), self.length.max(other.length));
        if self.words.len().min(other.words.len()) < FEWEST || long - short > long / 5 {
            return false;
        }
        let common = self.words.intersection(&other.words).count();
        #[expect(clippy::cast_precision_loss, reason = "a text has few words")]
        let share = common as f64 / (self.words.len() + other.words.len() - common) as f64;
        share >= ALIKE
    }
}

/// A word in any case. The hash need not be the same tomorrow.
fn hash(word: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    word.chars().flat_map(char::to_lowercase).for_each(|letter| letter.hash(&mut hasher));
    hasher.finish()
}

/// The order in which to show texts that are given best first, of which the first `limit` will be: each first of its kind
/// as it came, then the twins, then those that were not looked at because there were enough.
pub fn last<'a>(texts: impl IntoIterator<Item = &'a str>, limit: usize) -> Vec<usize> {
    let mut kept: Vec<Fingerprint> = Vec::new();
    let (mut first, mut twins, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (at, text) in texts.into_iter().enumerate() {
        if kept.len() >= limit {
            rest.push(at);
            continue;
        }
        let print = Fingerprint::of(text);
        if kept.iter().any(|other| other.is_like(&print)) {
            twins.push(at);
        } else {
            kept.push(print);
            first.push(at);
        }
    }
    first.append(&mut twins);
    first.append(&mut rest);
    first
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_goes_behind_what_says_something_else() {
        let texts = [
            "The staging database is restored from the production backup every Sunday night",
            "the staging database is restored from the production backup every Sunday night!",
            "Marta looks after the deploy pipeline",
        ];
        assert_eq!(last(texts, 10), [0, 2, 1]);
        assert_eq!(last(texts, 1), [0, 1, 2], "one is enough");
    }

    #[test]
    fn texts_that_differ_in_one_word_of_few_are_not_twins() {
        let texts = ["Anna likes strong black tea", "Berta likes strong black tea", "Thanks!", "Thanks!"];
        assert_eq!(last(texts, 10), [0, 1, 2, 3]);
    }

    #[test]
    fn a_text_is_no_twin_of_its_beginning() {
        let start = "one two three four five six seven eight nine ten";
        let long = format!("{start} {}", "one two three four five six seven eight nine ten ".repeat(5));
        assert_eq!(last([start, &long, "something else"], 10), [0, 1, 2]);
    }
}
