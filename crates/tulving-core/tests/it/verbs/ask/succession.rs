//! Questions about replaced memories: which comes first, which is marked, and which was valid at a time.

use std::time::Duration;

use tulving_core::model::answer::{Answer, Hit, Lane, PartName, Strength};
use tulving_core::model::id::MemoryId;
use tulving_core::model::request::{Caller, Mode, RecallQuestion, SaveRequest, Sort, UpdateRequest};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::Relation;
use tulving_core::ports::Clock as _;

use super::{ask, bed, part, place, request};
use crate::bed::{Bed, listing, recall};

#[test]
fn a_superseded_memory_comes_after_its_successor_and_as_of_then_it_comes_first() {
    let bed = bed();
    let user = bed.user();
    let day = |text: &str| -> Option<Timestamp> { Some(text.parse().expect("a day")) };
    let said = |text: &str, at: &str| SaveRequest { occurred_at: day(at), ..SaveRequest::new(text) };
    let old =
        bed.save(&user, said("The office wifi password is stored in the red binder", "2023-01-10")).memory.id;
    let new = bed.save(&user, said("The wifi password moved to the vault", "2023-06-01")).memory.id;
    bed.link(&user, new, old, Relation::Updates);
    let question = "where is the office wifi password stored in the binder?";
    let answer = ask(&bed, &user, RecallQuestion::new(question));
    assert!(place(&answer, new) < place(&answer, old));
    let hit = &answer.hits[place(&answer, old)];
    assert!(hit.memory.superseded_by == Some(new) && part(hit, PartName::Superseded).is_some());
    let then = ask(&bed, &user, RecallQuestion { as_of: day("2023-03-01"), ..RecallQuestion::new(question) });
    assert_eq!(then.hits.len(), 1, "the successor did not hold yet");
    assert_eq!(then.hits[0].memory.id, old);
    assert_eq!(part(&then.hits[0], PartName::Superseded), None);
    assert_eq!(
        ask(&bed, &user, RecallQuestion { as_of: day("2022-01-01"), ..RecallQuestion::new(question) }).hits,
        []
    );
}

#[test]
fn as_of_a_date_a_memory_has_the_words_that_it_had_then() {
    let bed = bed();
    let user = bed.user();
    let keyed = |text: &str| SaveRequest { key: Some("ceo".to_owned()), ..SaveRequest::new(text) };
    let first = bed.save(&user, keyed("The head of the company is Ann")).memory.id;
    bed.clock.advance(Duration::from_secs(3600));
    let then = bed.clock.now();
    bed.clock.advance(Duration::from_secs(3600));
    assert_eq!(bed.save(&user, keyed("The head of the company is Bob")).memory.id, first);
    let content = |as_of| {
        let answer =
            ask(&bed, &user, RecallQuestion { as_of, ..RecallQuestion::new("who is head of the company?") });
        answer.hits[0].memory.fields.text.content.clone()
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
    .map(|(street, day)| bed.save(&user, office(street, day)).memory.id);
    bed.link(&user, ids[1], ids[0], Relation::Updates);
    bed.link(&user, ids[2], ids[1], Relation::Updates);
    let found = |day: &str| -> Vec<(MemoryId, Option<MemoryId>)> {
        let as_of = Some(day.parse().expect("a day"));
        let answer =
            ask(&bed, &user, RecallQuestion { as_of, ..RecallQuestion::new("where is the office?") });
        answer.hits.iter().map(|hit| (hit.memory.id, hit.memory.superseded_by)).collect()
    };
    assert_eq!(found("2024-06-01"), [(ids[0], None)]);
    assert_eq!(found("2025-06-01"), [(ids[1], None)]);
    assert_eq!(found("2026-06-01"), [(ids[2], None)]);
}

/// Returns the ids found as of a day.
fn as_of(bed: &Bed, user: &Caller, question: &str, day: &str) -> Vec<MemoryId> {
    let as_of = Some(day.parse().expect("a day"));
    let answer = ask(bed, user, RecallQuestion { as_of, ..RecallQuestion::new(question) });
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
    let berlin = bed.save(&user, lives("Berlin", "2020-01-01", None)).memory.id;
    let munich = bed.save(&user, lives("Munich", "2021-01-01", Some("2022-01-01"))).memory.id;
    bed.link(&user, munich, berlin, Relation::Updates);
    let question = "where does Marta live?";
    assert_eq!(as_of(&bed, &user, question, "2020-06-01"), [berlin]);
    assert_eq!(as_of(&bed, &user, question, "2021-06-01"), [munich]);
    assert_eq!(as_of(&bed, &user, question, "2022-06-01"), [], "she had left Berlin before she left Munich");
    let rome = bed.save(&user, lives("Rome", "2022-09-01", None)).memory.id;
    bed.link(&user, rome, munich, Relation::Updates);
    assert_eq!(as_of(&bed, &user, question, "2022-06-01"), []);
    assert_eq!(as_of(&bed, &user, question, "2023-06-01"), [rome]);
    // Nor now, when the one between them no longer counts.
    for archived in [false, true] {
        if archived {
            bed.engine.archive(&user, munich.into()).expect("archived");
            assert_eq!(as_of(&bed, &user, question, "2023-06-01"), [rome]);
        }
        let answer = ask(&bed, &user, RecallQuestion::new(question));
        assert!(place(&answer, rome) < place(&answer, berlin));
        assert_eq!(answer.hits[place(&answer, berlin)].memory.superseded_by, Some(rome));
    }
}

#[test]
fn a_successor_that_has_expired_supersedes_nothing_any_more() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, "The museum opens at nine").memory.id;
    let soon = bed.clock.now().as_micros() + 3_600_000_000;
    let closed = SaveRequest {
        expires_at: Some(Timestamp::from_micros(soon)),
        ..SaveRequest::new("The museum is closed today")
    };
    let closed = bed.save(&user, closed).memory.id;
    bed.link(&user, closed, old, Relation::Updates);
    let superseded = || {
        let answer = ask(&bed, &user, RecallQuestion::new("when does the museum open?"));
        let hit = answer.hits.into_iter().find(|hit| hit.memory.id == old).expect("found");
        (hit.memory.superseded_by, part(&hit, PartName::Superseded).is_some())
    };
    assert_eq!(superseded(), (Some(closed), true));
    bed.clock.advance(Duration::from_secs(7200));
    assert_eq!(superseded(), (None, false));
}

