use std::fs::{self, File};
use std::path::Path;

use tempfile::tempdir;
use tulving_core::model::error::StoreError;
use tulving_core::model::integrity::{Severity, StoreCheckDepth};
use tulving_core::model::request::Filter;
use tulving_core::ports::{IntegrityChecks, Log, Memories, Store};
use tulving_store::SqliteStore;

use crate::made::{act, insert, memory, save, store, user};

fn assert_refused_once(store: &SqliteStore, file: &str) {
    match store.apply(&act(vec![insert(memory("refused"))])) {
        Err(StoreError::Detached { path, .. }) => assert!(path.ends_with(file), "{}", path.display()),
        other => panic!("{file}: {other:?}"),
    }
    save(store, "after it was opened again");
}

fn count(home: &Path) -> u64 {
    let store = store(home);
    assert_ne!(store.check(StoreCheckDepth::Deep).expect("read").severity(), Severity::Bad);
    store.count(&user(), &Filter::default()).expect("read")
}

#[test]
fn a_save_into_a_log_that_was_removed_is_refused_and_nothing_acknowledged_is_lost() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    for n in 0..20 {
        save(&first, &format!("memory {n}"));
    }
    let before = first.change_counter().expect("read");
    fs::remove_file(home.path().join("tulving.db-wal")).expect("removed");
    assert_refused_once(&first, "tulving.db-wal");
    assert_ne!(first.change_counter().expect("read"), before);
    // As after a kill: the files as they are, without the writes of a close.
    let killed = tempdir().expect("a folder");
    for name in ["tulving.db", "tulving.db-wal"] {
        fs::copy(home.path().join(name), killed.path().join(name)).expect("copied");
    }
    assert_eq!(count(killed.path()), 21);
    drop(first);
    assert_eq!(count(home.path()), 21);
}

#[test]
fn a_save_without_the_shared_memory_of_others_is_refused() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    for n in 0..20 {
        save(&first, &format!("memory {n}"));
    }
    fs::remove_file(home.path().join("tulving.db-shm")).expect("removed");
    assert_refused_once(&first, "tulving.db-shm");
    drop(first);
    assert_eq!(count(home.path()), 21);
}

#[test]
fn both_files_gone_lose_nothing_that_was_acknowledged() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    for n in 0..20 {
        save(&first, &format!("memory {n}"));
    }
    for suffix in ["wal", "shm"] {
        fs::remove_file(home.path().join(format!("tulving.db-{suffix}"))).expect("removed");
    }
    assert_refused_once(&first, "tulving.db-wal");
    drop(first);
    assert_eq!(count(home.path()), 21);
}

#[test]
fn a_read_opens_the_store_again_and_answers() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    save(&first, "kept");
    for suffix in ["wal", "shm"] {
        fs::remove_file(home.path().join(format!("tulving.db-{suffix}"))).expect("removed");
        assert_eq!(first.count(&user(), &Filter::default()).expect("read"), 1);
        assert!(home.path().join(format!("tulving.db-{suffix}")).exists(), "opened again");
    }
    save(&first, "as before");
}

#[test]
fn a_log_that_was_cut_is_neither_written_to_nor_moved_into_the_database() {
    for left in [0, 32, 9_000] {
        let home = tempdir().expect("a folder");
        let first = store(home.path());
        for n in 0..20 {
            save(&first, &format!("memory {n}"));
        }
        let epoch = first.epoch().expect("read");
        let log = home.path().join("tulving.db-wal");
        File::options().write(true).open(&log).and_then(|log| log.set_len(left)).expect("cut");
        assert_refused_once(&first, "tulving.db-wal");
        assert_ne!(first.epoch().expect("read"), epoch, "an index of what was lost is void");
        drop(first);
        assert!(count(home.path()) >= 1, "{left}");
    }
}

#[test]
fn a_close_leaves_a_log_that_another_has_begun() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    save(&first, "kept");
    let log = home.path().join("tulving.db-wal");
    fs::rename(&log, home.path().join("moved")).expect("moved");
    fs::write(&log, "of another").expect("written");
    drop(first);
    assert_eq!(fs::read(&log).expect("left"), b"of another");
}
