//! timeline: the changes of what is known about a subject.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tulving_core::model::answer::{Timeline, TimelineEntry};
use tulving_core::model::change::Write;
use tulving_core::model::error::{Error, Invalid};
use tulving_core::model::id::{MemoryId, MemoryNumber, MemoryRef, Version};
use tulving_core::model::limits;
use tulving_core::model::memory::Status;
use tulving_core::model::request::{
    Caller, ForgetMode, RecallQuestion, SaveRequest, TimelineRequest, TimelineSubject, UpdateRequest,
};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Boundary, Relation, Role};
use tulving_core::ports::Clock as _;
use tulving_testkit::clock::ManualClock;
use tulving_testkit::embedder::{FakeEmbedder, NoEmbedder};
use tulving_testkit::seed::{RandomSeed, SeedPanicGuard};

use crate::bed::{Bed, refused, said, within};
use crate::isolation::asking;

fn bed() -> Bed {
    Bed::with(ManualClock::new(), Arc::new(NoEmbedder))
}

fn day(text: &str) -> Timestamp {
    text.parse().expect("a day")
}

fn since(content: &str, from: &str) -> SaveRequest {
    SaveRequest { valid_from: Some(day(from)), ..SaveRequest::new(content) }
}

fn of(id: MemoryId) -> TimelineRequest {
    TimelineRequest::new(TimelineSubject::Memory(id.into()))
}

#[track_caller]
fn described(bed: &Bed, caller: &Caller, request: &TimelineRequest) -> Timeline {
    match bed.engine.timeline(caller, request) {
        Ok(timeline) => timeline,
        Err(error) => panic!("not told: {error}"),
    }
}

/// Formats an entry in one line: from, until, number, version, content, end.
fn line(entry: &TimelineEntry) -> String {
    let until = entry.until.map_or_else(|| "…".to_owned(), Timestamp::date);
    let ended = entry.ended.map_or_else(String::new, |ended| format!(" ({ended})"));
    let holds = if entry.holds { " holds" } else { "" };
    let (from, content) = (entry.from.date(), &entry.content);
    format!("{from} → {until} {} v{} {content}{ended}{holds}", entry.memory, entry.version)
}

fn lines(timeline: &Timeline) -> Vec<String> {
    timeline.entries.iter().map(line).collect()
}

#[test]
fn a_chain_is_told_from_whichever_memory_one_begins() {
    let bed = bed();
    let user = bed.user();
    let five = bed.save(&user, since("The API retries five times", "2024-01-03")).memory.id;
    let three = bed.save(&user, since("It gives up after the third attempt", "2024-03-10")).memory.id;
    let never = bed.save(&user, since("Nothing is attempted again", "2025-02-01")).memory.id;
    bed.save(&user, "The canteen closes at two");
    bed.link(&user, three, five, Relation::Updates);
    bed.link(&user, never, three, Relation::Updates);
    let due = [
        "2024-01-03 → 2024-03-10 #1 v1 The API retries five times (superseded by #2)",
        "2024-03-10 → 2025-02-01 #2 v1 It gives up after the third attempt (superseded by #3)",
        "2025-02-01 → … #3 v1 Nothing is attempted again holds",
    ];
    let number = TimelineRequest::new("#2");
    assert_eq!(number.about, TimelineSubject::Memory(MemoryRef::Number(MemoryNumber(2))));
    for request in [of(five), of(three), of(never), number, TimelineRequest::new("API retries five times")] {
        let timeline = described(&bed, &user, &request);
        assert_eq!(lines(&timeline), due, "{request:?}");
        assert!(timeline.entries.iter().all(|entry| entry.chain == 1) && !timeline.cut);
    }
    let accessed = bed.get(&user, five).usage.access_count;
    bed.engine.flush().unwrap();
    assert_eq!(bed.get(&user, five).usage.access_count, accessed, "it counts nothing as used");
}

