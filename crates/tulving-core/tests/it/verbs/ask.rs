//! recall with a question: by meaning, by word, by relation, and why.

/// The note of an answer, and the form of the value that a question asks for.
mod notes;
/// The last word as the beginning of a word.
mod prefix;
/// The shown part of a memory.
mod sections;
/// Memories that replaced others.
mod succession;
/// The texts by which a question is searched.
mod wording;

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use tulving_core::model::answer::{Answer, Hit, Lane, PartName, Strength};
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::MemoryId;
use tulving_core::model::request::{
    Caller, Filter, Fusion, Mode, RecallQuestion, RecallRequest, SaveRequest,
};
use tulving_core::model::time::{Timestamp, Zone};
use tulving_core::model::vocabulary::{Boundary, MemoryType, Relation, Role, Stability};
use tulving_testkit::embedder::{BrokenEmbedder, FakeEmbedder};

use crate::bed::{Bed, refused};

pub(super) fn bed() -> Bed {
    Bed::embedding(Arc::new(FakeEmbedder))
}

pub(super) fn request(ask: RecallQuestion) -> RecallRequest {
    RecallRequest { mode: Mode::Hybrid(Box::new(ask)), filter: Filter::default(), sort: None, limit: 10 }
}

#[track_caller]
pub(super) fn ask(bed: &Bed, caller: &Caller, ask: RecallQuestion) -> Answer {
    bed.engine.recall(caller, &request(ask)).expect("an answer")
}

#[track_caller]
pub(super) fn contents(bed: &Bed, caller: &Caller, question: &str) -> Vec<String> {
    ask(bed, caller, RecallQuestion::new(question))
        .hits
        .into_iter()
        .map(|hit| hit.memory.fields.text.content)
        .collect()
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
    for bed in [Bed::new(), Bed::embedding(Arc::new(BrokenEmbedder))] {
        let user = bed.user();
        bed.save(&user, "Backups are kept for thirty days");
        let answer = ask(&bed, &user, RecallQuestion::new("how long are backups kept?"));
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
    let answer = ask(&bed, &user, RecallQuestion::new("turbines"));
    assert_eq!(answer.hits.len(), 10);
    assert!(answer.missing.iter().any(|missing| missing.why.contains("40 memories wait")), "{answer:?}");
    assert_eq!(bed.engine.waiting_to_be_embedded(&user).expect("a count"), 40);
    let embedded = bed.engine.embed_waiting(15).expect("embedded");
    assert_eq!((embedded.done, embedded.left), (15, 25));
    let embedded = bed.engine.embed_waiting(100).expect("embedded");
    assert_eq!((embedded.done, embedded.left), (25, 0));
    assert_eq!(ask(&bed, &user, RecallQuestion::new("turbines")).missing, []);
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
        let id = bed.save(&user, request).memory.id;
        if let Some(before) = before.replace(id) {
            bed.link(&user, id, before, Relation::CausedBy);
        }
    }
    for fusion in [Fusion::Measured, Fusion::Ranks] {
        let question = RecallQuestion {
            fusion,
            ..RecallQuestion::new("when was Ada's engine number 4 tested in April 2023?")
        };
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
            // Scores by rank are small, and printed with one more digit.
            let digits = if explanation.score < 0.1 { 4 } else { 3 };
            assert!(hit.why.ends_with(&format!("= {:.digits$}", explanation.score)), "{}", hit.why);
        }
    }
}

