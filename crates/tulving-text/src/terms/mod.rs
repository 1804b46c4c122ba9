//! The terms of a text, which the keyword lane compares.
//!
//! Questions and texts are analysed in the same way, so that a text always matches itself. Words are runs of letters
//! and digits. They are folded and, if they are ASCII, stemmed as English words. Text without spaces between words
//! becomes overlapping pairs of characters. Text that does not split into words (identifiers, paths, versions) yields
//! its parts as words and the complete text as an additional term; see [`identifier`]. The analysis is linear in the
//! length of any text.

mod beginning;
mod identifier;
mod scan;
mod script;
pub mod spelling;
mod stop;
mod unspaced;

use rust_stemmers::{Algorithm, Stemmer};

pub use self::beginning::{BegunTerms, WordBeginning, begun_terms};
use self::scan::WordRun;
use self::script::{TERM_CHARS, folded};
pub(crate) use self::script::{is_hangul, is_unspaced};

/// Returns the terms of a text, in order, with repetitions: its words, then the additional terms.
///
/// Stop words are removed, unless the text contains only stop words. German stop words are also removed if the text is
/// in German.
pub fn terms(text: &str) -> Vec<String> {
    let mut analysis = TermAnalysis::of(text, TermSource::Question);
    analysis.words.append(&mut analysis.extras);
    analysis.words
}

/// Returns the terms of the identifiers in a question, each once: error codes, ticket numbers, names in mixed case, paths.
/// A question with an identifier is about exactly that identifier.
pub fn identifiers(question: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    scan::chains(question, |chain| {
        identifier::names(question, chain, |written| {
            let mut analysis = TermAnalysis::with(written, TermSource::Question, StopWordMode::Kept);
            // The last term is the whole of it.
            let whole = match analysis.words.len() {
                1 => analysis.words.pop(),
                _ => analysis.extras.pop(),
            };
            found.extend(whole.filter(|whole| !found.contains(whole)));
        });
    });
    found
}

/// The terms of a chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkTerms {
    /// The terms of the chunk's text, of the title and of the headings above it. Their number is the length of the
    /// chunk.
    pub body: Vec<String>,
    /// The terms of the memory's tags, key, speaker and file name, and the additional terms. They match, but do not
    /// count towards the length of the chunk.
    pub labels: Vec<String>,
}

/// Returns the terms of a text that is analysed like a chunk: its words, then the additional terms.
pub fn of_text(text: &str) -> Vec<String> {
    let ChunkTerms { mut body, mut labels } = gathered(std::iter::once(text), std::iter::empty());
    body.append(&mut labels);
    body
}

/// Returns the terms of a chunk: the terms of its texts and the terms of its labels.
pub fn gathered<'a>(
    texts: impl Iterator<Item = &'a str>,
    labels: impl Iterator<Item = &'a str>,
) -> ChunkTerms {
    let mut terms = ChunkTerms::default();
    for text in texts {
        let mut analysis = TermAnalysis::of(text, TermSource::Text);
        terms.body.append(&mut analysis.words);
        terms.labels.append(&mut analysis.extras);
    }
    for label in labels {
        let mut analysis = TermAnalysis::of(label, TermSource::Text);
        terms.labels.append(&mut analysis.words);
        terms.labels.append(&mut analysis.extras);
    }
    terms
}

/// Folds a text for comparison: lower case, without accents.
pub(crate) fn compared(text: &str) -> String {
    folded(text, usize::MAX)
}

/// Returns true if a folded word is a stop word.
pub fn is_stop_word(word: &str) -> bool {
    stop::is_stop(word)
}

/// Returns true if a question is in German, by its small words.
pub(crate) fn is_german(question: &str) -> bool {
    stop::is_german(&compared(question))
}

/// The kind of text that is analysed. A text yields the same additional terms as a question, and a few more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TermSource {
    Question,
    Text,
}

/// The way in which stop words are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StopWordMode {
    Out,
    /// German stop words are removed too.
    GermanOut,
    Kept,
}

struct TermAnalysis {
    stemmer: Stemmer,
    side: TermSource,
    stops: StopWordMode,
    /// The words, which count towards the length of the text.
    words: Vec<String>,
    /// Additional terms.
    extras: Vec<String>,
}

impl TermAnalysis {
    fn of(text: &str, side: TermSource) -> Self {
        let german = side == TermSource::Question && stop::is_german(&compared(text));
        let stops = if german { StopWordMode::GermanOut } else { StopWordMode::Out };
        let analysis = Self::with(text, side, stops);
        if analysis.words.is_empty() { Self::with(text, side, StopWordMode::Kept) } else { analysis }
    }

