//! recall, touch and flush.

use std::time::Duration;

use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::{MemoryId, MemoryRef};
use tulving_core::model::request::{Caller, Mode, RecallQuestion, RecallRequest, SaveRequest, Sort};
use tulving_core::model::vocabulary::{MemoryType, Relation, State};
use tulving_core::ports::Log;
use tulving_testkit::build;

use crate::bed::{Bed, recall, refused};

fn found(bed: &Bed, caller: &Caller, request: &RecallRequest) -> Vec<String> {
    let answer = bed.engine.recall(caller, request).expect("an answer");
    answer.hits.into_iter().map(|hit| hit.memory.fields.text.content).collect()
}

fn sorted(mode: Mode, sort: Sort) -> RecallRequest {
    RecallRequest { sort: Some(sort), ..recall(mode) }
}

fn three(bed: &Bed, user: &Caller) -> [MemoryId; 3] {
    [
        ("a decision", MemoryType::Decision),
        ("a todo", MemoryType::Todo),
        ("an identity", MemoryType::Identity),
    ]
    .map(|(content, memory_type)| {
        let request = SaveRequest { memory_type: Some(memory_type), ..SaveRequest::new(content) };
        bed.save(user, request).memory.id
    })
}

#[test]
fn each_mode_finds_in_its_own_order() {
    let bed = Bed::new();
    let user = bed.user();
    three(&bed, &user);
    let newest = ["an identity", "a todo", "a decision"];
    assert_eq!(found(&bed, &user, &recall(Mode::Recent)), newest);
    assert_eq!(found(&bed, &user, &recall(Mode::Important)), ["an identity", "a decision", "a todo"]);
    let mut typed = recall(Mode::Typed);
    typed.filter.types = vec![MemoryType::Todo, MemoryType::Decision];
    assert_eq!(found(&bed, &user, &typed), ["a todo", "a decision"]);
    assert_eq!(found(&bed, &user, &recall(Mode::Substring("A D".to_owned()))), ["a decision"]);
}

#[test]
fn a_sort_takes_the_place_of_the_modes_own() {
    let bed = Bed::new();
    let user = bed.user();
    let [decision, todo, _] = three(&bed, &user);
    for id in [decision, todo, decision] {
        bed.engine.touch(&user, id.into()).unwrap();
    }
    bed.engine.flush().unwrap();
    assert_eq!(
        found(&bed, &user, &sorted(Mode::Recent, Sort::Oldest)),
        ["a decision", "a todo", "an identity"]
    );
    let bed_two = Bed::new();
    let user_two = bed_two.user();
    let [decision, todo, _] = three(&bed_two, &user_two);
    for id in [todo, decision, decision] {
        bed_two.engine.touch(&user_two, id.into()).unwrap();
    }
    bed_two.engine.flush().unwrap();
    assert_eq!(
        found(&bed_two, &user_two, &sorted(Mode::Important, Sort::MostAccessed)),
        ["a decision", "a todo", "an identity"]
    );
}

#[test]
fn scores_fall_evenly_from_one_and_say_why() {
    let bed = Bed::new();
    let user = bed.user();
    three(&bed, &user);
    let request = RecallRequest { limit: 2, ..recall(Mode::Important) };
    let answer = bed.engine.recall(&user, &request).unwrap();
    assert_eq!(answer.total_found, 3, "how many there were before the limit");
    let scores: Vec<f64> = answer.hits.iter().map(|hit| hit.relevance_score.get()).collect();
    assert_eq!(scores[0], 1.0);
    assert!((scores[1] - 2.0 / 3.0).abs() < 1e-9, "{scores:?}");
    assert_eq!(answer.hits[0].why, "importance 1");
}

#[test]
fn a_type_was_told_with_the_wrong_article() {
    let bed = Bed::new();
    let user = bed.user();
    three(&bed, &user);
    for (memory_type, why) in [
        (MemoryType::Identity, "is an identity, newest first"),
        (MemoryType::Todo, "is a todo, newest first"),
    ] {
        let mut typed = recall(Mode::Typed);
        typed.filter.types = vec![memory_type];
        assert_eq!(bed.engine.recall(&user, &typed).expect("an answer").hits[0].why, why);
    }
}

#[test]
fn a_recall_that_asks_for_too_little_or_too_much_is_refused() {
    let bed = Bed::new();
    let user = bed.user();
    refused!(bed.engine.recall(&user, &recall(Mode::Typed)), Error::Invalid(Invalid::TypeMissing));
    refused!(
        bed.engine.recall(&user, &recall(Mode::Substring(" ".to_owned()))),
        Error::Invalid(Invalid::Empty { .. })
    );
    for limit in [0, 1_001] {
        let request = RecallRequest { limit, ..recall(Mode::Recent) };
        refused!(bed.engine.recall(&user, &request), Error::Invalid(Invalid::OutsideRange { .. }));
    }
}

#[test]
fn archived_and_expired_memories_are_never_recalled() {
    let bed = Bed::new();
    let user = bed.user();
    let request = SaveRequest { expires_at: Some(build::second(60)), ..SaveRequest::new("for a minute") };
    bed.save(&user, request);
    let archived = bed.save(&user, "archived");
    bed.engine.archive(&user, archived.memory.id.into()).unwrap();
    assert_eq!(found(&bed, &user, &recall(Mode::Recent)), ["for a minute"]);
    let mut asked = recall(Mode::Recent);
    asked.filter.states = vec![State::Archived];
    assert_eq!(found(&bed, &user, &asked), [""; 0], "not even when asked for");
    bed.clock.advance(Duration::from_secs(61));
    assert_eq!(found(&bed, &user, &recall(Mode::Recent)), [""; 0]);
    assert_eq!(bed.contents(&user).len(), 2, "a list still shows them");
}

