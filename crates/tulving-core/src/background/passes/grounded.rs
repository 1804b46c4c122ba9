//! Checks that a statement of a language model is based on what was said. A model may invent statements, and a text that it
//! reads may instruct it to do so.
//!
//! This is a filter, not a proof. At least half of the words of the statement, and every name and number in it, must have
//! been said; its subject must have been mentioned; and it may contain a negation only if the source does. The filter
//! prefers losing a good paraphrase to accepting an invention. Every sentence begins with a capital letter, so a capital
//! there does not indicate a name: the word itself decides ([`opens`]).

use std::collections::BTreeSet;

use tulving_text::sentence;
use tulving_text::terms::{is_stop_word, terms};

use super::proactive::{denials, marks, plain};

/// Words that a statement may begin with although nobody said them. The list includes words for the user in other languages,
/// with their articles.
const SUBJECTS: &[&str] = &[
    "user",
    "users",
    "they",
    "their",
    "we",
    "our",
    "team",
    "project",
    "company",
    "der",
    "die",
    "des",
    "nutzer",
    "nutzers",
    "nutzerin",
    "benutzer",
    "benutzers",
    "benutzerin",
    "le",
    "la",
    "utilisateur",
    "utilisatrice",
    "el",
    "usuario",
    "usuaria",
    "il",
    "utente",
    "usuário",
    "пользователь",
    "пользователя",
];

/// First words of sentences about a decision or an event. They are not names.
const OPENERS: &[&str] = &[
    "agreement",
    "appointment",
    "began",
    "bought",
    "broke",
    "built",
    "choice",
    "chose",
    "chosen",
    "currently",
    "cut",
    "deadline",
    "decision",
    "drew",
    "final",
    "finally",
    "fixed",
    "found",
    "gave",
    "goal",
    "got",
    "heard",
    "held",
    "kept",
    "left",
    "lost",
    "made",
    "meeting",
    "met",
    "new",
    "next",
    "note",
    "now",
    "option",
    "outcome",
    "paid",
    "plan",
    "plans",
    "preference",
    "put",
    "ran",
    "read",
    "result",
    "sent",
    "set",
    "shipped",
    "sold",
    "spent",
    "status",
    "still",
    "task",
    "todo",
    "told",
    "took",
    "went",
    "won",
    "wrote",
    "abgesagt",
    "beschlossen",
    "entschieden",
    "entscheidung",
    "festgelegt",
    "geplant",
    "gewählt",
    "vereinbart",
    "verschoben",
    "accord",
    "choisi",
    "convenu",
    "décidé",
    "décision",
    "prévu",
    "acordado",
    "decidido",
    "decisión",
    "elegido",
    "acuerdo",
    "accordo",
    "concordato",
    "deciso",
    "decisione",
    "scelto",
];
/// Names with the ending of a verb.
const NAMES_LIKE_VERBS: &[&str] = &[
    "ahmed",
    "alfred",
    "fareed",
    "gottfried",
    "hamed",
    "hameed",
    "jamshed",
    "jared",
    "javed",
    "khaled",
    "majed",
    "manfred",
    "mildred",
    "mohamed",
    "mohammed",
    "muhammed",
    "naveed",
    "rasheed",
    "rashed",
    "saeed",
    "siegfried",
    "waleed",
    "wilfred",
    "winfred",
    "winifred",
    "zayed",
    "browning",
    "canning",
    "channing",
    "downing",
    "fielding",
    "fleming",
    "golding",
    "harding",
    "hemming",
    "irving",
    "keating",
    "manning",
    "sterling",
    "stirling",
    "xiaoming",
    "yaoming",
];

/// Minimum share of a statement's words that were said, as numerator and denominator.
type WordShare = (usize, usize);
const HALF: WordShare = (1, 2);
/// The share for lines of `MEMORY.md`. It is higher, because that file is part of every prompt.
pub(super) const TWO_THIRDS: WordShare = (2, 3);

/// Returns true if a statement is based on what was said. `speaker` is the name of the speaker.
pub(super) fn is_grounded(statement: &str, said: &str, speaker: Option<&str>) -> bool {
    GroundingText::by(said, speaker).bears(statement, HALF)
}

/// The source text, prepared for checking statements.
pub(super) struct GroundingText {
    words: GroundingWords,
    terms: BTreeSet<String>,
    denies: bool,
}

impl GroundingText {
    pub(super) fn of(said: &str) -> Self {
        Self::by(said, None)
    }

    /// Prepares the words of a speaker. A statement may also mention the name of the speaker.
    fn by(said: &str, speaker: Option<&str>) -> Self {
        let all = format!("{said} {}", speaker.unwrap_or_default());
        Self {
            words: GroundingWords::of(&all),
            terms: terms(&all).into_iter().collect(),
            denies: denials(&plain(said)) > 0,
        }
    }

    /// Returns the terms of the source text.
    pub(super) fn terms(&self) -> &BTreeSet<String> {
        &self.terms
    }

    /// Returns true if a statement is based on the source text, and at least this share of the statement's words occurs in
    /// it.
    pub(super) fn bears(&self, statement: &str, share: WordShare) -> bool {
        let own: Vec<String> = terms(statement).into_iter().filter(|term| !is_subject(term)).collect();
        let shared = own.iter().filter(|term| self.terms.contains(*term)).count();
        !own.is_empty()
            && share.1 * shared >= share.0 * own.len()
            && self.bears_names(statement)
            && (self.denies || denials(&plain(statement)) == 0)
    }

