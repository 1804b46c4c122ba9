use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::change::Write;
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{PrincipalId, TokenId};
use tulving_core::model::request::Filter;
use tulving_core::model::space::{Token, TokenHash};
use tulving_core::model::vocabulary::Role;
use tulving_core::ports::{Directory, Memories, Rescue, Store, Upkeep};
use tulving_store::{DamagedDatabase, ExistingFilePolicy, Home, SqliteOptions, SqliteStore};

use crate::made::{act, apply, insert, memory, quiet, save, store, time, user};

fn contents_of(database: &Path) -> BTreeSet<String> {
    let database = Connection::open(database).expect("opened");
    let mut statement = database.prepare("SELECT content FROM memories").expect("prepared");
    let found = statement.query_map([], |row| row.get(0)).expect("read");
    found.collect::<Result<_, _>>().expect("read")
}

/// An acknowledged save is in the store, or in the copy that one of the restores has left.
#[test]
fn a_save_acknowledged_during_a_restore_is_not_lost() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    save(&first, "kept");
    let file = home.path().join("copy.db");
    first.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    let stop = AtomicBool::new(false);
    let saved: Vec<String> = thread::scope(|threads| {
        let (path, stop, first) = (home.path(), &stop, &first);
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                threads.spawn(move || {
                    let own = store(path);
                    // One of them shares the store that restores.
                    let used = if writer == 0 { first } else { &own };
                    let mut saved = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let content = format!("{writer} saves {}", saved.len());
                        save(used, &content);
                        saved.push(content);
                    }
                    saved
                })
            })
            .collect();
        for _ in 0..15 {
            first.restore(&file, &mut quiet()).expect("restored");
            thread::sleep(Duration::from_millis(20));
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().flat_map(|writer| writer.join().expect("it ended well")).collect()
    });
    assert!(saved.len() > 50, "{} saves", saved.len());
    let mut found = contents_of(&home.path().join("tulving.db"));
    for copy in fs::read_dir(home.path().join("backups")).expect("a folder") {
        found.extend(contents_of(&copy.expect("an entry").path()));
    }
    let lost: Vec<_> = saved.iter().filter(|content| !found.contains(*content)).collect();
    assert!(lost.is_empty(), "{} of {} saves are lost: {lost:?}", lost.len(), saved.len());
}

fn hasty(home: &Path, wait: Duration) -> SqliteStore {
    let home = Home::open_or_create(home).expect("a home");
    SqliteStore::open(&home, SqliteOptions { busy_wait: wait, ..SqliteOptions::default() }).expect("it opens")
}

/// Simulates a restore in another process by its lock on this file; the lock is free when the process dies.
fn restore_elsewhere(home: &Path) -> File {
    let lock = File::create(home.join("restore.lock")).expect("made");
    lock.lock().expect("locked");
    lock
}

#[test]
fn writers_wait_for_a_restore_and_go_on_when_its_process_is_gone() {
    let home = tempdir().expect("a folder");
    let wait = Duration::from_millis(200);
    let store = hasty(home.path(), wait);
    let id = save(&store, "before");
    apply(&store, vec![Write::Erase { id, from: None }]);
    let copy = home.path().join("copy.db");
    store.backup(&copy, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");

    let elsewhere = restore_elsewhere(home.path());
    let began = Instant::now();
    let error = store.apply(&act(vec![insert(memory("too early"))])).expect_err("busy");
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert!(began.elapsed() >= wait && began.elapsed() < wait * 20);
    let error = store.scrub().expect_err("busy");
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    let error = store.restore(&copy, &mut quiet()).expect_err("busy");
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert!(!home.path().join("backups").exists(), "nothing was begun");
    assert_eq!(store.count(&user(), &Filter::default()).expect("reads go on"), 0);
    drop(hasty(home.path(), wait));

    drop(elsewhere);
    save(&store, "after");
    assert!(store.scrub().expect("rewritten"));
    assert_eq!(store.count(&user(), &Filter::default()).expect("counted"), 1);
}

#[test]
fn a_writer_that_waits_is_let_in_after_the_restore() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let elsewhere = restore_elsewhere(home.path());
    thread::scope(|threads| {
        let writers = [0, 1, 2].map(|n| {
            let store = &store;
            threads.spawn(move || save(store, &format!("writer {n}")))
        });
        thread::sleep(Duration::from_millis(100));
        assert_eq!(store.count(&user(), &Filter::default()).expect("counted"), 0);
        drop(elsewhere);
        for writer in writers {
            writer.join().expect("saved");
        }
    });
    assert_eq!(store.count(&user(), &Filter::default()).expect("counted"), 3);
}

#[test]
fn restores_at_once_take_turns() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    save(&first, "kept");
    let file = home.path().join("copy.db");
    first.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    thread::scope(|threads| {
        for _ in 0..4 {
            let (path, file) = (home.path(), &file);
            threads.spawn(move || {
                let other = store(path);
                for _ in 0..3 {
                    other.restore(file, &mut quiet()).expect("restored");
                }
            });
        }
    });
    assert_eq!(fs::read_dir(home.path().join("backups")).expect("a folder").count(), 12);
    assert_eq!(first.count(&user(), &Filter::default()).expect("counted"), 1);
}

fn token(store: &SqliteStore, n: u8) -> TokenId {
    let token = Token {
        id: TokenId::mint(time(i64::from(n))),
        label: format!("token {n}"),
        principal: PrincipalId::USER,
        spaces: Vec::new(),
        role: Role::Writer,
        created_at: time(1),
        revoked_at: None,
    };
    let id = token.id;
    apply(store, vec![Write::AddToken(token, TokenHash([n; 32]))]);
    id
}