#[test]
fn a_superseded_memory_says_by_what() {
    let bed = Bed::new();
    let user = bed.user();
    let old = bed.save(&user, "old way");
    let new = bed.save(&user, "new way");
    bed.link(&user, new.memory.id, old.memory.id, Relation::Updates);
    let answer = bed.engine.recall(&user, &recall(Mode::Substring("old".to_owned()))).unwrap();
    assert_eq!(answer.hits[0].memory.superseded_by, Some(new.memory.id));
}

#[test]
fn a_recall_writes_nothing_until_it_is_flushed() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "counted");
    let before = bed.get(&user, memory.memory.id);
    let (change_counter, head) = (bed.store.change_counter().unwrap(), bed.store.head().unwrap());
    for _ in 0..3 {
        bed.engine.recall(&user, &recall(Mode::Recent)).unwrap();
    }
    bed.engine.touch(&user, memory.memory.id.into()).unwrap();
    assert_eq!(bed.get(&user, memory.memory.id), before);
    assert_eq!(bed.store.change_counter().unwrap(), change_counter, "nothing was committed");
    assert_eq!(bed.engine.flush().unwrap(), 1);
    let after = bed.get(&user, memory.memory.id);
    assert_eq!(after.usage.access_count, 4);
    assert!(after.usage.accessed_at > before.usage.accessed_at);
    assert_eq!((after.version, after.usage.updated_at), (before.version, before.usage.updated_at));
    assert_eq!(bed.store.head().unwrap(), head, "access counts are not in the log");
    assert_eq!(bed.engine.flush().unwrap(), 0);
}

#[test]
fn after_a_flush_all_that_was_noted_counts_also_where_another_was_writing_it() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "counted").memory.id;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                bed.engine.flush().unwrap();
            }
        });
        let counted = (1..=200_u64).find(|_| {
            let seen = bed.engine.touch(&user, memory.into()).unwrap().usage.access_count;
            bed.engine.flush().unwrap();
            bed.get(&user, memory).usage.access_count != seen + 1
        });
        done.store(true, Ordering::Relaxed);
        assert_eq!(counted, None, "the first that did not count");
    });
}

#[test]
fn only_what_was_found_counts_as_used() {
    let bed = Bed::new();
    let user = bed.user();
    let [decision, todo, identity] = three(&bed, &user);
    let request = RecallRequest { limit: 1, ..recall(Mode::Important) };
    bed.engine.recall(&user, &request).unwrap();
    assert_eq!(bed.engine.flush().unwrap(), 1);
    let counts = [decision, todo, identity].map(|id| bed.get(&user, id).usage.access_count);
    assert_eq!(counts, [0, 0, 1]);
}

#[test]
fn accesses_that_could_not_be_written_are_written_later() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.save(&user, "counted");
    bed.engine.touch(&user, memory.memory.id.into()).unwrap();
    bed.store.fail_at(1);
    assert!(bed.engine.flush().is_err());
    bed.engine.touch(&user, memory.memory.id.into()).unwrap();
    assert_eq!(bed.engine.flush().unwrap(), 1);
    assert_eq!(bed.get(&user, memory.memory.id).usage.access_count, 2);
}

#[test]
fn a_cooling_memory_is_active_again_once_it_was_recalled() {
    let bed = Bed::new();
    let user = bed.user();
    let memory = bed.get(&user, bed.save(&user, "aged").memory.id);
    bed.world().shift(&memory, |status| status.state = State::Cooling);
    assert_eq!(found(&bed, &user, &recall(Mode::Recent)), ["aged"]);
    bed.engine.flush().unwrap();
    assert_eq!(bed.get(&user, memory.id).status.state, State::Active);
}

#[test]
fn an_archived_memory_that_has_every_word_of_a_question_is_mentioned() {
    let bed = Bed::new();
    let user = bed.user();
    let kept = bed.save(&user, "the espresso machine is in the kitchen");
    let archived = bed.save(&user, "the espresso machine was descaled by Marta");
    let other = bed.save(&user, "Marta likes espresso");
    for id in [archived.memory.id, other.memory.id] {
        bed.engine.archive(&user, id.into()).expect("archived");
    }
    let ask = |question: &str| {
        bed.engine
            .recall(&user, &recall(Mode::Hybrid(Box::new(RecallQuestion::new(question)))))
            .expect("an answer")
    };
    let answer = ask("who descaled the espresso machine?");
    assert_eq!(answer.archived, [MemoryRef::Number(archived.memory.number.expect("a number"))]);
    assert!(answer.hits.iter().all(|hit| hit.memory.id == kept.memory.id), "it is mentioned, not given");
    assert_eq!(ask("where is the espresso machine kept?").archived, []);
    let stranger = bed.person("stranger");
    let asked = recall(Mode::Hybrid(Box::new(RecallQuestion::new("who descaled the espresso machine?"))));
    assert_eq!(bed.engine.recall(&stranger, &asked).expect("an answer").archived, []);
}
