//! The note of an answer: nothing seems to answer the question, or somebody else said it. The form of the value that a question
//! asks for.

use tulving_core::model::answer::{Answer, PartName, Strength};
use tulving_core::model::request::{RecallQuestion, SaveRequest};

use super::{ask, bed, part};
use crate::bed::Bed;

const NEAREST: &str = "Nothing stored seems to answer this. Nearest:";
/// Shares one word with [`backups`], and no memory answers it.
const UNANSWERED: &str = "which zebra is kept in the zoo of the capital?";

/// Saves six memories about backups.
fn backups(bed: &Bed) {
    for place in ["Graz", "Linz", "Wels", "Lienz", "Bregenz", "Villach"] {
        bed.save(&bed.user(), format!("Backups in {place} are kept for thirty days").as_str());
    }
}

#[test]
fn what_is_nearest_is_few_has_low_relevance_and_its_explanation_adds_up() {
    let bed = bed();
    let user = bed.user();
    backups(&bed);
    let all = ask(&bed, &user, RecallQuestion::new(UNANSWERED));
    assert_eq!((all.hits.len(), all.evidence, all.note.as_deref()), (6, Some(Strength::None), Some(NEAREST)));
    assert!(all.hits.iter().all(|hit| part(hit, PartName::NoEvidence).is_none()), "only who asks for it");
    let few = RecallQuestion { nearest_limit: Some(3), ..RecallQuestion::new(UNANSWERED) };
    let few = ask(&bed, &user, few);
    assert_eq!((few.hits.len(), few.total_found, few.note.as_deref()), (3, 6, Some(NEAREST)));
    let ids = |answer: &Answer| answer.hits.iter().map(|hit| hit.memory.id).collect::<Vec<_>>();
    assert_eq!(ids(&few), ids(&all)[..3], "the order is the same");
    for (hit, as_usual) in few.hits.iter().zip(&all.hits) {
        let explanation = hit.explanation.as_ref().expect("an explanation");
        let sum: f64 = explanation.parts.iter().map(|part| part.value).sum();
        assert!((explanation.score - sum).abs() < 1e-9, "{}", hit.why);
        assert!(hit.relevance_score.get() <= 0.3 + 1e-9, "{}", hit.relevance_score.get());
        assert!(as_usual.relevance_score > hit.relevance_score, "{}", as_usual.why);
        assert!(part(hit, PartName::NoEvidence).is_some_and(|value| value < 0.0), "{}", hit.why);
    }
}

#[test]
fn an_answer_with_evidence_has_no_note_and_an_empty_one_has_none_either() {
    let bed = bed();
    let user = bed.user();
    backups(&bed);
    let content = "Backups in Graz are kept for thirty days";
    let answered = RecallQuestion { nearest_limit: Some(3), ..RecallQuestion::new(content) };
    let answered = ask(&bed, &user, answered);
    assert_eq!((answered.hits.len(), answered.evidence), (6, Some(Strength::Strong)));
    assert_eq!(answered.note, None);
    assert_eq!(part(&answered.hits[0], PartName::NoEvidence), None);
    let withheld = RecallQuestion { abstain_below: Some(Strength::Weak), ..RecallQuestion::new(UNANSWERED) };
    let withheld = ask(&bed, &user, withheld);
    assert_eq!((withheld.hits.len(), withheld.withheld, withheld.note), (0, 6, None));
}

#[test]
fn what_the_budget_leaves_without_evidence_is_noted_as_nearest() {
    let bed = bed();
    let user = bed.user();
    let long = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda sigma tau upsilon phi omega";
    bed.save(&user, long);
    bed.save(&user, "alpha");
    let whole = ask(&bed, &user, RecallQuestion::new(long));
    assert_eq!((whole.evidence, whole.note), (Some(Strength::Strong), None));
    let little = RecallQuestion { token_budget: Some(3), ..RecallQuestion::new(long) };
    let little = ask(&bed, &user, little);
    assert_eq!((little.hits.len(), little.left_out), (1, 1));
    assert_eq!((little.evidence, little.note.as_deref()), (Some(Strength::None), Some(NEAREST)));
}

#[test]
fn what_somebody_else_said_is_noted() {
    let bed = bed();
    let user = bed.user();
    let said = |speaker: &str, position: i64, text: &str| {
        let turn = SaveRequest {
            conversation: Some("chat".to_owned()),
            position: Some(position),
            speaker: Some(speaker.to_owned()),
            ..SaveRequest::new(text)
        };
        bed.save(&user, turn);
    };
    said("Ada", 1, "In spring I did adopt a puppy from the shelter");
    said("Grace", 2, "The weather is nice in Graz");
    let note = |question: &str| ask(&bed, &user, RecallQuestion::new(question)).note;
    let of_grace = note("Which puppy did Grace adopt from the shelter in spring?");
    assert_eq!(of_grace.as_deref(), Some("Said by Ada, not by Grace."));
    assert_eq!(note("Which puppy did Ada adopt from the shelter in spring?"), None);
    assert_eq!(note("Who did adopt a puppy from the shelter in spring?"), None, "nobody is named");
    said("Grace", 3, "In spring I did adopt a puppy from the shelter too");
    assert_eq!(note("Which puppy did Grace adopt from the shelter in spring?"), None, "she said it too");
}

#[test]
fn a_question_for_a_phone_number_has_no_strong_evidence_without_one() {
    let bed = bed();
    let user = bed.user();
    let question = "What is the phone number of the landlord Ben Maier?";
    let evidence = || ask(&bed, &user, RecallQuestion::new(question)).evidence;
    bed.save(&user, "the phone number of the landlord Ben Maier is in the drawer");
    assert_eq!(evidence(), Some(Strength::Weak));
    bed.save(&user, "the phone number of the landlord Ben Maier is +43 664 1234567");
    assert_eq!(evidence(), Some(Strength::Strong));
}

#[test]
fn a_memory_that_has_only_the_names_of_the_question_is_no_strong_evidence() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "Ask Tobias Reiter");
    let evidence = |question: &str| ask(&bed, &user, RecallQuestion::new(question)).evidence;
    assert_eq!(evidence("Ask Tobias Reiter"), Some(Strength::Strong));
    assert_eq!(evidence("who is Tobias Reiter?"), Some(Strength::Strong), "nothing else is asked");
    assert_eq!(evidence("has Tobias Reiter gills"), Some(Strength::Weak));
}

#[test]
fn an_exact_identifier_that_few_memories_have_is_evidence() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "QRY-88 is about umlauts");
    bed.save(&user, "QRY-89 is about facets");
    let question = "somebody writes that QRY-88 came back again yesterday after lunch";
    let answer = ask(&bed, &user, RecallQuestion::new(question));
    let evidence = |text: &str| {
        let hit = answer.hits.iter().find(|hit| hit.memory.fields.text.content == text);
        hit.map_or(0.0, |hit| hit.explanation.as_ref().expect("an explanation").evidence)
    };
    assert_eq!(answer.hits[0].memory.fields.text.content, "QRY-88 is about umlauts");
    assert!(evidence("QRY-88 is about umlauts") > evidence("QRY-89 is about facets") + 0.25);
}
