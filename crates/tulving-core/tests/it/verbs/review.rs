//! Quarantined memories: who sees them, who may approve them, and the result.

use tulving_core::Engine;
use tulving_core::model::error::Error;
use tulving_core::model::id::MemoryId;
use tulving_core::model::request::{AuditFilter, Caller, ForgetRequest, Mode, RecallQuestion, TurnRequest};
use tulving_core::model::turn::TurnReadingSettings;
use tulving_core::model::vocabulary::{AuditAct, Role};

use crate::bed::{Bed, recall, refused, turn, within};

/// Creates an engine that listens, and does not trust the web.
fn ears(bed: &Bed) -> Engine {
    let untrusted = vec!["web".to_owned()];
    bed.beside().with_listening(TurnReadingSettings {
        enabled: true,
        untrusted,
        ..TurnReadingSettings::default()
    })
}

/// Quarantines a memory in the caller's space.
#[track_caller]
fn put_aside(engine: &Engine, caller: &Caller, content: &str) -> MemoryId {
    let request = TurnRequest { source: Some("web".to_owned()), ..turn(content) };
    engine.log_turn(caller, &request).expect("logged");
    engine.process_waiting("test").expect("heard").expect("a job");
    engine.review(caller, 1, None).expect("a review").memories.first().expect("put aside").id
}

fn waiting(engine: &Engine, caller: &Caller) -> Vec<MemoryId> {
    engine.review(caller, 100, None).expect("a review").memories.iter().map(|memory| memory.id).collect()
}

fn recalled(engine: &Engine, caller: &Caller, question: &str) -> Vec<MemoryId> {
    let found = engine.recall(caller, &recall(Mode::Hybrid(Box::new(RecallQuestion::new(question)))));
    found.expect("an answer").hits.iter().map(|hit| hit.memory.id).collect()
}

#[test]
fn what_is_accepted_is_recalled_from_then_on() {
    let bed = Bed::new();
    let (engine, user) = (ears(&bed), bed.user());
    let id = put_aside(&engine, &user, "I prefer tea over coffee.");
    assert_eq!(recalled(&engine, &user, "tea"), []);
    assert!(engine.get(&user, id.into()).expect("readable").status.quarantined_at.is_some());
    let accepted = engine.accept(&user, id.into()).expect("accepted");
    assert_eq!(accepted.status.quarantined_at, None);
    assert_eq!((recalled(&engine, &user, "tea"), waiting(&engine, &user)), (vec![id], vec![]));
    assert_eq!(engine.accept(&user, id.into()).expect("again").status, accepted.status);
    let audit = engine.audit(&user, &AuditFilter { space: None, memory: Some(id), last: 9 }).expect("audit");
    assert_eq!(audit.iter().map(|entry| entry.act).collect::<Vec<_>>(), [AuditAct::Accepted]);
}

#[test]
fn what_is_rejected_is_forgotten_and_restored_it_waits_again() {
    let bed = Bed::new();
    let (engine, user) = (ears(&bed), bed.user());
    let id = put_aside(&engine, &user, "I prefer tea over coffee.");
    engine.reject(&user, id.into()).expect("rejected");
    assert_eq!((recalled(&engine, &user, "tea"), waiting(&engine, &user)), (vec![], vec![]));
    refused!(engine.reject(&user, id.into()), Error::Forgotten { .. });
    refused!(engine.accept(&user, id.into()), Error::Forgotten { .. });
    engine.restore(&user, id.into()).expect("restored");
    assert_eq!(waiting(&engine, &user), [id]);
}

#[test]
fn only_what_waits_for_review_can_be_rejected() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, "a plain memory").memory.id;
    refused!(bed.engine.reject(&user, id.into()), Error::NotInReview { .. });
    assert_eq!(bed.get(&user, id).status.forgotten_at, None);
}

#[test]
fn review_takes_the_right_to_write_and_shows_nothing_to_others() {
    let bed = Bed::new();
    let engine = ears(&bed);
    let hub = bed.hub("hub");
    let [writer, other, reader] =
        [("writer", Role::Writer), ("other", Role::Writer), ("reader", Role::Reader)]
            .map(|(name, role)| bed.member(name, hub, role));
    let stranger = within(&bed.person("stranger"), hub);
    let id = put_aside(&engine, &writer, "I prefer tea over coffee.");
    let shared = [&writer, &other, &reader].map(|caller| waiting(&engine, caller));
    assert_eq!(shared, [vec![id], vec![id], vec![id]]);
    assert_eq!(waiting(&engine, &stranger), []);
    assert_eq!(waiting(&engine, &bed.user()), [], "another space");
    for act in [Engine::accept, Engine::reject] {
        refused!(act(&engine, &reader, id.into()), Error::Denied { .. });
        refused!(act(&engine, &stranger, id.into()), Error::NoMemory { .. });
    }
    engine.accept(&other, id.into()).expect("as for an edit");
    // A private memory waits for its owner alone.
    let user = bed.user();
    let private = put_aside(&engine, &user, "I live in Vienna.");
    bed.engine.set_member(&user, "default", "other", Role::Admin).expect("a member");
    let beside = within(&other, user.space);
    assert_eq!(waiting(&engine, &beside), []);
    refused!(engine.accept(&beside, private.into()), Error::NoMemory { .. });
    refused!(engine.reject(&beside, private.into()), Error::NoMemory { .. });
}

#[test]
fn pages_of_a_review_follow_one_another() {
    let bed = Bed::new();
    let (engine, user) = (ears(&bed), bed.user());
    let ids: Vec<MemoryId> = ["I live in Vienna.", "My name is Anna.", "I prefer tea over coffee."]
        .map(|said| put_aside(&engine, &user, said))
        .into();
    let first = engine.review(&user, 2, None).expect("a page");
    let second = engine.review(&user, 2, first.next).expect("a page");
    let seen: Vec<MemoryId> = first.memories.iter().chain(&second.memories).map(|memory| memory.id).collect();
    assert_eq!(seen, ids.iter().rev().copied().collect::<Vec<_>>());
    assert_eq!(second.next, None);
    refused!(engine.review(&user, 0, None), Error::Invalid(_));
    let request = ForgetRequest::default();
    engine.forget(&user, ids[0].into(), &request).expect("forgotten");
    assert_eq!(waiting(&engine, &user).len(), 2);
}
