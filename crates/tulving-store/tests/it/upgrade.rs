use std::fs;
use std::path::Path;

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_store::{Severity, StoreCheckDepth, StoreCheckFinding};

use crate::fixture::{assert_filled, assert_since_schema_2, fill};
use crate::made::{save, store};

#[test]
fn a_file_of_every_schema_opens_and_answers() {
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
        if !file.ends_with("schema-1.db") {
            assert_since_schema_2(&store);
        }
        save(&store, "and it can be written");
        let checkup = store.check(StoreCheckDepth::Deep).expect("checked");
        let bad: Vec<_> = checkup.findings.iter().filter(|found| found.severity == Severity::Bad).collect();
        assert!(bad.is_empty(), "{}: {bad:?}", file.display());
    }
}

#[test]
fn the_fixture_holds_what_is_looked_for() {
    let home = tempdir().expect("a folder");
    let store = store(home.path());
    fill(&store);
    assert_filled(&store);
    assert_since_schema_2(&store);
}

#[test]
fn the_log_of_changes_keeps_its_numbers_and_its_newest_entry() {
    let home = tempdir().expect("a folder");
    let file = home.path().join("tulving.db");
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old/schema-1.db");
    fs::copy(old, &file).expect("copied");
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
    let file = home.path().join("tulving.db");
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old/schema-2.db");
    fs::copy(old, &file).expect("copied");
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
