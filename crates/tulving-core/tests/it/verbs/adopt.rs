//! Memories of other systems, imported repeatedly.

/// Changes after an import, there or here.
mod edits;
/// Ownership of imported memories.
mod walls;

use std::sync::Arc;

use proptest::prelude::*;
use tulving_core::model::foreign::{
    ForeignCollection, ForeignLink, ForeignMemory, ForeignStatus, ForeignTimes, ForeignTurn,
};
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef, Version};
use tulving_core::model::memory::Memory;
use tulving_core::model::record::Record;
use tulving_core::model::request::{Caller, SaveRequest, TurnFilter};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{
    Boundary, ContentType, Kind, LinkedBy, MemoryType, Origin, Relation, Stability, System, TurnRole,
};
use tulving_core::ports::Clock;
use tulving_core::verbs::foreign_import::{ForeignImportCounts, ForeignImportOptions, ForeignImportReport};
use tulving_testkit::embedder::FakeEmbedder;

use super::near::WORDS;
use crate::bed::{self, Bed, keyed, listing, said};

pub(super) fn item(name: &str, content: &str) -> ForeignMemory {
    ForeignMemory::new(name, SaveRequest::new(content))
}

pub(super) fn collection(memories: Vec<ForeignMemory>) -> ForeignCollection {
    ForeignCollection { memories, ..ForeignCollection::new(System::Max) }
}

#[track_caller]
pub(super) fn adopt(bed: &Bed, caller: &Caller, collection: ForeignCollection) -> ForeignImportReport {
    adopt_as(bed, caller, collection, &ForeignImportOptions::default())
}

#[track_caller]
fn adopt_as(
    bed: &Bed,
    caller: &Caller,
    collection: ForeignCollection,
    options: &ForeignImportOptions,
) -> ForeignImportReport {
    let caller = Caller { origin: Origin::Import, ..caller.clone() };
    match bed.engine.adopt(&caller, collection, options, &mut |_| {}) {
        Ok(adopted) => adopted,
        Err(error) => panic!("not taken in: {error}"),
    }
}

fn counts(adopted: &ForeignImportReport) -> (u64, u64, u64, u64) {
    (adopted.new, adopted.updated, adopted.known, adopted.forgotten)
}

#[track_caller]
fn only(bed: &Bed, caller: &Caller, content: &str) -> Memory {
    let page = bed.engine.list(caller, &listing(Default::default(), 100)).expect("a list");
    let mut found = page.memories.into_iter().filter(|memory| memory.fields.text.content == content);
    let memory = found.next().unwrap_or_else(|| panic!("nothing says {content:?}"));
    assert!(found.next().is_none(), "{content:?} is there once");
    memory
}

fn link(source: &str, target: &str) -> ForeignLink {
    ForeignLink {
        source: source.to_owned(),
        target: target.to_owned(),
        relation: Relation::RelatedTo,
        weight: 0.5,
        linked_by: LinkedBy::Caller,
        created_at: None,
    }
}

fn time(text: &str) -> Timestamp {
    text.parse().expect("a time")
}

#[test]
fn what_it_carries_is_kept() {
    let bed = Bed::new();
    let user = bed.user();
    let there = ForeignMemory {
        number: Some(MemoryNumber(12)),
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
    let memory = bed.engine.get(&user, MemoryRef::Number(MemoryNumber(12))).expect("its own number");
    assert_eq!(memory.fields.class.memory_type, MemoryType::Preference);
    assert_eq!(memory.fields.class.importance.get(), 0.9);
    assert_eq!(memory.fields.source_note.as_deref(), Some("max.db"));
    assert_eq!(memory.provenance.origin, Origin::Import);
    assert_eq!(memory.provenance.source_agent.as_deref(), Some("max"));
    assert_eq!(memory.usage.created_at, time("2025-03-01T08:00:00Z"));
    assert_eq!(memory.usage.updated_at, time("2025-03-02T08:00:00Z"));
    assert_eq!(memory.usage.accessed_at, time("2025-04-01T08:00:00Z"));
    assert_eq!((memory.usage.access_count, memory.version), (7, Version::FIRST));
    assert_eq!(memory.fields.boundary, Boundary::Private, "as the space has it");
    let next = bed.save(&user, "the next one");
    assert_eq!(next.memory.number, Some(MemoryNumber(13)));
}

#[test]
fn again_is_nothing_and_a_taken_number_is_replaced() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "mine is the first");
    let numbered = |n: u64, content: &str| ForeignMemory {
        number: Some(MemoryNumber(n)),
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
    let class = |content: &str| only(&bed, &user, content).fields.class;
    for content in ["a turn", "a message of nobody"] {
        assert_eq!((class(content).kind, class(content).stability), (Kind::Episodic, Stability::Stable));
    }
    assert_eq!(class("learned there").kind, Kind::Semantic);
    assert_eq!(class("decided there").kind, Kind::Rationale);
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
    assert_eq!(adopted.left[0].why, "memory #1 here has the same key and another text");
    assert_eq!(bed.contents(&user), ["uses fish", "uses vim"]);
}

