use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Barrier;
use std::thread;

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::error::StoreError;
use tulving_core::model::id::{OrgId, PrincipalId, SpaceId, TeamId};
use tulving_core::model::request::{Filter, ForgottenFilter};
use tulving_core::model::space::MemberOf;
use tulving_core::model::vocabulary::{PrincipalKind, Role, SpaceKind};
use tulving_core::ports::{Directory, Log, Memories, Store};

use crate::made::{act, apply, insert, memory, save, store, try_store, user};

#[test]
fn a_new_home_begins_with_one_space_and_its_user() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    let spaces = store.spaces(&user()).expect("read");
    assert_eq!(spaces.len(), 1);
    assert_eq!(
        (spaces[0].id, spaces[0].name.as_str(), spaces[0].kind),
        (SpaceId::DEFAULT, "default", SpaceKind::Hub)
    );
    assert_eq!(store.teams(&user()).expect("read")[0].id, TeamId::LOCAL);
    let me = store.principal_named("user").expect("read").expect("there");
    assert_eq!((me.id, me.kind), (PrincipalId::USER, PrincipalKind::Person));
    for of in [MemberOf::Org(OrgId::LOCAL), MemberOf::Team(TeamId::LOCAL), MemberOf::Space(SpaceId::DEFAULT)]
    {
        assert_eq!(store.role(PrincipalId::USER, of).expect("read"), Some(Role::Admin));
    }
}

#[test]
fn everything_of_a_memory_comes_back_after_a_new_start() {
    let home = tempdir().expect("a folder");
    let mut saved = memory("The build needs nasm.");
    saved.fields.text.tags = vec!["build".to_owned(), "with \"quotes\" and ü".to_owned()];
    saved.fields.text.title = Some("Build".to_owned());
    saved.fields.key = Some("build/nasm".to_owned());
    saved.place.position = Some(-3);
    saved.usage.access_count = 7;
    let first = store(home.path());
    let number = apply(&first, vec![insert(saved.clone())]).numbers[0];
    drop(first);
    saved.number = number;
    let again = store(home.path());
    let found =
        again.memory(&user(), SpaceId::DEFAULT, saved.id.into(), ForgottenFilter::Without).expect("read");
    assert_eq!(found, Some(saved));
}

#[test]
fn many_may_open_a_new_home_at_once() {
    let home = tempdir().expect("a folder");
    let start = Barrier::new(8);
    thread::scope(|threads| {
        for n in 0..8 {
            let (path, start) = (home.path(), &start);
            threads.spawn(move || {
                start.wait();
                let store = store(path);
                save(&store, &format!("memory {n}"));
            });
        }
    });
    let store = store(home.path());
    assert_eq!(store.count(&user(), &Filter::default()).expect("counted"), 8);
    assert_eq!(store.spaces(&user()).expect("read").len(), 1);
}

#[test]
fn files_are_for_their_owner_alone() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    save(&store, "mine");
    let mode = |path: &Path| path.metadata().expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    let mut seen = 0;
    for entry in fs::read_dir(&home).expect("a folder") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        seen += 1;
    }
    assert_eq!(seen, 3, "the database, its log and its shared memory");
}

/// Asserts that a home with this database is refused and left unchanged.
fn refused(path: &Path) -> StoreError {
    let file = path.join("tulving.db");
    let before = fs::read(&file).expect("it is there");
    let error = try_store(path).expect_err("it must be refused");
    assert_eq!(fs::read(&file).expect("still there"), before, "it was touched: {error}");
    assert!(error.to_string().contains("tulving.db"), "{error}");
    error
}

#[test]
fn a_newer_schema_is_refused_and_left_as_it_is() {
    let home = tempdir().expect("a folder");
    drop(store(home.path()));
    let other = Connection::open(home.path().join("tulving.db")).expect("opened");
    other.pragma_update(None, "user_version", 999).expect("set");
    drop(other);
    let error = refused(home.path());
    assert!(matches!(error, StoreError::NewerSchema { found: 999, .. }), "{error}");
    assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 1, "nothing was left beside it");
}

#[test]
fn a_schema_from_before_the_baseline_is_refused_by_name_and_left_as_it_is() {
    for schema in [1, 13] {
        let home = tempdir().expect("a folder");
        drop(store(home.path()));
        let other = Connection::open(home.path().join("tulving.db")).expect("opened");
        other.pragma_update(None, "user_version", schema).expect("set");
        drop(other);
        let error = refused(home.path());
        assert!(
            matches!(error, StoreError::OlderSchema { found, oldest: 14, .. } if found == schema),
            "{error}"
        );
        assert!(error.to_string().contains(&format!("schema {schema},")), "{error}");
        let hint = error.hint().expect("it says what to do");
        assert!(hint.contains("tulving dump") && hint.contains("tulving load"), "{hint}");
        assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 1, "nothing was left beside it");
    }
}

