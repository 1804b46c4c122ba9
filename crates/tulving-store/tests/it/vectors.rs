use std::fs;
use std::path::Path;

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::change::{NewMemory, Write};
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{MemoryId, Version};
use tulving_core::model::integrity::{Severity, StoreCheckDepth};
use tulving_core::model::memory::{Chunk, Embedding};
use tulving_core::ports::{Feed, IntegrityChecks, Store, Upkeep};
use tulving_store::{ExistingFilePolicy, SqliteStore};

use crate::made::{act, apply, insert, memory, save, store};

fn embedding(model: &str) -> Embedding {
    Embedding { model: model.to_owned(), vector: vec![0.6, 0.8], sentences: vec![vec![1.0, 0.0]; 2] }
}

/// Saves a memory of one chunk with this embedding.
fn save_with(store: &SqliteStore, content: &str, embedding: Embedding) -> MemoryId {
    let memory = memory(content);
    let id = memory.id;
    let chunk = Chunk { start: 0, end: content.len(), heading_path: Vec::new(), embedding: Some(embedding) };
    apply(store, vec![Write::Insert(Box::new(NewMemory { memory, chunks: vec![chunk] }))]);
    id
}

fn choose(store: &SqliteStore, from: &str, to: &str) {
    apply(store, vec![Write::ChooseModel { from: Some(from.to_owned()), to: to.to_owned() }]);
}

fn count(home: &Path, sql: &str) -> i64 {
    let other = Connection::open(home.join("tulving.db")).expect("opened");
    other.query_row(sql, [], |row| row.get(0)).expect("counted")
}

#[test]
fn a_vector_of_another_length_is_damage() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    let id = save_with(&store, "embedded", embedding("a"));
    save_with(&store, "embedded too", embedding("a"));
    let other = Connection::open(home.join("tulving.db")).expect("opened");
    let found = || {
        let checkup = store.check(StoreCheckDepth::Usual).expect("checked");
        checkup.findings.into_iter().find(|finding| finding.name == "embedding").expect("looked at")
    };
    assert_eq!(found().text, "all memories are embedded (a)");
    for (sql, described) in [
        ("vector = x''", "1 vectors are damaged"),
        ("vector = x'0102030405'", "1 vectors are damaged"),
        ("sentences = x'01'", "1 vectors are damaged"),
        ("sentences = zeroblob(13)", "1 vectors are damaged"),
    ] {
        other.execute(&format!("UPDATE vectors SET {sql} WHERE row = 1"), []).expect("broken");
        let error = store.entries(&[id], Some("a")).expect_err("it is damaged");
        assert!(matches!(error, StoreError::Corrupt { .. }), "{sql}: {error}");
        assert_eq!(store.entries(&[id], Some("b")).expect("nobody asked for it").len(), 1);
        assert_eq!(found().severity, Severity::Bad, "{sql}");
        assert!(found().text.contains(described), "{}", found().text);
        let mend = "UPDATE vectors SET vector = zeroblob(8), sentences = zeroblob(12)";
        other.execute(mend, []).expect("mended");
        assert_eq!(found().severity, Severity::Fine);
    }
    other
        .execute("UPDATE vectors SET vector = zeroblob(12), sentences = x'' WHERE row = 1", [])
        .expect("done");
    assert!(found().text.contains("the vectors of a differ in their dimensions"), "{}", found().text);
}

#[test]
fn vectors_that_differ_in_their_dimensions_are_refused() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let id = save(&store, "memory");
    for (vector, sentences) in [(vec![], vec![]), (vec![0.5, 0.5], vec![vec![1.0]])] {
        let from = Version::FIRST;
        let embeddings = vec![(0, Embedding { model: "a".to_owned(), vector, sentences })];
        store.apply(&act(vec![Write::Embed { id, from, embeddings }])).expect_err("it is refused");
        assert_eq!(store.model().expect("read"), None);
    }
}