#[test]
fn links_go_to_the_memories_that_stand_for_theirs() {
    let bed = Bed::new();
    let user = bed.user();
    let here = bed.save(&user, "in both");
    let all = || ForeignCollection {
        links: vec![link("1", "2"), link("2", "1"), link("1", "nowhere"), link("2", "3")],
        ..collection(vec![item("1", "only there"), item("2", "in both"), item("3", "in both")])
    };
    let first = adopt(&bed, &user, all());
    assert_eq!((first.links.new, first.links.known, first.links.left_out), (2, 1, 1));
    let related = bed.engine.related(&user, here.memory.id.into(), 1).expect("what it is linked with");
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
    let all = || ForeignCollection {
        links: vec![link("1", "2")],
        turns: vec![turn("1", "hello", "2026-01-01T00:00:01Z")],
        ..collection(vec![item("1", "new"), item("2", "in both"), item("3", "twin"), item("4", "twin")])
    };
    let options = ForeignImportOptions { dry_run: true, ..ForeignImportOptions::default() };
    let described = adopt_as(&bed, &user, all(), &options);
    assert_eq!(bed.dump(), before);
    let became: Vec<_> = described.would_be.iter().map(|one| (one.what.as_str(), one.became)).collect();
    assert_eq!(became, [("1", "updated"), ("3", "new")]);
    let done = adopt(&bed, &user, all());
    assert_eq!(ForeignImportReport { would_be: Vec::new(), ..described }, done);
    assert_eq!(
        adopt_as(&bed, &user, all(), &options).links,
        ForeignImportCounts { new: 0, known: 1, left_out: 0 }
    );
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
    let all = TurnFilter { last: 1_000, ..TurnFilter::default() };
    let turns = bed.engine.turns(&bed.user(), &all).expect("the log").turns;
    turns.into_iter().map(|turn| turn.content).collect()
}

#[test]
fn the_log_takes_the_newest_turns_and_stays_in_order() {
    let bed = Bed::new();
    let user = bed.user();
    let turns = |from: usize, to: usize| ForeignCollection {
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
    assert_eq!(first.notes, ["the log of conversations keeps the newest 200 turns"]);
    let log = logged(&bed);
    assert_eq!((log.len(), log[0].as_str(), log[199].as_str()), (200, "turn 50", "turn 249"));
    assert_eq!(adopt(&bed, &user, turns(50, 250)).turns.known, 200);
    assert_eq!(adopt(&bed, &user, turns(60, 260)).turns.new, 10);
    assert_eq!(logged(&bed).last().map(String::as_str), Some("turn 259"));
    bed.engine.log_turn(&user, &bed::turn("now")).expect("logged");
    let late = adopt(&bed, &user, turns(260, 270));
    assert_eq!((late.turns.new, late.turns.left_out), (0, 10), "they are older than what was said here");
    assert_eq!(logged(&bed).last().map(String::as_str), Some("now"));
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
    other.load(bed.dump());
    other.update(&user, only(&other, &user, "to be edited here").id, &said("edited here"));
    let edited =
        || collection(vec![made("1", "kept"), made("2", "edited there"), made("3", "edited there too")]);
    let adopted = adopt(&other, &user, edited());
    assert_eq!((counts(&adopted), adopted.left.len()), ((0, 1, 1, 0), 1), "{adopted:?}");
    assert_eq!(counts(&adopt(&other, &user, edited())).2, 2);
}

#[test]
fn two_who_take_in_the_same_at_once_make_it_once() {
    let bed = Bed::new();
    let user = bed.user();
    let other = bed.beside();
    let all = || collection(vec![item("1", "one"), item("2", "two")]);
    let theirs = user.clone();
    bed.store.before_next_apply(move |_| {
        other.adopt(&theirs, all(), &ForeignImportOptions::default(), &mut |_| {}).expect("taken in");
    });
    let adopted = adopt(&bed, &user, all());
    assert_eq!(adopted.new + adopted.known, 2);
    assert_eq!(bed.contents(&user).len(), 2);
}

#[test]
fn what_says_nearly_the_same_is_linked_once_it_is_embedded() {
    let bed = Bed::embedding(Arc::new(FakeEmbedder));
    let user = bed.user();
    let here = bed.save(&user, WORDS).memory.id;
    let near = format!("{WORDS} thirteen");
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
            stands: [ForeignStatus::Active, ForeignStatus::Cooling, ForeignStatus::Archived, ForeignStatus::Forgotten][usize::from(*stands)],
            ..ForeignMemory::new(name.clone(), SaveRequest { key: key.clone(), ..SaveRequest::new(content.clone()) })
        };
        let all = || ForeignCollection {
            links: edges.iter().map(|(source, target)| link(source, target)).collect(),
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
    let all = || ForeignCollection {
        links: vec![link("1", "2")],
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
    let described = |bed: &Bed| {
        let mut contents = bed.contents(&bed.user());
        contents.sort();
        let links = bed.dump().into_iter().filter(|record| matches!(record, Record::Association(_))).count();
        (contents, links, logged(bed))
    };
    for nth in 1..200 {
        let bed = begun();
        bed.store.fail_at(nth);
        let cut = bed.engine.adopt(&bed.user(), all(), &ForeignImportOptions::default(), &mut |_| {});
        bed.store.fail_at(0);
        adopt(&bed, &bed.user(), all());
        assert_eq!(described(&bed), described(&whole), "call {nth}");
        if cut.is_ok() {
            assert!(nth > 5);
            return;
        }
    }
    panic!("it never ends");
}
