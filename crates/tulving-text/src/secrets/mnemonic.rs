//! Finds recovery phrases of wallets: 12, 15, 18, 21 or 24 words from a list of 2,048 words. The last word contains a
//! checksum (BIP-39). Anyone who knows the words controls the wallet.
//!
//! Prose almost never has twelve consecutive words of three to eight letters, so words are looked up only in such runs.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use sha2::{Digest, Sha256};

use super::SecretMatch;
use crate::vocabulary::SecretKind;

/// The English list of BIP-39, in numeric order, which is also alphabetical.
const LIST: &str = include_str!("bip39.txt");
static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| LIST.lines().collect());

/// The possible numbers of words, in descending order.
const COUNTS: [usize; 5] = [24, 21, 18, 15, 12];
const FEWEST: usize = 12;
/// Number of bits of a word's number.
const BITS: usize = 11;
/// Lengths of the words of the list.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=8;
/// Distance before the words in which a name of the phrase is searched, in bytes.
const BEFORE: usize = 60;
/// Names of a recovery phrase, in lower case.
const NAMES: [&str; 8] = [
    "seed phrase",
    "recovery phrase",
    "secret phrase",
    "backup phrase",
    "seed words",
    "recovery words",
    "mnemonic",
    "wallet seed",
];

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    let bytes = text.as_bytes();
    let mut run: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if length == 0 {
            if !is_between(bytes, at) {
                look_up(text, &mut run, found);
            }
            at += 1;
            continue;
        }
        let joined = at > 0 && bytes[at - 1] >= 0x80;
        if LENGTHS.contains(&length) && !joined {
            run.push(at..at + length);
        } else {
            look_up(text, &mut run, found);
        }
        at += length;
    }
    look_up(text, &mut run, found);
}

/// Returns true if the byte at this position may separate two words: white space, a comma, or part of a list number.
fn is_between(bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        byte if byte.is_ascii_whitespace() || byte.is_ascii_digit() => true,
        b',' | b'"' | b'\'' | b'*' | b'|' | b'`' => true,
        b'.' | b')' | b':' | b'-' => {
            at > 0
                && (bytes[at - 1].is_ascii_digit() || bytes.get(at + 1) == Some(&b' ') && bytes[at] == b'-')
        }
        _ => false,
    }
}

/// Looks up the words of a run, and then clears the run.
fn look_up(text: &str, run: &mut Vec<Range<usize>>, found: &mut Vec<SecretMatch>) {
    if run.len() >= FEWEST {
        let number = |word: &Range<usize>| {
            let word = text[word.clone()].to_ascii_lowercase();
            WORDS.binary_search(&word.as_str()).ok()
        };
        let numbers: Vec<Option<usize>> = run.iter().map(number).collect();
        let mut at = 0;
        while at < numbers.len() {
            let length = numbers[at..].iter().take_while(|number| number.is_some()).count();
            if length >= FEWEST {
                let known: Vec<usize> = numbers[at..at + length].iter().flatten().copied().collect();
                phrases(text, &run[at..at + length], &known, found);
            }
            at += length.max(1);
        }
    }
    run.clear();
}

/// Finds recovery phrases among consecutive words of the list.
fn phrases(text: &str, places: &[Range<usize>], numbers: &[usize], found: &mut Vec<SecretMatch>) {
    let first = places[0].start;
    let mut before = first.saturating_sub(BEFORE);
    while !text.is_char_boundary(before) {
        before += 1;
    }
    let own = text[before..places[places.len() - 1].end].to_ascii_lowercase();
    let named = NAMES.iter().any(|name| own[..(first - before + BEFORE).min(own.len())].contains(name));
    let mut at = 0;
    while at + FEWEST <= numbers.len() {
        let fits = |count: &&usize| numbers.get(at..at + **count).is_some_and(is_phrase);
        match COUNTS.iter().find(fits) {
            Some(count) => {
                let range = places[at].start..places[at + count - 1].end;
                found.push(SecretMatch { range, what: SecretKind::PrivateKey });
                at += count;
            }
            // The words are named as a recovery phrase but fail the checksum: a word is misspelled, or the wallet is of
            // another kind.
            None if named && at == 0 && COUNTS.contains(&numbers.len()) => {
                let range = first..places[places.len() - 1].end;
                found.push(SecretMatch { range, what: SecretKind::PrivateKey });
                return;
            }
            None => at += 1,
        }
    }
}

