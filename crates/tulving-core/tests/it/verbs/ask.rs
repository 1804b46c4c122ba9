//! recall with a question: by meaning, by word, by relation, and why.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tulving_core::answer::{Answer, Hit, Lane, PartName, Strength};
use tulving_core::error::{Error, Invalid};
use tulving_core::id::MemoryId;
use tulving_core::ports::{Clock as _, Embedder};
use tulving_core::request::{
    Ask, Caller, Filter, Fusion, Mode, RecallRequest, SaveRequest, Sort, UpdateRequest,
};
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{Boundary, MemoryType, Relation, Role, Stability};
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::{BrokenEmbedder, FakeEmbedder};

use crate::bed::{Bed, listing, recall, refused};

pub(super) fn bed() -> Bed {
    with(Arc::new(FakeEmbedder))
}

pub(super) fn with(embedder: Arc<dyn Embedder>) -> Bed {
    Bed::with(ManualClock::ticking(Duration::from_millis(1)), embedder)
}

pub(super) fn request(ask: Ask) -> RecallRequest {
    RecallRequest { mode: Mode::Hybrid(Box::new(ask)), filter: Filter::default(), sort: None, limit: 10 }
}

#[track_caller]
pub(super) fn ask(bed: &Bed, caller: &Caller, ask: Ask) -> Answer {
    bed.engine.recall(caller, &request(ask)).expect("an answer")
}

#[track_caller]
pub(super) fn contents(bed: &Bed, caller: &Caller, question: &str) -> Vec<String> {
    ask(bed, caller, Ask::new(question)).hits.into_iter().map(|hit| hit.memory.edition.text.content).collect()
}

fn part(hit: &Hit, name: PartName) -> Option<f64> {
    let explanation = hit.explanation.as_ref().expect("an explanation");
    explanation.parts.iter().find(|part| part.name == name).map(|part| part.value)
}

fn place(answer: &Answer, id: MemoryId) -> usize {
    answer.hits.iter().position(|hit| hit.memory.id == id).expect("it was found")
}

#[test]
fn a_question_finds_what_shares_its_words_and_ranks_the_fuller_match_first() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "The deploy pipeline runs on every merge to main");
    bed.save(&user, "The canteen serves soup on Fridays");
    bed.save(&user, "Every merge needs a review");
    let found = contents(&bed, &user, "how does the deploy pipeline run after a merge?");
    assert_eq!(found[0], "The deploy pipeline runs on every merge to main");
    assert!(!found[..2].contains(&"The canteen serves soup on Fridays".to_owned()), "{found:?}");
}

#[test]
fn a_store_without_a_model_answers_by_word_and_says_what_is_missing() {
    for bed in [Bed::new(), with(Arc::new(BrokenEmbedder))] {
        let user = bed.user();
        bed.save(&user, "Backups are kept for thirty days");
        let answer = ask(&bed, &user, Ask::new("how long are backups kept?"));
        assert_eq!(answer.hits.len(), 1);
        assert_eq!(answer.missing.len(), 1);
        assert_eq!(answer.missing[0].lane, Lane::Vector);
        assert!(!answer.missing[0].why.is_empty());
    }
}

#[test]
fn what_was_saved_in_bulk_is_found_by_word_at_once_and_the_answer_says_how_many_wait() {
    let bed = bed();
    let user = bed.user();
    let many = (0..40).map(|n| SaveRequest::new(format!("Fact number {n} about turbines"))).collect();
    bed.engine.save_many(&user, many).expect("saved");
    let answer = ask(&bed, &user, Ask::new("turbines"));
    assert_eq!(answer.hits.len(), 10);
    assert!(answer.missing.iter().any(|missing| missing.why.contains("40 memories wait")), "{answer:?}");
    assert_eq!(bed.engine.waiting_to_be_embedded(&user).expect("a count"), 40);
    let embedded = bed.engine.embed_waiting(15).expect("embedded");
    assert_eq!((embedded.done, embedded.left), (15, 25));
    let embedded = bed.engine.embed_waiting(100).expect("embedded");
    assert_eq!((embedded.done, embedded.left), (25, 0));
    assert_eq!(ask(&bed, &user, Ask::new("turbines")).missing, []);
}

#[test]
fn the_parts_of_every_explanation_add_up_to_its_score() {
    let bed = bed();
    let user = bed.user();
    let mut before = None;
    for n in 0..30_i64 {
        let request = SaveRequest {
            conversation: Some(format!("talk {}", n % 3)),
            position: Some(n),
            speaker: Some(["Ada", "Grace"][usize::try_from(n % 2).expect("small")].to_owned()),
            occurred_at: Some(Timestamp::from_micros(1_680_000_000_000_000 + n * 86_400_000_000)),
            importance: Some(f64::from(u8::try_from(n).expect("small")) / 30.0),
            ..SaveRequest::new(format!("The engine number {n} was tested on rig {}. Did it hold?", n % 7))
        };
        let id = bed.save(&user, request).id;
        if let Some(before) = before.replace(id) {
            bed.link(&user, id, before, Relation::CausedBy);
        }
    }
    for fusion in [Fusion::Measured, Fusion::Ranks] {
        let question = Ask { fusion, ..Ask::new("when was Ada's engine number 4 tested in April 2023?") };
        let answer = ask(&bed, &user, question);
        assert_eq!(answer.hits.len(), 10);
        let mut last = f64::INFINITY;
        for hit in &answer.hits {
            let explanation = hit.explanation.as_ref().expect("an explanation");
            let sum: f64 = explanation.parts.iter().map(|part| part.value).sum();
            assert_eq!(sum, explanation.score);
            assert!(explanation.parts.iter().all(|part| part.raw * part.weight == part.value));
            assert!(explanation.score <= last, "{fusion:?}");
            last = explanation.score;
            assert!(hit.why.ends_with(&format!("= {:.3}", explanation.score)), "{}", hit.why);
        }
    }
}

