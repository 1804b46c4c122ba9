//! Finds the people in a question: names, and mentions of "me" or "you".
//!
//! A speaker's name occurs in almost every item of that speaker, so it does not distinguish these items. The question
//! is matched without the name, and ranking prefers the items of that speaker. The rules are English and find little in
//! other languages.

mod name;
mod pronoun;

use std::ops::Range;

use self::name::SpeakerNameIndex;
use crate::terms::{self, compared, is_stop_word};
use crate::when::{MONTHS, WEEKDAYS};

/// The grammatical person of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GrammaticalPerson {
    /// The question is about the person who asks.
    First,
    /// The question is about the person or agent that is asked.
    Second,
    /// The question is about neither of them.
    #[default]
    Other,
}

/// The people that a question mentions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuestionPeople {
    /// The question without the names of the speakers.
    pub stripped: String,
    /// The speakers whom the question names, spelled as in the list of speakers.
    pub named: Vec<String>,
    /// The grammatical person of the question.
    pub person: GrammaticalPerson,
}

/// Removes the names of speakers from a question.
///
/// A name is removed together with its possessive, and one space remains. Words for roles, such as "user", are not
/// names. If only stop words would be left, the question is not changed.
pub fn address(question: &str, speakers: &[String]) -> QuestionPeople {
    let words = words(question);
    let names = SpeakerNameIndex::of(speakers);
    let found = names.find(question, &words);
    let mut seen = vec![false; speakers.len()];
    let mut is_new = |one: &usize| !std::mem::replace(&mut seen[*one], true);
    let named = found.iter().flat_map(|name| name.speakers).filter(|one| is_new(one));
    let named = named.map(|one| speakers[*one].clone()).collect();
    let places: Vec<Range<usize>> = found.into_iter().map(|name| name.range).collect();
    let left = without(question, &places);
    let says_something = self::words(&left).iter().any(|word| !is_stop_word(&word.form));
    QuestionPeople {
        stripped: if says_something && !places.is_empty() { left } else { question.to_owned() },
        named,
        person: pronoun::person(question, &words),
    }
}

/// Returns the terms of the proper names in an English question: words with a capital that do not begin the question, except
/// days, months and abbreviations in capitals. In German every noun has a capital, so a German question has none.
pub fn proper_names(question: &str) -> Vec<String> {
    if terms::is_german(question) {
        return Vec::new();
    }
    let is_time = |form: &str| MONTHS.iter().chain(&WEEKDAYS).any(|name| name.eq_ignore_ascii_case(form));
    let mut begins = true;
    let mut names = Vec::new();
    let mut end = 0;
    for QuestionWord { range, form } in words(question) {
        begins |= question[end..range.start].contains(['.', '!', '?', ':', '\n']);
        end = range.end;
        let mut letters = question[range.clone()].chars();
        let capital =
            letters.next().is_some_and(char::is_uppercase) && letters.next().is_some_and(char::is_lowercase);
        let bare = form.split(['\'', '’']).next().unwrap_or(&form);
        if !std::mem::replace(&mut begins, false) && capital && !is_time(bare) && !is_stop_word(&form) {
            names.extend(terms::terms(&question[range]));
        }
    }
    names
}

/// A run of letters and digits.
struct QuestionWord {
    range: Range<usize>,
    /// The word in folded form, for comparison.
    form: String,
}

fn words(text: &str) -> Vec<QuestionWord> {
    let mut words = Vec::new();
    let mut start = None;
    let end = std::iter::once((text.len(), ' '));
    for (at, c) in text.char_indices().chain(end) {
        let inside = c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c);
        match (start, inside) {
            (None, true) => start = Some(at),
            (Some(from), false) => {
                words.push(QuestionWord { range: from..at, form: compared(&text[from..at]) });
                start = None;
            }
            _ => {}
        }
    }
    words
}

