//! Memories of other systems, taken in again and again.

use std::sync::{Arc, Barrier};
use std::time::Duration;

use proptest::prelude::*;
use tulving_core::adopt::{AdoptOptions, Adopted, Tally};
use tulving_core::error::{Error, Invalid};
use tulving_core::foreign::{
    Collection, Diary, ForeignLink, ForeignMemory, ForeignTimes, ForeignTurn, Stands,
};
use tulving_core::id::{MemoryId, MemoryRef, Number, Version};
use tulving_core::journal::take_over::LongTermTaken;
use tulving_core::memory::Memory;
use tulving_core::ports::Clock;
use tulving_core::record::Record;
use tulving_core::request::{AuditFilter, Caller, Manner, SaveRequest, TurnFilter, TurnRequest};
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{
    AuditAct, Boundary, ContentType, Kind, LinkedBy, MemoryType, Origin, Relation, Role, SpaceKind,
    Stability, State, System, TurnRole,
};
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::FakeEmbedder;

use crate::bed::{Bed, caller, keyed, refused, said, within};

pub(super) fn item(name: &str, content: &str) -> ForeignMemory {
    ForeignMemory::new(name, SaveRequest::new(content))
}

pub(super) fn collection(memories: Vec<ForeignMemory>) -> Collection {
    Collection { memories, ..Collection::new(System::Max) }
}

#[track_caller]
pub(super) fn adopt(bed: &Bed, caller: &Caller, collection: Collection) -> Adopted {
    adopt_as(bed, caller, collection, &AdoptOptions::default())
}

#[track_caller]
fn adopt_as(bed: &Bed, caller: &Caller, collection: Collection, options: &AdoptOptions) -> Adopted {
    let caller = Caller { origin: Origin::Import, ..caller.clone() };
    match bed.engine.adopt(&caller, collection, options, &mut |_| {}) {
        Ok(adopted) => adopted,
        Err(error) => panic!("not taken in: {error}"),
    }
}

fn counts(adopted: &Adopted) -> (u64, u64, u64, u64) {
    (adopted.new, adopted.updated, adopted.known, adopted.forgotten)
}

#[track_caller]
fn only(bed: &Bed, caller: &Caller, content: &str) -> Memory {
    let page = bed.engine.list(caller, &crate::bed::listing(Default::default(), 100)).expect("a list");
    let mut found = page.memories.into_iter().filter(|memory| memory.edition.text.content == content);
    let memory = found.next().unwrap_or_else(|| panic!("nothing says {content:?}"));
    assert!(found.next().is_none(), "{content:?} is there once");
    memory
}

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

#[test]
fn what_it_carries_is_kept() {
    let bed = Bed::new();
    let user = bed.user();
    let there = ForeignMemory {
        number: Some(Number(12)),
        agent: Some("max".to_owned()),
        times: ForeignTimes {
            created_at: Some(time("2025-03-01T08:00:00Z")),
            updated_at: Some(time("2025-03-02T08:00:00Z")),
            accessed_at: Some(time("2025-04-01T08:00:00Z")),
            access_count: 7,
        },
        ..ForeignMemory::new(
            "12",
            SaveRequest {
                memory_type: Some(MemoryType::Preference),
                importance: Some(0.9),
                source_note: Some("max.db".to_owned()),
                ..SaveRequest::new("Prefers TypeScript over JavaScript")
            },
        )
    };
    let adopted = adopt(&bed, &user, collection(vec![there]));
    assert_eq!(counts(&adopted), (1, 0, 0, 0));
    let memory = bed.engine.get(&user, MemoryRef::Number(Number(12))).expect("its own number");
    assert_eq!(memory.edition.class.memory_type, MemoryType::Preference);
    assert_eq!(memory.edition.class.importance.get(), 0.9);
    assert_eq!(memory.edition.source_note.as_deref(), Some("max.db"));
    assert_eq!(memory.provenance.origin, Origin::Import);
    assert_eq!(memory.provenance.source_agent.as_deref(), Some("max"));
    assert_eq!(memory.usage.created_at, time("2025-03-01T08:00:00Z"));
    assert_eq!(memory.usage.updated_at, time("2025-03-02T08:00:00Z"));
    assert_eq!(memory.usage.accessed_at, time("2025-04-01T08:00:00Z"));
    assert_eq!((memory.usage.access_count, memory.version), (7, Version::FIRST));
    assert_eq!(memory.edition.boundary, Boundary::Private, "as the space has it");
    let next = bed.save(&user, "the next one");
    assert_eq!(next.number, Some(Number(13)));
}