/// Creates more memories than any lane returns, each an update of the one before, a day later.
fn status_of_each_day(bed: &Bed, user: &Caller, days: u32) -> Vec<MemoryId> {
    let mut ids: Vec<MemoryId> = Vec::new();
    let start = "2024-01-01".parse::<Timestamp>().expect("a day").as_micros();
    for day in 0..days {
        let at = Timestamp::from_micros(start + i64::from(day) * 86_400_000_000);
        let said = format!("The status of the migration project on day {day} is at step {day}");
        let request = SaveRequest { occurred_at: Some(at), ..SaveRequest::new(said) };
        let id = bed.save(user, request).memory.id;
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
    let answer = ask(&bed, &user, RecallQuestion::new(question));
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
    let other = bed.save(&user, "The migration project is led by Ada").memory.id;
    let answer = ask(&bed, &user, RecallQuestion::new("what is the status of the migration project?"));
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
    let old = bed.save(&user, "Deploys go to Heroku").memory.id;
    let new = bed.save(&user, "Everything ships with Fly.io nowadays").memory.id;
    let hidden = bed
        .save(&user, SaveRequest { tags: Some(vec!["other".to_owned()]), ..SaveRequest::new("Kamal it is") });
    bed.link(&user, new, old, Relation::Updates);
    let only = RecallQuestion { lanes: vec![Lane::Keyword], ..RecallQuestion::new("where do deploys go?") };
    let answer = ask(&bed, &user, only.clone());
    let found: Vec<MemoryId> = answer.hits.iter().map(|hit| hit.memory.id).collect();
    assert_eq!(found, [new, old]);
    assert!(part(&answer.hits[0], PartName::Succession).is_some_and(|value| value > 0.0));
    assert!(
        answer.hits[0].why.starts_with("in place of a result: what it updates"),
        "{}",
        answer.hits[0].why
    );
    // Also if it is found itself, with a lower rank than something else.
    let between = bed.save(&user, "Deploys of the blog go elsewhere").memory.id;
    let both = RecallQuestion {
        lanes: vec![Lane::Keyword, Lane::Vector],
        ..RecallQuestion::new("where do Deploys go, to Heroku or with Fly.io?")
    };
    let answer = ask(&bed, &user, both);
    assert!(place(&answer, new) < place(&answer, between), "{answer:?}");
    assert!(part(&answer.hits[place(&answer, new)], PartName::Succession).is_some_and(|value| value > 0.0));
    // Only within the filter.
    bed.link(&user, hidden.memory.id, new, Relation::Updates);
    let mut asked = request(only);
    asked.filter.tags = vec!["nothing has it".to_owned()];
    assert_eq!(bed.engine.recall(&user, &asked).expect("an answer").hits, []);
}

#[test]
fn lists_and_reads_mark_as_superseded_what_recall_does() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, "The office is in Berne").memory.id;
    let soon = Timestamp::from_micros(bed.clock.now().as_micros() + 3_600_000_000);
    let new = SaveRequest { valid_from: Some(soon), ..SaveRequest::new("The office is in Basel") };
    let new = bed.save(&user, new).memory.id;
    bed.link(&user, new, old, Relation::Updates);
    let marked = || {
        let listed = bed.engine.list(&user, &listing(Sort::Newest, 10)).expect("a page").memories;
        let listed = listed.into_iter().find(|memory| memory.id == old).expect("listed").superseded_by;
        let by_use = bed.engine.list(&user, &listing(Sort::Accessed, 10)).expect("a page").memories;
        let by_use = by_use.into_iter().find(|memory| memory.id == old).expect("listed").superseded_by;
        let recent = bed.engine.recall(&user, &recall(Mode::Recent)).expect("an answer");
        let asked = ask(&bed, &user, RecallQuestion::new("where is the office?"));
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
    let old = bed.save(&user, "The office is at Technoparkstrasse").memory.id;
    let new = bed.save(&user, "We moved, it is Europaallee where the office is").memory.id;
    bed.save(&user, "The office plants are watered on Friday");
    bed.link(&user, new, old, Relation::Updates);
    let answer = ask(&bed, &user, RecallQuestion::new("office at Technoparkstrasse"));
    assert!(place(&answer, new) < place(&answer, old));
    let scores: Vec<f64> = answer.hits.iter().map(|hit| hit.relevance_score.get()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}

#[test]
fn a_question_about_a_past_time_is_answered_by_what_was_valid_then() {
    let bed = bed();
    let user = bed.user();
    let lives = |place: &str, from: &str, until: Option<&str>| {
        let day = |text: &str| -> Timestamp { text.parse().expect("a day") };
        let request = SaveRequest {
            valid_from: Some(day(from)),
            valid_until: until.map(day),
            ..SaveRequest::new(format!("Olga lives in {place}"))
        };
        bed.save(&user, request).memory.id
    };
    let graz = lives("Graz", "2016-03-01", Some("2019-05-01"));
    let linz = lives("Linz", "2019-05-01", Some("2022-02-01"));
    let wels = lives("Wels", "2022-02-01", None);
    let first = |question: &str| ask(&bed, &user, RecallQuestion::new(question)).hits.remove(0);
    assert_eq!(first("where does Olga live?").memory.id, wels);
    for (question, id) in
        [("where did Olga live in 2017?", graz), ("where did Olga live in June 2020?", linz)]
    {
        let hit = first(question);
        assert_eq!(hit.memory.id, id, "{question}");
        assert_eq!(part(&hit, PartName::Lapsed), None, "{question}");
        assert!(part(&hit, PartName::ValidThen).is_some(), "{question}");
    }
}

#[test]
fn a_question_about_a_past_time_is_not_answered_by_what_replaced_the_answer_later() {
    let bed = bed();
    let user = bed.user();
    let office = |street: &str, day: &str| SaveRequest {
        occurred_at: Some(day.parse().expect("a day")),
        ..SaveRequest::new(format!("The office is at {street}"))
    };
    let old = bed.save(&user, office("Technoparkstrasse 1", "2019-01-10")).memory.id;
    let new = bed.save(&user, office("Hardturmstrasse 161", "2022-03-01")).memory.id;
    bed.link(&user, new, old, Relation::Updates);
    let answer = |question: &str| ask(&bed, &user, RecallQuestion::new(question));
    let now = answer("where is the office?");
    assert!(place(&now, new) < place(&now, old));
    let then = answer("where was the office in January 2019?");
    assert!(place(&then, old) < place(&then, new));
    let hit = &then.hits[place(&then, old)];
    assert_eq!(
        (hit.memory.superseded_by, part(hit, PartName::Superseded)),
        (Some(new), None),
        "it is still marked"
    );
    let later = answer("where was the office in May 2022?");
    assert!(place(&later, new) < place(&later, old));
}

#[test]
fn an_update_counts_once_and_not_as_a_link_too() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, "The stand-up is at nine").memory.id;
    let new = bed.save(&user, "The stand-up is at ten").memory.id;
    bed.link(&user, new, old, Relation::Updates);
    let answer = ask(&bed, &user, RecallQuestion::new("when is the stand-up?"));
    assert_eq!(answer.hits[0].memory.id, new);
    assert!(answer.hits.iter().all(|hit| part(hit, PartName::Graph).is_none()), "{:?}", answer.hits[0].why);
}

#[test]
fn of_competing_values_the_newest_of_the_past_time_comes_first() {
    let bed = bed();
    let user = bed.user();
    let said = |hour: &str, day: &str| {
        let request = SaveRequest {
            occurred_at: Some(day.parse().expect("a day")),
            ..SaveRequest::new(format!("The shop closes at {hour}"))
        };
        bed.save(&user, request).memory.id
    };
    // The history was imported later than the present value.
    let now = said("20:00", "2023-03-01");
    let then = said("19:00", "2021-03-01");
    let before = said("18:00", "2019-03-01");
    let order = |question: &str| {
        let answer = ask(&bed, &user, RecallQuestion::new(question));
        [now, then, before].map(|id| place(&answer, id))
    };
    assert_eq!(order("when closes the shop?"), [0, 1, 2]);
    assert_eq!(order("when did the shop close in June 2022?")[1], 0, "the present value was not valid yet");
}