    fn with(text: &str, side: TermSource, stops: StopWordMode) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut analysis = Self { stemmer, side, stops, words: Vec::new(), extras: Vec::new() };
        scan::chains(text, |chain| analysis.take_in(text, chain));
        analysis
    }

    fn take_in(&mut self, text: &str, chain: &[WordRun]) {
        for run in chain {
            let written = &text[run.range.clone()];
            if run.unspaced {
                unspaced::parts(written, |part, apart| match apart {
                    true => unspaced::pairs(part, self.side, &mut self.words, &mut self.extras),
                    false => push_word(&self.stemmer, self.stops, part, &mut self.words),
                });
            } else {
                push_word(&self.stemmer, self.stops, written, &mut self.words);
                identifier::inside(written, |part| {
                    push_word(&self.stemmer, StopWordMode::Out, part, &mut self.extras);
                });
            }
        }
        identifier::wholes(text, chain, |whole| self.extras.push(stemmed(&self.stemmer, whole)));
    }
}

fn push_word(stemmer: &Stemmer, stops: StopWordMode, written: &str, words: &mut Vec<String>) {
    let mut word = folded(written, TERM_CHARS);
    if word.ends_with("'s") {
        word.truncate(word.len() - 2);
    }
    let is_stop = match stops {
        StopWordMode::Kept => false,
        StopWordMode::Out => stop::is_stop(&word),
        StopWordMode::GermanOut => stop::is_stop(&word) || stop::is_german_stop(&word),
    };
    if !word.is_empty() && !is_stop {
        words.push(stemmed(stemmer, word));
    }
}