#[test]
fn rank_fusion_is_the_sum_of_one_over_sixty_plus_rank() {
    let bed = bed();
    let user = bed.user();
    let first = bed.save(&user, "coffee beans from Kenya").id;
    let second = bed.save(&user, "coffee").id;
    let linked = bed.save(&user, "the grinder broke").id;
    bed.link(&user, linked, first, Relation::CausedBy);
    let answer = ask(&bed, &user, Ask { fusion: Fusion::Ranks, ..Ask::new("coffee beans from Kenya") });
    assert_eq!(answer.total_found, 3);
    let hit = &answer.hits[place(&answer, first)];
    let explanation = hit.explanation.as_ref().expect("an explanation");
    let due: f64 = explanation.lanes.iter().map(|mark| 1.0 / (60.0 + f64::from(mark.rank))).sum();
    assert_eq!(explanation.score, due);
    let lanes: Vec<Lane> = explanation.lanes.iter().map(|mark| mark.lane).collect();
    assert_eq!(lanes, [Lane::Keyword, Lane::Vector, Lane::Graph]);
    assert!(place(&answer, first) < place(&answer, second));
    let grinder = answer.hits[place(&answer, linked)].explanation.as_ref().expect("an explanation");
    assert!(grinder.lanes.iter().any(|mark| mark.lane == Lane::Graph));
    assert!(hit.relevance_score.get() <= 1.0 && hit.relevance_score.get() > 0.9);
}

#[test]
fn what_is_linked_with_a_good_hit_is_found_with_it() {
    let bed = bed();
    let user = bed.user();
    let outage = bed.save(&user, "The outage of the payment service in March").id;
    let cause = bed.save(&user, "A certificate had run out unnoticed").id;
    bed.link(&user, outage, cause, Relation::CausedBy);
    let answer = ask(&bed, &user, Ask::new("payment service outage"));
    let hit = &answer.hits[place(&answer, cause)];
    assert!(part(hit, PartName::Graph).is_some_and(|value| value > 0.0), "{}", hit.why);
    let only = Ask { lanes: vec![Lane::Keyword], ..Ask::new("payment service outage") };
    assert_eq!(ask(&bed, &user, only).hits.len(), 1);
}

#[test]
fn a_superseded_memory_comes_after_its_successor_and_as_of_then_it_comes_first() {
    let bed = bed();
    let user = bed.user();
    let day = |text: &str| -> Option<Timestamp> { Some(text.parse().expect("a day")) };
    let said = |text: &str, at: &str| SaveRequest { occurred_at: day(at), ..SaveRequest::new(text) };
    let old = bed.save(&user, said("The office wifi password is stored in the red binder", "2023-01-10")).id;
    let new = bed.save(&user, said("The wifi password moved to the vault", "2023-06-01")).id;
    bed.link(&user, new, old, Relation::Updates);
    let question = "where is the office wifi password stored in the binder?";
    let answer = ask(&bed, &user, Ask::new(question));
    assert!(place(&answer, new) < place(&answer, old));
    let hit = &answer.hits[place(&answer, old)];
    assert!(hit.memory.superseded_by == Some(new) && part(hit, PartName::Superseded).is_some());
    let then = ask(&bed, &user, Ask { as_of: day("2023-03-01"), ..Ask::new(question) });
    assert_eq!(then.hits.len(), 1, "the successor did not hold yet");
    assert_eq!(then.hits[0].memory.id, old);
    assert_eq!(part(&then.hits[0], PartName::Superseded), None);
    assert_eq!(ask(&bed, &user, Ask { as_of: day("2022-01-01"), ..Ask::new(question) }).hits, []);
}

#[test]
fn stable_memories_lead_where_the_match_is_weak_and_a_strong_match_leads_whatever_its_stability() {
    let bed = bed();
    let user = bed.user();
    let said = |text: &str, stability| SaveRequest {
        stability: Some(stability),
        memory_type: Some(MemoryType::Fact),
        ..SaveRequest::new(text)
    };
    let volatile = bed.save(&user, said("alpha beta gamma delta lunch one", Stability::Volatile)).id;
    let evolving = bed.save(&user, said("alpha beta gamma delta lunch two", Stability::Evolving)).id;
    let stable = bed.save(&user, said("alpha beta gamma delta lunch three", Stability::Stable)).id;
    let weak = ask(&bed, &user, Ask::new("lunch zebra giraffe quagga okapi"));
    assert!(place(&weak, stable) < place(&weak, evolving));
    assert!(place(&weak, evolving) < place(&weak, volatile));
    let strong = ask(&bed, &user, Ask::new("alpha beta gamma delta lunch one"));
    assert_eq!(place(&strong, volatile), 0);
}