/// Extends the range of a name by its `'s`, or by the apostrophe after a final s.
fn possessive(text: &str, name: Range<usize>) -> Range<usize> {
    let after = &text[name.end..];
    let Some(rest) = after.strip_prefix(['\'', '’', '\u{ff07}']) else { return name };
    let ends = |rest: &str| !rest.starts_with(char::is_alphanumeric);
    match rest.strip_prefix(['s', 'S']) {
        Some(rest) if ends(rest) => name.start..text.len() - rest.len(),
        None if ends(rest) && text[..name.end].ends_with(['s', 'S', 'z', 'x']) => {
            name.start..text.len() - rest.len()
        }
        _ => name,
    }
}

/// Returns the text without the given ranges. At each cut, at most one space remains, and no space remains before
/// punctuation or at the ends of the text.
fn without(text: &str, places: &[Range<usize>]) -> String {
    let mut left = String::with_capacity(text.len());
    let mut at = text.len() - text.trim_start().len();
    for (nth, place) in places.iter().enumerate() {
        let kept = closed_up(&left, &text[at..place.start], nth > 0);
        left.push_str(kept);
        at = place.end;
    }
    let last = closed_up(&left, &text[at..], !places.is_empty());
    if last.starts_with(['?', '!', '.', ',', ';', ':']) {
        left.truncate(left.trim_end().len());
    }
    left.push_str(last);
    left.trim().to_owned()
}

