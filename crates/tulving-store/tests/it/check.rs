use std::fs;
use std::os::unix::fs::PermissionsExt;

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::change::Write;
use tulving_core::model::integrity::{Severity, StoreCheckDepth, StoreCheckFinding};
use tulving_core::ports::{IntegrityChecks, Upkeep};
use tulving_store::{ExistingFilePolicy, SqliteStore};

use crate::fixture::fill;
use crate::made::{apply, save, store};

#[test]
fn a_healthy_store_has_nothing_to_complain_of() {
    let folder = tempdir().expect("a folder");
    let store = store(&folder.path().join("home"));
    fill(&store);
    let checkup = store.check(StoreCheckDepth::Deep).expect("checked");
    let wrong: Vec<_> = checkup.findings.iter().filter(|found| found.severity > Severity::Warn).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let names: Vec<_> = checkup.findings.iter().map(|finding| finding.name).collect();
    for name in [
        "integrity",
        "foreign keys",
        "orphans",
        "permissions",
        "log size",
        "disk space",
        "schema",
        "embedding",
    ] {
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
        let checkup = store.check(StoreCheckDepth::Usual).expect("checked");
        let found = checkup.findings.iter().find(|finding| finding.name == name).expect("looked at");
        assert_eq!(found.severity, severity, "{found:?}");
        assert!(checkup.severity() >= severity, "the worst counts");
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
    let checkup = store.check(StoreCheckDepth::Usual).expect("checked");
    let found = checkup.findings.iter().find(|finding| finding.name == "permissions").expect("looked at");
    assert_eq!(found.severity, Severity::Warn);
    assert!(found.text.contains("tulving.db has mode 0644"), "{}", found.text);
}

#[test]
fn a_configuration_and_copies_that_others_may_read_are_named() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    fs::create_dir(home.join("backups")).expect("made");
    for name in ["config.toml", "backups/before.db"] {
        fs::write(home.join(name), "").expect("written");
        fs::set_permissions(home.join(name), fs::Permissions::from_mode(0o640)).expect("set");
        let found = finding(&store, StoreCheckDepth::Usual, "permissions");
        assert_eq!(found.severity, Severity::Warn);
        assert!(found.text.contains(&format!("{name} has mode 0640")), "{}", found.text);
        fs::set_permissions(home.join(name), fs::Permissions::from_mode(0o600)).expect("set");
        assert_eq!(finding(&store, StoreCheckDepth::Usual, "permissions").severity, Severity::Fine);
    }
}

fn finding(store: &SqliteStore, depth: StoreCheckDepth, name: &str) -> StoreCheckFinding {
    let checkup = store.check(depth).expect("checked");
    checkup.findings.into_iter().find(|finding| finding.name == name).expect("looked at")
}

#[test]
fn copies_that_may_hold_erased_text_are_named() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    fs::create_dir(home.join("backups")).expect("made");
    let copy = |name: &str| {
        let path = home.join("backups").join(name);
        store.backup(&path, ExistingFilePolicy::Refuse, &mut |_, _| ()).expect("made");
        path
    };
    let copies = || finding(&store, StoreCheckDepth::Usual, "copies");
    let (first, second) = (save(&store, "xyzzy one"), save(&store, "xyzzy two"));
    let oldest = copy("oldest.db");
    assert_eq!(copies().severity, Severity::Fine, "nothing was erased");
    apply(&store, vec![Write::Erase { id: first, from: None }]);
    assert!(store.scrub().expect("rewritten"));
    let middle = copy("middle.db");
    let found = copies();
    assert_eq!(found.severity, Severity::Warn);
    assert!(found.text.contains("oldest.db") && !found.text.contains("middle.db"), "{found:?}");
    apply(&store, vec![Write::Erase { id: second, from: None }]);
    copy("unwritten.db");
    assert!(copies().text.contains("unwritten.db"), "its pages were not rewritten after the erasure");
    fs::remove_file(home.join("backups/unwritten.db")).expect("removed");
    assert!(store.scrub().expect("rewritten"));
    let newest = copy("newest.db");
    let found = copies();
    assert!(found.text.contains("oldest.db") && found.text.contains("middle.db"), "{found:?}");
    assert!(!found.text.contains("newest.db") && found.hint.is_some(), "{found:?}");

    let report = store.restore(&newest, &mut |_, _| ()).expect("restored");
    let found = copies();
    assert!(found.text.contains("oldest.db") && found.text.contains("middle.db"), "{found:?}");
    assert!(!found.text.contains(&report.previous.display().to_string()), "{found:?}");
    for path in [oldest, middle] {
        fs::remove_file(path).expect("removed");
    }
    assert_eq!(copies().severity, Severity::Fine);
}

#[test]
fn a_past_version_that_somebody_changed_is_found_by_a_deep_look() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    fill(&store);
    assert_eq!(finding(&store, StoreCheckDepth::Deep, "versions").severity, Severity::Fine);
    let other = Connection::open(home.join("tulving.db")).expect("opened");
    other
        .execute_batch("UPDATE versions SET edition = replace(edition, 'fixture', 'forgery')")
        .expect("done");
    let found = finding(&store, StoreCheckDepth::Deep, "versions");
    assert_eq!(found.severity, Severity::Bad);
    assert!(found.text.contains("version 1 of memory"), "{found:?}");
    other.execute_batch("UPDATE versions SET edition = '{}'").expect("done");
    let found = finding(&store, StoreCheckDepth::Deep, "versions");
    assert!(found.text.contains("cannot be read"), "{found:?}");
}