#[test]
fn a_newer_schema_whose_writer_crashed_is_left_with_its_log() {
    let home = tempdir().expect("a folder");
    drop(store(home.path()));
    let crashed = tempdir().expect("a folder");
    let other = Connection::open(home.path().join("tulving.db")).expect("opened");
    other.pragma_update(None, "user_version", 999).expect("set");
    for name in ["tulving.db", "tulving.db-wal"] {
        fs::copy(home.path().join(name), crashed.path().join(name)).expect("copied");
    }
    let log = fs::read(crashed.path().join("tulving.db-wal")).expect("there");
    assert!(!log.is_empty());
    let error = refused(crashed.path());
    assert!(matches!(error, StoreError::NewerSchema { found: 999, .. }), "{error}");
    assert_eq!(fs::read(crashed.path().join("tulving.db-wal")).expect("there"), log);
}

#[test]
fn what_is_not_a_database_is_refused() {
    for content in [b"hello".to_vec(), b"# Notes\n".repeat(2_000)] {
        let home = tempdir().expect("a folder");
        fs::write(home.path().join("tulving.db"), content).expect("written");
        let error = refused(home.path());
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
        assert!(error.to_string().contains("not a SQLite database"), "{error}");
    }
}

#[test]
fn another_programs_database_is_refused() {
    for mode in ["delete", "wal"] {
        let home = tempdir().expect("a folder");
        let other = Connection::open(home.path().join("tulving.db")).expect("opened");
        other.pragma_update_and_check(None, "journal_mode", mode, |_| Ok(())).expect("set");
        other.execute_batch("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine');").expect("made");
        drop(other);
        let error = refused(home.path());
        assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    }
}

#[test]
fn a_truncated_file_is_named_as_damaged() {
    let home = tempdir().expect("a folder");
    let first = store(home.path());
    for n in 0..200 {
        save(&first, &format!("memory {n} {}", "x".repeat(200)));
    }
    drop(first);
    let file = home.path().join("tulving.db");
    let whole = fs::read(&file).expect("there");
    fs::write(&file, &whole[..whole.len() / 2]).expect("cut");
    let error = refused(home.path());
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn a_file_with_a_broken_first_page_is_named_as_damaged() {
    let home = tempdir().expect("a folder");
    drop(store(home.path()));
    let file = home.path().join("tulving.db");
    let mut bytes = fs::read(&file).expect("there");
    bytes[100..2_000].fill(0xa5);
    fs::write(&file, &bytes).expect("written");
    let error = refused(home.path());
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
}

#[test]
fn a_folder_in_place_of_the_database_is_named() {
    let home = tempdir().expect("a folder");
    fs::create_dir(home.path().join("tulving.db")).expect("made");
    let error = try_store(home.path()).expect_err("not a file");
    assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
    assert!(
        error.to_string().ends_with("cannot be used as a database: it is a folder, not a file"),
        "{error}"
    );
}

#[test]
fn an_emptied_file_is_damaged_where_the_home_was_used_and_new_where_it_was_not() {
    let home = tempdir().expect("a folder");
    let file = home.path().join("tulving.db");
    fs::write(&file, "").expect("written");
    drop(store(home.path()));
    fs::write(home.path().join("api-token"), "tlv_x\n").expect("written");
    drop(store(home.path()));
    fs::write(&file, "").expect("emptied");
    fs::write(home.path().join("tulving.db-wal"), "what was acknowledged").expect("written");
    let error = refused(home.path());
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    assert!(home.path().join("tulving.db-wal").exists(), "its log was dropped");
}

#[test]
fn a_file_that_was_deleted_or_replaced_is_neither_written_nor_read() {
    let home = tempdir().expect("a folder");
    let file = home.path().join("tulving.db");
    let first = store(home.path());
    save(&first, "kept");
    fs::rename(&file, home.path().join("moved.db")).expect("moved");
    let refused = |what: &str| {
        match first.apply(&act(vec![insert(memory(what))])) {
            Err(StoreError::Replaced { path }) => assert_eq!(path, file),
            other => panic!("{what}: {other:?}"),
        }
        match first.epoch() {
            Err(StoreError::Replaced { path }) => assert_eq!(path, file),
            other => panic!("{what}: {other:?}"),
        }
    };
    refused("after it was moved");
    fs::write(&file, "").expect("another");
    refused("after another took its place");
    fs::rename(home.path().join("moved.db"), &file).expect("moved back");
    save(&first, "after it came back");
}

#[test]
fn a_new_epoch_is_given_to_each_home() {
    let (one, other) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let (one, other) = (store(one.path()), store(other.path()));
    assert_ne!(one.epoch().expect("read"), other.epoch().expect("read"));
}
