use std::fs;
use std::path::Path;

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_store::{Depth, Severity};

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
        let checkup = store.check(Depth::Deep).expect("checked");
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