#[test]
fn the_check_up_says_how_many_wait_and_where_that_is_wrong() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    let look = || {
        let checkup = store.check(StoreCheckDepth::Usual).expect("checked");
        let found = checkup.findings.into_iter().find(|finding| finding.name == "embedding");
        found.map(|finding| (finding.severity, finding.text)).expect("looked at")
    };
    let fine = |text: &str| (Severity::Fine, text.to_owned());
    let bad = |text: &str| (Severity::Bad, text.to_owned());
    save(&store, "saved before there was a model");
    assert_eq!(look(), fine("no model yet"));
    save_with(&store, "embedded", embedding("a"));
    assert_eq!(look(), fine("1 memory waits to be embedded"));
    save(&store, "saved while the model was away");
    assert_eq!(look(), fine("2 memories wait to be embedded"));
    let other = Connection::open(home.join("tulving.db")).expect("opened");
    other.execute_batch("DELETE FROM unembedded WHERE memory = 1").expect("done");
    assert_eq!(look(), bad("1 memories wait to be embedded but are not recorded"));
    other.execute_batch("INSERT INTO unembedded (memory) VALUES (1), (2)").expect("done");
    assert_eq!(look(), bad("1 memories are recorded but do not wait"));
    choose(&store, "a", "a");
    assert_eq!(look(), fine("2 memories wait to be embedded"), "to choose the model again mends it");
    other.execute_batch("DELETE FROM meta WHERE name = 'model'; DELETE FROM unembedded").expect("done");
    assert_eq!(look(), bad("there are 1 vectors and no model"));
}

#[test]
fn vectors_of_other_models_go_in_pages() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let others = "SELECT count(*) FROM vectors WHERE model <> 'b'";
    for n in 0..10 {
        save_with(&store, &format!("memory {n}"), embedding("a"));
    }
    assert!(!store.drop_stale_vectors(Some("b"), 3).expect("asked"), "no other model was chosen");
    choose(&store, "a", "b");
    let fresh = save_with(&store, "embedded anew", embedding("b"));
    assert_eq!(count(home.path(), others), 10, "the choice itself is quick");
    let mut left = vec![10];
    while store.drop_stale_vectors(Some("b"), 4).expect("dropped") {
        left.push(count(home.path(), others));
        save_with(&store, &format!("meanwhile {}", left.len()), embedding("b"));
    }
    assert_eq!(left, [10, 6, 2, 0]);
    assert_eq!(count(home.path(), others), 0);
    assert_eq!(count(home.path(), "SELECT count(*) FROM vectors"), 4);
    let entry = store.entries(&[fresh], Some("b")).expect("read").remove(0);
    assert!(entry.chunks[0].embedding.is_some());
    assert_eq!(store.unembedded("b").expect("counted"), 10);
    assert!(!store.drop_stale_vectors(Some("b"), 4).expect("asked"), "and then there is nothing to do");
}

/// Gives a memory of one chunk the vectors of another model.
fn embed(store: &SqliteStore, id: MemoryId, model: &str) {
    let embeddings = vec![(0, embedding(model))];
    apply(store, vec![Write::Embed { id, from: Version::FIRST, embeddings }]);
}

#[test]
fn a_model_is_prepared_while_another_answers() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    let ids: Vec<MemoryId> =
        (0..4).map(|n| save_with(&store, &format!("memory {n}"), embedding("a"))).collect();
    let described = || {
        let checkup = store.check(StoreCheckDepth::Usual).expect("checked");
        let found = checkup.findings.into_iter().find(|finding| finding.name == "embedding");
        found.map(|finding| finding.text).expect("looked at")
    };
    let noted = || count(&home, "SELECT count(*) FROM unembedded_next");
    embed(&store, ids[0], "b");
    assert_eq!(["a", "b"].map(|model| store.unembedded(model).expect("counted")), [0, 3]);
    assert_eq!(noted(), 3);
    assert_eq!(described(), "all memories are embedded (a); 3 are left until b takes over");
    save_with(&store, "meanwhile", embedding("a"));
    assert_eq!(store.unembedded("b").expect("counted"), 4);
    assert!(!store.drop_stale_vectors(Some("b"), 9).expect("asked"), "it is chosen");
    assert!(!store.drop_stale_vectors(None, 9).expect("asked"), "who chooses nothing gives nothing up");
    assert_eq!(noted(), 4);
    choose(&store, "a", "b");
    assert_eq!((store.unembedded("b").expect("counted"), noted()), (4, 0));
    assert_eq!(described(), "4 memories wait to be embedded");
}

#[test]
fn a_model_that_was_given_up_leaves_nothing() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    let ids: Vec<MemoryId> =
        (0..4).map(|n| save_with(&store, &format!("memory {n}"), embedding("a"))).collect();
    embed(&store, ids[0], "b");
    embed(&store, ids[1], "b");
    embed(&store, ids[1], "c");
    assert_eq!(count(&home, "SELECT count(*) FROM unembedded_next"), 3, "one at a time");
    assert_eq!(store.unembedded("b").expect("counted"), 2, "others are looked for");
    while store.drop_stale_vectors(Some("a"), 2).expect("dropped") {}
    assert_eq!(count(&home, "SELECT count(*) FROM unembedded_next"), 0);
    assert_eq!(count(&home, "SELECT count(*) FROM vectors WHERE model <> 'a'"), 0);
    assert_eq!(
        count(&home, "SELECT count(*) FROM meta WHERE name LIKE '%vectors%' OR name = 'next_model'"),
        0
    );
    save_with(&store, "afterwards", embedding("a"));
    assert_eq!(count(&home, "SELECT count(*) FROM unembedded_next"), 0);
    assert_eq!(["a", "b"].map(|model| store.unembedded(model).expect("counted")), [0, 5]);
}

