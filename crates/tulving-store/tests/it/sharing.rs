use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{Seq, SpaceId};
use tulving_core::model::request::{Filter, Sort};
use tulving_core::ports::{Log, Memories, Store};
use tulving_store::{Home, SqliteOptions, SqliteStore};

use crate::made::{act, apply, insert, memory, save, store, user};

#[test]
fn the_pulse_tells_of_own_and_foreign_commits() {
    let home = tempdir().expect("a folder");
    let (mine, other) = (store(home.path()), store(home.path()));
    let rest = mine.change_counter().expect("read");
    assert_eq!(mine.change_counter().expect("read"), rest, "nothing was written");
    save(&mine, "mine");
    let own = mine.change_counter().expect("read");
    assert_ne!(own, rest);
    save(&other, "of another");
    assert_ne!(mine.change_counter().expect("read"), own);
}

#[test]
fn the_log_ascends_in_the_order_of_commits() {
    let home = tempdir().expect("a folder");
    let (mine, other) = (store(home.path()), store(home.path()));
    let mut saved = Vec::new();
    for n in 0..20 {
        let by = if n % 3 == 0 { &mine } else { &other };
        saved.push(save(by, &format!("memory {n}")));
    }
    let logged: Vec<_> = mine.changes(Seq(0), 100).expect("read");
    assert_eq!(logged.iter().map(|change| change.memory).collect::<Vec<_>>(), saved);
    assert!(logged.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert_eq!(mine.head().expect("read"), logged[19].seq);
    assert_eq!(mine.changes(logged[14].seq, 3).expect("read").len(), 3);
}

#[test]
fn a_writer_that_waits_too_long_says_how_long() {
    let home = tempdir().expect("a folder");
    let path = Home::open_or_create(home.path()).expect("a home");
    let wait = Duration::from_millis(200);
    let store = SqliteStore::open(&path, SqliteOptions { busy_wait: wait, ..SqliteOptions::default() })
        .expect("it opens");
    let other = Connection::open(path.database()).expect("opened");
    other.execute_batch("BEGIN IMMEDIATE").expect("held");
    let began = Instant::now();
    let error = store.apply(&act(vec![insert(memory("late"))])).expect_err("busy");
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert!(began.elapsed() >= wait && began.elapsed() < wait * 20);
    assert_eq!(store.count(&user(), &Filter::default()).expect("readers do not wait"), 0);
    other.execute_batch("ROLLBACK").expect("given back");
    apply(&store, vec![insert(memory("now"))]);
}

#[test]
fn writers_and_readers_of_many_stores_do_not_fail_each_other() {
    let home = tempdir().expect("a folder");
    drop(store(home.path()));
    thread::scope(|threads| {
        for writer in 0..4 {
            let path = home.path();
            threads.spawn(move || {
                let store = store(path);
                for n in 0..50 {
                    save(&store, &format!("{writer} says {n}"));
                    let page = store.list(&user(), &Filter::default(), Sort::Newest, 10, None).expect("read");
                    assert!(!page.is_empty());
                }
            });
        }
    });
    let store = store(home.path());
    let all = store.list(&user(), &Filter::default(), Sort::Oldest, 1_000, None).expect("read");
    let mut numbers: Vec<_> = all.iter().filter_map(|memory| memory.number).map(|number| number.0).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=200).collect::<Vec<_>>());
}

#[test]
fn more_threads_than_readers_take_turns() {
    let home = tempdir().expect("a folder");
    let path = Home::open_or_create(home.path()).expect("a home");
    let store =
        SqliteStore::open(&path, SqliteOptions { readers: 2, ..SqliteOptions::default() }).expect("it opens");
    save(&store, "read by many");
    thread::scope(|threads| {
        for _ in 0..16 {
            threads.spawn(|| {
                for _ in 0..50 {
                    assert_eq!(store.count(&user(), &Filter::default()).expect("read"), 1);
                }
            });
        }
    });
}

#[test]
fn a_failed_set_leaves_nothing_and_the_store_goes_on() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let mut lost = memory("in no space");
    lost.space = SpaceId::from_bytes([9; 16]);
    let before = (store.head().expect("read"), store.change_counter().expect("read"));
    store.apply(&act(vec![insert(memory("first")), insert(lost)])).expect_err("no such space");
    assert_eq!((store.head().expect("read"), store.change_counter().expect("read")), before);
    assert_eq!(apply(&store, vec![insert(memory("first"))]).numbers[0].map(|number| number.0), Some(1));
}