/// Returns for each token true if it is revoked; `None` for an unknown one.
fn revoked(store: &SqliteStore, numbers: [u8; 3]) -> [Option<bool>; 3] {
    numbers.map(|n| {
        let token = store.token_by_hash(&TokenHash([n; 32])).expect("read");
        token.map(|token| token.revoked_at.is_some())
    })
}

#[test]
fn a_restore_does_not_revive_a_revoked_token() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let empty = home.path().join("empty.db");
    store.backup(&empty, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    let (stolen, _) = (token(&store, 1), token(&store, 2));
    let file = home.path().join("copy.db");
    store.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    apply(&store, vec![Write::RevokeToken(stolen)]);
    token(&store, 3);

    let report = store.restore(&file, &mut quiet()).expect("restored");
    assert_eq!(report.kept_revoked, 1);
    assert_eq!(revoked(&store, [1, 2, 3]), [Some(true), Some(false), None]);

    assert_eq!(store.restore(&empty, &mut quiet()).expect("restored").kept_revoked, 0);
    assert_eq!(revoked(&store, [1, 2, 3]), [None; 3]);
    let report = store.restore(&file, &mut quiet()).expect("restored");
    assert_eq!(report.kept_revoked, 1, "it is remembered by a store that did not know the token");
    assert_eq!(revoked(&store, [1, 2, 3]), [Some(true), Some(false), None]);
}

/// Returns the damaged database of a home.
fn damaged_in(home: &Home) -> DamagedDatabase {
    DamagedDatabase { home: home.clone(), options: SqliteOptions::default() }
}

/// A journal left next to the rescued database would be played back into it.
#[test]
fn what_lies_beside_a_damaged_store_goes_with_it() {
    let folder = tempdir().expect("a folder");
    let home = Home::open_or_create(&folder.path().join("home")).expect("a home");
    let file = folder.path().join("copy.db");
    let damaged = store(home.path());
    save(&damaged, "kept");
    damaged.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    drop(damaged);
    let beside = |path: &Path, suffix: &str| PathBuf::from(format!("{}{suffix}", path.display()));
    let all = ["", "-wal", "-shm", "-journal"];
    for suffix in all {
        fs::write(beside(&home.database(), suffix), format!("damaged {suffix}")).expect("written");
    }
    let report = damaged_in(&home).rescue(&file, &file, &mut |_| Ok(()), &mut quiet()).expect("rescued");
    for suffix in all {
        let kept = fs::read_to_string(beside(&report.previous, suffix)).expect("kept");
        assert_eq!(kept, format!("damaged {suffix}"));
        assert_eq!(beside(&home.database(), suffix).exists(), suffix.is_empty(), "{suffix}");
    }
    assert_eq!(contents_of(&home.database()), BTreeSet::from(["kept".to_owned()]));
    assert_eq!(fs::read_dir(home.path().join("backups")).expect("a folder").count(), all.len());
}

/// An open copy prevents its log from being merged into it.
#[test]
fn a_rescue_does_not_leave_a_part_of_the_backup_in_a_log() {
    let folder = tempdir().expect("a folder");
    let home = Home::open_or_create(&folder.path().join("home")).expect("a home");
    let file = folder.path().join("copy.db");
    let damaged = store(home.path());
    save(&damaged, "kept");
    damaged.backup(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    drop(damaged);
    fs::write(home.database(), "damaged").expect("written");
    let mut held = None;
    let rescued = damaged_in(&home).rescue(&file, &file, &mut |_| Ok(()), &mut |_, _| {
        let mut entries = fs::read_dir(home.path().join("backups")).expect("a folder").flatten();
        let scratch = entries.next().expect("a folder in the making").path();
        held.get_or_insert_with(|| {
            let reader = Connection::open(scratch.join("home/tulving.db")).expect("opened");
            reader.execute_batch("BEGIN; SELECT count(*) FROM memories;").expect("reading");
            reader
        });
    });
    let error = rescued.expect_err("it is not whole").to_string();
    assert!(error.contains("copy.db cannot be restored: ") && error.contains("log"), "{error}");
    assert_eq!(fs::read_to_string(home.database()).expect("there"), "damaged", "nothing has changed");
    drop(held);
    damaged_in(&home).rescue(&file, &file, &mut |_| Ok(()), &mut quiet()).expect("rescued");
    assert_eq!(contents_of(&home.database()), BTreeSet::from(["kept".to_owned()]));
}

#[test]
fn what_is_wrong_with_a_backup_is_not_said_of_the_home() {
    let home = tempdir().expect("a folder");
    let store = store(&home.path().join("home"));
    let text = home.path().join("text.db");
    fs::write(&text, "not a database").expect("written");
    let cut = home.path().join("cut.db");
    store.backup(&cut, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    let whole = fs::read(&cut).expect("there");
    fs::write(&cut, &whole[..whole.len() / 2]).expect("cut");
    for path in [&text, &cut, &home.path().join("missing.db")] {
        let error = store.restore(path, &mut quiet()).expect_err("it is no backup").to_string();
        assert!(error.starts_with(&path.display().to_string()), "{error}");
        assert!(error.contains("cannot be restored: "), "{error}");
    }
    let error = store.restore(home.path(), &mut quiet()).expect_err("it is no backup").to_string();
    assert!(error.ends_with("cannot be restored: it is a folder, not a backup"), "{error}");
}