/// Returns the text after a cut, without a space or comma that became redundant by the cut.
fn closed_up<'a>(before: &str, after: &'a str, cut: bool) -> &'a str {
    if !cut {
        return after;
    }
    let after = if before.is_empty() { after.trim_start_matches([',', ':', ';']) } else { after };
    if before.is_empty() || before.ends_with(char::is_whitespace) { after.trim_start() } else { after }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn asked(question: &str, speakers: &[&str]) -> QuestionPeople {
        let speakers: Vec<String> = speakers.iter().map(|&name| name.to_owned()).collect();
        address(question, &speakers)
    }

    fn stripped(question: &str, speakers: &[&str]) -> String {
        asked(question, speakers).stripped
    }

    #[test]
    fn proper_names_have_a_capital_that_is_not_of_their_place() {
        assert_eq!(proper_names("Where does Tobias Reiter live?"), ["tobia", "reiter"]);
        assert_eq!(
            proper_names("Lukas called. Does I/O of the CPU slow down on Monday in May?"),
            Vec::<String>::new()
        );
        assert_eq!(proper_names("Was macht der Bruder von Katrin?"), Vec::<String>::new(), "it is German");
    }

    #[test]
    fn a_name_is_taken_out_and_one_space_left() {
        let speakers = ["Caroline", "Melanie"];
        for (question, left) in [
            ("When did Caroline go to the group?", "When did go to the group?"),
            ("What is Caroline's identity?", "What is identity?"),
            ("What is MELANIE’s favourite song?", "What is favourite song?"),
            ("What happened to Caroline?", "What happened to?"),
            ("Caroline, which book did you read?", "which book did you read?"),
            ("Which book did Caroline and Melanie read?", "Which book did and read?"),
            ("Where are carolines books?", "Where are carolines books?"),
        ] {
            assert_eq!(stripped(question, &speakers), left);
        }
    }

    #[test]
    fn speakers_are_named_as_they_were_given_and_once() {
        let found = asked("Did jon or JON's friend Ann call?", &["Ann", "Bob", "Jon"]);
        assert_eq!(found.named, ["Jon", "Ann"]);
        assert_eq!(found.stripped, "Did or friend call?");
    }

    #[test]
    fn a_name_of_several_words_is_found_whole_or_by_the_first() {
        let speakers = ["Jean-Luc Picard", "Ann Lee", "Mary Ann Smith"];
        assert_eq!(stripped("What did Jean-Luc Picard order?", &speakers), "What did order?");
        assert_eq!(stripped("What did Jean-Luc order?", &speakers), "What did order?");
        assert_eq!(stripped("What did Jean order?", &speakers), "What did Jean order?");
        assert_eq!(asked("What did Mary Ann Smith order?", &speakers).named, ["Mary Ann Smith"]);
        assert_eq!(asked("What did ann order?", &speakers).named, ["Ann Lee"]);
    }

    #[test]
    fn a_first_name_that_two_share_names_both() {
        assert_eq!(asked("What did John say?", &["John Doe", "John Roe"]).named, ["John Doe", "John Roe"]);
    }

    #[test]
    fn roles_are_no_names() {
        let speakers = ["user", "Assistant", "AI", "The Model", "User 1", "me", "you"];
        let question = "Did the user tell you or the AI model about user 1?";
        assert_eq!(asked(question, &speakers).named, Vec::<String>::new());
        assert_eq!(stripped(question, &speakers), question);
    }

    #[test]
    fn a_name_that_is_a_common_word_needs_its_capital() {
        let speakers = ["Will", "Mark", "May Lin"];
        assert_eq!(stripped("What will he buy?", &speakers), "What will he buy?");
        assert_eq!(stripped("What did Will buy?", &speakers), "What did buy?");
        assert_eq!(stripped("Will he buy bread?", &speakers), "Will he buy bread?");
        assert_eq!(stripped("Will's bread is where?", &speakers), "bread is where?");
        assert_eq!(stripped("may I mark bread?", &speakers), "may I mark bread?");
        assert_eq!(stripped("Did it rain in May?", &speakers), "Did it rain in May?");
    }

    #[test]
    fn a_question_of_nothing_but_the_name_stays_and_still_names() {
        let found = asked("Who is Caroline?", &["Caroline"]);
        assert_eq!((found.stripped.as_str(), found.named.len()), ("Who is Caroline?", 1));
    }

    #[test]
    fn accents_and_case_do_not_matter_in_names() {
        assert_eq!(stripped("What did jose cook?", &["José"]), "What did cook?");
        assert_eq!(stripped("What did O'Brien's dog eat?", &["O'Brien"]), "What did dog eat?");
        assert_eq!(stripped("Where is James' dog?", &["James"]), "Where is dog?");
    }

    #[test]
    fn the_s_of_a_possessive_is_nobodys_initial() {
        let found = asked("What is Ann's or S's dog?", &["Ann", "S"]);
        assert_eq!(found.named, ["Ann", "S"]);
        assert_eq!(found.stripped, "What is or dog?");
        assert_eq!(asked("Where is Ann's dog?", &["Ann", "S"]).named, ["Ann"]);
    }

    #[test]
    fn without_a_name_nothing_changes() {
        assert_eq!(stripped("  What   is  it? ", &["Ann"]), "  What   is  it? ");
        assert_eq!(stripped("田中さんは何を食べた？", &["田中"]), "田中さんは何を食べた？");
    }

    proptest! {
        #[test]
        fn any_text_and_names_are_safe(
            question in "([ABSabs' ,?]|\\PC){0,40}",
            speakers in prop::collection::vec("([ABSabs' ]|\\PC){0,6}", 0..5),
        ) {
            let found = address(&question, &speakers);
            prop_assert!(found.named.iter().all(|name| speakers.contains(name)));
            prop_assert!(found.stripped.len() <= question.len());
        }
    }

    #[test]
    fn a_long_question_takes_linear_time() {
        let speakers: Vec<String> = (0..2_000).map(|n| format!("Ann Lee {n}")).collect();
        let found = address(&"Ann Lee 7's x ".repeat(5_000), &speakers);
        assert_eq!(found.named, ["Ann Lee 7"]);
    }

    #[test]
    fn a_first_name_that_many_share_is_told_once_however_often_it_is_said() {
        let speakers: Vec<String> = (0..2_000).map(|n| format!("Ann {n}")).collect();
        assert_eq!(address(&"Ann, ".repeat(10_000), &speakers).named, speakers);
    }
}