/// Returns true if the words form a phrase with a valid checksum. Words in alphabetical order are a part of the
/// published list, and words that repeat are not a secret. Such words are excluded, because one in sixteen of these
/// texts would have a valid checksum by chance.
fn is_phrase(numbers: &[usize]) -> bool {
    let different: HashSet<usize> = numbers.iter().copied().collect();
    different.len() * 2 >= numbers.len()
        && !numbers.windows(2).all(|pair| pair[0] < pair[1])
        && checks(numbers)
}

fn checks(numbers: &[usize]) -> bool {
    let bit = |at: usize| numbers[at / BITS] >> (BITS - 1 - at % BITS) & 1 == 1;
    let sum_bits = numbers.len() * BITS / 33;
    let entropy_bits = numbers.len() * BITS - sum_bits;
    let mut entropy = [0u8; 32];
    for at in (0..entropy_bits).filter(|at| bit(*at)) {
        entropy[at / 8] |= 0x80 >> (at % 8);
    }
    let sum = Sha256::digest(&entropy[..entropy_bits / 8])[0];
    (0..sum_bits).all(|at| bit(entropy_bits + at) == (sum & 0x80 >> at != 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phrases(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(text, &mut found);
        found.into_iter().map(|one| &text[one.range]).collect()
    }

    /// The first test vectors of BIP-39. They are public, and no wallet uses them.
    const TWELVE: &str = "legal winner thank year wave sausage worth useful legal winner thank yellow";
    const TWENTY_FOUR: &str = "void come effort suffer camp survey warrior heavy shoot primary clutch crush open amazing \
        screen patrol group space point ten exist slush involve unfold";

    #[test]
    fn wallet_seed_phrases_were_stored() {
        for text in [TWELVE, TWENTY_FOUR] {
            assert_eq!(phrases(text), [text]);
            assert_eq!(phrases(&format!("My wallet seed phrase: {text}. Keep it.")), [text]);
            assert_eq!(phrases(&text.to_uppercase()), [text.to_uppercase()]);
        }
        let zero = ["abandon"; 11].join(" ") + " about";
        assert_eq!(phrases(&format!("mnemonic: {zero}")), [zero.as_str()]);
        let listed: Vec<String> =
            (1..).zip(TWELVE.split(' ')).map(|(number, word)| format!("{number}. {word}")).collect();
        let listed = listed.join("\n");
        assert_eq!(phrases(&listed), [&listed[3..]]);
        assert_eq!(phrases(&TWELVE.replace(' ', ", ")), [TWELVE.replace(' ', ", ")]);
    }

    #[test]
    fn a_word_that_is_repeated_is_no_seed_phrase() {
        for word in ["word", "test", "music", "zoo", "real", "one"] {
            assert!(phrases(&format!("{word} ").repeat(1_000)).is_empty(), "{word}");
            assert!(phrases(&format!("{word} again ").repeat(1_000)).is_empty(), "{word}");
        }
    }

    #[test]
    fn words_that_do_not_check_count_where_they_are_called_so() {
        let wrong = TWELVE.replace("yellow", "zebra");
        assert_eq!(phrases(&format!("the recovery phrase is: {wrong}")), [wrong.as_str()]);
        assert_eq!(phrases(&wrong), Vec::<&str>::new());
    }

    #[test]
    fn prose_and_the_list_itself_are_left() {
        let list: Vec<&str> = LIST.lines().collect();
        assert_eq!(list.len(), 2_048);
        assert!(list.is_sorted());
        for text in [
            LIST,
            "The seed phrase has twelve words that nobody but you should ever know about",
            "legal winner thank year wave sausage worth useful legal winner thank",
            "we said that they would come home early and bring some bread with them",
            "é legal",
        ] {
            assert_eq!(phrases(text), Vec::<&str>::new(), "{text}");
        }
    }
}
