//! Tells memories that say nearly the same, so that one of them does not take the place of something else.

/// From this share of common words on, two texts say the same.
const ALIKE: f64 = 0.9;
/// Texts with fewer words are too short to tell.
const FEWEST: usize = 5;
/// Only so many bytes of a text are looked at.
const LOOKED_AT: usize = 2_000;

/// The words of a text, for comparing it with others.
struct Fingerprint {
    /// A number for each different word, ascending.
    words: Vec<u64>,
    /// How long the text is: texts of which one is much longer are not alike, whatever their beginnings.
    length: usize,
}

impl Fingerprint {
    fn of(text: &str) -> Self {
        let start = &text[..text.floor_char_boundary(LOOKED_AT)];
        let words = start.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let mut words: Vec<u64> = words.map(number).collect();
        words.sort_unstable();
        words.dedup();
        Self { words, length: text.len() }
    }

    fn is_like(&self, other: &Self) -> bool {
        let (short, long) = (self.length.min(other.length), self.length.max(other.length));
        if self.words.len().min(other.words.len()) < FEWEST || long - short > long / 5 {
            return false;
        }
        let common = common(&self.words, &other.words);
        #[expect(clippy::cast_precision_loss, reason = "a text has few words")]
        let share = common as f64 / (self.words.len() + other.words.len() - common) as f64;
        share >= ALIKE
    }
}

/// A number for a word, the same in any case. It need not be the same tomorrow.
fn number(word: &str) -> u64 {
    /// From FNV-1a; words of people, not of adversaries: two that collide cost a place in the order at the most.
    const PRIME: u64 = 0x0100_0000_01b3;
    let letters = word.chars().flat_map(char::to_lowercase);
    letters.fold(0xcbf2_9ce4_8422_2325, |number, letter| (number ^ u64::from(letter)).wrapping_mul(PRIME))
}

/// How many numbers two ascending lists have in common.
fn common(one: &[u64], other: &[u64]) -> usize {
    let (mut here, mut there, mut common) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.get(here), other.get(there)) {
        common += usize::from(a == b);
        here += usize::from(a <= b);
        there += usize::from(b <= a);
    }
    common
}

/// Texts that were given best first, in the order in which to show them.
#[derive(Debug, PartialEq, Eq)]
pub struct Apart {
    /// The place of each: each first of its kind as it came, then the twins, then those that were not looked at because
    /// there were enough.
    pub order: Vec<usize>,
    /// How many are the first of their kind.
    pub firsts: usize,
}

/// Keeps twins apart from the first `limit` that say something of their own.
pub fn apart<'a>(texts: impl IntoIterator<Item = &'a str>, limit: usize) -> Apart {
    let mut kept: Vec<Fingerprint> = Vec::new();
    let (mut order, mut twins, mut rest) = (Vec::new(), Vec::new(), Vec::new());
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
            order.push(at);
        }
    }
    let firsts = order.len();
    order.append(&mut twins);
    order.append(&mut rest);
    Apart { order, firsts }
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
        assert_eq!(apart(texts, 10), Apart { order: vec![0, 2, 1], firsts: 2 });
        assert_eq!(apart(texts, 1), Apart { order: vec![0, 1, 2], firsts: 1 }, "one is enough");
    }

    #[test]
    fn texts_that_differ_in_one_word_of_few_are_not_twins() {
        let texts = ["Anna likes strong black tea", "Berta likes strong black tea", "Thanks!", "Thanks!"];
        assert_eq!(apart(texts, 10).order, [0, 1, 2, 3]);
    }

    #[test]
    fn a_text_is_no_twin_of_its_beginning() {
        let start = "one two three four five six seven eight nine ten";
        let long = format!("{start} {}", "one two three four five six seven eight nine ten ".repeat(5));
        assert_eq!(apart([start, &long, "something else"], 10).order, [0, 1, 2]);
    }
}