#[test]
fn the_channel_that_the_caller_names_is_preferred() {
    let bed = bed();
    let user = bed.user();
    let said = |channel: &str| SaveRequest {
        conversation: Some(channel.to_owned()),
        ..SaveRequest::new("We meet at ten in the small room")
    };
    let (here, there) = (bed.save(&user, said("here")).id, bed.save(&user, said("there")).id);
    for (channel, first) in [("here", here), ("there", there)] {
        let question = Ask { channel: Some(channel.to_owned()), ..Ask::new("when do we meet?") };
        assert_eq!(ask(&bed, &user, question).hits[0].memory.id, first);
    }
}

#[test]
fn a_time_in_the_question_prefers_what_is_of_that_time() {
    let bed = bed();
    let user = bed.user();
    let mut ids = Vec::new();
    for month in 1..=9 {
        let at = format!("2023-0{month}-12").parse().expect("a day");
        let said = SaveRequest {
            occurred_at: Some(at),
            ..SaveRequest::new(format!("Visited the harbour, walk number {month}"))
        };
        ids.push(bed.save(&user, said).id);
    }
    let answer = ask(&bed, &user, Ask::new("which walk to the harbour was it in May 2023?"));
    assert_eq!(answer.hits[0].memory.id, ids[4], "{}", answer.hits[0].why);
    let asked_at = Some("2023-08-13T09:00:00Z".parse().expect("a time"));
    let answer = ask(&bed, &user, Ask { asked_at, ..Ask::new("which walk to the harbour was yesterday?") });
    assert_eq!(answer.hits[0].memory.id, ids[7], "{}", answer.hits[0].why);
}

#[test]
fn a_question_of_back_then_does_not_mean_what_was_said_later() {
    let bed = bed();
    let user = bed.user();
    let said = |day: &str, conversation: Option<&str>, text: &str| SaveRequest {
        occurred_at: Some(day.parse().expect("a day")),
        conversation: conversation.map(str::to_owned),
        ..SaveRequest::new(text)
    };
    let before = bed.save(&user, said("2023-05-12", Some("may"), "We walked to the harbour on a day")).id;
    let next_day = bed.save(&user, said("2023-05-21", Some("next"), "The harbour was foggy on our walk")).id;
    let later = bed.save(&user, said("2023-08-12", Some("august"), "We walked to the harbour")).id;
    let planned = bed.save(&user, said("2023-09-12", None, "The harbour walk for charity")).id;
    let question = || Ask::new("when was the walk to the harbour?");
    let answer = ask(&bed, &user, question());
    assert_eq!(place(&answer, later), 0, "{}", answer.hits[0].why);
    let asked_at = Some("2023-05-20T22:00:00Z".parse().expect("a time"));
    let answer = ask(&bed, &user, Ask { asked_at, ..question() });
    assert!(place(&answer, before) == 0 && place(&answer, later) > 0, "it is still found");
    for (id, loss) in [(before, None), (next_day, None), (later, Some(-0.5)), (planned, None)] {
        let hit = &answer.hits[place(&answer, id)];
        assert_eq!(part(hit, PartName::Unsaid), loss, "{}", hit.why);
    }
}

#[test]
fn twins_go_behind_what_says_something_else() {
    let bed = bed();
    let user = bed.user();
    let said = |text: &str, speaker: &str| SaveRequest {
        conversation: Some("retro".to_owned()),
        speaker: Some(speaker.to_owned()),
        ..SaveRequest::new(text)
    };
    let twin = "The release train leaves every second Tuesday at noon";
    bed.save(&user, said(twin, "Ada"));
    bed.save(&user, said(&format!("{twin}!"), "Grace"));
    bed.save(&user, said("The release notes are written by hand", "Ada"));
    let found = contents(&bed, &user, "when does the release train leave?");
    assert_eq!(found.len(), 3);
    assert_eq!(found[1], "The release notes are written by hand");
}

#[test]
fn abstaining_gives_an_honest_nothing() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "The cat sleeps on the warm server");
    let far = Ask { abstain_below: Some(Strength::Weak), ..Ask::new("quarterly tax filing deadline") };
    let answer = ask(&bed, &user, far);
    assert_eq!((answer.hits.len(), answer.evidence), (0, Some(Strength::None)));
    let near = Ask { abstain_below: Some(Strength::Strong), ..Ask::new("The cat sleeps on the warm server") };
    let answer = ask(&bed, &user, near);
    assert_eq!((answer.hits.len(), answer.evidence, answer.withheld), (1, Some(Strength::Strong), 0));
}