    /// Returns true if every name and number of a statement occurs in the source text.
    pub(super) fn bears_names(&self, statement: &str) -> bool {
        sentence::sentences(statement).into_iter().all(|range| {
            let one = &statement[range];
            self.bears_beginning(one)
                && marks(one).iter().all(|mark| is_subject(mark) || self.words.has(mark))
        })
    }

    /// Returns true if the first word of a sentence is not a name, or occurs in the source text.
    fn bears_beginning(&self, sentence: &str) -> bool {
        let first = sentence.split_whitespace().next().unwrap_or_default();
        !first.starts_with(char::is_uppercase)
            || is_subject(first)
            || self.words.has(first)
            || is_stop_word(&first.to_lowercase())
            || opens(&bare(first))
            || terms(first).iter().all(|term| self.terms.contains(term))
    }
}

/// Returns true if a word may begin a sentence without being a name: a verb without its subject, as in journals ("Decided on
/// option B"), or a word such as `decision`.
fn opens(word: &str) -> bool {
    let is_verb = word.len() > 4 && (word.ends_with("ed") || word.len() > 5 && word.ends_with("ing"));
    OPENERS.contains(&word) || is_verb && !NAMES_LIKE_VERBS.contains(&word)
}

/// Returns true if the source text contains a quote, ignoring case and the amount of white space.
pub(super) fn is_quoted(quote: &str, said: &str) -> bool {
    let even = |text: &str| {
        let text = text.replace(['’', '‘'], "'").replace(['“', '”', '„'], "\"").to_lowercase();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let quote = even(quote);
    let quote = quote.trim_matches(|c: char| !c.is_alphanumeric());
    !quote.is_empty() && even(said).contains(quote)
}

fn is_subject(word: &str) -> bool {
    let word = word.to_lowercase();
    let bare = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(&word);
    SUBJECTS.contains(&bare.strip_prefix("l'").or_else(|| bare.strip_prefix("l’")).unwrap_or(bare))
}

/// The words of a text for comparison: complete words without possessives, and the parts of compounds.
struct GroundingWords(BTreeSet<String>);

impl GroundingWords {
    fn of(text: &str) -> Self {
        let mut all = BTreeSet::new();
        for word in text.split_whitespace() {
            all.insert(bare(word));
            all.extend(word.split(|c: char| !c.is_alphanumeric()).map(bare));
        }
        Self(all)
    }

    fn has(&self, word: &str) -> bool {
        self.0.contains(&bare(word))
    }
}

fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
    word.strip_suffix("'s").map(str::to_owned).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_in_other_words_is_grounded_and_what_was_not_is_not() {
        for (statement, said, holds) in [
            ("User prefers tea over coffee", "By the way, I prefer tea over coffee!", true),
            ("User's wife Anna works at the city library", "my wife anna works at the City library", true),
            ("The staging database runs on port 5433", "staging db: the database runs on port 5433", true),
            ("Anna prefers tea over coffee", "I prefer tea over coffee", false),
            ("User prefers tea over coffee from Nepal", "I prefer tea over coffee", false),
            ("The database runs on port 5432", "The database runs on port 5433", false),
            ("The database runs on port 543", "The database runs on port 5433", false),
            ("User does not drink coffee", "I drink coffee every day", false),
            ("User does not drink coffee", "I don't drink coffee", true),
            ("User owns a boat and two houses abroad", "I drink coffee every day", false),
            (
                "Der Nutzer trinkt lieber Tee als Kaffee am Morgen",
                "Ich trinke lieber Tee als Kaffee am Morgen",
                true,
            ),
            ("L'utilisateur préfère le thé au café", "Je préfère le thé au café", true),
            ("Der Nutzer kennt Anna", "Ich trinke lieber Tee als Kaffee", false),
            ("User mag lieber Tee als Kaffee", "Ich mag lieber Tee als Kaffee", true),
            ("ユーザーはコーヒーより紅茶が好き", "私はコーヒーより紅茶が好きです", true),
            ("Decided on option B for the login page", "let's take option B for the login page", true),
            ("decided on option B for the login page", "let's take option B for the login page", true),
            ("Chose tabs over spaces", "tabs over spaces, please", true),
            (
                "Moved the demo to Friday. Decided on option B",
                "the demo goes to Friday, and option B it is",
                true,
            ),
            ("Decision: option B", "option B it is", true),
            ("Ahmed prefers tea over coffee", "I prefer tea over coffee", false),
            ("Tea over coffee. Anna prefers tea", "I prefer tea over coffee", false),
            ("", "I prefer tea", false),
        ] {
            assert_eq!(is_grounded(statement, said, None), holds, "{statement} / {said}");
        }
        assert!(is_grounded("Ida prefers tea", "I prefer tea", Some("Ida")));
    }

    #[test]
    fn a_quote_is_the_very_words() {
        assert!(is_quoted("i prefer  tea", "By the way,\nI prefer\ntea."));
        assert!(is_quoted("\"I don’t drink coffee.\"", "I don't drink coffee, thanks"));
        assert!(!is_quoted("I prefer coffee", "I prefer tea") && !is_quoted(" . ", "a . b"));
    }
}