#[test]
fn again_is_nothing_and_a_taken_number_is_replaced() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "mine is the first");
    let numbered = |n: u64, content: &str| ForeignMemory {
        number: Some(Number(n)),
        label: format!("#{n}"),
        ..item(&n.to_string(), content)
    };
    let all = || collection(vec![numbered(1, "one"), numbered(2, "two"), item("x", "without a number")]);
    let first = adopt(&bed, &user, all());
    assert_eq!(counts(&first), (3, 0, 0, 0));
    let renumbered: Vec<_> = first.renumbered.iter().map(|moved| (moved.from.0, moved.to.0)).collect();
    assert_eq!(renumbered.len(), 1, "#2 is free: {renumbered:?}");
    assert_eq!(renumbered[0].0, 1);
    assert!(only(&bed, &user, "without a number").number.is_some());
    let before = bed.dump();
    let again = adopt(&bed, &user, all());
    assert_eq!((counts(&again), again.renumbered.len()), ((0, 0, 3, 0), 0));
    assert_eq!(bed.dump(), before, "and nothing was written");
}

#[test]
fn what_was_edited_there_becomes_a_new_version() {
    let bed = Bed::new();
    let user = bed.user();
    adopt(&bed, &user, collection(vec![item("1", "tea"), item("2", "standup at nine")]));
    let retyped = ForeignMemory::new(
        "1",
        SaveRequest { memory_type: Some(MemoryType::Preference), ..SaveRequest::new("tea") },
    );
    let adopted = adopt(&bed, &user, collection(vec![retyped, item("2", "standup at ten")]));
    assert_eq!(counts(&adopted), (0, 2, 0, 0));
    let standup = only(&bed, &user, "standup at ten");
    assert_eq!(standup.version, Version(2));
    let history = bed.engine.history(&user, standup.id.into()).expect("its versions");
    assert_eq!(history.len(), 2);
    assert_eq!(only(&bed, &user, "tea").edition.class.memory_type, MemoryType::Preference);
    let third = adopt(&bed, &user, collection(vec![item("2", "standup at eleven")]));
    assert_eq!(counts(&third), (0, 1, 0, 0), "a version of the import's own is no edit of somebody's");
}

#[test]
fn what_was_edited_here_is_left_and_said() {
    let bed = Bed::new();
    let user = bed.user();
    adopt(&bed, &user, collection(vec![item("1", "tea")]));
    let tea = only(&bed, &user, "tea");
    bed.update(&user, tea.id, &said("green tea"));
    let same = adopt(&bed, &user, collection(vec![item("1", "tea")]));
    assert_eq!((counts(&same), same.left.len()), ((0, 0, 1, 0), 0), "nothing is new there");
    let both = adopt(&bed, &user, collection(vec![item("1", "black tea")]));
    assert_eq!(counts(&both), (0, 0, 0, 0));
    assert_eq!((both.left[0].what.as_str(), both.left[0].why.as_str()), ("1", "it was edited here since"));
    assert_eq!(bed.contents(&user), ["green tea"]);
}

#[test]
fn what_was_forgotten_there_is_forgotten_here() {
    let bed = Bed::new();
    let user = bed.user();
    let forgotten =
        |name: &str, content: &str| ForeignMemory { stands: Stands::Forgotten, ..item(name, content) };
    let first = adopt(&bed, &user, collection(vec![item("1", "stays"), forgotten("2", "gone before")]));
    assert_eq!(counts(&first), (2, 0, 0, 1));
    assert_eq!(bed.contents(&user), ["stays"]);
    let second = adopt(&bed, &user, collection(vec![forgotten("1", "stays"), forgotten("2", "gone before")]));
    assert_eq!(counts(&second), (0, 0, 1, 1));
    assert!(bed.contents(&user).is_empty());
    let audit =
        bed.engine.audit(&user, &AuditFilter { last: 10, ..AuditFilter::default() }).expect("the audit");
    let reasons: Vec<_> = audit
        .iter()
        .filter(|entry| entry.act == AuditAct::Forgot)
        .map(|entry| entry.reason.clone())
        .collect();
    assert_eq!(reasons, [Some("forgotten in max".to_owned()), Some("forgotten in max".to_owned())]);
    let known = only_record(&bed, "stays");
    bed.engine.restore(&user, known.into()).expect("it can be restored");
    assert_eq!(bed.contents(&user), ["stays"]);
}