#[test]
fn a_token_budget_is_kept_and_what_has_no_room_is_counted() {
    let bed = bed();
    let user = bed.user();
    for n in 0..8 {
        bed.save(
            &user,
            format!("Note {n} about the greenhouse: {}", "water the tomatoes ".repeat(4)).as_str(),
        );
    }
    bed.save(&user, "Tomatoes like it warm");
    let hits = |budget| {
        let asked = Ask { token_budget: Some(budget), ..Ask::new("greenhouse tomatoes") };
        let answer = ask(&bed, &user, asked);
        (answer.hits.len(), answer.left_out)
    };
    assert_eq!((hits(1), hits(10_000)), ((0, 9), (9, 0)));
    assert_eq!(hits(70), (3, 6), "what is shorter still has room");
}

#[test]
fn what_has_no_room_lends_no_evidence_to_what_is_given() {
    let bed = bed();
    let user = bed.user();
    let question = "Deploys of the website go through make ship after two approvals by reviewers";
    bed.save(&user, question);
    bed.save(&user, "b website");
    let given = |token_budget, abstain_below| {
        let answer = ask(&bed, &user, Ask { token_budget, abstain_below, ..Ask::new(question) });
        (answer.hits.len(), answer.evidence.expect("a question"), answer.left_out, answer.withheld)
    };
    assert_eq!(given(None, None), (2, Strength::Strong, 0, 0));
    assert_eq!(given(Some(100), None), (2, Strength::Strong, 0, 0));
    assert_eq!(given(Some(4), None), (1, Strength::None, 1, 0), "what is left is not about it");
    assert_eq!(given(Some(1), None), (0, Strength::None, 2, 0), "nothing is about nothing");
    assert_eq!(given(Some(4), Some(Strength::Weak)), (0, Strength::None, 2, 0));
    assert_eq!(given(Some(100), Some(Strength::Weak)), (2, Strength::Strong, 0, 0));
}

#[test]
fn within_a_token_budget_a_long_content_is_cut_to_its_section() {
    let bed = bed();
    let user = bed.user();
    let part =
        |name: &str| format!("## {name}\n\n{}\n\n", format!("The {name} is described here. ").repeat(30));
    let text = ["pump", "valve", "hose"].map(part).concat();
    let text = text.trim_end();
    bed.save(&user, text);
    bed.engine.embed_waiting(10).expect("embedded");
    let hit = |token_budget| {
        ask(&bed, &user, Ask { token_budget, ..Ask::new("the valve") }).hits.pop().expect("found")
    };
    let (whole, short) = (hit(None), hit(Some(1_000)));
    assert_eq!((whole.cut, whole.memory.edition.text.content.as_str()), (false, text));
    let section = short.section.expect("a section");
    assert!(short.cut && short.memory.edition.text.content == text[section.start..section.end]);
}

#[test]
fn as_of_a_date_a_memory_has_the_words_that_it_had_then() {
    let bed = bed();
    let user = bed.user();
    let keyed = |text: &str| SaveRequest { key: Some("ceo".to_owned()), ..SaveRequest::new(text) };
    let first = bed.save(&user, keyed("The head of the company is Ann")).id;
    bed.clock.advance(Duration::from_secs(3600));
    let then = bed.clock.now();
    bed.clock.advance(Duration::from_secs(3600));
    assert_eq!(bed.save(&user, keyed("The head of the company is Bob")).id, first);
    let content = |as_of| {
        let answer = ask(&bed, &user, Ask { as_of, ..Ask::new("who is head of the company?") });
        answer.hits[0].memory.edition.text.content.clone()
    };
    assert_eq!(content(Some(then)), "The head of the company is Ann");
    assert_eq!(content(None), "The head of the company is Bob");
}

#[test]
fn as_of_a_date_only_what_was_superseded_by_then_is_left_out_and_nothing_else_is_marked() {
    let bed = bed();
    let user = bed.user();
    let office = |street: &str, day: &str| SaveRequest {
        occurred_at: Some(day.parse().expect("a day")),
        ..SaveRequest::new(format!("The office is at {street}"))
    };
    let ids = [
        ("Technoparkstrasse 1", "2024-01-10"),
        ("Hardturmstrasse 161", "2025-03-01"),
        ("Europaallee 21", "2026-02-01"),
    ]
    .map(|(street, day)| bed.save(&user, office(street, day)).id);
    bed.link(&user, ids[1], ids[0], Relation::Updates);
    bed.link(&user, ids[2], ids[1], Relation::Updates);
    let found = |day: &str| -> Vec<(MemoryId, Option<MemoryId>)> {
        let as_of = Some(day.parse().expect("a day"));
        let answer = ask(&bed, &user, Ask { as_of, ..Ask::new("where is the office?") });
        answer.hits.iter().map(|hit| (hit.memory.id, hit.memory.superseded_by)).collect()
    };
    assert_eq!(found("2024-06-01"), [(ids[0], None)]);
    assert_eq!(found("2025-06-01"), [(ids[1], None)]);
    assert_eq!(found("2026-06-01"), [(ids[2], None)]);
}