#[test]
fn what_its_time_leaves_out_takes_no_place_from_what_it_does_not() {
    let bed = bed();
    let user = bed.user();
    for month in 1..=9 {
        let ended = SaveRequest {
            valid_until: Some(day("2023-12-31")),
            ..since(&format!("The API retries {month} times"), &format!("2023-{month:02}-01"))
        };
        bed.save(&user, ended);
    }
    let now = bed
        .save(
            &user,
            since(
                "The API retries many times, says Ada, who looked at it with Grace for a whole day",
                "2024-02-01",
            ),
        )
        .memory
        .id;
    let about = |limit| TimelineRequest {
        limit,
        since: Some(day("2024-01-15")),
        ..TimelineRequest::new("The API retries times")
    };
    let timeline = described(&bed, &user, &about(1));
    assert_eq!(timeline.entries.iter().map(|entry| entry.memory.id).collect::<Vec<_>>(), [now]);
    let early = TimelineRequest { since: None, until: Some(day("2024-01-15")), ..about(3) };
    assert_eq!(described(&bed, &user, &early).entries.len(), 3);
}

#[test]
fn what_had_no_room_still_ends_what_it_updates() {
    let bed = Bed::new();
    let user = bed.user();
    let mut before: Option<MemoryId> = None;
    for nth in 0..=limits::TIMELINE_MEMORIES {
        let id = bed.save(&user, format!("step {nth}").as_str()).memory.id;
        if let Some(before) = before.replace(id) {
            bed.link(&user, id, before, Relation::Updates);
        }
    }
    let timeline = described(&bed, &user, &TimelineRequest::new("#1"));
    assert!(timeline.cut && timeline.entries.iter().all(|entry| !entry.holds));
}

#[test]
fn only_what_a_text_is_about_is_told_and_links_of_others_kinds_do_not_chain() {
    let bed = bed();
    let user = bed.user();
    let office = bed.save(&user, since("The office is in Berlin", "2024-01-01")).memory.id;
    let plants = bed.save(&user, since("The plants of the office need water", "2024-02-01")).memory.id;
    let noise = bed.save(&user, "Water boils at a hundred degrees").memory.id;
    bed.link(&user, noise, office, Relation::RelatedTo);
    let timeline = described(&bed, &user, &TimelineRequest::new("office"));
    let ids: Vec<MemoryId> = timeline.entries.iter().map(|entry| entry.memory.id).collect();
    assert_eq!(ids, [office, plants]);
    let chains: Vec<usize> = timeline.entries.iter().map(|entry| entry.chain).collect();
    assert_eq!(chains, [1, 2]);
    let one = TimelineRequest { limit: 1, ..TimelineRequest::new("office") };
    assert_eq!(described(&bed, &user, &one).entries.len(), 1);
    assert_eq!(described(&bed, &user, &TimelineRequest::new("submarines")).entries, []);
    for limit in [0, limits::TIMELINE + 1] {
        let request = TimelineRequest { limit, ..TimelineRequest::new("office") };
        refused!(
            bed.engine.timeline(&user, &request),
            Error::Invalid(Invalid::OutsideRange { least: 1, most: 50, .. })
        );
    }
    refused!(bed.engine.timeline(&user, &TimelineRequest::new(" ")), Error::Invalid(Invalid::Empty { .. }));
    refused!(bed.engine.timeline(&user, &TimelineRequest::new("99")), Error::NoMemory { .. });
}