#[test]
fn rank_fusion_is_the_sum_of_one_over_sixty_plus_rank() {
    let bed = bed();
    let user = bed.user();
    let first = bed.save(&user, "coffee beans from Kenya").memory.id;
    let second = bed.save(&user, "coffee").memory.id;
    let linked = bed.save(&user, "the grinder broke").memory.id;
    bed.link(&user, linked, first, Relation::CausedBy);
    let answer = ask(
        &bed,
        &user,
        RecallQuestion { fusion: Fusion::Ranks, ..RecallQuestion::new("coffee beans from Kenya") },
    );
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
    let outage = bed.save(&user, "The outage of the payment service in March").memory.id;
    let cause = bed.save(&user, "A certificate had run out unnoticed").memory.id;
    bed.link(&user, outage, cause, Relation::CausedBy);
    let answer = ask(&bed, &user, RecallQuestion::new("payment service outage"));
    let hit = &answer.hits[place(&answer, cause)];
    assert!(part(hit, PartName::Graph).is_some_and(|value| value > 0.0), "{}", hit.why);
    let only = RecallQuestion { lanes: vec![Lane::Keyword], ..RecallQuestion::new("payment service outage") };
    assert_eq!(ask(&bed, &user, only).hits.len(), 1);
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
    let volatile = bed.save(&user, said("alpha beta gamma delta lunch one", Stability::Volatile)).memory.id;
    let evolving = bed.save(&user, said("alpha beta gamma delta lunch two", Stability::Evolving)).memory.id;
    let stable = bed.save(&user, said("alpha beta gamma delta lunch three", Stability::Stable)).memory.id;
    let weak = ask(&bed, &user, RecallQuestion::new("lunch zebra giraffe quagga okapi"));
    assert!(place(&weak, stable) < place(&weak, evolving));
    assert!(place(&weak, evolving) < place(&weak, volatile));
    let strong = ask(&bed, &user, RecallQuestion::new("alpha beta gamma delta lunch one"));
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
    let (here, there) = (bed.save(&user, said("here")).memory.id, bed.save(&user, said("there")).memory.id);
    for (channel, first) in [("here", here), ("there", there)] {
        let question =
            RecallQuestion { channel: Some(channel.to_owned()), ..RecallQuestion::new("when do we meet?") };
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
        ids.push(bed.save(&user, said).memory.id);
    }
    let answer = ask(&bed, &user, RecallQuestion::new("which walk to the harbour was it in May 2023?"));
    assert_eq!(answer.hits[0].memory.id, ids[4], "{}", answer.hits[0].why);
    let asked_at = Some("2023-08-13T09:00:00Z".parse().expect("a time"));
    let answer = ask(
        &bed,
        &user,
        RecallQuestion { asked_at, ..RecallQuestion::new("which walk to the harbour was yesterday?") },
    );
    assert_eq!(answer.hits[0].memory.id, ids[7], "{}", answer.hits[0].why);
}

#[test]
fn a_question_for_a_time_alone_is_answered_by_what_is_of_it_and_says_so() {
    let bed = bed();
    let user = bed.user();
    let described = |content: String, day: &str| SaveRequest {
        occurred_at: Some(day.parse().expect("a day")),
        ..SaveRequest::new(content)
    };
    let crash = bed
        .save(&user, described("The database crashed, the disk was full".to_owned(), "2023-06-07"))
        .memory
        .id;
    bed.save(&user, described("Decided to drop Internet Explorer 7".to_owned(), "2023-03-02"));
    bed.save(&user, described("What happened to the harbour was never told".to_owned(), "2022-09-30"));
    // More than any lane returns.
    (0..400)
        .for_each(|n| drop(bed.save(&user, described(format!("What happened, number {n}"), "2023-01-05"))));
    let asked_at = Some("2023-06-14T09:00:00Z".parse().expect("a time"));
    for question in ["What happened last week?", "what did I do on 2023-06-07?", "what's new since June 5?"] {
        let answer = ask(&bed, &user, RecallQuestion { asked_at, ..RecallQuestion::new(question) });
        assert_eq!(answer.hits[0].memory.id, crash, "{question}: {}", answer.hits[0].why);
        assert!(answer.evidence >= Some(Strength::Weak), "{question}");
    }
    let abstaining = RecallQuestion {
        asked_at,
        abstain_below: Some(Strength::Weak),
        ..RecallQuestion::new("what happened in May 2021?")
    };
    assert_eq!(ask(&bed, &user, abstaining).hits.len(), 0, "nothing is of that time");
    let ranked =
        RecallQuestion { asked_at, fusion: Fusion::Ranks, ..RecallQuestion::new("What happened last week?") };
    let by_rank = ask(&bed, &user, ranked);
    assert!(
        by_rank.hits.iter().all(|hit| part(hit, PartName::Date).is_none()),
        "by rank alone no time counts"
    );
}

