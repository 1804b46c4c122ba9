//! Finds memories that say nearly the same, so that a duplicate does not displace another result.

/// Minimum share of common word pairs at which two texts say nearly the same.
const ALIKE: f64 = 0.9;
/// Minimum number of words of a text for a comparison.
const FEWEST: usize = 5;
/// Maximum length of a text that can be a duplicate, in bytes. In a longer text, a difference of one word may be important.
const LONGEST: usize = 2_000;
/// Words that reverse the meaning of a text. If two texts differ in these words, the texts are not alike.
const TURNS: [&str; 13] = [
    "not", "no", "never", "none", "nothing", "nobody", "without", "cannot", "t", "neither", "nor", "hardly",
    "except",
];
/// Words that do not change the meaning of a text. The comparison ignores them.
const NOTHING: [&str; 3] = ["a", "an", "the"];

/// The words of a text, for a comparison with other texts.
struct WordFingerprint {
    /// The hashes of the words, in the order of the text.
    words: Vec<u64>,
    /// The hashes of each word with the next word, ascending.
    pairs: Vec<u64>,
    /// The hashes of numbers and of words that reverse a meaning, ascending.
    telling: Vec<u64>,
}

impl WordFingerprint {
    /// Creates the fingerprint; `None` if the text is too short or too long.
    fn of(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let (mut words, mut telling) = (Vec::new(), Vec::new());
        for lower in lower_words(text) {
            if NOTHING.contains(&lower.as_str()) {
                continue;
            }
            let number = number(&lower);
            words.push(number);
            if is_telling(&lower) {
                telling.push(number);
            }
        }
        let mut pairs: Vec<u64> =
            words.windows(2).map(|pair| pair[0].rotate_left(21) ^ pair[1].wrapping_mul(PRIME)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        telling.sort_unstable();
        (words.len() >= FEWEST).then_some(Self { words, pairs, telling })
    }

    fn is_like(&self, other: &Self) -> bool {
        if self.words == other.words {
            return true;
        }
        if self.telling != other.telling {
            return false;
        }
        let common = common(&self.pairs, &other.pairs);
        #[expect(clippy::cast_precision_loss, reason = "a text has few words")]
        let share = common as f64 / (self.pairs.len() + other.pairs.len() - common) as f64;
        share >= ALIKE
    }
}

/// The prime of FNV-1a. Words come from people, not from adversaries: a collision costs at most a position in the
/// order.
const PRIME: u64 = 0x0100_0000_01b3;

/// Returns a hash of a word. The hash need not be stable.
fn number(word: &str) -> u64 {
    word.bytes().fold(0xcbf2_9ce4_8422_2325, |number, byte| (number ^ u64::from(byte)).wrapping_mul(PRIME))
}

/// Counts the numbers that two ascending lists have in common.
fn common(one: &[u64], other: &[u64]) -> usize {
    let (mut here, mut there, mut common) = (0, 0, 0);
    while let (Some(a), Some(b)) = (one.get(here), other.get(there)) {
        common += usize::from(a == b);
        here += usize::from(a <= b);
        there += usize::from(b <= a);
    }
    common
}

/// The similarity of two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextSimilarity {
    /// Equal except for case, punctuation and white space.
    Same,
    /// Nearly equal.
    Alike,
    /// Undecided: the words show neither that the texts are nearly equal nor that they are different.
    Open,
    /// Different: the numbers, or the words that reverse the meaning, differ between the texts.
    Apart,
}

/// Compares two texts by their words.
pub(crate) fn likeness(one: &str, other: &str) -> TextSimilarity {
    if plain(one).eq(plain(other)) {
        return TextSimilarity::Same;
    }
    match (WordFingerprint::of(one), WordFingerprint::of(other)) {
        (Some(a), Some(b)) if a.is_like(&b) => TextSimilarity::Alike,
        (Some(a), Some(b)) if a.telling != b.telling => TextSimilarity::Apart,
        // The texts are too short or too long for word pairs, but numbers and negations can still show a difference.
        (None, _) | (_, None) if telling(one) != telling(other) => TextSimilarity::Apart,
        _ => TextSimilarity::Open,
    }
}

/// Returns true if two similar texts may say the same: they contain the same numbers, negations and names.
pub(crate) fn may_be_same(one: &str, other: &str) -> bool {
    likeness(one, other) != TextSimilarity::Apart && same_names(one, other)
}

/// Returns true if two texts contain the same names of people, places or days. A name is a capitalised word, except the
/// first word of a sentence, which is always capitalised.
pub(crate) fn same_names(one: &str, other: &str) -> bool {
    names(one) == names(other)
}

fn names(text: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let mut begins = true;
    for word in text.split_whitespace() {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        let mut letters = bare.chars();
        let capital = letters.next().is_some_and(char::is_uppercase) && letters.any(char::is_lowercase);
        if capital && !begins {
            names.push(bare);
        }
        begins = word.ends_with(['.', '!', '?', ':']);
    }
    names.sort_unstable();
    names.dedup();
    names
}

