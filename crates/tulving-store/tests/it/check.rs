use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_store::{Depth, Severity};

use crate::fixture::fill;
use crate::made::{save, store};

#[test]
fn a_healthy_store_has_nothing_to_complain_of() {
    let folder = tempdir().expect("a folder");
    let store = store(&folder.path().join("home"));
    fill(&store);
    let checkup = store.check(Depth::Deep).expect("checked");
    let wrong: Vec<_> = checkup.findings.iter().filter(|found| found.severity > Severity::Warn).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let names: Vec<_> = checkup.findings.iter().map(|finding| finding.name).collect();
    for name in ["integrity", "foreign keys", "orphans", "permissions", "log size", "disk space", "schema"] {
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
fn what_somebody_broke_is_found() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    save(&store, "as it was");
    let other = Connection::open(home.join("tulving.db")).expect("opened");
    let break_it = |sql: &str, name: &str, severity: Severity| {
        other.execute_batch(sql).expect("done");
        let checkup = store.check(Depth::Usual).expect("checked");
        let found = checkup.findings.iter().find(|finding| finding.name == name).expect("looked at");
        assert_eq!(found.severity, severity, "{found:?}");
        assert_eq!(checkup.severity(), Severity::Bad.min(checkup.severity()));
    };
    break_it("PRAGMA foreign_keys = OFF", "orphans", Severity::Fine);
    break_it("UPDATE memories SET content = 'changed'", "contents", Severity::Bad);
    break_it("UPDATE spaces SET next_number = 1", "numbers", Severity::Bad);
    break_it("UPDATE chunks SET memory = 99", "orphans", Severity::Bad);
    break_it("UPDATE chunks SET memory = 98", "foreign keys", Severity::Bad);
    break_it("DELETE FROM meta WHERE name = 'epoch'", "schema", Severity::Bad);
}

#[test]
fn files_that_others_may_read_are_named() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    fs::set_permissions(home.join("tulving.db"), fs::Permissions::from_mode(0o644)).expect("set");
    let checkup = store.check(Depth::Usual).expect("checked");
    let found = checkup.findings.iter().find(|finding| finding.name == "permissions").expect("looked at");
    assert_eq!(found.severity, Severity::Warn);
    assert!(found.text.contains("tulving.db has mode 0644"), "{}", found.text);
}