/// The ids that are found as of a day.
fn as_of(bed: &Bed, user: &Caller, question: &str, day: &str) -> Vec<MemoryId> {
    let as_of = Some(day.parse().expect("a day"));
    let answer = ask(bed, user, Ask { as_of, ..Ask::new(question) });
    answer.hits.iter().map(|hit| hit.memory.id).collect()
}

#[test]
fn what_was_superseded_stays_so_where_its_successor_ended_or_was_replaced_in_turn() {
    let bed = bed();
    let user = bed.user();
    let lives = |place: &str, from: &str, until: Option<&str>| SaveRequest {
        valid_from: Some(from.parse().expect("a day")),
        valid_until: until.map(|day| day.parse().expect("a day")),
        ..SaveRequest::new(format!("Marta lives in {place}"))
    };
    let berlin = bed.save(&user, lives("Berlin", "2020-01-01", None)).id;
    let munich = bed.save(&user, lives("Munich", "2021-01-01", Some("2022-01-01"))).id;
    bed.link(&user, munich, berlin, Relation::Updates);
    let question = "where does Marta live?";
    assert_eq!(as_of(&bed, &user, question, "2020-06-01"), [berlin]);
    assert_eq!(as_of(&bed, &user, question, "2021-06-01"), [munich]);
    assert_eq!(as_of(&bed, &user, question, "2022-06-01"), [], "she had left Berlin before she left Munich");
    let rome = bed.save(&user, lives("Rome", "2022-09-01", None)).id;
    bed.link(&user, rome, munich, Relation::Updates);
    assert_eq!(as_of(&bed, &user, question, "2022-06-01"), []);
    assert_eq!(as_of(&bed, &user, question, "2023-06-01"), [rome]);
    // Nor now, where the one between them does not count any more.
    for archived in [false, true] {
        if archived {
            bed.engine.archive(&user, munich.into()).expect("archived");
            assert_eq!(as_of(&bed, &user, question, "2023-06-01"), [rome]);
        }
        let answer = ask(&bed, &user, Ask::new(question));
        assert!(place(&answer, rome) < place(&answer, berlin));
        assert_eq!(answer.hits[place(&answer, berlin)].memory.superseded_by, Some(rome));
    }
}

#[test]
fn a_successor_that_has_expired_supersedes_nothing_any_more() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, "The museum opens at nine").id;
    let soon = bed.clock.now().as_micros() + 3_600_000_000;
    let closed = SaveRequest {
        expires_at: Some(Timestamp::from_micros(soon)),
        ..SaveRequest::new("The museum is closed today")
    };
    let closed = bed.save(&user, closed).id;
    bed.link(&user, closed, old, Relation::Updates);
    let superseded = || {
        let answer = ask(&bed, &user, Ask::new("when does the museum open?"));
        let hit = answer.hits.into_iter().find(|hit| hit.memory.id == old).expect("found");
        (hit.memory.superseded_by, part(&hit, PartName::Superseded).is_some())
    };
    assert_eq!(superseded(), (Some(closed), true));
    bed.clock.advance(Duration::from_secs(7200));
    assert_eq!(superseded(), (None, false));
}

/// More memories than any lane holds, each of which updates the one before, a day later.
fn status_of_each_day(bed: &Bed, user: &Caller, days: u32) -> Vec<MemoryId> {
    let mut ids: Vec<MemoryId> = Vec::new();
    let start = "2024-01-01".parse::<Timestamp>().expect("a day").as_micros();
    for day in 0..days {
        let at = Timestamp::from_micros(start + i64::from(day) * 86_400_000_000);
        let said = format!("The status of the migration project on day {day} is at step {day}");
        let request = SaveRequest { occurred_at: Some(at), ..SaveRequest::new(said) };
        let id = bed.save(user, request).id;
        if let Some(before) = ids.last() {
            bed.link(user, id, *before, Relation::Updates);
        }
        ids.push(id);
    }
    ids
}

