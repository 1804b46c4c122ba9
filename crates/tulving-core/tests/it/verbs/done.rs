//! Todos and goals: open until they are done, and then like any event.

use std::time::Duration;

use tulving_core::TendRequest;
use tulving_core::model::answer::Warning;
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::request::{
    AuditFilter, BriefingRequest, Caller, Filter, ListRequest, SaveRequest, Sort, UpdateRequest,
};
use tulving_core::model::vocabulary::{AuditAct, Author, MemoryType, Role, Stability, State};
use tulving_core::text::block;

use crate::bed::{Bed, refused};

const DAY: Duration = Duration::from_secs(86_400);

fn todo(content: &str) -> SaveRequest {
    SaveRequest {
        memory_type: Some(MemoryType::Todo),
        stability: Some(Stability::Volatile),
        ..SaveRequest::new(content)
    }
}

fn listed(bed: &Bed, caller: &Caller, done: bool) -> Vec<String> {
    let filter = Filter { done: Some(done), ..Filter::default() };
    let request = ListRequest { filter, sort: Sort::Oldest, limit: 100, cursor: None };
    let page = bed.engine.list(caller, &request).expect("a list");
    page.memories.into_iter().map(|memory| memory.fields.text.content).collect()
}

fn context(bed: &Bed, caller: &Caller) -> String {
    let request = BriefingRequest { about: Some("milk".to_owned()), ..BriefingRequest::default() };
    block::block(&bed.engine.briefing(caller, &request).expect("a briefing"))
}

fn tended(bed: &Bed, caller: &Caller) -> (u64, u64, u64) {
    let tended = bed.engine.tend(caller, &TendRequest::default()).expect("tended");
    (tended.cooled, tended.archived, tended.revived)
}

#[test]
fn open_todos_do_not_vanish_with_their_age_and_done_ones_do() {
    let bed = Bed::new();
    let user = bed.user();
    let milk = bed.save(&user, todo("buy milk")).memory.id;
    let goal = SaveRequest { memory_type: Some(MemoryType::Goal), ..SaveRequest::new("run a marathon") };
    bed.save(&user, goal);
    for _ in 0..10 {
        bed.clock.advance(100 * DAY);
        assert_eq!(tended(&bed, &user), (0, 0, 0));
    }
    assert_eq!(listed(&bed, &user, false), ["buy milk", "run a marathon"]);
    bed.engine.done(&user, milk.into(), None).expect("done");
    assert_eq!(listed(&bed, &user, false), ["run a marathon"]);
    assert_eq!(listed(&bed, &user, true), ["buy milk"]);
    bed.clock.advance(20 * DAY);
    assert_eq!(tended(&bed, &user), (0, 0, 0), "it counts from the day it was done");
    bed.clock.advance(2 * DAY);
    assert_eq!(tended(&bed, &user), (1, 0, 0));
    bed.clock.advance(100 * DAY);
    assert_eq!(tended(&bed, &user), (0, 1, 0));
    let reopened = bed.engine.reopen(&user, milk.into()).expect("open again").memory;
    assert_eq!((reopened.status.state, reopened.status.done_at), (State::Active, None));
    assert_eq!(reopened.version.0, 1, "neither makes a version");
}

#[test]
fn an_open_todo_that_expires_is_archived_all_the_same() {
    let bed = Bed::new();
    let user = bed.user();
    let at = bed.engine.now().plus(DAY);
    let id = bed.save(&user, SaveRequest { expires_at: Some(at), ..todo("vote") }).memory.id;
    bed.clock.advance(2 * DAY);
    assert_eq!(tended(&bed, &user), (0, 1, 0));
    assert_eq!(tended(&bed, &user), (0, 0, 0), "and stays so");
    assert_eq!(bed.get(&user, id).status.state, State::Archived);
}