#[test]
fn a_foreign_trigger_table_or_index_is_found() {
    for (sql, name) in [
        ("CREATE TRIGGER spy AFTER INSERT ON turns BEGIN SELECT 1; END", "trigger spy"),
        ("CREATE TABLE theirs (x)", "table theirs"),
        ("CREATE INDEX mine ON memories (title)", "index mine"),
        ("DROP INDEX memories_by_key", "index memories_by_key"),
    ] {
        let folder = tempdir().expect("a folder");
        let home = folder.path().join("home");
        let store = store(&home);
        save(&store, "as it was");
        assert_eq!(finding(&store, StoreCheckDepth::Usual, "schema").severity, Severity::Fine);
        Connection::open(home.join("tulving.db")).expect("opened").execute_batch(sql).expect("done");
        let found = finding(&store, StoreCheckDepth::Usual, "schema");
        assert_eq!(found.severity, Severity::Bad);
        assert!(found.text.contains(name), "{found:?}");
    }
}

/// Every column of every table with checksums: changed by somebody else by the least that it can be, it is found.
#[test]
fn a_changed_value_in_any_column_with_a_checksum_is_found() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    fill(&store);
    assert_eq!(finding(&store, StoreCheckDepth::Deep, "checksums").severity, Severity::Fine);
    let other = Connection::open(home.join("tulving.db")).expect("opened");
    other.execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON").expect("set");
    let mut changed = 0;
    for table in ["memories", "chunks", "vectors", "versions", "associations", "turns", "spaces", "tokens"] {
        let columns = "SELECT name FROM pragma_table_info(?1) WHERE pk = 0 AND name NOT IN ('next_number', 'next_turn')";
        let mut statement = other.prepare(columns).expect("sql");
        let names = statement.query_map([table], |row| row.get::<_, String>(0)).expect("read");
        let names: Vec<String> = names.collect::<Result<_, _>>().expect("read");
        for column in names {
            let first = first(table);
            let save_it =
                format!("CREATE TEMP TABLE before AS SELECT \"{column}\" AS x FROM {table} WHERE {first}");
            other.execute_batch(&save_it).expect("saved");
            let change = format!(
                "UPDATE {table} SET \"{column}\" = CASE typeof(\"{column}\") WHEN 'integer' THEN \"{column}\" + 1 \
                 WHEN 'real' THEN \"{column}\" / 2 + 0.1 WHEN 'text' THEN \"{column}\" || ' ' \
                 WHEN 'blob' THEN CAST(\"{column}\" || x'00' AS BLOB) END \
                 WHERE \"{column}\" IS NOT NULL AND {first}"
            );
            match other.execute(&change, []) {
                Ok(0) | Err(_) => {}
                Ok(_) => {
                    changed += 1;
                    // An id of another length cannot even be read.
                    if let Ok(checkup) = store.check(StoreCheckDepth::Deep) {
                        let mut findings = checkup.findings.into_iter();
                        let found = findings.find(|finding| finding.name == "checksums").expect("looked at");
                        assert_eq!(found.severity, Severity::Bad, "{table}.{column}");
                    }
                    let back =
                        format!("UPDATE {table} SET \"{column}\" = (SELECT x FROM before) WHERE {first}");
                    other.execute_batch(&back).expect("put back");
                }
            }
            other.execute_batch("DROP TABLE before").expect("dropped");
        }
    }
    assert!(changed > 40, "only {changed} columns were looked at");
    assert_eq!(finding(&store, StoreCheckDepth::Deep, "checksums").severity, Severity::Fine);
}

/// True of the first row of a table.
fn first(table: &str) -> String {
    match table {
        "chunks" => {
            "(memory, ordinal) = (SELECT memory, ordinal FROM chunks ORDER BY memory, ordinal LIMIT 1)"
                .to_owned()
        }
        _ => format!("row = (SELECT min(row) FROM {table})"),
    }
}

#[test]
fn checksums_name_the_memory_and_survive_erasure_restore_and_edits() {
    let folder = tempdir().expect("a folder");
    let home = folder.path().join("home");
    let store = store(&home);
    fill(&store);
    let (kept, gone) = (save(&store, "kept"), save(&store, "gone"));
    apply(&store, vec![Write::Erase { id: gone, from: None }]);
    let copy = folder.path().join("copy.db");
    store.backup(&copy, ExistingFilePolicy::Refuse, &mut |_, _| ()).expect("made");
    store.restore(&copy, &mut |_, _| ()).expect("restored");
    assert!(store.scrub().expect("rewritten"));
    assert_eq!(finding(&store, StoreCheckDepth::Deep, "checksums").severity, Severity::Fine);
    let other = Connection::open(home.join("tulving.db")).expect("opened");
    let change = "UPDATE memories SET importance = importance / 3 WHERE id = ?1";
    assert_eq!(other.execute(change, [kept.as_bytes()]).expect("done"), 1);
    let found = finding(&store, StoreCheckDepth::Deep, "checksums");
    let fault = format!("the row of memory {kept} is not what was written");
    assert!(found.text.contains(&fault), "{found:?}");
}
