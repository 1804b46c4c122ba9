//! Recall finds the content of files, and follows their changes.

use tulving_core::Engine;
use tulving_core::model::answer::Answer;
use tulving_core::model::error::Class;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{
    Caller, Filter, ForgetRequest, ListRequest, Mode, RecallQuestion, RecallRequest, Sort, TurnFilter,
};
use tulving_core::model::vocabulary::{MemoryType, Role, SpaceKind};
use tulving_testkit::embedder::NoEmbedder;

use std::sync::Arc;

use crate::bed::{Bed, listing, said, within, words};

fn holding(caller: &Caller, text: &str) -> RecallRequest {
    let filter = Filter { space: Some(caller.space), ..Filter::default() };
    RecallRequest { mode: Mode::Substring(text.to_owned()), filter, sort: Some(Sort::Oldest), limit: 1_000 }
}

#[track_caller]
fn found(engine: &Engine, caller: &Caller, text: &str) -> Answer {
    engine.recall(caller, &holding(caller, text)).expect("an answer")
}

/// Returns the place and the content of each.
#[track_caller]
fn places(bed: &Bed, caller: &Caller, text: &str) -> Vec<(String, String)> {
    let described = |memory: &Memory| (memory.label(), memory.fields.text.content.clone());
    let mut found: Vec<_> =
        found(&bed.engine, caller, text).hits.iter().map(|hit| described(&hit.memory)).collect();
    found.sort();
    found
}

fn owned(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(place, text)| ((*place).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn what_a_file_says_is_found_with_file_and_line() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-27.md", "Likes tea\nDeploys with make ship\n  on Tuesdays\n");
    bed.edit(&user, "memory/MEMORY.md", "# Who\n\n- Is called Ana\n- Works on the ship\n");
    bed.edit(&user, "memory/notes.md", "the ship is no journal\n");
    bed.edit(&user, "other/plan.md", "the ship is elsewhere\n");
    assert_eq!(
        places(&bed, &user, "ship"),
        owned(&[
            ("memory/2026-05-27.md:2", "Deploys with make ship\non Tuesdays"),
            ("memory/MEMORY.md:4", "Works on the ship"),
        ])
    );
    for engine in [&bed.engine, &bed.shipped(Arc::new(NoEmbedder))] {
        let filter = Filter { space: Some(user.space), ..Filter::default() };
        let mode = Mode::Hybrid(Box::new(RecallQuestion::new("how is it deployed with make?")));
        let answer =
            engine.recall(&user, &RecallRequest { mode, filter, sort: None, limit: 3 }).expect("an answer");
        let best = &answer.hits[0].memory;
        assert_eq!(best.label(), "memory/2026-05-27.md:2");
        assert_eq!(best.fields.span.occurred_at.map(|at| at.date()).as_deref(), Some("2026-05-27"));
        assert_eq!(best.number, None);
    }
}

#[test]
fn edits_new_files_renames_and_removals_are_seen_by_the_next_call() {
    let bed = Bed::new();
    let user = bed.user();
    let (first, second) = ("memory/2026-05-26.md", "memory/2026-05-27.md");
    bed.edit(&user, first, "the cat is grey\n");
    assert_eq!(places(&bed, &user, "the cat"), owned(&[("memory/2026-05-26.md:1", "the cat is grey")]));
    bed.edit(&user, first, "the cat is black\nthe cat sleeps\n");
    assert_eq!(
        places(&bed, &user, "the cat"),
        owned(&[
            ("memory/2026-05-26.md:1", "the cat is black"),
            ("memory/2026-05-26.md:2", "the cat sleeps")
        ])
    );
    bed.files.delete(&bed.path(&user, first));
    bed.edit(&user, second, "the cat is black\nthe cat sleeps\n");
    assert_eq!(
        places(&bed, &user, "the cat"),
        owned(&[
            ("memory/2026-05-27.md:1", "the cat is black"),
            ("memory/2026-05-27.md:2", "the cat sleeps")
        ])
    );
    bed.files.stop_watching();
    bed.edit(&user, second, "the cat is gone\n");
    assert_eq!(places(&bed, &user, "the cat"), owned(&[("memory/2026-05-27.md:1", "the cat is gone")]));
    bed.files.delete(&bed.path(&user, second));
    assert_eq!(places(&bed, &user, "the cat"), owned(&[]));
}

#[test]
fn an_entry_keeps_what_it_is_when_lines_above_come_and_go() {
    let bed = Bed::new();
    let user = bed.user();
    let name = "memory/2026-05-27.md";
    bed.edit(&user, name, "one\nthe entry\n");
    let before = found(&bed.engine, &user, "the entry").hits[0].memory.clone();
    bed.engine.flush().expect("flushed");
    bed.edit(&user, name, "zero\n\none\nand a half\nthe entry\n");
    let after = found(&bed.engine, &user, "the entry").hits[0].memory.clone();
    assert_eq!((after.id, after.label()), (before.id, "memory/2026-05-27.md:5".to_owned()));
    assert_eq!(after.usage.access_count, 1);
    bed.edit(&user, name, "the entry\n");
    let last = found(&bed.engine, &user, "the entry").hits[0].memory.clone();
    assert_eq!((last.id, last.label()), (before.id, "memory/2026-05-27.md:1".to_owned()));
    bed.edit(&user, name, "the entry, changed\n");
    assert_ne!(
        found(&bed.engine, &user, "the entry").hits[0].memory.id,
        before.id,
        "other words are another entry"
    );
}

#[test]
fn an_entry_that_stands_there_twice_is_found_twice() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-27.md", "the same\nother\nthe same\n");
    let hits = found(&bed.engine, &user, "the same").hits;
    let mut described: Vec<_> = hits
        .iter()
        .map(|hit| hit.memory.provenance.mirror.map(|mirror| (mirror.occurrence, mirror.line)))
        .collect();
    described.sort();
    assert_eq!(described, [Some((0, 1)), Some((1, 3))]);
}