#[test]
fn the_newest_of_a_long_chain_leads_whatever_the_time() {
    let bed = bed();
    let user = bed.user();
    let ids = status_of_each_day(&bed, &user, 250);
    let question = "what is the status of the migration project?";
    let answer = ask(&bed, &user, Ask::new(question));
    assert_eq!((answer.hits[0].memory.id, answer.hits[0].memory.superseded_by), (ids[249], None));
    assert!(answer.evidence > Some(Strength::None), "{:?}", answer.evidence);
    let scores: Vec<f64> = answer.hits.iter().map(|hit| hit.relevance_score.get()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_eq!(as_of(&bed, &user, question, "2024-04-10"), [ids[100]]);
}

#[test]
fn one_of_what_was_replaced_is_enough_beside_what_is_true() {
    let bed = bed();
    let user = bed.user();
    let ids = status_of_each_day(&bed, &user, 60);
    let other = bed.save(&user, "The migration project is led by Ada").id;
    let answer = ask(&bed, &user, Ask::new("what is the status of the migration project?"));
    assert_eq!(answer.hits.len(), 10);
    let stands = |hit: &&Hit| hit.memory.superseded_by.is_none();
    assert_eq!(answer.hits.iter().take_while(stands).count(), 1);
    assert_eq!((place(&answer, ids[59]), place(&answer, other)), (0, 2));
    let scores: Vec<f64> = answer.hits.iter().map(|hit| hit.relevance_score.get()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[test]
fn what_took_the_place_of_a_match_comes_in_its_place_also_where_it_shares_no_word() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, "Deploys go to Heroku").id;
    let new = bed.save(&user, "Everything ships with Fly.io nowadays").id;
    let hidden = bed
        .save(&user, SaveRequest { tags: Some(vec!["other".to_owned()]), ..SaveRequest::new("Kamal it is") });
    bed.link(&user, new, old, Relation::Updates);
    let only = Ask { lanes: vec![Lane::Keyword], ..Ask::new("where do deploys go?") };
    let answer = ask(&bed, &user, only.clone());
    let found: Vec<MemoryId> = answer.hits.iter().map(|hit| hit.memory.id).collect();
    assert_eq!(found, [new, old]);
    assert!(part(&answer.hits[0], PartName::Succession).is_some_and(|value| value > 0.0));
    assert!(
        answer.hits[0].why.starts_with("in the place of what was found: what it updates"),
        "{}",
        answer.hits[0].why
    );
    // Also where it is found, and less so than something else.
    let between = bed.save(&user, "Deploys of the blog go elsewhere").id;
    let both = Ask {
        lanes: vec![Lane::Keyword, Lane::Vector],
        ..Ask::new("where do Deploys go, to Heroku or with Fly.io?")
    };
    let answer = ask(&bed, &user, both);
    assert!(place(&answer, new) < place(&answer, between), "{answer:?}");
    assert!(part(&answer.hits[place(&answer, new)], PartName::Succession).is_some_and(|value| value > 0.0));
    // Within the filter only.
    bed.link(&user, hidden.id, new, Relation::Updates);
    let mut asked = request(only);
    asked.filter.tags = vec!["nothing has it".to_owned()];
    assert_eq!(bed.engine.recall(&user, &asked).expect("an answer").hits, []);
}

#[test]
fn lists_and_reads_mark_as_superseded_what_recall_does() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, "The office is in Berne").id;
    let soon = Timestamp::from_micros(bed.clock.now().as_micros() + 3_600_000_000);
    let new = SaveRequest { valid_from: Some(soon), ..SaveRequest::new("The office is in Basel") };
    let new = bed.save(&user, new).id;
    bed.link(&user, new, old, Relation::Updates);
    let marked = || {
        let listed = bed.engine.list(&user, &listing(Sort::Newest, 10)).expect("a page").memories;
        let listed = listed.into_iter().find(|memory| memory.id == old).expect("listed").superseded_by;
        let by_use = bed.engine.list(&user, &listing(Sort::Accessed, 10)).expect("a page").memories;
        let by_use = by_use.into_iter().find(|memory| memory.id == old).expect("listed").superseded_by;
        let recent = bed.engine.recall(&user, &recall(Mode::Recent)).expect("an answer");
        let asked = ask(&bed, &user, Ask::new("where is the office?"));
        let of = |answer: &Answer| answer.hits[place(answer, old)].memory.superseded_by;
        let tagged = UpdateRequest { tags: Some(vec!["town".to_owned()]), ..UpdateRequest::default() };
        let edited = bed.engine.update(&user, old.into(), &tagged).expect("edited").memory.superseded_by;
        let pinned = bed.engine.pin(&user, old.into()).expect("pinned").superseded_by;
        let all =
            [bed.get(&user, old).superseded_by, listed, by_use, of(&recent), of(&asked), edited, pinned];
        assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{all:?}");
        all[0]
    };
    assert_eq!(marked(), None, "it does not hold yet");
    bed.clock.advance(Duration::from_secs(7200));
    assert_eq!(marked(), Some(new));
    bed.engine.archive(&user, new.into()).expect("archived");
    assert_eq!(marked(), None, "somebody put it away");
}

#[test]
fn scores_fall_in_the_order_of_the_hits_also_where_something_is_superseded() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, "The office is at Technoparkstrasse").id;
    let new = bed.save(&user, "We moved, it is Europaallee where the office is").id;
    bed.save(&user, "The office plants are watered on Friday");
    bed.link(&user, new, old, Relation::Updates);
    let answer = ask(&bed, &user, Ask::new("office at Technoparkstrasse"));
    assert!(place(&answer, new) < place(&answer, old));
    let scores: Vec<f64> = answer.hits.iter().map(|hit| hit.relevance_score.get()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[test]
fn what_does_not_hold_any_more_loses_to_what_holds() {
    let bed = bed();
    let user = bed.user();
    let permit = |number: &str, until: Option<&str>| SaveRequest {
        valid_from: Some("2019-01-01".parse().expect("a day")),
        valid_until: until.map(|day| day.parse().expect("a day")),
        ..SaveRequest::new(format!("The parking permit has number {number}"))
    };
    let lapsed = bed.save(&user, permit("4711", Some("2019-12-31"))).id;
    let valid = bed.save(&user, permit("9921", None)).id;
    let answer = ask(&bed, &user, Ask::new("which parking permit number 4711?"));
    let hit = &answer.hits[place(&answer, lapsed)];
    assert_eq!(part(hit, PartName::Lapsed), Some(-0.15));
    assert_eq!(part(&answer.hits[place(&answer, valid)], PartName::Lapsed), None);
}

#[test]
fn what_has_nothing_to_do_with_the_question_is_not_found() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "Project Heron replaces the billing system");
    let linked = bed.save(&user, "Four hundred thousand francs were set aside").id;
    for n in 0..12 {
        bed.save(&user, format!("Tomatoes in row {n} want water").as_str());
    }
    let heron = ask(&bed, &user, Ask::new("Project Heron")).hits[0].memory.id;
    bed.link(&user, linked, heron, Relation::CausedBy);
    let answer =
        ask(&bed, &user, Ask { lanes: vec![Lane::Keyword, Lane::Graph], ..Ask::new("Project Heron") });
    let found: Vec<MemoryId> = answer.hits.iter().map(|hit| hit.memory.id).collect();
    assert_eq!((found, answer.total_found), (vec![heron, linked], 2));
    assert!(answer.hits[1].why.starts_with("by its links: "), "{}", answer.hits[1].why);
}