#[test]
fn edits_of_the_content_are_statements_of_their_own() {
    let bed = bed();
    let user = bed.user();
    let start = bed.clock.now();
    let id = bed.save(&user, "The head is Ann").memory.id;
    bed.clock.advance(Duration::from_secs(86_400));
    let tagged = UpdateRequest { tags: Some(vec!["staff".to_owned()]), ..UpdateRequest::default() };
    bed.update(&user, id, &tagged);
    bed.clock.advance(Duration::from_secs(86_400));
    bed.update(&user, id, &said("The head is Bob"));
    let edited = bed.clock.now();
    bed.clock.advance(Duration::from_secs(86_400));
    let ended = bed.clock.now();
    bed.update(&user, id, &UpdateRequest { valid_until: Some(Some(ended)), ..UpdateRequest::default() });
    bed.clock.advance(Duration::from_secs(86_400));
    let timeline = described(&bed, &user, &of(id));
    let (from, middle, until) = (start.date(), edited.date(), ended.date());
    assert_eq!(
        lines(&timeline),
        [
            format!("{from} → {middle} #1 v1 The head is Ann (edited to version 3)"),
            format!("{middle} → {until} #1 v3 The head is Bob (no longer valid)"),
        ]
    );
    assert_eq!(timeline.entries[1].from, edited, "a later statement begins with its edit");
    // A reader is shown only the versions that they may see.
    let hub = within(&user, bed.hub("hub"));
    let reader = bed.member("reader", hub.space, Role::Reader);
    let hidden =
        SaveRequest { boundary: Some(Boundary::Private), ..SaveRequest::new("The secret head is Eve") };
    let id = bed.save(&hub, hidden).memory.id;
    bed.clock.advance(Duration::from_secs(60));
    let shown = UpdateRequest { boundary: Some(Boundary::Hub), ..said("The head is Dan") };
    bed.update(&hub, id, &shown);
    let versions = |caller: &Caller| -> Vec<Version> {
        described(&bed, caller, &of(id)).entries.iter().map(|entry| entry.version).collect()
    };
    assert_eq!(versions(&hub), [Version(1), Version(2)]);
    assert_eq!(versions(&reader), [Version(2)]);
}

#[test]
fn each_way_to_end_is_named_and_an_end_before_the_successor_stands() {
    let bed = bed();
    let user = bed.user();
    let until = |content: &str, from: &str, until: &str| SaveRequest {
        valid_until: Some(day(until)),
        ..since(content, from)
    };
    let summer = bed.save(&user, until("Opens at eight", "2024-01-01", "2024-06-01")).memory.id;
    let winter = bed.save(&user, since("Opens at nine", "2024-09-01")).memory.id;
    bed.link(&user, winter, summer, Relation::Updates);
    let shut =
        SaveRequest { expires_at: Some(day("2024-12-27")), ..since("Closed over Christmas", "2024-12-24") };
    let shut = bed.save(&user, shut).memory.id;
    bed.link(&user, shut, winter, Relation::Updates);
    let later = bed.save(&user, until("Opens at ten", "2999-01-01", "2999-06-01")).memory.id;
    bed.link(&user, later, winter, Relation::Updates);
    assert_eq!(
        lines(&described(&bed, &user, &of(summer))),
        [
            "2024-01-01 → 2024-06-01 #1 v1 Opens at eight (no longer valid)",
            "2024-09-01 → 2024-12-24 #2 v1 Opens at nine (superseded by #3)",
            "2024-12-24 → 2024-12-27 #3 v1 Closed over Christmas (expired)",
            "2024-12-27 → 2999-01-01 #2 v1 Opens at nine (superseded by #4) holds",
            "2999-01-01 → 2999-06-01 #4 v1 Opens at ten (no longer valid)",
        ]
    );
    let interval = |since: Option<&str>, until: Option<&str>| {
        let (since, until) = (since.map(day), until.map(day));
        let request = TimelineRequest { since, until, ..of(summer) };
        described(&bed, &user, &request).entries.len()
    };
    assert_eq!(interval(Some("2024-12-25"), Some("2025-01-01")), 2);
    assert_eq!(interval(None, Some("2024-06-01")), 1);
    assert_eq!(interval(Some("2024-06-01"), Some("2024-09-01")), 0);
    assert_eq!(interval(Some("2999-02-01"), None), 1);
}