#[test]
fn a_mirror_is_changed_in_its_file_alone() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/MEMORY.md", "first\n\nthe entry\n");
    let memory = found(&bed.engine, &user, "the entry").hits[0].memory.clone();
    for result in [
        bed.engine.update(&user, memory.id.into(), &said("x")).map(drop),
        bed.engine.forget(&user, memory.id.into(), &ForgetRequest::default()).map(drop),
        bed.engine.pin(&user, memory.id.into()).map(drop),
    ] {
        let text = words(result);
        assert!(text.ends_with("mirrors line 3 of memory/MEMORY.md"), "{text}");
    }
}

#[test]
fn mirrors_are_in_no_dump_and_in_no_list_that_names_no_file() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "a record about the sea");
    bed.edit(&user, "memory/MEMORY.md", "an entry about the sea\n");
    assert_eq!(found(&bed.engine, &user, "the sea").hits.len(), 2);
    let dumped: String =
        bed.dump().iter().map(|record| serde_json::to_string(record).expect("a record")).collect();
    assert!(dumped.contains("a record about the sea") && !dumped.contains("an entry about the sea"));
    assert_eq!(bed.contents(&user), ["a record about the sea"]);
    assert_eq!(bed.engine.count(&user, &Filter::default()).expect("a count"), 1);
    for mode in [Mode::Recent, Mode::Important, Mode::Typed] {
        let filter = Filter { types: vec![MemoryType::Fact], ..Filter::default() };
        let request = RecallRequest { mode, filter, sort: None, limit: 10 };
        assert_eq!(bed.engine.recall(&user, &request).expect("an answer").hits.len(), 1);
    }
    let source_path = Some("memory/MEMORY.md".to_owned());
    let named = Filter { source_path, ..Filter::default() };
    assert_eq!(bed.engine.count(&user, &named).expect("a count"), 1);
    bed.edit(&user, "memory/MEMORY.md", "an entry about the sea\n\nand one more\n");
    let request = ListRequest { filter: named, ..listing(Sort::Newest, 10) };
    assert_eq!(bed.engine.list(&user, &request).expect("a list").memories.len(), 2, "as it is now");
}