#[test]
fn a_copy_of_the_store_has_its_model_its_vectors_and_what_waits() {
    let folder = tempdir().expect("a folder");
    let (one, other) = (store(&folder.path().join("one")), store(&folder.path().join("other")));
    let id = save_with(&one, "embedded", embedding("a"));
    let waiting = save(&one, "not embedded");
    save_with(&other, "something else", embedding("b"));
    let file = folder.path().join("copy.db");
    one.backup(&file, ExistingFilePolicy::Refuse, &mut |_, _| ()).expect("made");
    other.restore(&file, &mut |_, _| ()).expect("restored");
    assert_eq!(other.model().expect("read").as_deref(), Some("a"));
    assert_eq!(other.unembedded_ids("a", 9, 9).expect("read"), [waiting]);
    let entries = |store: &SqliteStore| store.entries(&[id], Some("a")).expect("read");
    assert_eq!(entries(&other), entries(&one));
}

#[test]
fn a_backup_of_the_oldest_schema_is_restored() {
    let folder = tempdir().expect("a folder");
    let store = store(&folder.path().join("home"));
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old/schema-14.db");
    let report = store.restore(&old, &mut |_, _| ()).expect("restored");
    assert_eq!(report.schema, 14);
    crate::fixture::assert_filled(&store);
}

/// Returns the pages that were written to the log from `offset` on.
fn pages_written(home: &Path, offset: usize) -> Vec<u32> {
    const FRAME: usize = 24 + 4_096;
    let log = fs::read(home.join("tulving.db-wal")).expect("read");
    let number = |frame: &[u8]| u32::from_be_bytes(frame[..4].try_into().expect("four bytes"));
    log[offset..].chunks_exact(FRAME).map(number).collect()
}

#[test]
fn a_memory_saved_with_its_vectors_touches_nothing_of_what_waits() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    save_with(&store, "the first", embedding("a"));
    save(&store, "one that waits");
    let root = count(&home, "SELECT rootpage FROM sqlite_schema WHERE name = 'unembedded'");
    let touched = |act: &dyn Fn() -> MemoryId| {
        let before = fs::metadata(home.join("tulving.db-wal")).expect("a log").len();
        act();
        let pages = pages_written(&home, usize::try_from(before).expect("small"));
        assert!(!pages.is_empty());
        pages.iter().any(|page| i64::from(*page) == root)
    };
    assert!(touched(&|| save(&store, "another that waits")), "the test sees what is written");
    assert!(!touched(&|| save_with(&store, "embedded", embedding("a"))));
}

#[test]
fn vectors_of_what_was_erased_are_in_no_file() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    save_with(&store, "a neighbour that stays", embedding("a"));
    let whole = f32::from_le_bytes(*b"xyzz");
    let sentence: Vec<f32> = b"\x7fqwe".repeat(3).into_iter().map(f32::from).collect();
    let marked = Embedding { model: "a".to_owned(), vector: vec![whole; 12], sentences: vec![sentence; 30] };
    let id = save_with(&store, "to be erased", marked);
    save(&store, "another neighbour that stays");
    let holds = |needle: &[u8]| {
        let files = ["tulving.db", "tulving.db-wal"].map(|name| fs::read(home.join(name)).expect("read"));
        files.iter().any(|file| file.windows(needle.len()).any(|part| part == needle))
    };
    assert!(holds(b"xyzzxyzz") && holds(b"\x7fqwe\x7fqwe"), "the test sees them while they are there");
    apply(&store, vec![Write::Erase { id, from: None }]);
    assert!(!holds(b"xyzzxyzz") && !holds(b"\x7fqwe\x7fqwe"));
    assert_eq!(count(&home, "SELECT count(*) FROM vectors"), 1);
    let waiting = insert(memory("erased while it waits"));
    let Write::Insert(new) = &waiting else { unreachable!("it was made above") };
    let id = new.memory.id;
    apply(&store, vec![waiting]);
    assert_eq!(store.unembedded("a").expect("counted"), 2);
    apply(&store, vec![Write::Erase { id, from: None }]);
    assert_eq!(store.unembedded("a").expect("counted"), 1);
}
