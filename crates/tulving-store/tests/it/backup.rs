use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::error::StoreError;
use tulving_core::model::integrity::{Severity, StoreCheckDepth};
use tulving_core::model::request::{Filter, Sort};
use tulving_core::ports::{IntegrityChecks, Log, Memories};
use tulving_store::{ExistingFilePolicy, SqliteStore};

use crate::made::{dump, quiet, save, store, user};

fn contents(store: &SqliteStore) -> Vec<String> {
    let all = store.list(&user(), &Filter::default(), Sort::Oldest, 10_000, None).expect("read");
    all.into_iter().map(|memory| memory.fields.text.content).collect()
}

#[test]
fn a_backup_is_one_private_file_that_holds_everything() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    for n in 0..300 {
        save(&store, &format!("memory {n}"));
    }
    let file = home.path().join("copy.db");
    let mut heard = Vec::new();
    let report = store
        .backup(&file, ExistingFilePolicy::Refuse, &mut |done, total| {
            heard.push((done, total));
        })
        .expect("made");
    assert_eq!(report.memories, 300);
    assert_eq!(report.bytes, file.metadata().expect("there").len());
    let (done, total) = *heard.last().expect("progress was told");
    assert_eq!((done, total), (report.bytes, report.bytes));
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("there").permissions()) & 0o777,
        0o600
    );
    let copy = Connection::open(&file).expect("opened");
    let mode: String = copy.pragma_query_value(None, "journal_mode", |row| row.get(0)).expect("asked");
    assert_eq!(mode, "delete");
    let left = fs::read_dir(home.path()).expect("a folder").filter_map(Result::ok);
    assert!(left.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".tulving-draft")));
}

#[test]
fn a_file_in_the_way_stays_unless_told_otherwise() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let file = home.path().join("taken");
    fs::write(&file, "mine").expect("written");
    let error = store.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect_err("it is in the way");
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert_eq!(fs::read(&file).expect("there"), b"mine");
    store.backup(&file, ExistingFilePolicy::Replace, &mut quiet()).expect("replaced");
    for own in ["tulving.db", "tulving.db-wal"] {
        let error = store
            .backup(&home.path().join(own), ExistingFilePolicy::Replace, &mut quiet())
            .expect_err("its own");
        assert!(error.to_string().contains("live store"), "{error}");
    }
}

#[test]
fn a_backup_is_of_one_moment_while_others_write() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    for n in 0..200 {
        save(&first, &format!("memory {n} {}", "x".repeat(2_000)));
    }
    let stop = AtomicBool::new(false);
    thread::scope(|threads| {
        let (path, stop) = (home.path(), &stop);
        threads.spawn(move || {
            let other = store(path);
            let mut n = 0;
            while !stop.load(Ordering::Relaxed) {
                save(&other, &format!("meanwhile {n}"));
                n += 1;
            }
        });
        for n in 0..5 {
            let file = path.join(format!("copy-{n}.db"));
            let report = first.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
            let copy = tempdir().expect("a folder");
            fs::copy(&file, copy.path().join("tulving.db")).expect("copied");
            let copy = store(copy.path());
            assert_eq!(contents(&copy).len(), usize::try_from(report.memories).expect("few"));
            assert_sound(&copy);
        }
        stop.store(true, Ordering::Relaxed);
    });
}

fn assert_sound(store: &SqliteStore) {
    let checkup = store.check(StoreCheckDepth::Deep).expect("checked");
    let bad: Vec<_> = checkup.findings.iter().filter(|finding| finding.severity == Severity::Bad).collect();
    assert!(bad.is_empty(), "{bad:?}");
}

#[test]
fn a_restore_brings_back_the_backup_and_keeps_what_was() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    save(&store, "kept");
    let file = home.path().join("copy.db");
    store.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    let before = dump(&store, 100);
    save(&store, "saved after the backup");
    let (epoch, change_counter) = (store.epoch().expect("read"), store.change_counter().expect("read"));

    let report = store.restore(&file, &mut quiet()).expect("restored");
    assert_eq!(report.memories, 1);
    assert_eq!(dump(&store, 100), before);
    assert_ne!(store.epoch().expect("read"), epoch);
    assert_ne!(store.change_counter().expect("read"), change_counter);
    assert!(report.previous.starts_with(home.path().join("backups")));
    assert_sound(&store);

    let undone = store.restore(&report.previous, &mut quiet()).expect("undone");
    assert_eq!(undone.memories, 2);
    assert_eq!(contents(&store), ["kept", "saved after the backup"]);
    save(&store, "and on it goes");
}