#[test]
fn the_files_of_a_group_are_for_that_group_alone() {
    let bed = Bed::new();
    let (kitchen, garden) = (bed.space("kitchen", SpaceKind::Group), bed.space("garden", SpaceKind::Group));
    let cook = bed.member("cook", kitchen, Role::Writer);
    let gardener = bed.member("gardener", garden, Role::Writer);
    bed.edit(&cook, "recipes/soup.md", "The secret is thyme\n");
    bed.edit(&cook, "large.md", vec![b'x'; 17 << 20]);
    bed.edit(&cook, "picture.png", b"\x89PNG\0secret\0");
    assert_eq!(
        places(&bed, &cook, "secret"),
        owned(&[("groups/kitchen/recipes/soup.md:1", "The secret is thyme")]),
        "every text of a group, and nothing that is none"
    );
    let unread = found(&bed.engine, &cook, "secret").unread;
    assert_eq!(
        unread.iter().map(|unread| unread.path.as_str()).collect::<Vec<_>>(),
        ["groups/kitchen/large.md"]
    );
    let theirs = found(&bed.engine, &gardener, "secret");
    assert_eq!((theirs.hits.len(), theirs.unread.len()), (0, 0));
    let everywhere = RecallRequest { filter: Filter::default(), ..holding(&gardener, "secret") };
    let theirs = bed.engine.recall(&gardener, &everywhere).expect("an answer");
    assert_eq!((theirs.hits.len(), theirs.unread.len()), (0, 0));
}

#[test]
fn what_cannot_be_read_is_named_and_recall_answers_all_the_same() {
    let bed = Bed::new();
    let user = bed.user();
    bed.save(&user, "a record about trees");
    bed.edit(&user, "memory/MEMORY.md", "an entry about trees\n");
    assert_eq!(found(&bed.engine, &user, "about trees").hits.len(), 2);
    bed.files.set_broken(true);
    let answer = found(&bed.engine, &user, "about trees");
    assert_eq!(answer.hits.len(), 2, "what was known stays known");
    assert!(
        answer.unread.iter().any(|unread| unread.why.contains("broken on command")),
        "{:?}",
        answer.unread
    );
    assert!(answer.troubles().count() > 0);
    bed.files.set_broken(false);
    assert_eq!(found(&bed.engine, &user, "about trees").unread, []);
}

#[test]
fn two_who_mirror_at_once_make_each_entry_once() {
    let bed = Bed::new();
    let user = bed.user();
    let text: String = (0..1_500).map(|n| format!("the entry number {n}\n")).collect();
    bed.edit(&user, "memory/2026-05-27.md", &text);
    bed.edit(&user, "memory/2026-05-26.md", "the entry of another day\n");
    let engines = [bed.beside(), bed.beside(), bed.beside()];
    std::thread::scope(|scope| {
        for engine in &engines {
            scope.spawn(|| while engine.follow_files().left > 0 {});
        }
    });
    let filter = Filter { source_path: Some("memory/2026-05-27.md".to_owned()), ..Filter::default() };
    assert_eq!(bed.engine.count(&user, &filter).expect("a count"), 1_500);
    let filter = Filter { source_path: Some("memory/2026-05-26.md".to_owned()), ..Filter::default() };
    assert_eq!(bed.engine.count(&user, &filter).expect("a count"), 1);
}

#[test]
fn many_files_are_taken_in_step_by_step() {
    let bed = Bed::new();
    let user = bed.user();
    let line = "a line that is about as long as most\n";
    for day in 1..=28 {
        let text: String = (0..10).map(|n| format!("{day} {n} {line}")).collect();
        let padding = " \n".repeat(100_000);
        bed.edit(&user, &format!("memory/2026-02-{day:02}.md"), text + &padding);
    }
    let first = bed.engine.follow_files();
    assert!(first.read > 0 && first.left > 0, "{first:?}");
    let mut steps = 1;
    while bed.engine.follow_files().left > 0 {
        steps += 1;
        assert!(steps < 100, "it ends");
    }
    assert_eq!(found(&bed.engine, &user, "as long as most").hits.len(), 280);
    let again = bed.engine.follow_files();
    assert_eq!((again.read, again.left), (0, 0), "nothing has changed");
}

