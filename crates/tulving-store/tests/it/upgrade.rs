use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::integrity::{Severity, StoreCheckDepth, StoreCheckFinding};
use tulving_core::ports::IntegrityChecks;

use crate::fixture::{assert_filled, fill};
use crate::made::{save, store};

/// Returns the path of a copy of the oldest store that is opened, in a home.
fn oldest(home: &Path) -> PathBuf {
    let file = home.join("tulving.db");
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old/schema-14.db");
    fs::copy(old, &file).expect("copied");
    file
}

#[test]
fn a_file_of_every_schema_since_the_baseline_opens_and_keeps_its_memories() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old");
    let files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "db"))
        .collect();
    assert!(!files.is_empty());
    for file in files {
        let home = tempdir().expect("a folder");
        fs::copy(&file, home.path().join("tulving.db")).expect("copied");
        let store = store(home.path());
        assert_filled(&store);
        save(&store, "and it can be written");
        let checkup = store.check(StoreCheckDepth::Deep).expect("checked");
        let bad: Vec<_> = checkup.findings.iter().filter(|found| found.severity == Severity::Bad).collect();
        assert!(bad.is_empty(), "{}: {bad:?}", file.display());
    }
}

/// Returns the objects of a database with their SQL, and the pragmas that are kept in the file.
fn schema(file: &Path) -> (Vec<[String; 4]>, Vec<String>) {
    let connection = Connection::open(file).expect("opened");
    let sql = "SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY type, name";
    let mut statement = connection.prepare(sql).expect("sql");
    let objects = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]));
    let objects = objects.expect("read").collect::<Result<_, _>>().expect("read");
    let pragmas = ["application_id", "user_version", "auto_vacuum", "encoding", "page_size", "journal_mode"];
    let value = |name: &str| {
        let sql = format!("SELECT CAST({name} AS TEXT) FROM pragma_{name}");
        let value: String = connection.query_row(&sql, [], |row| row.get(0)).expect("read");
        format!("{name} = {value}")
    };
    (objects, pragmas.into_iter().map(value).collect())
}

#[test]
fn a_new_home_and_an_upgraded_one_have_the_same_schema() {
    let (new, upgraded) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    drop(store(new.path()));
    let file = oldest(upgraded.path());
    let before = schema(&file);
    drop(store(upgraded.path()));
    let (objects, pragmas) = schema(&new.path().join("tulving.db"));
    assert!(objects.iter().any(|[kind, name, ..]| kind == "table" && name == "memories"));
    assert_ne!(before, (objects.clone(), pragmas.clone()), "the file is older");
    assert_eq!(schema(&file), (objects, pragmas));
}

#[test]
fn the_fixture_holds_what_is_looked_for() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    fill(&store);
    assert_filled(&store);
}

#[test]
fn the_log_of_changes_keeps_its_numbers_and_its_newest_entry() {
    let home = tempdir().expect("a folder");
    let file = oldest(home.path());
    let log = |file: &Path| -> Vec<(i64, String, [u8; 16])> {
        let connection = Connection::open(file).expect("opened");
        let mut statement =
            connection.prepare("SELECT seq, kind, memory FROM changes ORDER BY seq").expect("sql");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).expect("read");
        rows.collect::<Result<_, _>>().expect("read")
    };
    let trimmed = "DELETE FROM changes WHERE seq < 5";
    Connection::open(&file).expect("opened").execute(trimmed, []).expect("trimmed");
    let before = log(&file);
    assert_eq!(before[0].0, 5);
    drop(store(home.path()));
    assert_eq!(log(&file), before);
    let newest = "DELETE FROM changes WHERE seq = (SELECT max(seq) FROM changes)";
    Connection::open(&file).expect("opened").execute(newest, []).expect_err("it stays");
}

#[test]
fn memories_of_two_files_that_say_the_same_stay_two_until_one_changes() {
    let home = tempdir().expect("a folder");
    let file = oldest(home.path());
    let before = Connection::open(&file).expect("opened");
    let plain = "key IS NULL AND source_path IS NULL AND conversation IS NULL AND forgotten_at IS NULL \
                 AND mirror_line IS NULL AND attachment_key IS NULL";
    let (row, space): (i64, [u8; 16]) = before
        .query_row(&format!("SELECT row, space FROM memories WHERE {plain} LIMIT 1"), [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .expect("a plain memory");
    let columns: Vec<String> = {
        let mut names = before.prepare("SELECT name FROM pragma_table_info('memories')").expect("sql");
        names.query_map([], |row| row.get(0)).expect("read").collect::<Result<_, _>>().expect("names")
    };
    let mut copies = Vec::new();
    for path in ["/a", "/b"] {
        let values = columns.iter().map(|name| match name.as_str() {
            "row" | "number" => "NULL".to_owned(),
            "id" => "randomblob(16)".to_owned(),
            "source_path" => format!("'{path}'"),
            name => format!("\"{name}\""),
        });
        let values = values.collect::<Vec<_>>().join(", ");
        let copy = format!("INSERT INTO memories SELECT {values} FROM memories WHERE row = {row}");
        before.execute(&copy, []).expect("copied");
        let new = before.last_insert_rowid();
        let chunks = format!(
            "INSERT INTO chunks SELECT {new}, ordinal, start, end, heading_path FROM chunks WHERE memory = {row}"
        );
        before.execute(&chunks, []).expect("copied");
        copies.push(new);
    }
    drop(before);
    let upgraded = store(home.path());
    let checkup = upgraded.check(StoreCheckDepth::Deep).expect("checked");
    // The copies have no vectors, unlike any real home.
    let bad = |found: &&StoreCheckFinding| found.severity == Severity::Bad && found.name != "embedding";
    let bad: Vec<_> = checkup.findings.iter().filter(bad).collect();
    assert!(bad.is_empty(), "{bad:?}");
    drop(upgraded);
    let after = Connection::open(&file).expect("opened");
    let there = |row: i64| -> (Option<String>, i64) {
        let sql = "SELECT source_path, apart FROM memories WHERE row = ?1";
        after.query_row(sql, [row], |row| Ok((row.get(0)?, row.get(1)?))).expect("still there")
    };
    assert_eq!(there(row), (None, 0));
    assert_eq!(there(copies[0]), (Some("/a".to_owned()), copies[0]), "nothing is lost");
    assert_eq!(there(copies[1]), (Some("/b".to_owned()), copies[1]));
    let third = format!(
        "INSERT INTO memories (id, space, owner, boundary, state, pinned, type, kind, stability, importance, content_type, \
         content_hash, author, origin, trust, created_at, updated_at, version, version_act, updated_by, tags, content) \
         SELECT randomblob(16), space, owner, boundary, state, pinned, type, kind, stability, importance, content_type, \
         content_hash, author, origin, trust, created_at, updated_at, version, version_act, updated_by, tags, content \
         FROM memories WHERE row = {row}"
    );
    let refused = after.execute(&third, []).expect_err("no more of them come");
    assert!(refused.to_string().contains("content_hash"), "{refused} in {space:?}");
}