#[test]
fn what_the_import_had_forgotten_or_archived_comes_back_when_it_does_there() {
    let bed = Bed::new();
    let user = bed.user();
    let standing = |stands: [Stands; 2]| {
        let [one, two] = stands;
        let with = |name: &str, content: &str, stands| ForeignMemory { stands, ..item(name, content) };
        collection(vec![with("1", "one", one), with("2", "two", two)])
    };
    let (active, forgotten, archived) = (Stands::Active, Stands::Forgotten, Stands::Archived);
    let state = |content: &str| only(&bed, &user, content).standing.state;
    adopt(&bed, &user, standing([active, active]));
    adopt(&bed, &user, standing([forgotten, archived]));
    assert_eq!(bed.contents(&user), ["two"]);
    assert_eq!(state("two"), State::Archived);
    let foreseen = AdoptOptions { dry_run: true, ..AdoptOptions::default() };
    assert_eq!(adopt_as(&bed, &user, standing([active, active]), &foreseen).restored, 2);
    let back = adopt(&bed, &user, standing([active, active]));
    assert_eq!((counts(&back), back.restored, back.left.len()), ((0, 0, 0, 0), 2, 0));
    assert_eq!((state("one"), state("two")), (State::Active, State::Active));
    assert_eq!(only(&bed, &user, "one").version, Version::FIRST, "that is no edit");
    let audit =
        bed.engine.audit(&user, &AuditFilter { last: 10, ..AuditFilter::default() }).expect("the audit");
    assert!(audit.iter().any(|entry| entry.reason.as_deref() == Some("restored in max")), "{audit:?}");
    assert_eq!(counts(&adopt(&bed, &user, standing([active, active]))), (0, 0, 2, 0));
}

#[test]
fn what_somebody_here_had_forgotten_or_archived_stays_so_whatever_happens_there() {
    let bed = Bed::new();
    let user = bed.user();
    let standing = |one, two| {
        let with = |name: &str, content: &str, stands| ForeignMemory { stands, ..item(name, content) };
        collection(vec![with("1", "one", one), with("2", "two", two)])
    };
    adopt(&bed, &user, standing(Stands::Active, Stands::Active));
    bed.forget(&user, only(&bed, &user, "one").id, Manner::Soft);
    bed.engine.archive(&user, only(&bed, &user, "two").id.into()).expect("archived");
    for _ in 0..2 {
        let (forgotten, archived) = (Stands::Forgotten, Stands::Archived);
        assert_eq!(counts(&adopt(&bed, &user, standing(forgotten, archived))), (0, 0, 2, 0));
        let back = adopt(&bed, &user, standing(Stands::Active, Stands::Active));
        assert_eq!((counts(&back), back.restored), ((0, 0, 2, 0), 0));
    }
    assert_eq!(bed.contents(&user), ["two"]);
    assert_eq!(only(&bed, &user, "two").standing.state, State::Archived);
}

fn only_record(bed: &Bed, content: &str) -> MemoryId {
    let found = bed.dump().into_iter().find_map(|record| match record {
        Record::Memory(record) if record.memory.edition.text.content == content => Some(record.memory.id),
        _ => None,
    });
    found.expect("it is in the dump")
}

#[test]
fn what_somebody_said_in_a_conversation_is_episodic() {
    let bed = Bed::new();
    let user = bed.user();
    let said = |name: &str, request: SaveRequest| {
        let conversation = Some("planning".to_owned());
        ForeignMemory::new(name, SaveRequest { conversation, ..request })
    };
    let speaker = Some("Ana".to_owned());
    let chat = Some(ContentType::Chat);
    let memories = vec![
        said("1", SaveRequest { speaker: speaker.clone(), position: Some(1), ..SaveRequest::new("a turn") }),
        said("2", SaveRequest { content_type: chat, ..SaveRequest::new("a message of nobody") }),
        said("3", SaveRequest::new("learned there")),
        said(
            "4",
            SaveRequest {
                speaker,
                memory_type: Some(MemoryType::Decision),
                ..SaveRequest::new("decided there")
            },
        ),
    ];
    adopt(&bed, &user, collection(memories));
    let class = |content: &str| only(&bed, &user, content).edition.class;
    for content in ["a turn", "a message of nobody"] {
        assert_eq!((class(content).kind, class(content).stability), (Kind::Episodic, Stability::Stable));
    }
    assert_eq!(class("learned there").kind, Kind::Semantic);
    assert_eq!(class("decided there").kind, Kind::Rationale);
}

#[test]
fn what_was_forgotten_here_stays_so() {
    let bed = Bed::new();
    let user = bed.user();
    let all = || collection(vec![item("1", "twice there"), item("2", "twice there"), item("3", "once")]);
    let first = adopt(&bed, &user, all());
    assert_eq!(counts(&first), (2, 0, 1, 0), "what is said twice is one memory");
    bed.forget(&user, only(&bed, &user, "twice there").id, Manner::Soft);
    bed.forget(&user, only(&bed, &user, "once").id, Manner::Soft);
    let again = adopt(&bed, &user, all());
    assert_eq!((counts(&again), again.left.len()), ((0, 0, 3, 0), 0));
    assert!(bed.contents(&user).is_empty());
}