#[test]
fn the_best_section_of_a_long_memory_is_named() {
    let bed = bed();
    let user = bed.user();
    let filler = |word: &str| format!("{word} is described here at some length. ").repeat(30);
    let text = format!(
        "# Manual\n\n## Pumps\n\n{}\n\n## Valves\n\n{} The relief valve opens at nine bar.\n\n## Hoses\n\n{}",
        filler("A pump"),
        filler("A valve"),
        filler("A hose")
    );
    bed.save(&user, text.as_str());
    bed.engine.embed_waiting(10).expect("embedded");
    let answer = ask(&bed, &user, Ask::new("at how many bar does the relief valve open?"));
    let hit = &answer.hits[0];
    let section = hit.section.as_ref().expect("a section");
    let shown = &hit.memory.edition.text.content[section.start..section.end];
    assert!(shown.contains("relief valve opens at nine bar"), "{shown}");
    assert!(shown.len() < text.len() / 2);
    assert_eq!(section.heading_path, ["Manual", "Valves"]);
}

/// A manual with a section for each name; those in `about` tell of the relief valve.
fn manual(names: &[&str], about: &[&str]) -> String {
    let section = |name: &&str| {
        let filler = format!("The {name} is cleaned and oiled with care. ").repeat(18);
        let told = if about.contains(name) { "The relief valve opens at nine bar there. " } else { "" };
        format!("## {name}\n\n{told}{filler}\n\n")
    };
    format!("# Manual\n\n{}", names.iter().map(section).collect::<String>())
}

#[test]
fn further_good_sections_stand_below_the_best_one() {
    let bed = bed();
    let user = bed.user();
    let names = ["Pump", "Boiler", "Hose", "Tank", "Motor", "Fan", "Door"];
    let text = manual(&names, &["Boiler", "Tank", "Fan", "Door", "Motor"]);
    bed.save(&user, text.as_str());
    bed.save(&user, "The relief valve opens at nine bar");
    bed.engine.embed_waiting(10).expect("embedded");
    for fusion in [Fusion::Measured, Fusion::Ranks] {
        let answer = ask(&bed, &user, Ask { fusion, ..Ask::new("The relief valve opens at nine bar there") });
        assert_eq!(answer.hits.len(), 2);
        let long = answer.hits.iter().find(|hit| hit.section.is_some()).expect("the manual");
        let best = long.section.as_ref().expect("a section");
        assert_eq!(long.further.len(), 3, "{:?}", long.further);
        let mut above = long.relevance_score.get();
        for further in &long.further {
            let place = &further.section;
            assert_eq!(further.content, text[place.start..place.end]);
            assert!(further.content.contains("opens at nine bar"), "{}", further.content);
            let first = text.lines().nth(place.line - 1).expect("a line");
            assert!(further.content.starts_with(first) && first == format!("## {}", place.heading_path[1]));
            assert_ne!(place.start, best.start);
            assert!(further.relevance_score.get() <= above);
            above = further.relevance_score.get();
        }
        let short = answer.hits.iter().find(|hit| hit.section.is_none()).expect("the other");
        assert_eq!(short.further, []);
    }
    let answer = ask(&bed, &user, Ask::new("the Hose is cleaned and oiled with care"));
    assert!(answer.hits[0].further.iter().all(|further| further.section.heading_path[1] != "Hose"));
}

#[test]
fn further_sections_are_the_first_to_have_no_room_in_a_budget() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, manual(&["Pump", "Boiler", "Hose", "Tank"], &["Boiler", "Tank"]).as_str());
    bed.save(
        &user,
        format!("The relief valve opens at nine bar. {}", "It was bought used. ".repeat(12)).as_str(),
    );
    bed.engine.embed_waiting(10).expect("embedded");
    let given = |token_budget| {
        let question = "The relief valve opens at nine bar there";
        let answer = ask(&bed, &user, Ask { token_budget, ..Ask::new(question) });
        let further: Vec<usize> = answer.hits.iter().map(|hit| hit.further.len()).collect();
        (further.iter().sum::<usize>(), further.len(), answer.left_out)
    };
    assert_eq!(given(None), (1, 2, 0));
    assert_eq!(given(Some(1_000)), (1, 2, 0));
    assert_eq!(given(Some(400)), (0, 2, 0), "both memories, and nothing further");
}

