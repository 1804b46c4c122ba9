//! The last word of a question that somebody is still typing, as the beginning of a word.
//!
//! Terms are stems, so typed letters may be longer than the term that is meant: "deployme" is the beginning of
//! "deployment", whose term is "deploy". Such stems are found by completing the usual English endings.

use rust_stemmers::Stemmer;

use super::scan;
use super::script::{TERM_CHARS, folded};
use super::{StopWordMode, TermAnalysis, TermSource, push_word, stemmed};

/// Minimum number of characters of a beginning. Too many words begin with a single letter.
const LEAST_CHARS: usize = 2;
/// The endings that the stemmer removes.
const ENDINGS: [&str; 24] = [
    "able", "al", "ally", "ation", "ations", "ed", "er", "ers", "es", "ful", "ible", "ies", "ing", "ings",
    "ion", "ions", "ity", "ive", "ly", "ment", "ments", "ness", "ous", "s",
];

/// The terms of a question whose last word may be incomplete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BegunTerms {
    /// The terms, as of a complete question. A stop word at the end is kept, because it may begin another word.
    pub terms: Vec<String>,
    /// The last word. `None` if something follows it, if it is a single letter, or if its script has no spaces between
    /// words; such text is compared by pairs of characters anyway.
    pub last: Option<WordBeginning>,
}

/// The beginning of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WordBeginning {
    /// The position of its term among the terms of the question.
    pub at: usize,
    /// Its letters, folded but not stemmed.
    pub letters: String,
    /// The shorter terms of longer words that begin with these letters.
    pub stems: Vec<String>,
}

/// Returns the terms of a question, with its last word as the beginning of a word.
pub fn begun_terms(question: &str) -> BegunTerms {
    let TermAnalysis { stemmer, stops, mut words, mut extras, .. } =
        TermAnalysis::of(question, TermSource::Question);
    let mut last = None;
    scan::chains(question, |chain| last = chain.last().cloned());
    let run = last.filter(|run| run.range.end == question.len() && !run.unspaced);
    let last = run.and_then(|run| {
        let written = &question[run.range];
        let letters = folded(written, TERM_CHARS);
        if letters.chars().count() < LEAST_CHARS {
            return None;
        }
        let mut own = Vec::new();
        push_word(&stemmer, stops, written, &mut own);
        if own.is_empty() {
            push_word(&stemmer, StopWordMode::Kept, written, &mut words);
        }
        let stems = stems(&stemmer, &letters);
        words.len().checked_sub(1).map(|at| WordBeginning { at, letters, stems })
    });
    words.append(&mut extras);
    BegunTerms { terms: words, last }
}

/// Returns the stems of words that begin with these letters, if the stems do not.
fn stems(stemmer: &Stemmer, letters: &str) -> Vec<String> {
    if !letters.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return Vec::new();
    }
    let mut stems: Vec<String> = Vec::new();
    for ending in ENDINGS {
        for typed in (0..=ending.len()).filter(|typed| letters.ends_with(&ending[..*typed])) {
            let stem = stemmed(stemmer, format!("{letters}{}", &ending[typed..]));
            if !stem.starts_with(letters) && !stems.contains(&stem) {
                stems.push(stem);
            }
        }
    }
    stems
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use rust_stemmers::Algorithm;

    use super::super::terms;
    use super::*;

    fn last(question: &str) -> Option<(String, String)> {
        let BegunTerms { terms, last } = begun_terms(question);
        last.map(|last| (terms[last.at].clone(), last.letters))
    }

    #[test]
    fn the_last_word_is_a_beginning_while_nothing_follows_it() {
        let known = |term: &str, letters: &str| Some((term.to_owned(), letters.to_owned()));
        assert_eq!(last("how do we Depl"), known("depl", "depl"));
        assert_eq!(last("runs"), known("run", "runs"));
        for complete in ["deploy ", "deploy?", "deploy.", "", "?"] {
            assert_eq!(last(complete), None, "{complete}");
        }
        assert_eq!(last("d"), None, "too many words begin with it");
        assert_eq!(last("東京"), None, "its pairs match parts of words anyway");
        assert_eq!(last("src/text/li"), known("li", "li"));
    }

    #[test]
    fn a_stop_word_at_the_end_may_begin_another_word() {
        assert_eq!(begun_terms("release no").terms, ["releas", "no"]);
        assert_eq!(last("release no"), Some(("no".to_owned(), "no".to_owned())));
        assert_eq!(begun_terms("the release").terms, ["releas"]);
    }

    #[test]
    fn letters_beyond_a_stem_still_begin_its_words() {
        for (letters, stem) in [
            ("deployme", "deploy"),
            ("configurati", "configur"),
            ("runni", "run"),
            ("happin", "happi"),
            ("librarie", "librari"),
        ] {
            let stems = stems(&Stemmer::create(Algorithm::English), letters);
            assert!(
                stem.starts_with(letters) || stems.iter().any(|known| known == stem),
                "{letters} {stems:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn a_complete_question_has_the_same_terms_and_perhaps_its_last_stop_word(text in "\\PC{0,40}") {
            let BegunTerms { terms: mut begun, last } = begun_terms(&text);
            if let Some(last) = last {
                prop_assert!(last.at < begun.len());
                if begun.len() > terms(&text).len() {
                    begun.remove(last.at);
                }
            }
            prop_assert_eq!(begun, terms(&text));
        }
    }
}