#[test]
fn a_mirror_has_no_version_before_and_no_turns() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/MEMORY.md", "an entry\n");
    let memory = found(&bed.engine, &user, "an entry").hits[0].memory.clone();
    bed.edit(&user, "memory/MEMORY.md", "above\n\nan entry\n");
    found(&bed.engine, &user, "an entry");
    assert_eq!(bed.engine.history(&user, memory.id.into()).expect("a history").len(), 1);
    let turns =
        bed.engine.turns(&user, &TurnFilter { last: 10, ..TurnFilter::default() }).expect("turns").turns;
    assert_eq!(turns.len(), 0);
    bed.edit(&user, "memory/MEMORY.md", "nothing\n");
    found(&bed.engine, &user, "an entry");
    assert_eq!(bed.engine.get(&user, memory.id.into()).expect_err("gone").class(), Class::Absent);
}

#[test]
fn a_hub_has_its_own_folder() {
    let bed = Bed::new();
    let user = bed.user();
    let there = within(&user, bed.hub("team"));
    bed.edit(&there, "memory/MEMORY.md", "the team meets on Mondays\n");
    assert_eq!(
        places(&bed, &there, "Mondays"),
        owned(&[("spaces/team/memory/MEMORY.md:1", "the team meets on Mondays")])
    );
    assert_eq!(places(&bed, &user, "Mondays"), owned(&[]));
}

#[test]
fn an_entry_below_another_heading_keeps_what_it_is() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/MEMORY.md", "# People\n- Ana likes tea\n");
    let before = found(&bed.engine, &user, "tea").hits.remove(0).memory;
    assert_eq!(before.fields.text.title.as_deref(), Some("People"));
    bed.engine.flush().expect("counted");
    bed.edit(&user, "memory/MEMORY.md", "# Friends\n\n- Ana likes tea\n");
    let after = found(&bed.engine, &user, "tea").hits.remove(0).memory;
    assert_eq!(after.fields.text.title.as_deref(), Some("Friends"));
    assert_eq!((after.id, after.usage.access_count), (before.id, 1));
    assert_eq!(after.label(), "memory/MEMORY.md:3");
    assert_eq!(after.place.position, Some(3), "its place follows");
}

#[test]
fn nothing_of_a_long_entry_is_left_out() {
    let bed = Bed::new();
    let user = bed.user();
    let space = bed.space("rows", SpaceKind::Group);
    let there = Caller { space, ..user };
    let rows: String = (0..20_000).map(|n| format!("row {n} of the table\n")).collect();
    bed.edit(&there, "table.csv", rows);
    let end = found(&bed.engine, &there, "row 19999 of").hits.remove(0).memory;
    assert!(end.fields.text.content.len() <= 64 << 10, "{}", end.fields.text.content.len());
    let line = end.provenance.mirror.expect("a mirror").line as usize;
    assert!(end.fields.text.content.starts_with(&format!("row {} of", line - 1)), "line {line}");
    let long = format!("start {} end", "x".repeat(200_000));
    bed.edit(&there, "line.txt", long);
    assert_eq!(found(&bed.engine, &there, " end").hits.len(), 1);
}