#[test]
fn twins_are_told_apart_once_one_of_them_changes() {
    let bed = Bed::new();
    let user = bed.user();
    let mine = bed.save(&user, "said by hand");
    adopt(&bed, &user, collection(vec![item("1", "said by hand"), item("2", "same"), item("3", "same")]));
    assert_eq!(bed.contents(&user).len(), 2);
    let changed = || collection(vec![item("1", "no longer that"), item("2", "another"), item("3", "same")]);
    let adopted = adopt(&bed, &user, changed());
    assert_eq!(counts(&adopted), (2, 1, 0, 0), "{adopted:?}");
    let mut contents = bed.contents(&user);
    contents.sort();
    assert_eq!(contents, ["another", "no longer that", "said by hand", "same"]);
    assert_eq!(bed.get(&user, mine.id).version, Version::FIRST, "what somebody wrote is theirs");
    assert_eq!(counts(&adopt(&bed, &user, changed())), (0, 0, 3, 0));
}

#[test]
fn a_key_that_is_held_is_left_and_said() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, keyed("editor", "uses vim"));
    bed.save(&user, keyed("shell", "uses fish"));
    let theirs = |key: &str, content: &str| ForeignMemory::new(key, keyed(key, content));
    let adopted =
        adopt(&bed, &user, collection(vec![theirs("editor", "uses emacs"), theirs("shell", "uses fish")]));
    assert_eq!(counts(&adopted), (0, 0, 1, 0));
    assert_eq!(adopted.left[0].why, "memory #1 here has the same key and says something else");
    assert_eq!(bed.contents(&user), ["uses fish", "uses vim"]);
}

#[test]
fn links_go_to_the_memories_that_stand_for_theirs() {
    let bed = Bed::new();
    let user = bed.user();
    let here = bed.save(&user, "in both");
    let link = |source: &str, target: &str| ForeignLink {
        source: source.to_owned(),
        target: target.to_owned(),
        relation: Relation::CausedBy,
        weight: 0.8,
        linked_by: LinkedBy::Caller,
        created_at: None,
    };
    let all = || Collection {
        links: vec![link("1", "2"), link("2", "1"), link("1", "nowhere"), link("2", "3")],
        ..collection(vec![item("1", "only there"), item("2", "in both"), item("3", "in both")])
    };
    let first = adopt(&bed, &user, all());
    assert_eq!((first.links.new, first.links.known, first.links.left_out), (2, 1, 1));
    let related = bed.engine.related(&user, here.id.into(), 1).expect("what it is linked with");
    assert_eq!(related.len(), 1);
    let again = adopt(&bed, &user, all());
    assert_eq!((again.links.new, again.links.known, again.links.left_out), (0, 3, 1));
}

#[test]
fn a_dry_run_says_the_same_and_writes_nothing() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "in both");
    adopt(&bed, &user, collection(vec![item("1", "old")]));
    let before = bed.dump();
    let all = || Collection {
        links: vec![ForeignLink {
            source: "1".to_owned(),
            target: "2".to_owned(),
            relation: Relation::RelatedTo,
            weight: 0.5,
            linked_by: LinkedBy::Caller,
            created_at: None,
        }],
        turns: vec![turn("1", "hello", "2026-01-01T00:00:01Z")],
        ..collection(vec![item("1", "new"), item("2", "in both"), item("3", "twin"), item("4", "twin")])
    };
    let options = AdoptOptions { dry_run: true, ..AdoptOptions::default() };
    let told = adopt_as(&bed, &user, all(), &options);
    assert_eq!(bed.dump(), before);
    let became: Vec<_> = told.would_be.iter().map(|one| (one.what.as_str(), one.became)).collect();
    assert_eq!(became, [("1", "updated"), ("3", "new")]);
    let done = adopt(&bed, &user, all());
    assert_eq!(Adopted { would_be: Vec::new(), ..told }, done);
    assert_eq!(adopt_as(&bed, &user, all(), &options).links, Tally { new: 0, known: 1, left_out: 0 });
}

pub(super) fn turn(name: &str, content: &str, at: &str) -> ForeignTurn {
    ForeignTurn {
        name: name.to_owned(),
        role: TurnRole::User,
        content: content.to_owned(),
        source: Some("tui".to_owned()),
        at: Some(time(at)),
    }
}

fn logged(bed: &Bed) -> Vec<String> {
    let turns = bed.engine.turns(&bed.user(), &TurnFilter { channel: None, last: 1_000 }).expect("the log");
    turns.into_iter().map(|turn| turn.content).collect()
}