#[test]
fn a_restore_reaches_every_store_that_is_open() {
    let home = tempdir().expect("a folder");
    let (mine, other) = (store(home.path()), store(home.path()));
    for n in 0..50 {
        save(&mine, &format!("old {n}"));
    }
    let file = home.path().join("copy.db");
    mine.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    for n in 0..500 {
        save(&other, &format!("new {n} {}", "x".repeat(500)));
    }
    assert_eq!(contents(&other).len(), 550);
    let change_counter = other.change_counter().expect("read");
    mine.restore(&file, &mut quiet()).expect("restored");
    assert_ne!(other.change_counter().expect("read"), change_counter);
    assert_eq!(contents(&other).len(), 50, "prepared statements of others see the new content");
    assert_eq!(other.epoch().expect("read"), mine.epoch().expect("read"));
    save(&other, "written after the restore");
    assert_eq!(contents(&mine).len(), 51);
    assert_sound(&other);
}

#[test]
fn a_restore_waits_for_writers_and_they_for_it() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    save(&first, "kept");
    let file = home.path().join("copy.db");
    first.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    let stop = AtomicBool::new(false);
    thread::scope(|threads| {
        for writer in 0..3 {
            let (path, stop) = (home.path(), &stop);
            threads.spawn(move || {
                let other = store(path);
                let mut n = 0;
                while !stop.load(Ordering::Relaxed) {
                    save(&other, &format!("{writer} meanwhile {n}"));
                    contents(&other);
                    n += 1;
                }
            });
        }
        for _ in 0..5 {
            first.restore(&file, &mut quiet()).expect("restored");
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(contents(&first).contains(&"kept".to_owned()));
    assert_sound(&first);
}

#[test]
fn what_is_no_backup_is_refused_and_nothing_changes() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    save(&store, "mine");
    let before = (dump(&store, 100), store.epoch().expect("read"));
    let make = |name: &str, work: &dyn Fn(&Path)| {
        let path = home.path().join(name);
        work(&path);
        path
    };
    let backup = make("good.db", &|path| {
        drop(store.backup(path, ExistingFilePolicy::Refuse, &mut quiet()).expect("made"));
    });
    let wrong = [
        make("text.db", &|path| {
            fs::write(path, "not a database").expect("written");
        }),
        make("empty.db", &|path| fs::write(path, "").expect("written")),
        make("missing.db", &|_| ()),
        make("other.db", &|path| {
            let other = Connection::open(path).expect("opened");
            other.execute_batch("CREATE TABLE notes (text);").expect("made");
        }),
        make("newer.db", &|path| {
            fs::copy(&backup, path).expect("copied");
            Connection::open(path).expect("opened").pragma_update(None, "user_version", 999).expect("set");
        }),
        make("older.db", &|path| {
            fs::copy(&backup, path).expect("copied");
            Connection::open(path).expect("opened").pragma_update(None, "user_version", 13).expect("set");
        }),
        make("trigger.db", &|path| {
            fs::copy(&backup, path).expect("copied");
            let other = Connection::open(path).expect("opened");
            other
                .execute_batch("CREATE TRIGGER t AFTER INSERT ON memories BEGIN DELETE FROM memories; END;")
                .expect("made");
        }),
        make("cut.db", &|path| {
            let whole = fs::read(&backup).expect("there");
            fs::write(path, &whole[..whole.len() / 2]).expect("cut");
        }),
        store.home().database(),
    ];
    for path in wrong {
        let error = store.restore(&path, &mut quiet()).expect_err("it is no backup");
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        assert!(error.to_string().contains(&name), "{name}: {error}");
    }
    assert_eq!((dump(&store, 100), store.epoch().expect("read")), before);
    let drafts = fs::read_dir(home.path()).expect("a folder").filter_map(Result::ok);
    assert!(
        drafts.into_iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".tulving-draft"))
    );
}

#[test]
fn a_backup_with_other_pages_is_restored_too() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    save(&store, "kept");
    let file = home.path().join("copy.db");
    store.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    Connection::open(&file)
        .expect("opened")
        .execute_batch("PRAGMA page_size = 16384; VACUUM;")
        .expect("made");
    save(&store, "gone");
    store.restore(&file, &mut quiet()).expect("restored");
    assert_eq!(contents(&store), ["kept"]);
}