/// Returns the stem of an English word. A word with characters other than ASCII letters and digits is not English.
fn stemmed(stemmer: &Stemmer, word: String) -> String {
    if word.len() > 2 && word.bytes().all(|b| b.is_ascii_alphanumeric()) {
        match stemmer.stem(&word) {
            std::borrow::Cow::Owned(stem) => return stem,
            std::borrow::Cow::Borrowed(stem) if stem.len() < word.len() => return stem.to_owned(),
            std::borrow::Cow::Borrowed(_) => {}
        }
    }
    word
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        TermAnalysis::of(text, TermSource::Text).words
    }

    fn extras(text: &str) -> Vec<String> {
        TermAnalysis::of(text, TermSource::Text).extras
    }

    /// Returns true if the text contains every term of the question.
    fn finds(question: &str, text: &str) -> bool {
        let there = gathered(std::iter::once(text), std::iter::empty());
        terms(question).iter().all(|term| there.body.contains(term) || there.labels.contains(term))
    }

    #[test]
    fn words_are_folded_stemmed_and_without_stop_words() {
        assert_eq!(terms("The Café's DEPLOYMENTS are running"), ["cafe", "deploy", "run"]);
        assert_eq!(terms("It's what I'm saying, don't you think?"), ["i'm", "say", "think"]);
    }

    #[test]
    fn a_text_of_stop_words_keeps_them() {
        assert_eq!(terms("The Who"), ["the", "who"]);
        assert_eq!(terms("To be, or not to be"), ["to", "be", "or", "not", "to", "be"]);
        assert_eq!(terms("?!"), Vec::<String>::new());
    }

    #[test]
    fn an_identifier_gives_its_parts_and_itself_and_is_no_longer_for_it() {
        assert_eq!(words("run save_notes now"), ["run", "save", "note", "now"]);
        assert_eq!(extras("run save_notes now"), ["savenot"]);
        assert_eq!(words("HTTPServer2"), ["httpserver2"]);
        assert_eq!(extras("HTTPServer2"), ["http", "server"]);
    }

    #[test]
    fn an_identifier_is_one_term_in_every_spelling() {
        for spelling in ["save_notes", "save-notes", "SaveNotes", "saveNotes", "SAVE_NOTES", "savenotes"] {
            assert!(terms(spelling).contains(&"savenot".to_owned()), "{spelling}");
            assert!(finds("savenotes", spelling), "{spelling}");
        }
    }

    #[test]
    fn a_stop_word_counts_in_the_whole() {
        assert_eq!(extras("see the to_do and on_off"), ["todo", "onoff"]);
    }

    #[test]
    fn paths_addresses_and_versions_are_terms_at_every_level() {
        assert_eq!(
            extras("src/text/line_break.rs"),
            ["linebreak", "line_break.rs", "src/text/line_break.rs"]
        );
        let page = extras("see https://www.example.com/a-b?x=1.");
        assert_eq!(page, ["ab", "www.example.com", "example.com/a-b?x=1"]);
        assert_eq!(extras("Ann.Lee@example.org"), ["ann.lee", "example.org", "ann.lee@example.org"]);
        assert_eq!(extras("v0.27 or 1.2.3"), ["0.27", "1.2.3"]);
        assert_eq!(extras("std::collections::HashMap"), ["hash", "map", "std::collections::hashmap"]);
        assert_eq!(extras("the U.S.A. paid 12,500"), ["usa", "12500"]);
        assert!(finds("line_break.rs", "look at src/text/line_break.rs"));
        assert!(terms("0.27").contains(&"0.27".to_owned()) && !terms("0 of 27").contains(&"0.27".to_owned()));
    }

    #[test]
    fn identifiers_are_told_from_words() {
        assert_eq!(
            identifiers("is QRY-88 fixed in advance_stage of src/main.rs?"),
            ["qry88", "advancestag", "src/main.rs"]
        );
        assert_eq!(
            identifiers("error[E0499] UnicodeDecodeError 4be71d0"),
            ["e0499", "unicodedecodeerror", "4be71d0"]
        );
        for none in ["the end-to-end tests of 2026", "Olga's flat, no. 12-14", "what is 2.5?", "IT and DB"] {
            assert_eq!(identifiers(none), Vec::<String>::new(), "{none}");
        }
        let text = "QRY-88: advance_stage in src/main.rs";
        let known = of_text(text);
        assert!(identifiers(text).iter().all(|name| known.contains(name)), "{:?}", identifiers(text));
    }

    #[test]
    fn signs_that_belong_to_a_name_make_a_term() {
        assert_eq!(extras("C++, C# and .NET"), ["c++", "c#", ".net"]);
        assert_eq!(extras("I got an A. Then item #3"), Vec::<String>::new());
    }

    #[test]
    fn names_with_an_apostrophe_are_found_without_it() {
        assert_eq!(words("O'Brien's"), ["o'brien"]);
        assert!(finds("brien", "ask O’Brien") && finds("obrien", "ask O'Brien"));
        assert_eq!(extras("she'll, they've, Caroline's"), Vec::<String>::new());
    }

    #[test]
    fn text_without_spaces_becomes_pairs() {
        assert_eq!(words("東京都に住む"), ["東京", "京都", "都に", "に住", "住む"]);
        assert_eq!(words("Rust言語"), ["rust", "言語"]);
        assert_eq!(words("猫"), ["猫"]);
        assert!(finds("住む", "東京都に住む") && finds("東京", "私は東京都に住む"));
        assert!(finds("커피", "커피를 마셨다") && finds("집", "집에 갔다"));
        assert!(finds("狗", "我的狗叫小白") && terms("犬の話").contains(&"犬".to_owned()));
        assert!(finds("ครับ", "สวัสดีครับ"));
    }

    #[test]
    fn a_full_width_or_decomposed_spelling_is_the_same() {
        assert_eq!(terms("ＡＢＣ １２"), terms("abc 12"));
        assert_eq!(terms("ﾃﾞｰﾀ"), terms("データ"));
        assert_eq!(terms("\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}"), terms("한글"));
    }

    #[test]
    fn labels_do_not_make_a_chunk_longer() {
        let terms = gathered(["Ships daily", "Deploys"].into_iter(), ["ci-cd", "Ann"].into_iter());
        assert_eq!(terms.body, ["ship", "daili", "deploy"]);
        assert_eq!(terms.labels, ["ci", "cd", "cicd", "ann"]);
    }

    #[test]
    fn a_long_text_of_anything_takes_linear_time() {
        for piece in ["a", "a/", "a.b-", "é", "\u{301}", "漢", "'a", "1,000,", "aA", "\u{200d}x", "…", "C++."]
        {
            let text = piece.repeat(100_000 / piece.len());
            let _ = (terms(&text), words(&text));
        }
    }

    proptest! {
        #[test]
        fn a_text_is_found_by_itself(text in "\\PC{0,60}") {
            prop_assert!(finds(&text, &text), "{:?} {:?}", terms(&text), extras(&text));
        }

        #[test]
        fn identifiers_are_found_by_themselves(text in "[a-cA-C0-2_./:+#' \u{301}-]{0,24}") {
            prop_assert!(finds(&text, &text), "{:?} {:?}", terms(&text), extras(&text));
        }

        #[test]
        fn no_term_is_empty_or_too_long(text in "\\PC{0,60}") {
            for term in terms(&text) {
                prop_assert!(!term.is_empty() && term.len() <= 1024, "{}", term);
            }
        }
    }
}
