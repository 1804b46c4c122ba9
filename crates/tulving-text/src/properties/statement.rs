//! Signs that a turn of a conversation states something: names, the speaker's own doings, and many different words.
//!
//! The rules are English. A text in another language has few of the signs, so it is neither preferred nor penalised.

use super::NAMES;
use crate::sentence::sentences;

/// Forms of "I" that begin with a capital letter but are not names.
const FORMS_OF_I: &[&str] = &["I", "I'm", "I've", "I'd", "I'll"];
/// Capitalised words that are times, not names.
const TIMES: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Words that show that the speaker speaks about themselves.
const OWN: &[&str] = &["I", "I'm", "I've", "I'd", "my", "My", "we", "We"];
/// Words with which a mere reaction begins.
const REACTIONS: &[&str] = &[
    "wow",
    "thanks",
    "that's",
    "sounds",
    "congrats",
    "nice",
    "cool",
    "awesome",
    "great",
    "yeah",
    "absolutely",
    "definitely",
];
/// Words that may stand between "I" and the verb.
const ADVERBS: &[&str] =
    &["just", "also", "recently", "finally", "really", "even", "once", "actually", "already", "always"];
/// Irregular past forms of common verbs.
const PAST: &[&str] = &[
    "went", "got", "had", "made", "took", "saw", "met", "bought", "found", "gave", "told", "came", "left",
    "began", "started", "won", "lost", "ran", "read", "wrote", "built", "taught", "led", "grew", "drove",
    "flew", "ate", "spent", "felt", "became", "chose", "broke", "sold", "sent", "held", "kept", "put", "set",
    "did", "was", "were", "hit", "caught", "drew", "sang", "swam", "rode", "threw", "hung", "paid", "heard",
    "brought", "thought",
];

/// Returns the words of a sentence in order, each from its first letter or digit to its last.
fn words(sentence: &str) -> impl Iterator<Item = &str> {
    sentence
        .split(|c: char| c.is_whitespace() || matches!(c, '/' | '—' | '–' | '…'))
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
        .filter(|word| !word.is_empty())
}

/// Returns the hash under which a name is stored. Names are compared without case.
pub fn name_hash(name: &str) -> u16 {
    let lower = name.chars().flat_map(char::to_lowercase);
    // FNV-1a, because its values are part of the index and must never change. Zero means no name.
    let mut bytes = [0; 4];
    let hash = lower.fold(0x811c_9dc5_u32, |hash, c| {
        c.encode_utf8(&mut bytes)
            .bytes()
            .fold(hash, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
    });
    let folded = (hash >> 16) ^ (hash & 0xffff);
    u16::try_from(folded).unwrap_or(u16::MAX).max(1)
}

/// Signs of a statement in one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StatementSigns {
    pub(super) names: [u16; NAMES],
    pub(super) first_person: bool,
    pub(super) own_acts: u8,
    pub(super) reacts: bool,
}

/// Finds the signs of a statement in a text.
pub(super) fn signs(body: &str) -> StatementSigns {
    let mut signs = StatementSigns::default();
    let mut named = 0;
    for (at, range) in sentences(body).into_iter().enumerate() {
        let sentence = body[range].replace('’', "'");
        let mut before: [&str; 2] = [""; 2];
        for (place, word) in words(&sentence).enumerate() {
            if at == 0 && place == 0 {
                signs.reacts = REACTIONS.contains(&word.to_lowercase().as_str());
            }
            signs.first_person |= OWN.contains(&word);
            signs.own_acts = signs.own_acts.saturating_add(u8::from(is_own_act(before, word)));
            if place > 0 && is_name(word) {
                let hash = name_hash(word.strip_suffix("'s").unwrap_or(word));
                if named < NAMES && !signs.names.contains(&hash) {
                    signs.names[named] = hash;
                    named += 1;
                }
            }
            before = [before[1], word];
        }
    }
    signs
}

/// Returns true if a word that does not begin a sentence is a name.
fn is_name(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some()
        && !FORMS_OF_I.contains(&word)
        && !TIMES.contains(&word.to_lowercase().as_str())
}

/// Returns true if a word completes a phrase such as "I went", "we just finished" or "my sister".
fn is_own_act(before: [&str; 2], word: &str) -> bool {
    let [earlier, last] = before;
    if last.eq_ignore_ascii_case("my") {
        return true;
    }
    let subject = if ADVERBS.contains(&last) { earlier } else { last };
    let speaks = matches!(subject, "I" | "We" | "we" | "I've" | "we've" | "We've" | "I'd");
    speaks && (word.len() > 3 && word.ends_with("ed") || PAST.contains(&word))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_capitalised_words_inside_a_sentence() {
        let of = |text: &str| signs(text).names.iter().filter(|hash| **hash != 0).count();
        assert_eq!(of("Yesterday I met Olga and Ben in Graz. Nice!"), 3);
        assert_eq!(of("Olga came. I'm glad, and I've told her on Monday in May."), 0);
        assert_eq!(of("we saw Olga, and Olga's dog saw olga"), 1, "each name once");
        assert!(signs("I met Zoë").names.contains(&name_hash("ZOË")));
    }

    #[test]
    fn what_a_speaker_did_is_told_from_a_reaction() {
        let of = |text: &str| (signs(text).own_acts, signs(text).first_person, signs(text).reacts);
        assert_eq!(
            of("Last week I went to Rome and we just finished the attic with my sister."),
            (3, true, false)
        );
        assert_eq!(of("Wow, that's amazing! Thanks for sharing."), (0, false, true));
        assert_eq!(of("I’ve joined a choir."), (1, true, false));
        assert_eq!(of("Have you seen it?"), (0, false, false));
    }

    proptest! {
        #[test]
        fn any_text_has_signs(text in "\\PC{0,80}") {
            let _ = signs(&text);
        }
    }
}