#[test]
fn what_is_too_large_is_named_every_time_and_what_is_large_taken_in_step_by_step() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-27.md", "x".repeat(17 << 20));
    for _ in 0..3 {
        let unread = found(&bed.engine, &user, "anything").unread;
        assert_eq!(unread.len(), 1, "{unread:?}");
        assert_eq!(unread[0].path, "memory/2026-05-27.md");
    }
    let many: String = (0..30_000).map(|n| format!("{n}\n")).collect();
    bed.edit(&user, "memory/2026-05-27.md", &many);
    let count = || {
        let filter = Filter { source_path: Some("memory/2026-05-27.md".to_owned()), ..Filter::default() };
        bed.engine.count(&user, &filter).expect("a count")
    };
    assert!(found(&bed.engine, &user, "anything").unread[0].why.contains("still to be read"));
    assert!((1..30_000).contains(&count()), "some of it is there: {}", count());
    while !found(&bed.engine, &user, "anything").unread.is_empty() {}
    assert_eq!(count(), 30_000);
    bed.files.delete(&bed.path(&user, "memory/2026-05-27.md"));
    while !found(&bed.engine, &user, "anything").unread.is_empty() {}
    assert_eq!(count(), 0);
}

#[test]
fn a_large_file_that_cannot_be_read_holds_up_no_other_and_nobody_spins() {
    let bed = Bed::new();
    let user = bed.user();
    let padding = " \n".repeat(600_000);
    bed.edit(&user, "memory/2026-05-25.md", format!("the oldest\n{padding}"));
    bed.edit(&user, "memory/2026-05-26.md", format!("the one between\n{padding}"));
    bed.edit(&user, "memory/2026-05-27.md", format!("the newest\n{padding}"));
    bed.files.make_unreadable(&bed.path(&user, "memory/2026-05-27.md"));
    let steps: Vec<_> = std::iter::repeat_with(|| bed.engine.follow_files()).take(3).collect();
    let went: Vec<_> = steps.iter().map(|step| (step.read, step.left)).collect();
    assert_eq!(went, [(1, 1), (1, 0), (0, 0)], "{steps:?}");
    for step in &steps {
        assert!(step.unread.iter().any(|(_, unread)| unread.path == "memory/2026-05-27.md"), "{step:?}");
    }
    assert_eq!(places(&bed, &user, "the o").len(), 2);
}

#[test]
fn a_store_that_was_busy_is_asked_again() {
    let bed = Bed::new();
    let user = bed.user();
    let before = bed.engine.follow_files();
    assert!(before.watched && before.unread.is_empty());
    bed.edit(&user, "memory/2026-05-27.md", "a zebra\n");
    for call in 1.. {
        bed.store.fail_at(call);
        let followed = bed.engine.follow_files();
        if !bed.store.has_failed() {
            assert_eq!(followed.unread, [], "at {call}");
            break;
        }
        assert!(!followed.unread.is_empty(), "that call {call} failed is said");
    }
    bed.store.fail_at(0);
    assert_eq!(places(&bed, &user, "zebra"), owned(&[("memory/2026-05-27.md:1", "a zebra")]));
}

#[test]
fn a_workspace_that_is_not_there_costs_no_mirror() {
    let bed = Bed::new();
    let user = bed.user();
    bed.edit(&user, "memory/2026-05-27.md", "a zebra\n");
    let before = found(&bed.engine, &user, "zebra").hits.remove(0).memory.id;
    bed.files.set_absent(true);
    let answer = found(&bed.engine, &user, "zebra");
    assert_eq!(answer.hits[0].memory.id, before);
    assert!(answer.unread[0].why.contains("does not exist"), "{:?}", answer.unread);
    bed.files.set_absent(false);
    let answer = found(&bed.engine, &user, "zebra");
    assert_eq!((answer.hits[0].memory.id, answer.unread.as_slice()), (before, &[][..]));
}

#[test]
fn what_is_wrong_in_one_folder_is_said_in_no_other() {
    let bed = Bed::new();
    let user = bed.user();
    let [here, there] =
        ["here", "there"].map(|name| Caller { space: bed.space(name, SpaceKind::Group), ..user.clone() });
    bed.edit(&there, "secret-plans.bin", "x".repeat(17 << 20));
    assert_eq!(found(&bed.engine, &here, "x").unread, []);
    assert_eq!(found(&bed.engine, &there, "x").unread.len(), 1);
}