#[test]
fn nobody_finds_what_is_private_to_another_or_in_another_space() {
    let bed = bed();
    let user = bed.user();
    let hub = bed.hub("lab");
    let (ada, grace) = (bed.member("ada", hub, Role::Writer), bed.member("grace", hub, Role::Writer));
    let secret = |boundary| SaveRequest {
        boundary: Some(boundary),
        ..SaveRequest::new(format!("The combination of the safe, {boundary}"))
    };
    let private = bed.save(&ada, secret(Boundary::Private)).id;
    let shared = bed.save(&ada, secret(Boundary::Hub)).id;
    let own = bed.save(&user, "The combination of the bicycle lock").id;
    bed.link(&ada, shared, private, Relation::CausedBy);
    for fusion in [Fusion::Measured, Fusion::Ranks] {
        let found = |caller: &Caller| -> Vec<MemoryId> {
            let question = Ask { fusion, ..Ask::new("combination of the safe") };
            let mut ids: Vec<_> = ask(&bed, caller, question).hits.iter().map(|hit| hit.memory.id).collect();
            ids.sort();
            ids
        };
        assert_eq!(found(&ada), [private, shared]);
        assert_eq!(found(&grace), [shared]);
        assert_eq!(found(&user), [shared, own], "the user is an admin of the hub");
    }
}

#[test]
fn a_filter_holds_for_what_a_question_finds() {
    let bed = bed();
    let user = bed.user();
    let tagged =
        SaveRequest { tags: Some(vec!["garden".to_owned()]), ..SaveRequest::new("Roses need pruning") };
    let tagged = bed.save(&user, tagged).id;
    bed.save(&user, "Roses were on sale");
    let mut asked = request(Ask::new("roses"));
    asked.filter.tags = vec!["garden".to_owned()];
    let found = bed.engine.recall(&user, &asked).expect("an answer").hits;
    assert_eq!(found.iter().map(|hit| hit.memory.id).collect::<Vec<_>>(), [tagged]);
}

#[test]
fn an_empty_question_is_refused() {
    let bed = bed();
    let empty = bed.engine.recall(&bed.user(), &request(Ask::new("  ")));
    refused!(empty, Error::Invalid(Invalid::Empty { .. }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_a_question(question in "\\PC{1,60}") {
        thread_local! {
            static BED: Bed = bed();
        }
        BED.with(|bed| {
            let user = bed.user();
            bed.save(&user, "AND OR NOT \"quoted\" field:value (parenthesis) *star* ~tilde^2");
            let answer = bed.engine.recall(&user, &request(Ask::new(question.clone())));
            prop_assert!(answer.is_ok() || question.trim().is_empty());
            Ok(())
        })?;
    }
}

#[test]
fn what_nothing_speaks_for_is_not_noted_as_used() {
    let bed = bed();
    let user = bed.user();
    let id = bed.save(&user, "Backups are kept for thirty days").id;
    let answer = ask(&bed, &user, Ask::new("which zebra is kept in the zoo of the capital?"));
    assert_eq!((answer.evidence, answer.hits.len()), (Some(Strength::None), 1));
    bed.engine.flush().expect("flushed");
    assert_eq!(bed.get(&user, id).usage.access_count, 0);
    ask(&bed, &user, Ask::new("Backups are kept for thirty days"));
    bed.engine.flush().expect("flushed");
    assert_eq!(bed.get(&user, id).usage.access_count, 1);
}

#[test]
fn a_store_that_failed_was_told_as_a_model_without_a_name() {
    for nth in 1.. {
        let bed = bed();
        let user = bed.user();
        bed.save(&user, "Backups are kept for thirty days");
        bed.store.fail_at(nth);
        if let Ok(answer) = bed.engine.recall(&user, &request(Ask::new("how long are backups kept?"))) {
            assert!(
                answer.missing.iter().all(|missing| missing.lane != Lane::Vector),
                "call {nth}: {answer:?}"
            );
        }
        if !bed.store.has_failed() {
            break;
        }
    }
}

#[test]
fn a_store_that_fails_under_the_index_is_an_error_and_not_an_empty_answer() {
    for nth in 1.. {
        let bed = bed();
        let user = bed.user();
        bed.save(&user, "Backups are kept for thirty days");
        bed.store.fail_at(nth);
        let got = bed.engine.recall(&user, &request(Ask::new("how long are backups kept?")));
        match got {
            Err(Error::Store(_)) => {}
            Ok(answer) => assert_eq!(answer.hits.len(), 1, "call {nth}: {answer:?}"),
            Err(error) => panic!("call {nth}: {error}"),
        }
        if !bed.store.has_failed() {
            assert!(nth > 3, "the index reads the store");
            break;
        }
    }
}