#[test]
fn archived_memories_are_told_and_marked_and_forgotten_ones_are_not() {
    let bed = bed();
    let user = bed.user();
    let old = bed.save(&user, since("The team meets on Monday", "2024-01-01")).memory.id;
    let new = bed.save(&user, since("The team meets on Tuesday", "2024-05-01")).memory.id;
    let alone = bed.save(&user, since("The team meets in the attic", "2024-07-01")).memory.id;
    bed.link(&user, new, old, Relation::Updates);
    for id in [old, alone] {
        bed.engine.archive(&user, id.into()).unwrap();
    }
    let timeline = described(&bed, &user, &TimelineRequest::new("where and when the team meets"));
    assert_eq!(
        lines(&timeline),
        [
            "2024-01-01 → 2024-05-01 #1 v1 The team meets on Monday (superseded by #2)",
            "2024-05-01 → … #2 v1 The team meets on Tuesday holds",
            "2024-07-01 → … #3 v1 The team meets in the attic (archived)",
        ]
    );
    let archived: Vec<bool> = timeline.entries.iter().map(|entry| entry.archived).collect();
    assert_eq!(archived, [true, false, true]);
    bed.forget(&user, new, ForgetMode::Soft);
    assert_eq!(
        lines(&described(&bed, &user, &of(old))),
        ["2024-01-01 → … #1 v1 The team meets on Monday (archived)"]
    );
    refused!(bed.engine.timeline(&user, &of(new)), Error::Forgotten { .. });
    let from = bed.get(&user, alone).status;
    let to = Status { quarantined_at: Some(bed.clock.now()), ..from };
    bed.world().apply(vec![Write::Move { id: alone, from, to }]);
    refused!(bed.engine.timeline(&user, &of(alone)), Error::NoMemory { .. });
}

#[test]
fn of_a_chain_that_was_closed_what_holds_has_no_end() {
    let bed = bed();
    let user = bed.user();
    let ids = ["2024-01-01", "2024-02-01", "2024-03-01"]
        .map(|from| bed.save(&user, since(&format!("It is as of {from}"), from)).memory.id);
    for at in 0..3 {
        bed.link(&user, ids[(at + 1) % 3], ids[at], Relation::Updates);
    }
    let timeline = described(&bed, &user, &of(ids[1]));
    assert_eq!(
        lines(&timeline),
        [
            "2024-01-01 → … #1 v1 It is as of 2024-01-01 holds",
            "2024-02-01 → 2024-02-01 #2 v1 It is as of 2024-02-01 (superseded by #1)",
            "2024-03-01 → 2024-03-01 #3 v1 It is as of 2024-03-01 (superseded by #1)",
        ]
    );
    assert!(timeline.entries.iter().all(|entry| entry.chain == 1));
}

#[test]
fn contradictions_are_named_on_both_sides() {
    let bed = bed();
    let user = bed.user();
    let yes = bed.save(&user, "The roof is green").memory.id;
    let no = bed.save(&user, "The roof is red").memory.id;
    let other = bed.save(&user, "Marta says the wall is red").memory.id;
    bed.link(&user, no, yes, Relation::Contradicts);
    bed.link(&user, other, no, Relation::Contradicts);
    let timeline = described(&bed, &user, &TimelineRequest::new("the roof"));
    let named: Vec<(MemoryId, Vec<MemoryId>)> = timeline
        .entries
        .iter()
        .map(|entry| (entry.memory.id, entry.contradicts.iter().map(|other| other.id).collect()))
        .collect();
    assert_eq!(named, [(yes, vec![no]), (no, vec![yes])], "what is not told is not named");
}

#[test]
fn nothing_of_another_space_or_of_others_private_memories_is_told() {
    let bed = bed();
    let [here, there] = ["here", "there"].map(|name| bed.hub(name));
    let [ann, bob] = ["ann", "bob"].map(|name| bed.member(name, here, Role::Writer));
    let eve = bed.member("eve", there, Role::Writer);
    let shared = bed.save(&ann, since("The code is 1111", "2024-01-01")).memory.id;
    let private =
        SaveRequest { boundary: Some(Boundary::Private), ..since("The code is 2222", "2024-02-01") };
    let private = bed.save(&ann, private).memory.id;
    bed.link(&ann, private, shared, Relation::Updates);
    bed.save(&eve, since("The code is 3333", "2024-03-01"));
    let text = |space| TimelineRequest { space, ..TimelineRequest::new("the code") };
    for request in [text(None), text(Some(here)), of(shared)] {
        assert_eq!(
            lines(&described(&bed, &bob, &request)),
            ["2024-01-01 → … #1 v1 The code is 1111 holds"],
            "{request:?}"
        );
        assert_eq!(described(&bed, &ann, &request).entries.len(), 2, "{request:?}");
    }
    assert_eq!(described(&bed, &eve, &text(None)).entries.len(), 1);
    refused!(bed.engine.timeline(&bob, &of(private)), Error::NoMemory { .. });
    refused!(bed.engine.timeline(&eve, &of(shared)), Error::NoMemory { .. });
    // A confined token is shown only the memories that it reaches.
    let user = within(&bed.user(), here);
    assert_eq!(described(&bed, &user, &text(None)).entries.len(), 2);
    let mut confined = user;
    confined.viewer.within = Some(vec![there]);
    assert_eq!(
        lines(&described(&bed, &confined, &text(None))),
        ["2024-03-01 → … #1 v1 The code is 3333 holds"]
    );
}

