use serde_json::from_str;
use tempfile::tempdir;
use tulving_core::model::change::{RecallCount, Revision, Write};
use tulving_core::model::error::{Conflict, StoreError, Unique};
use tulving_core::model::id::{MemoryId, MemoryNumber, SpaceId, Version};
use tulving_core::model::record::{LoadOutcome, Record};
use tulving_core::model::request::{Filter, ForgottenFilter, Sort};
use tulving_core::model::vocabulary::VersionAct;
use tulving_core::ports::{Memories, Store};

use crate::fixture::fill;
use crate::made::{act, apply, dump, fields, insert, memory, save, store, time, user};

fn load(into: &tulving_store::SqliteStore, records: Vec<Record>) -> Vec<LoadOutcome> {
    let writes = records.into_iter().map(|record| Write::Load(Box::new(record))).collect();
    apply(into, writes).loaded
}

#[test]
fn a_dump_of_a_load_is_the_dump() {
    let (one, other) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let (source, target) = (store(one.path()), store(other.path()));
    fill(&source);
    let lines: Vec<String> =
        dump(&source, 3).iter().map(|record| serde_json::to_string(record).expect("written")).collect();
    let records: Vec<Record> = lines.iter().map(|line| from_str(line).expect("read")).collect();
    assert_eq!(records, dump(&source, 1_000), "small pages and JSON lose nothing");

    let loaded = load(&target, records.clone());
    assert!(
        loaded.iter().all(|outcome| matches!(outcome, LoadOutcome::Added | LoadOutcome::Present)),
        "{loaded:?}"
    );
    assert_eq!(dump(&target, 1_000), records);
    let again = load(&target, records.clone());
    assert!(again.iter().all(|outcome| *outcome == LoadOutcome::Present), "{again:?}");
    assert_eq!(dump(&target, 1_000), records);
}

fn memory_record(records: &[Record], id: MemoryId) -> Record {
    let found = records.iter().find(|record| matches!(record, Record::Memory(some) if some.memory.id == id));
    found.expect("it is in the dump").clone()
}

#[test]
fn a_taken_number_is_replaced_and_a_taken_content_stands() {
    let (one, other) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let (source, target) = (store(one.path()), store(other.path()));
    let (first, second) = (save(&source, "only there"), save(&source, "in both"));
    let here = save(&target, "in both");
    let records = dump(&source, 100);
    let loaded = load(&target, vec![memory_record(&records, first), memory_record(&records, second)]);
    assert_eq!(
        loaded,
        [
            LoadOutcome::Renumbered { from: MemoryNumber(1), to: MemoryNumber(2) },
            LoadOutcome::Duplicate { of: here }
        ]
    );
    let found =
        target.memory(&user(), SpaceId::DEFAULT, first.into(), ForgottenFilter::Without).expect("read");
    assert_eq!(found.and_then(|memory| memory.number), Some(MemoryNumber(2)));
    let next = apply(&target, vec![insert(memory("new"))]).numbers[0];
    assert_eq!(next, Some(MemoryNumber(3)));
}

#[test]
fn what_refers_to_nothing_is_left_out() {
    let (one, other) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let (source, target) = (store(one.path()), store(other.path()));
    fill(&source);
    let lost: Vec<Record> =
        dump(&source, 1_000).into_iter().filter(|record| matches!(record, Record::Association(_))).collect();
    assert!(!lost.is_empty());
    assert!(load(&target, lost).iter().all(|outcome| *outcome == LoadOutcome::Dangling));
}