#[test]
fn the_log_takes_the_newest_turns_and_stays_in_order() {
    let bed = Bed::new();
    let user = bed.user();
    let turns = |from: usize, to: usize| Collection {
        turns: (from..to)
            .map(|n| {
                turn(
                    &n.to_string(),
                    &format!("turn {n}"),
                    &format!("2025-01-01T{:02}:{:02}:00Z", n / 60, n % 60),
                )
            })
            .collect(),
        ..collection(Vec::new())
    };
    let first = adopt(&bed, &user, turns(0, 250));
    assert_eq!((first.turns.new, first.turns.left_out), (200, 50));
    assert_eq!(first.notes, ["of the log of conversations the newest 200 turns are kept"]);
    let log = logged(&bed);
    assert_eq!((log.len(), log[0].as_str(), log[199].as_str()), (200, "turn 50", "turn 249"));
    assert_eq!(adopt(&bed, &user, turns(50, 250)).turns.known, 200);
    assert_eq!(adopt(&bed, &user, turns(60, 260)).turns.new, 10);
    assert_eq!(logged(&bed).last().map(String::as_str), Some("turn 259"));
    let request = TurnRequest {
        channel: None,
        role: TurnRole::User,
        speaker: None,
        content: "now".to_owned(),
        source: None,
    };
    bed.engine.log_turn(&user, &request).expect("logged");
    let late = adopt(&bed, &user, turns(260, 270));
    assert_eq!((late.turns.new, late.turns.left_out), (0, 10), "they are older than what was said here");
    assert_eq!(logged(&bed).last().map(String::as_str), Some("now"));
}

#[test]
fn every_space_and_every_person_has_their_own() {
    let bed = Bed::new();
    let user = bed.user();
    let hub = bed.hub("hub");
    let friend = bed.member("friend", hub, Role::Writer);
    let id: MemoryId = "550e8400-e29b-41d4-a716-446655440000".parse().expect("an id");
    let theirs = || {
        collection(vec![
            ForeignMemory { id: Some(id), ..item("u", "with an id of its own") },
            item("1", "with none"),
        ])
    };
    assert_eq!(adopt(&bed, &user, theirs()).new, 2);
    assert_eq!(only(&bed, &user, "with an id of its own").id, id, "a free id is kept");
    assert_eq!(adopt(&bed, &within(&user, hub), theirs()).new, 2);
    let private = AdoptOptions { boundary: Some(Boundary::Private), ..AdoptOptions::default() };
    assert_eq!(adopt_as(&bed, &friend, theirs(), &private).new, 2);
    for who in [&user, &within(&user, hub)] {
        assert_eq!(counts(&adopt(&bed, who, theirs())), (0, 0, 2, 0));
    }
    assert_eq!(counts(&adopt_as(&bed, &friend, theirs(), &private)), (0, 0, 2, 0));
}

#[test]
fn what_another_person_took_in_stays_theirs() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let (one, other) = (bed.member("one", hub, Role::Writer), bed.member("other", hub, Role::Writer));
    let id: MemoryId = "550e8400-e29b-41d4-a716-446655440000".parse().expect("an id");
    let theirs = |boundary: Option<Boundary>, content: &str| ForeignMemory {
        id: Some(id),
        ..ForeignMemory::new("u", SaveRequest { boundary, ..SaveRequest::new(content) })
    };
    adopt(&bed, &one, collection(vec![theirs(None, "tea at nine")]));
    assert_eq!(counts(&adopt(&bed, &other, collection(vec![theirs(None, "tea at nine")]))), (0, 0, 1, 0));
    let before = bed.dump();
    let forgotten = ForeignMemory { stands: Stands::Forgotten, ..theirs(None, "tea at nine") };
    for changed in [
        theirs(Some(Boundary::Org), "tea at nine"),
        theirs(Some(Boundary::Private), "tea at nine"),
        theirs(None, "tea at ten"),
        forgotten,
    ] {
        let adopted = adopt(&bed, &other, collection(vec![changed]));
        assert_eq!(counts(&adopted), (0, 0, 0, 0));
        assert_eq!(adopted.left[0].why, "it is not yours to change here");
        assert_eq!(bed.dump(), before);
    }
    let published = adopt(&bed, &one, collection(vec![theirs(Some(Boundary::Org), "tea at nine")]));
    assert_eq!(counts(&published), (0, 1, 0, 0), "its owner may");
    assert_eq!(bed.get(&one, id).edition.boundary, Boundary::Org);
}

#[test]
fn it_takes_the_right_to_write_and_no_more() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let writer = bed.member("writer", hub, Role::Writer);
    let reader = bed.member("reader", hub, Role::Reader);
    let denied =
        bed.engine.adopt(&reader, collection(vec![item("1", "x")]), &AdoptOptions::default(), &mut |_| {});
    refused!(denied, Error::Denied { need: Role::Writer, .. });
    let adopted = adopt(&bed, &writer, collection(vec![item("1", "x")]));
    assert_eq!(adopted.new, 1);
    let memory = only(&bed, &writer, "x");
    assert_eq!((memory.owner, memory.edition.boundary), (writer.viewer.principal, Boundary::Hub));
    let outsider = caller(bed.person("outsider").viewer.principal, hub);
    let denied =
        bed.engine.adopt(&outsider, collection(vec![item("1", "x")]), &AdoptOptions::default(), &mut |_| {});
    refused!(denied, Error::NoSpace { .. });
}