#[test]
fn yesterday_in_a_question_is_a_day_of_the_callers_time_zone() {
    let bed = bed();
    let user = bed.user();
    let described = |content: &str, at: &str| SaveRequest {
        occurred_at: Some(at.parse().expect("a time")),
        ..SaveRequest::new(content)
    };
    let late = bed.save(&user, described("The kettle was descaled", "2023-06-12T21:00:00Z")).memory.id;
    let day = bed.save(&user, described("The garage was painted", "2023-06-13T10:00:00Z")).memory.id;
    // In Vienna it is already the 14th, so that yesterday is the 13th; in UTC it is the 12th.
    let asked_at = Some("2023-06-13T22:30:00Z".parse().expect("a time"));
    for (zone, expected) in [("Europe/Vienna", day), ("UTC", late), ("America/Los_Angeles", late)] {
        let caller = Caller { zone: Zone::named(zone).expect("a zone"), ..user.clone() };
        let answer = ask(
            &bed,
            &caller,
            RecallQuestion { asked_at, ..RecallQuestion::new("what happened yesterday?") },
        );
        assert_eq!(answer.hits[0].memory.id, expected, "{zone}: {}", answer.hits[0].why);
    }
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
    let before =
        bed.save(&user, said("2023-05-12", Some("may"), "We walked to the harbour on a day")).memory.id;
    let next_day =
        bed.save(&user, said("2023-05-21", Some("next"), "The harbour was foggy on our walk")).memory.id;
    let later = bed.save(&user, said("2023-08-12", Some("august"), "We walked to the harbour")).memory.id;
    let planned = bed.save(&user, said("2023-09-12", None, "The harbour walk for charity")).memory.id;
    let question = || RecallQuestion::new("when was the walk to the harbour?");
    let answer = ask(&bed, &user, question());
    assert_eq!(place(&answer, later), 0, "{}", answer.hits[0].why);
    let asked_at = Some("2023-05-20T22:00:00Z".parse().expect("a time"));
    let answer = ask(&bed, &user, RecallQuestion { asked_at, ..question() });
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
    let duplicate = "The release train leaves every second Tuesday at noon";
    bed.save(&user, said(duplicate, "Ada"));
    bed.save(&user, said(&format!("{duplicate}!"), "Grace"));
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
    let far = RecallQuestion {
        abstain_below: Some(Strength::Weak),
        ..RecallQuestion::new("quarterly tax filing deadline")
    };
    let answer = ask(&bed, &user, far);
    assert_eq!((answer.hits.len(), answer.evidence), (0, Some(Strength::None)));
    let near = RecallQuestion {
        abstain_below: Some(Strength::Strong),
        ..RecallQuestion::new("The cat sleeps on the warm server")
    };
    let answer = ask(&bed, &user, near);
    assert_eq!((answer.hits.len(), answer.evidence, answer.withheld), (1, Some(Strength::Strong), 0));
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
    let lapsed = bed.save(&user, permit("4711", Some("2019-12-31"))).memory.id;
    let valid = bed.save(&user, permit("9921", None)).memory.id;
    let answer = ask(&bed, &user, RecallQuestion::new("which parking permit number 4711?"));
    let hit = &answer.hits[place(&answer, lapsed)];
    assert_eq!(part(hit, PartName::Lapsed), Some(-0.15));
    assert_eq!(part(&answer.hits[place(&answer, valid)], PartName::Lapsed), None);
}

#[test]
fn what_has_nothing_to_do_with_the_question_is_not_found() {
    let bed = bed();
    let user = bed.user();
    bed.save(&user, "Project Heron replaces the billing system");
    let linked = bed.save(&user, "Four hundred thousand francs were set aside").memory.id;
    for n in 0..12 {
        bed.save(&user, format!("Tomatoes in row {n} want water").as_str());
    }
    let heron = ask(&bed, &user, RecallQuestion::new("Project Heron")).hits[0].memory.id;
    bed.link(&user, linked, heron, Relation::CausedBy);
    let answer = ask(
        &bed,
        &user,
        RecallQuestion { lanes: vec![Lane::Keyword, Lane::Graph], ..RecallQuestion::new("Project Heron") },
    );
    let found: Vec<MemoryId> = answer.hits.iter().map(|hit| hit.memory.id).collect();
    assert_eq!((found, answer.total_found), (vec![heron, linked], 2));
    assert!(answer.hits[1].why.starts_with("by its links: "), "{}", answer.hits[1].why);
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
    let private = bed.save(&ada, secret(Boundary::Private)).memory.id;
    let shared = bed.save(&ada, secret(Boundary::Hub)).memory.id;
    let own = bed.save(&user, "The combination of the bicycle lock").memory.id;
    bed.link(&ada, shared, private, Relation::CausedBy);
    for fusion in [Fusion::Measured, Fusion::Ranks] {
        let found = |caller: &Caller| -> Vec<MemoryId> {
            let question = RecallQuestion { fusion, ..RecallQuestion::new("combination of the safe") };
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
    let tagged = bed.save(&user, tagged).memory.id;
    bed.save(&user, "Roses were on sale");
    let mut asked = request(RecallQuestion::new("roses"));
    asked.filter.tags = vec!["garden".to_owned()];
    let found = bed.engine.recall(&user, &asked).expect("an answer").hits;
    assert_eq!(found.iter().map(|hit| hit.memory.id).collect::<Vec<_>>(), [tagged]);
}

#[test]
fn an_empty_question_is_refused() {
    let bed = bed();
    let empty = bed.engine.recall(&bed.user(), &request(RecallQuestion::new("  ")));
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
            let answer = bed.engine.recall(&user, &request(RecallQuestion::new(question.clone())));
            prop_assert!(answer.is_ok() || question.trim().is_empty());
            Ok(())
        })?;
    }
}

