//! Features of a text: its length, the share of questions in it, references to a time, and signs of a statement.

mod statement;

use std::collections::HashSet;

use crate::sentence::sentences;
use crate::when::names_time;

pub use self::statement::name_hash;

/// Maximum number of names of a text that are stored.
pub const NAMES: usize = 4;

/// The properties of an item's text.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TextProperties {
    /// Number of terms.
    pub length: u32,
    /// The share of the text's sentences that are questions.
    pub questions: f32,
    /// True if the text ends with a question.
    pub ends_with_question: bool,
    /// True if the text names a time.
    pub time_word: bool,
    /// Number of different terms, up to 255.
    pub distinct: u8,
    /// The [hashes](name_hash) of the first names that do not begin a sentence, each once; 0 for none.
    pub names: [u16; NAMES],
    /// True if the speaker speaks about themselves.
    pub first_person: bool,
    /// Number of phrases about what the speaker did or has, such as "I went" or "my sister", up to 255.
    pub own_acts: u8,
    /// True if the text begins with a mere reaction, such as "wow" or "thanks".
    pub reacts: bool,
}

/// Computes the features of an item's text that ranking uses. `terms` are the terms of the text.
pub fn of(body: &str, terms: &[String]) -> TextProperties {
    let (mut all, mut asking, mut last_asks) = (0_u32, 0_u32, false);
    for range in sentences(body) {
        let sentence = &body[range];
        // A sentence without letters or digits, such as an emoji or a horizontal rule, is neither a question nor a
        // statement.
        if sentence.contains(char::is_alphanumeric) {
            last_asks = asks(sentence);
            all += 1;
            asking += u32::from(last_asks);
        }
    }
    let distinct = terms.iter().collect::<HashSet<_>>().len();
    let statement::StatementSigns { names, first_person, own_acts, reacts } = statement::signs(body);
    TextProperties {
        length: u32::try_from(terms.len()).unwrap_or(u32::MAX),
        questions: if all == 0 { 0.0 } else { asking as f32 / all as f32 },
        ends_with_question: last_asks,
        time_word: names_time(body),
        distinct: u8::try_from(distinct).unwrap_or(u8::MAX),
        names,
        first_person,
        own_acts,
        reacts,
    }
}

/// Returns true if a sentence ends with a question mark, ignoring quotes and brackets.
fn asks(sentence: &str) -> bool {
    let end = sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_question_mark(c));
    end.ends_with(is_question_mark)
}

fn is_question_mark(c: char) -> bool {
    matches!(c, '?' | '？' | '؟' | '⁇' | '⁈' | '⁉')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(count: usize) -> Vec<String> {
        (0..count).map(|n| n.to_string()).collect()
    }

    #[test]
    fn the_share_of_questions_counts_sentences() {
        let half = of("Hey Ann! How are you?", &terms(2));
        assert_eq!((half.questions, half.ends_with_question, half.length), (0.5, true, 2));
        let third = of("Did you go? I did not. It rained.", &terms(5));
        assert!((third.questions - 1.0 / 3.0).abs() < 1e-6 && !third.ends_with_question);
        assert_eq!(of("", &terms(0)), TextProperties::default());
    }

    #[test]
    fn what_comes_after_the_question_mark_does_not_hide_it() {
        for text in ["Really?! 😊", "(Is it?)", "\"Shall we?\"", "元気ですか？", "Was it this?\n\n---"]
        {
            assert!(of(text, &terms(1)).ends_with_question, "{text}");
        }
        assert!(!of("See https://example.com/?q=1", &terms(1)).ends_with_question);
    }

    proptest! {
        #[test]
        fn a_share_is_a_share(text in "([a-z?!. \n]|\\PC){0,80}") {
            let properties = of(&text, &terms(1));
            prop_assert!((0.0..=1.0).contains(&properties.questions));
            prop_assert!(!properties.ends_with_question || properties.questions > 0.0);
        }
    }
}
