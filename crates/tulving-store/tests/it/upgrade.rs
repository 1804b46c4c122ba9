use std::fs;
use std::path::Path;

use tempfile::tempdir;
use tulving_store::{Depth, Severity};

use crate::fixture::{assert_filled, fill};
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
}