#[test]
fn a_group_stays_sealed_whatever_was_said_there() {
    let bed = Bed::new();
    let group = bed.space("group", SpaceKind::Group);
    let user = within(&bed.user(), group);
    let open = SaveRequest { boundary: Some(Boundary::Org), ..SaveRequest::new("open there") };
    adopt(&bed, &user, collection(vec![ForeignMemory::new("1", open)]));
    assert_eq!(only(&bed, &user, "open there").edition.boundary, Boundary::Hub);
    let options = AdoptOptions { boundary: Some(Boundary::Org), ..AdoptOptions::default() };
    let refused = bed.engine.adopt(&user, collection(vec![item("2", "x")]), &options, &mut |_| {});
    refused!(refused, Error::Invalid(Invalid::BoundaryTooWide { .. }));
}

#[test]
fn what_is_wrong_costs_only_itself() {
    let bed = Bed::new();
    let user = bed.user();
    let bad = [
        item("empty", "  "),
        item("control", "a\u{0}b"),
        ForeignMemory::new("heavy", SaveRequest { importance: Some(7.0), ..SaveRequest::new("x") }),
    ];
    let adopted = adopt(&bed, &user, collection([bad.to_vec(), vec![item("good", "good")]].concat()));
    assert_eq!((adopted.new, adopted.skipped.len()), (1, 3));
    assert_eq!(
        (adopted.skipped[0].what.as_str(), adopted.skipped[0].why.as_str()),
        ("empty", "the content is empty")
    );
    assert_eq!(bed.contents(&user), ["good"]);
}

#[test]
fn after_a_dump_and_a_load_it_is_still_known() {
    let bed = Bed::new();
    let user = bed.user();
    let made = |name: &str, content: &str| ForeignMemory {
        times: ForeignTimes { created_at: Some(time("2025-03-01")), ..ForeignTimes::default() },
        ..item(name, content)
    };
    let all =
        || collection(vec![made("1", "kept"), made("2", "to be edited"), made("3", "to be edited here")]);
    adopt(&bed, &user, all());
    let other = Bed::new();
    let mut loading = tulving_core::Loading::default();
    let lines = (1..).zip(bed.dump()).collect();
    other.engine.load(&user, &mut loading, lines).expect("loaded");
    other.update(&user, only(&other, &user, "to be edited here").id, &said("edited here"));
    let edited =
        || collection(vec![made("1", "kept"), made("2", "edited there"), made("3", "edited there too")]);
    let adopted = adopt(&other, &user, edited());
    assert_eq!((counts(&adopted), adopted.left.len()), ((0, 1, 1, 0), 1), "{adopted:?}");
    assert_eq!(counts(&adopt(&other, &user, edited())).2, 2);
}

#[test]
fn what_moved_away_is_not_made_anew() {
    let bed = Bed::new();
    let user = bed.user();
    bed.hub("hub");
    adopt(&bed, &user, collection(vec![item("1", "moves")]));
    let memory = only(&bed, &user, "moves");
    bed.engine.move_to(&user, &[memory.id.into()], "hub").expect("moved");
    assert_eq!(counts(&adopt(&bed, &user, collection(vec![item("1", "moves")]))), (0, 0, 1, 0));
    let changed = adopt(&bed, &user, collection(vec![item("1", "moves on")]));
    assert_eq!(changed.left[0].why, "it is in another space by now");
}

#[test]
fn what_is_archived_there_is_archived_here() {
    let bed = Bed::new();
    let user = bed.user();
    let archived = ForeignMemory { stands: Stands::Archived, ..item("1", "old") };
    adopt(&bed, &user, collection(vec![item("1", "old")]));
    let id = only(&bed, &user, "old").id;
    assert_eq!(adopt(&bed, &user, collection(vec![archived.clone()])).updated, 1);
    let memory = bed.get(&user, id);
    assert_eq!((memory.standing.state, memory.version), (State::Archived, Version::FIRST));
    assert_eq!(adopt(&bed, &user, collection(vec![archived])).known, 1);
}

#[test]
fn two_who_take_in_the_same_at_once_make_it_once() {
    let bed = Bed::new();
    let user = bed.user();
    let other = bed.beside();
    let all = || collection(vec![item("1", "one"), item("2", "two")]);
    let theirs = user.clone();
    bed.store.before_next_apply(move |_| {
        other.adopt(&theirs, all(), &AdoptOptions::default(), &mut |_| {}).expect("taken in");
    });
    let adopted = adopt(&bed, &user, all());
    assert_eq!(adopted.new + adopted.known, 2);
    assert_eq!(bed.contents(&user).len(), 2);
}

