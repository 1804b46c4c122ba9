//! The last word of a question as the beginning of a word, for a search while somebody types.

use tulving_core::model::answer::Lane;
use tulving_core::model::request::RecallQuestion;

use super::{ask, bed};
use crate::bed::Bed;

/// Returns the contents that share a word with the question, best first.
fn by_words(bed: &Bed, question: &str, prefix: bool) -> Vec<String> {
    let asked = RecallQuestion { prefix, lanes: vec![Lane::Keyword], ..RecallQuestion::new(question) };
    let answer = ask(bed, &bed.user(), asked);
    answer.hits.into_iter().map(|hit| hit.memory.fields.text.content).collect()
}

#[test]
fn the_last_word_begins_words_only_on_request_and_only_until_it_is_complete() {
    let bed = bed();
    for content in ["The car is parked", "A cargo bike was bought", "Carola likes tea"] {
        bed.save(&bed.user(), content);
    }
    assert_eq!(by_words(&bed, "car", false), ["The car is parked"]);
    let typed = by_words(&bed, "car", true);
    assert_eq!(typed.len(), 3, "{typed:?}");
    assert_eq!(typed[0], "The car is parked", "the word itself comes first");
    assert_eq!(by_words(&bed, "car ", true), ["The car is parked"], "a space ends the word");
    assert_eq!(by_words(&bed, "car?", true), ["The car is parked"], "and so does a sign");
    assert_eq!(by_words(&bed, "cargo car", true)[0], "A cargo bike was bought");
}

#[test]
fn every_letter_of_a_word_finds_it_while_it_is_typed() {
    let bed = bed();
    bed.save(&bed.user(), "The deployments need configuration");
    bed.save(&bed.user(), "The canteen serves soup");
    for word in ["deployments", "configuration"] {
        for typed in 2..=word.len() {
            let question = format!("the {}", &word[..typed]);
            assert_eq!(by_words(&bed, &question, true), ["The deployments need configuration"], "{question}");
        }
    }
}

#[test]
fn a_stop_word_that_is_being_typed_may_begin_another_word() {
    let bed = bed();
    bed.save(&bed.user(), "The release notes are in the wiki");
    bed.save(&bed.user(), "The release is on Friday");
    assert_eq!(by_words(&bed, "release no", true)[0], "The release notes are in the wiki");
}

#[test]
fn an_explanation_of_typed_letters_adds_up() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "The deployments need configuration");
    let asked = RecallQuestion { prefix: true, ..RecallQuestion::new("config") };
    let answer = ask(&bed, &user, asked);
    let explanation = answer.hits[0].explanation.as_ref().expect("an explanation");
    let sum: f64 = explanation.parts.iter().map(|part| part.value).sum();
    assert!((explanation.score - sum).abs() < 1e-9 && explanation.evidence > 0.0, "{}", answer.hits[0].why);
}
