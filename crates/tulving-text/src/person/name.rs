//! Prepares the names of speakers for the search in a question.

use std::collections::HashMap;
use std::ops::Range;

use super::{QuestionWord, possessive, words};
use crate::terms::is_stop_word;

/// Maximum number of words of a name that are compared.
const NAME_WORDS: usize = 6;

/// Minimum number of letters of a first name that may replace the full name.
const FIRST_LETTERS: usize = 3;

/// Role names of speakers, which are not names of people.
const ROLES: [&str; 36] = [
    "admin",
    "agent",
    "ai",
    "anonymous",
    "assistant",
    "bot",
    "chatbot",
    "client",
    "customer",
    "developer",
    "everyone",
    "function",
    "guest",
    "he",
    "host",
    "human",
    "i",
    "interviewer",
    "me",
    "model",
    "myself",
    "narrator",
    "operator",
    "other",
    "person",
    "robot",
    "she",
    "somebody",
    "someone",
    "speaker",
    "system",
    "they",
    "tool",
    "unknown",
    "user",
    "you",
];

/// Words that are also names, or also the beginning of a name. They count as names only if they have a capital letter.
/// At the beginning of the question, they also need a possessive.
const COMMON: [&str; 63] = [
    "angel", "april", "art", "august", "aunt", "autumn", "baker", "bill", "bishop", "brook", "brother",
    "brown", "buddy", "captain", "chance", "chase", "chip", "coach", "cook", "crystal", "dad", "dawn",
    "dean", "doc", "doctor", "drew", "duke", "earl", "eve", "faith", "father", "gold", "grace", "grand",
    "grandma", "grandpa", "grant", "green", "guy", "hope", "hunter", "joy", "june", "king", "lady", "mark",
    "may", "miles", "miss", "mom", "mother", "page", "pearl", "penny", "rich", "rose", "ruby", "sister",
    "sky", "summer", "uncle", "will", "young",
];

/// A name in a question.
pub(super) struct SpeakerNameMatch<'a> {
    /// The range of the name, including the possessive.
    pub(super) range: Range<usize>,
    /// The indices of the speakers with this name.
    pub(super) speakers: &'a [usize],
}

/// The names of speakers, by the folded forms of their words.
#[derive(Default)]
pub(super) struct SpeakerNameIndex {
    by_words: HashMap<String, Vec<usize>>,
    /// For each word, the number of words of the longest name that begins with the word.
    longest: HashMap<String, usize>,
}

impl SpeakerNameIndex {
    pub(super) fn of(speakers: &[String]) -> Self {
        let mut names = Self::default();
        for (one, speaker) in speakers.iter().enumerate() {
            let whole = key(&words(speaker));
            let first = key(&words(speaker.split_whitespace().next().unwrap_or_default()));
            if first != whole
                && first.chars().filter(|c| c.is_alphabetic()).count() >= FIRST_LETTERS
                && !is_common(&first)
            {
                names.insert(first, one);
            }
            names.insert(whole, one);
        }
        names
    }

    fn insert(&mut self, key: String, speaker: usize) {
        let mut parts = key.split(' ');
        let says_who = |part: &str| {
            part.chars().any(char::is_alphabetic) && ROLES.binary_search(&part).is_err() && part != "the"
        };
        if parts.any(says_who) {
            let first = key.split(' ').next().unwrap_or_default().to_owned();
            let longest = self.longest.entry(first).or_default();
            *longest = key.split(' ').count().max(*longest);
            self.by_words.entry(key).or_default().push(speaker);
        }
    }

    /// Finds the names in a question, in order. At each position, the longest possible name is chosen.
    pub(super) fn find(&self, question: &str, words: &[QuestionWord]) -> Vec<SpeakerNameMatch<'_>> {
        let mut found = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let most = self.longest.get(&words[at].form).map_or(0, |most| (*most).min(words.len() - at));
            let longest = (1..=most).rev().find_map(|count| {
                let these = &words[at..at + count];
                let speakers =
                    self.by_words.get(&key(these)).filter(|_| is_meant(question, these, at == 0))?;
                Some((count, speakers))
            });
            match longest {
                Some((count, speakers)) => {
                    let range = possessive(question, words[at].range.start..words[at + count - 1].range.end);
                    at += count;
                    // The s of a possessive is skipped, so that it is not read as an initial.
                    at += words[at..].iter().take_while(|word| word.range.start < range.end).count();
                    found.push(SpeakerNameMatch { range, speakers });
                }
                None => at += 1,
            }
        }
        found
    }
}

fn key(words: &[QuestionWord]) -> String {
    let mut key = String::new();
    for word in words.iter().take(NAME_WORDS) {
        if !key.is_empty() {
            key.push(' ');
        }
        key.push_str(&word.form);
    }
    key
}

fn is_common(word: &str) -> bool {
    is_stop_word(word) || COMMON.binary_search(&word).is_ok()
}

/// Returns true if words that spell a name are meant as a name. The words must be close together. A common word needs a
/// capital letter, and at the beginning of the question it also needs a possessive.
fn is_meant(question: &str, words: &[QuestionWord], opens: bool) -> bool {
    let near = words.windows(2).all(|two| {
        let gap = &question[two[0].range.end..two[1].range.start];
        gap.chars().count() <= 2 && !gap.contains(['\n', ',', ';', '?', '!', '(', ')'])
    });
    let [only] = words else { return near };
    if !is_common(&only.form) {
        return true;
    }
    let possessed = question[only.range.end..].starts_with(['\'', '’']);
    question[only.range.clone()].starts_with(char::is_uppercase) && (possessed || !opens)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order() {
        assert!(ROLES.is_sorted() && COMMON.is_sorted());
    }
}