#[test]
fn what_says_nearly_the_same_is_linked_once_it_is_embedded() {
    let clock = ManualClock::ticking(Duration::from_millis(1));
    let bed = Bed::with(clock, Arc::new(FakeEmbedder));
    let user = bed.user();
    let words = "one two three four five six seven eight nine ten eleven twelve";
    let here = bed.save(&user, words).id;
    let near = format!("{words} thirteen");
    let later = ForeignTimes { created_at: Some(bed.clock.now()), ..ForeignTimes::default() };
    let all = vec![ForeignMemory { times: later, ..item("1", &near) }, item("2", "Buys oat milk")];
    adopt(&bed, &user, collection(all));
    let id = only(&bed, &user, &near).id;
    let linked = |id: MemoryId| -> Vec<(MemoryId, LinkedBy)> {
        let related = bed.engine.related(&user, id.into(), 1).expect("relatives");
        related.iter().map(|relative| (relative.memory.id, relative.via[0].linked_by)).collect()
    };
    assert_eq!(linked(id), []);
    assert_eq!(bed.engine.embed_waiting(100).expect("embedded").done, 2);
    assert_eq!(linked(id), [(here, LinkedBy::Auto)]);
    assert_eq!(linked(only(&bed, &user, "Buys oat milk").id), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn twice_is_once(
        sayings in proptest::collection::vec(("[a-d]", "[x-z]{1,2}", 0..4_u8, proptest::option::of("[k-m]")), 1..12),
        edges in proptest::collection::vec(("[a-e]", "[a-e]"), 0..6),
        own in proptest::collection::vec("[x-z]{1,2}", 0..3),
    ) {
        let bed = Bed::new();
        let user = bed.user();
        for content in own {
            bed.save(&user, content.as_str());
        }
        let memory = |(name, content, stands, key): &(String, String, u8, Option<String>)| ForeignMemory {
            stands: [Stands::Active, Stands::Cooling, Stands::Archived, Stands::Forgotten][usize::from(*stands)],
            ..ForeignMemory::new(name.clone(), SaveRequest { key: key.clone(), ..SaveRequest::new(content.clone()) })
        };
        let link = |(source, target): &(String, String)| ForeignLink {
            source: source.clone(),
            target: target.clone(),
            relation: Relation::RelatedTo,
            weight: 0.5,
            linked_by: LinkedBy::Caller,
            created_at: None,
        };
        let all = || Collection {
            links: edges.iter().map(link).collect(),
            ..collection(sayings.iter().map(memory).collect())
        };
        adopt(&bed, &user, all());
        let once = bed.dump();
        let again = adopt(&bed, &user, all());
        prop_assert_eq!((again.new, again.updated, again.forgotten, again.links.new), (0, 0, 0, 0));
        prop_assert_eq!(bed.dump(), once);
    }
}

#[test]
fn what_was_cut_off_goes_on_where_it_was() {
    let all = || Collection {
        links: vec![ForeignLink {
            source: "1".to_owned(),
            target: "2".to_owned(),
            relation: Relation::PartOf,
            weight: 0.5,
            linked_by: LinkedBy::Caller,
            created_at: None,
        }],
        turns: vec![turn("1", "hello", "2025-01-01T00:00:00Z")],
        ..collection(vec![item("1", "one"), item("2", "edited there"), item("3", "three")])
    };
    let begun = || {
        let bed = Bed::new();
        adopt(&bed, &bed.user(), collection(vec![item("2", "two")]));
        bed
    };
    let whole = begun();
    adopt(&whole, &whole.user(), all());
    let told = |bed: &Bed| {
        let mut contents = bed.contents(&bed.user());
        contents.sort();
        let links = bed.dump().into_iter().filter(|record| matches!(record, Record::Association(_))).count();
        (contents, links, logged(bed))
    };
    for nth in 1..200 {
        let bed = begun();
        bed.store.fail_at(nth);
        let cut = bed.engine.adopt(&bed.user(), all(), &AdoptOptions::default(), &mut |_| {});
        bed.store.fail_at(0);
        adopt(&bed, &bed.user(), all());
        assert_eq!(told(&bed), told(&whole), "call {nth}");
        if cut.is_ok() {
            assert!(nth > 5);
            return;
        }
    }
    panic!("it never ends");
}

fn diary(journals: &[(&str, &[u8])], long_term: Option<&str>) -> Diary {
    Diary {
        long_term: long_term.map(|text| text.as_bytes().to_vec()),
        journals: journals.iter().map(|(name, text)| ((*name).to_owned(), text.to_vec())).collect(),
        ..Diary::default()
    }
}

#[test]
fn journals_get_what_they_lack_and_lose_nothing() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-26.md", "here\nin both\n");
    bed.edit(&user, "memory/2026-05-27.md", [0xff, 0xfe]);
    let theirs = || {
        diary(
            &[
                ("2026-05-25.md", b"only there\r\n"),
                ("2026-05-26.md", b"in both\n- there\n  and more\n"),
                ("2026-05-27.md", b"text"),
                ("notes.md", b"no journal"),
            ],
            Some("known there"),
        )
    };
    let told = bed.engine.take_journals(&user, theirs(), true).expect("told");
    assert_eq!(bed.engine.journals(&user).expect("journals").len(), 2, "a dry run writes nothing");
    let taken = bed.engine.take_journals(&user, theirs(), false).expect("taken over");
    assert_eq!(taken, told);
    assert_eq!((taken.new, taken.extended, taken.entries, taken.skipped.len()), (1, 1, 1, 2));
    assert_eq!(taken.long_term, Some(LongTermTaken::New));
    let journal = |day: &str| {
        let day = day.parse().expect("a day");
        bed.engine.journal(&user, day).expect("read").expect("a journal").content
    };
    assert_eq!(journal("2026-05-25"), "only there\r\n", "as it is there");
    assert_eq!(journal("2026-05-26"), "here\nin both\n- there\n  and more\n");
    let again = bed.engine.take_journals(&user, theirs(), false).expect("taken over");
    assert_eq!((again.new, again.extended, again.known), (0, 0, 2));
    assert_eq!(again.long_term, Some(LongTermTaken::Known));
    bed.edit(&user, "memory/MEMORY.md", "known here");
    let left = bed.engine.take_journals(&user, theirs(), false).expect("taken over");
    assert_eq!(left.long_term, Some(LongTermTaken::Left));
    assert_eq!(bed.engine.long_term(&user).expect("read").content, "known here");
}