#[test]
fn done_is_dated_audited_told_twice_and_taken_back() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, todo("buy milk")).memory.id;
    let at = "2025-12-24".parse().expect("a day");
    let first = bed.engine.done(&user, id.into(), Some(at)).expect("done");
    assert_eq!((first.memory.status.done_at, first.changed), (Some(at), true));
    let again = bed.engine.done(&user, id.into(), None).expect("done before");
    assert_eq!((again.memory.status.done_at, again.changed), (Some(at), false));
    let later = "2025-12-25".parse().expect("a day");
    let moved = bed.engine.done(&user, id.into(), Some(later)).expect("another day");
    assert_eq!((moved.memory.status.done_at, moved.changed), (Some(later), true));
    assert!(bed.engine.reopen(&user, id.into()).expect("open").changed);
    assert!(!bed.engine.reopen(&user, id.into()).expect("open before").changed);
    let audit = bed.engine.audit(&user, &AuditFilter { space: None, memory: Some(id), last: 9 });
    let acts: Vec<AuditAct> = audit.expect("an audit").iter().map(|entry| entry.act).collect();
    assert_eq!(acts.iter().filter(|act| **act == AuditAct::Done).count(), 2);
    assert_eq!(acts.iter().filter(|act| **act == AuditAct::Reopened).count(), 1);
    let ahead = bed.engine.now().plus(3 * DAY);
    refused!(bed.engine.done(&user, id.into(), Some(ahead)), Error::Invalid(Invalid::NotYet { .. }));
}

#[test]
fn only_todos_and_goals_are_done_and_only_by_who_may_write() {
    let bed = Bed::new();
    let user = bed.user();
    let fact = bed.save(&user, "milk is white").memory.id;
    let error = bed.engine.done(&user, fact.into(), None).expect_err("a fact");
    assert_eq!(error.code(), "cannot_be_done");
    assert!(error.to_string().contains("of the type fact"), "{error}");
    refused!(bed.engine.reopen(&user, fact.into()), Error::CannotBeDone { .. });
    let hub = bed.hub("hub");
    let [writer, reader] =
        [("writer", Role::Writer), ("reader", Role::Reader)].map(|(name, role)| bed.member(name, hub, role));
    let id = bed.save(&writer, todo("water the plants")).memory.id;
    refused!(bed.engine.done(&reader, id.into(), None), Error::Denied { .. });
    bed.engine.done(&writer, id.into(), None).expect("done");
    let edit = UpdateRequest { memory_type: Some(MemoryType::Fact), ..UpdateRequest::default() };
    assert_eq!(bed.update(&writer, id, &edit).status.done_at, None, "a fact is not done");
}

#[test]
fn a_context_shows_done_todos_as_done_and_never_as_open() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, todo("buy milk")).memory.id;
    bed.save(&user, todo("walk the dog"));
    assert!(context(&bed, &user).contains("buy milk"));
    let at = bed.engine.now();
    bed.engine.done(&user, id.into(), Some(at)).expect("done");
    let made = context(&bed, &user);
    let open = made.split("Open todos").nth(1).expect("the section").split("Relevant now").next();
    assert!(open.is_some_and(|open| open.contains("walk the dog") && !open.contains("buy milk")), "{made}");
    assert!(made.contains(&format!("(done on {}) buy milk", at.date())), "{made}");
}

#[test]
fn a_todo_that_is_said_again_is_open_again_and_that_is_told() {
    let bed = Bed::new();
    let user = bed.user();
    let id = bed.save(&user, todo("buy milk")).memory.id;
    bed.engine.done(&user, id.into(), None).expect("done");
    let heard = SaveRequest { author: Some(Author::Auto), ..todo("buy milk") };
    bed.save(&user, heard);
    assert!(bed.get(&user, id).status.done_at.is_some(), "a pass that hears it again does not mean that");
    let again = bed.save(&user, todo("buy milk"));
    assert_eq!(again.memory.id, id);
    assert!(again.warnings.iter().any(|warning| matches!(warning, Warning::Reopened { .. })), "{again:?}");
    assert!(bed.get(&user, id).is_open());
}