#[test]
fn a_chain_that_is_too_long_is_cut_and_says_so() {
    let bed = bed();
    let user = bed.user();
    let mut last: Option<MemoryId> = None;
    for n in 0..=limits::TIMELINE_MEMORIES {
        let associations = last.iter().map(|id| crate::bed::link(*id, Relation::Updates)).collect();
        let request = SaveRequest { associations, ..SaveRequest::new(format!("step {n}")) };
        last = Some(bed.save(&user, request).memory.id);
    }
    let timeline = described(&bed, &user, &of(last.expect("saved")));
    assert_eq!((timeline.entries.len(), timeline.cut), (limits::TIMELINE_MEMORIES, true));
}

/// The memories that a timeline shows as true at a time are those that a recall as of that time finds,
/// whatever the updates.
#[test]
fn a_timeline_agrees_with_recall_as_of() {
    let seed = RandomSeed::from_environment();
    let _said = SeedPanicGuard::new(seed);
    let mut random = seed.random();
    let mut compared = 0;
    for _ in 0..6 {
        let bed = Bed::with(ManualClock::new(), Arc::new(FakeEmbedder));
        let user = bed.user();
        let start = bed.clock.now();
        let at = |days: i64| start.plus_millis(days * 86_400_000 + 1_000);
        let mut ids = Vec::new();
        for n in 0..10 {
            let from = random.bool().then(|| at(random.i64(-50..50)));
            let begun = from.map_or(0, |from| (from.as_micros() - start.as_micros()) / 86_400_000_000);
            let mut later = |one_in: u8| (random.u8(..one_in) == 0).then(|| at(begun + random.i64(1..40)));
            let request = SaveRequest {
                valid_from: from,
                valid_until: later(4),
                expires_at: later(6),
                ..SaveRequest::new(format!("The lantern stands at place {n}"))
            };
            ids.push(bed.save(&user, request).memory.id);
        }
        for _ in 0..8 {
            let (one, other) = (random.usize(..10), random.usize(..10));
            if one != other {
                bed.link(&user, ids[one], ids[other], Relation::Updates);
            }
        }
        for n in 0..4 {
            bed.clock.advance(Duration::from_secs(86_400 * 5 + 7));
            let id = ids[random.usize(..10)];
            bed.update(&user, id, &said(&format!("The lantern was moved to stand {n}")));
        }
        let request = TimelineRequest { limit: 50, ..TimelineRequest::new("where the lantern stands") };
        let timeline = described(&bed, &user, &request);
        for days in (-60..100).step_by(3) {
            let then = at(days).plus_millis(1_000);
            let holds =
                |entry: &&TimelineEntry| entry.from <= then && entry.until.is_none_or(|end| end > then);
            let held: BTreeSet<(MemoryId, Version)> =
                timeline.entries.iter().filter(holds).map(|entry| (entry.memory.id, entry.version)).collect();
            let ask = RecallQuestion { as_of: Some(then), ..RecallQuestion::new("where the lantern stands") };
            let found = bed.engine.recall(&user, &asking(ask)).expect("an answer");
            let found = found.hits.iter().map(|hit| (hit.memory.id, hit.memory.version)).collect();
            assert_eq!(held, found, "as of {then}: {:#?}", lines(&timeline));
            compared += held.len();
        }
    }
    assert!(compared > 300, "the run was about something: {compared}");
}
