use serde_json::from_str;
use tempfile::tempdir;
use tulving_core::change::Write;
use tulving_core::error::{Conflict, StoreError, Unique};
use tulving_core::id::{MemoryId, Number, SpaceId};
use tulving_core::ports::{Memories, Store};
use tulving_core::record::{Loaded, Record};
use tulving_core::request::Forgotten;

use crate::fixture::fill;
use crate::made::{act, apply, dump, insert, memory, save, store, user};

fn load(into: &tulving_store::SqliteStore, records: Vec<Record>) -> Vec<Loaded> {
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
    assert!(loaded.iter().all(|fate| matches!(fate, Loaded::Added | Loaded::Present)), "{loaded:?}");
    assert_eq!(dump(&target, 1_000), records);
    let again = load(&target, records.clone());
    assert!(again.iter().all(|fate| *fate == Loaded::Present), "{again:?}");
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
        [Loaded::Renumbered { from: Number(1), to: Number(2) }, Loaded::Duplicate { of: here }]
    );
    let found = target.memory(&user(), SpaceId::DEFAULT, first.into(), Forgotten::Without).expect("read");
    assert_eq!(found.and_then(|memory| memory.number), Some(Number(2)));
    let next = apply(&target, vec![insert(memory("new"))]).numbers[0];
    assert_eq!(next, Some(Number(3)));
}

#[test]
fn what_refers_to_nothing_is_left_out() {
    let (one, other) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let (source, target) = (store(one.path()), store(other.path()));
    fill(&source);
    let lost: Vec<Record> =
        dump(&source, 1_000).into_iter().filter(|record| matches!(record, Record::Association(_))).collect();
    assert!(!lost.is_empty());
    assert!(load(&target, lost).iter().all(|fate| *fate == Loaded::Dangling));
}

#[test]
fn what_must_be_unique_is_named_when_it_is_taken() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let mut keyed = memory("with a key");
    keyed.edition.key = Some("a".to_owned());
    keyed.provenance.source_path = Some("notes.md".to_owned());
    let plain = memory("plain");
    apply(&store, vec![insert(keyed.clone()), insert(plain.clone())]);
    let taken = |make: &dyn Fn(&mut tulving_core::memory::Memory)| {
        let mut other = memory("other");
        make(&mut other);
        match store.apply(&act(vec![insert(other)])).expect_err("it is taken") {
            StoreError::Conflict(Conflict::Taken { what }) => what,
            error => panic!("{error}"),
        }
    };
    assert_eq!(taken(&|other| other.edition.key.clone_from(&keyed.edition.key)), Unique::Key);
    let path = &keyed.provenance.source_path;
    assert_eq!(taken(&|other| other.provenance.source_path.clone_from(path)), Unique::SourcePath);
    assert_eq!(taken(&|other| other.edition.text = plain.edition.text.clone()), Unique::Content);
    assert_eq!(taken(&|other| other.id = plain.id), Unique::Id);
}