#[test]
fn a_long_term_memory_that_cannot_be_read_holds_up_no_journal() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/MEMORY.md", "x".repeat((8 << 20) + 1));
    let theirs = diary(&[("2026-05-25.md", b"only there\n")], Some("known there"));
    let taken = bed.engine.take_journals(&user, theirs, false).expect("taken over");
    assert_eq!((taken.new, taken.long_term), (1, None));
    assert_eq!(taken.skipped[0].what, "MEMORY.md");
}

#[test]
fn two_who_take_over_the_same_journals_at_once_add_each_entry_once() {
    const DAYS: usize = 1_000;
    let bed = Bed::new();
    let user = bed.user();
    let name = |n: usize| format!("{:04}-01-01.md", 1_000 + n);
    for n in 0..DAYS {
        bed.edit(&user, &format!("memory/{}", name(n)), "here\n");
    }
    let (other, start) = (bed.beside(), Barrier::new(2));
    std::thread::scope(|scope| {
        for engine in [&bed.engine, &other] {
            let (user, start) = (&user, &start);
            scope.spawn(move || {
                for n in 0..DAYS {
                    let theirs = diary(&[(&name(n), b"there\n")], None);
                    start.wait();
                    engine.take_journals(user, theirs, false).expect("taken over");
                }
            });
        }
    });
    for n in 0..DAYS {
        let path = bed.path(&user, &format!("memory/{}", name(n)));
        assert_eq!(bed.files.content(&path).as_deref(), Some("here\nthere\n"), "{path}");
    }
}

#[test]
fn journals_are_for_those_who_may_write() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let reader = bed.member("reader", hub, Role::Reader);
    let denied = bed.engine.take_journals(&reader, diary(&[("2026-05-25.md", b"x")], None), false);
    refused!(denied, Error::Denied { need: Role::Writer, .. });
    assert!(bed.engine.journals(&reader).expect("journals").is_empty());
}

#[test]
fn nobody_learns_whose_an_id_is() {
    let bed = Bed::new();
    let hub = bed.hub("hub");
    let (one, other) = (bed.member("one", hub, Role::Writer), bed.member("other", hub, Role::Writer));
    let secret = SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("a secret of one") };
    let theirs = bed.save(&one, secret);
    let guess = ForeignMemory { id: Some(theirs.id), ..item("x", "a guess") };
    let adopted = adopt(&bed, &other, collection(vec![guess]));
    assert_eq!((counts(&adopted), adopted.left.len(), adopted.skipped.len()), ((1, 0, 0, 0), 0, 0));
    assert_ne!(only(&bed, &other, "a guess").id, theirs.id);
    let memory = bed.get(&one, theirs.id);
    assert_eq!((memory.edition.text.content.as_str(), memory.version), ("a secret of one", Version::FIRST));
}