/// Returns the letters and digits of a text in lower case.
pub(crate) fn plain(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

/// Returns the numbers of a text and the words that reverse its meaning, in lower case, in order.
pub(crate) fn telling_words(text: &str) -> Vec<String> {
    lower_words(text).filter(|word| is_telling(word)).collect()
}

fn lower_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// Returns the hashes of the [`telling_words`] of a text, ascending.
fn telling(text: &str) -> Vec<u64> {
    let mut telling: Vec<u64> = telling_words(text).iter().map(|word| number(word)).collect();
    telling.sort_unstable();
    telling
}

fn is_telling(lower: &str) -> bool {
    TURNS.contains(&lower) || lower.contains(|c: char| c.is_numeric())
}

/// The order in which to show texts that were given best first.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeduplicatedOrder {
    /// The positions of the texts: first the texts that are not duplicates, in the given order, then the duplicates, then
    /// the texts that were not compared because enough distinct texts were found.
    pub(crate) order: Vec<usize>,
    /// Number of texts that are not duplicates.
    pub(crate) firsts: usize,
    /// The position of each duplicate, and the position of the text that the duplicate repeats.
    pub(crate) duplicates: Vec<(usize, usize)>,
}

/// Moves duplicates behind the first `limit` distinct texts.
pub(crate) fn apart<'a>(texts: impl IntoIterator<Item = &'a str>, limit: usize) -> DeduplicatedOrder {
    let mut kept: Vec<(usize, Option<WordFingerprint>)> = Vec::new();
    let (mut order, mut duplicates, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (at, text) in texts.into_iter().enumerate() {
        if kept.len() >= limit {
            rest.push(at);
            continue;
        }
        let print = WordFingerprint::of(text);
        let like = |(_, other): &&(usize, Option<WordFingerprint>)| {
            print.as_ref().zip(other.as_ref()).is_some_and(|(print, other)| other.is_like(print))
        };
        match kept.iter().find(like) {
            Some((of, _)) => duplicates.push((at, *of)),
            None => {
                kept.push((at, print));
                order.push(at);
            }
        }
    }
    let firsts = order.len();
    order.extend(duplicates.iter().map(|(at, _)| *at));
    order.append(&mut rest);
    DeduplicatedOrder { order, firsts, duplicates }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_twin_goes_behind_what_says_something_else() {
        let texts = [
            "The staging database is restored from the production backup every Sunday night",
            "staging database is restored from production backup, every Sunday night!",
            "Marta looks after the deploy pipeline",
        ];
        assert_eq!(
            apart(texts, 10),
            DeduplicatedOrder { order: vec![0, 2, 1], firsts: 2, duplicates: vec![(1, 0)] }
        );
        assert_eq!(
            apart(texts, 1),
            DeduplicatedOrder { order: vec![0, 1, 2], firsts: 1, duplicates: vec![] },
            "one is enough"
        );
    }

    #[test]
    fn what_says_the_opposite_or_swaps_who_does_what_is_no_twin() {
        for (one, other) in [
            (
                "Jonas is not allergic to peanuts according to the test",
                "Jonas is allergic to peanuts according to the test",
            ),
            (
                "Marta can eat shellfish again, said the doctor",
                "Marta can't eat shellfish again, said the doctor",
            ),
            ("Tom Becker reports to Ana Lopez since spring", "Ana Lopez reports to Tom Becker since spring"),
            (
                "the night train from Zurich to Hamburg is booked",
                "the night train from Hamburg to Zurich is booked",
            ),
            ("Anna likes strong black tea", "Berta likes strong black tea"),
            ("Thanks!", "Thanks!"),
        ] {
            assert_eq!(apart([one, other], 10).firsts, 2, "{one} | {other}");
        }
    }

    #[test]
    fn one_number_or_one_not_in_a_long_text_tells_two_apart() {
        let long = |key: &str| {
            format!("{} {key} {}", "alpha beta gamma delta ".repeat(9), "one two three four ".repeat(9))
        };
        let firsts = |a: &str, b: &str| apart([long(a).as_str(), long(b).as_str()], 10).firsts;
        assert_eq!(firsts("port 4200", "port 4300"), 2);
        assert_eq!(firsts("is allowed", "is not allowed"), 2);
        let words = |last: &str| {
            (0..60)
                .map(|n| {
                    format!("w{} ", char::from(b'a' + n % 26).to_string().repeat(1 + usize::from(n / 26)))
                })
                .collect::<String>()
                + last
        };
        assert_eq!(apart([words("end").as_str(), words("finish").as_str()], 10).firsts, 1);
    }

    #[test]
    fn a_text_is_no_twin_of_its_beginning() {
        let start = "one two three four five six seven eight nine ten";
        let long = format!("{start} {}", "eleven twelve thirteen fourteen fifteen ".repeat(5));
        assert_eq!(apart([start, &long, "something else"], 10).order, [0, 1, 2]);
    }

    #[test]
    fn names_are_told_by_their_capitals() {
        assert!(same_names("The office is in Köln. It is large", "the office, in Köln, is large"));
        assert!(!same_names("The office is in Köln", "The office is in Bonn"));
        assert!(!same_names("Restored every Sunday", "Restored every Saturday"));
        assert!(same_names("The DB is restored", "Our database is restored"));
    }

    #[test]
    fn how_much_two_texts_say_the_same_is_told() {
        let text = "The staging database is restored every Sunday night";
        for (other, like) in [
            ("the  staging database is restored every sunday night!", TextSimilarity::Same),
            ("Staging database is restored every Sunday night", TextSimilarity::Alike),
            ("The staging database is not restored every Sunday night", TextSimilarity::Apart),
            ("The staging database is restored every Sunday at 3", TextSimilarity::Apart),
            ("On Sundays staging gets the production data", TextSimilarity::Open),
        ] {
            assert_eq!(likeness(text, other), like, "{other}");
        }
        assert_eq!(likeness("port 4200", "port 4300"), TextSimilarity::Apart);
        assert_eq!(likeness("likes tea", "enjoys tea"), TextSimilarity::Open);
    }
}