#[test]
fn what_must_be_unique_is_named_when_it_is_taken() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let mut keyed = memory("with a key");
    keyed.fields.key = Some("a".to_owned());
    keyed.provenance.source_path = Some("notes.md".to_owned());
    let plain = memory("plain");
    apply(&store, vec![insert(keyed.clone()), insert(plain.clone())]);
    let taken = |make: &dyn Fn(&mut tulving_core::model::memory::Memory)| {
        let mut other = memory("other");
        make(&mut other);
        match store.apply(&act(vec![insert(other)])).expect_err("it is taken") {
            StoreError::Conflict(Conflict::Taken { what }) => what,
            error => panic!("{error}"),
        }
    };
    assert_eq!(taken(&|other| other.fields.key.clone_from(&keyed.fields.key)), Unique::Key);
    let path = &keyed.provenance.source_path;
    assert_eq!(taken(&|other| other.provenance.source_path.clone_from(path)), Unique::SourcePath);
    assert_eq!(taken(&|other| other.fields.text = plain.fields.text.clone()), Unique::Content);
    assert_eq!(taken(&|other| other.id = plain.id), Unique::Id);
}

#[test]
fn an_access_count_near_its_end_goes_no_further() {
    const END: u64 = 1 << 53;
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let mut often = memory("recalled without end");
    often.usage.access_count = u64::MAX;
    let id = often.id;
    apply(&store, vec![insert(often)]);
    let other = rusqlite::Connection::open(home.path().join("tulving.db")).expect("opened");
    for set in [None, Some(i64::MAX), Some(5)] {
        if let Some(count) = set {
            other.execute("UPDATE usage SET access_count = ?1", [count]).expect("set");
        }
        for count in [u64::MAX, 1] {
            apply(&store, vec![Write::Touch(vec![RecallCount { id, count, at: time(2) }])]);
            let found =
                store.memory(&user(), SpaceId::DEFAULT, id.into(), ForgottenFilter::Without).expect("read");
            assert_eq!(found.map(|memory| memory.usage.access_count), Some(END));
        }
    }
}

#[test]
fn versions_of_a_handmade_dump_leave_room_for_edits() {
    let (one, other) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let (source, target) = (store(one.path()), store(other.path()));
    fill(&source);
    let made = dump(&source, 1_000).into_iter().find_map(|record| match record {
        Record::Memory(record) if !record.versions.is_empty() => Some(record),
        _ => None,
    });
    let made = made.expect("one was edited");
    for (n, version, past, kept) in
        [(0, 0, vec![0, 7], 0), (1, u32::MAX, vec![1, 1, u32::MAX], 1), (2, 2, vec![1, 2, 3], 1)]
    {
        let mut record = made.clone();
        let content = format!("made by hand {n}");
        record.memory.id = MemoryId::mint(time(n));
        record.memory.fields = fields(&content);
        record.memory.version = Version(version);
        record.versions = past
            .into_iter()
            .map(|past| {
                let mut version = made.versions[0].clone();
                version.version = Version(past);
                version
            })
            .collect();
        let id = record.memory.id;
        assert_eq!(load(&target, vec![Record::Memory(record)]).len(), 1);
        for round in 0..4 {
            let versions = target.versions(&user(), id).expect("read");
            assert_eq!(versions.len(), kept + 1 + round);
            let found =
                target.memory(&user(), SpaceId::DEFAULT, id.into(), ForgottenFilter::Without).expect("read");
            let found = found.expect("it is there");
            let revision = Revision {
                attachment: None,
                id,
                from: found.version,
                act: VersionAct::Updated,
                fields: fields(&format!("{content}, edit {round}")),
                stood: found.status,
                status: found.status,
                chunks: None,
                confirmed: None,
            };
            apply(&target, vec![Write::Revise(Box::new(revision))]);
        }
    }
}

#[test]
fn a_value_that_breaks_a_rule_is_said_without_sql() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let mut wrong = memory("of no version");
    wrong.version = Version(0);
    let error = store.apply(&act(vec![insert(wrong)])).expect_err("it is refused");
    assert_eq!(error.to_string(), "the store failed: a value breaks a rule of the database");
}

#[test]
fn a_substring_is_found_however_its_letters_are_composed() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    save(&store, "the cafe\u{301} at the corner");
    save(&store, "another caf\u{e9}");
    for needle in ["caf\u{e9}", "CAFE\u{301}"] {
        let filter = Filter { substring: Some(needle.to_owned()), ..Filter::default() };
        assert_eq!(store.list(&user(), &filter, Sort::Newest, 10, None).expect("read").len(), 2);
    }
}