#[test]
fn what_nothing_speaks_for_is_not_noted_as_used() {
    let bed = bed();
    let user = bed.user();
    let id = bed.save(&user, "Backups are kept for thirty days").memory.id;
    let answer = ask(&bed, &user, RecallQuestion::new("which zebra is kept in the zoo of the capital?"));
    assert_eq!((answer.evidence, answer.hits.len()), (Some(Strength::None), 1));
    bed.engine.flush().expect("flushed");
    assert_eq!(bed.get(&user, id).usage.access_count, 0);
    ask(&bed, &user, RecallQuestion::new("Backups are kept for thirty days"));
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
        if let Ok(answer) =
            bed.engine.recall(&user, &request(RecallQuestion::new("how long are backups kept?")))
        {
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
        let got = bed.engine.recall(&user, &request(RecallQuestion::new("how long are backups kept?")));
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

/// Returns the contents that a question finds, and checks that the parts of each explanation add up.
fn explained(bed: &Bed, user: &Caller, question: &str) -> Vec<String> {
    let answer = ask(bed, user, RecallQuestion::new(question));
    for hit in &answer.hits {
        let explanation = hit.explanation.as_ref().expect("an explanation");
        let sum: f64 = explanation.parts.iter().map(|part| part.value).sum();
        assert!((sum - explanation.score).abs() < 1e-9, "{explanation:?}");
    }
    let scores: Vec<f64> =
        answer.hits.iter().filter_map(|hit| Some(hit.explanation.as_ref()?.score)).collect();
    assert!(scores.windows(2).all(|two| two[0] >= two[1]), "{scores:?}");
    answer.hits.into_iter().map(|hit| hit.memory.fields.text.content).collect()
}

#[test]
fn of_two_values_of_one_thing_the_newer_comes_first() {
    let bed = bed();
    let user = bed.user();
    let important = |content: &str| SaveRequest { importance: Some(1.0), ..SaveRequest::new(content) };
    bed.save(&user, important("The shop closes at 18:00"));
    bed.clock.advance(Duration::from_secs(60));
    bed.save(&user, "The shop closes at 20:00");
    bed.clock.advance(Duration::from_secs(60));
    bed.save(&user, "The shop closes at 19:00");
    bed.save(&user, "The bakery closes at 17:00");
    let found = explained(&bed, &user, "when does the shop close?");
    let shop = ["The shop closes at 19:00", "The shop closes at 20:00", "The shop closes at 18:00"];
    assert_eq!(found[..3], shop);
    let answer = ask(&bed, &user, RecallQuestion::new("when does the shop close?"));
    assert!(part(&answer.hits[0], PartName::Newer).is_some_and(|value| value > 0.0));
    assert_eq!(part(&answer.hits[2], PartName::Newer), None);
}

#[test]
fn of_two_values_the_one_that_was_said_later_comes_first_whenever_it_was_saved() {
    let bed = bed();
    let user = bed.user();
    let said = |content: &str, day: &str| SaveRequest {
        occurred_at: Some(day.parse().expect("a day")),
        ..SaveRequest::new(content)
    };
    bed.save(&user, said("The demo is on Friday", "2019-05-20"));
    bed.save(&user, said("The demo is on Thursday", "2019-05-10"));
    let found = explained(&bed, &user, "when is the demo?");
    assert_eq!(found, ["The demo is on Friday", "The demo is on Thursday"]);
}

#[test]
fn the_newer_of_two_values_has_no_advantage_in_a_conversation_or_about_another_thing() {
    let bed = bed();
    let user = bed.user();
    let line = |content: &str, position: i64| SaveRequest {
        conversation: Some("chat".to_owned()),
        position: Some(position),
        ..SaveRequest::new(content)
    };
    bed.save(&user, line("The demo is on Thursday", 0));
    bed.save(&user, line("The demo is on Friday", 1));
    let room = |number: u32| format!("Room {number} has a projector");
    bed.save(&user, room(12).as_str());
    bed.save(&user, room(14).as_str());
    assert_eq!(explained(&bed, &user, "is the demo on Thursday?")[0], "The demo is on Thursday");
    assert_eq!(explained(&bed, &user, "has room 12 a projector?")[0], room(12));
}

#[test]
fn of_two_values_the_newer_does_not_come_first_once_it_was_replaced_or_is_over() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, "The demo is on Thursday").memory.id;
    let new = bed.save(&user, "The demo is on Friday").memory.id;
    bed.link(&user, old, new, Relation::Updates);
    assert_eq!(explained(&bed, &user, "when is the demo?")[0], "The demo is on Thursday");
    let bed = self::bed();
    let over = SaveRequest {
        valid_from: Some("2019-01-01".parse().expect("a day")),
        valid_until: Some("2019-12-31".parse().expect("a day")),
        ..SaveRequest::new("The demo is on Friday")
    };
    bed.save(&user, "The demo is on Thursday");
    bed.save(&user, over);
    assert_eq!(explained(&bed, &user, "when is the demo?")[0], "The demo is on Thursday");
}
