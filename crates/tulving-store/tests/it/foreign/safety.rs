//! Databases that are in use, unfinished, locked, damaged, encrypted, foreign or hostile: none is changed, and none is
//! reported as something else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use rusqlite::Connection;
use tempfile::tempdir;
use tulving_core::model::vocabulary::System;
use tulving_store::foreign::{self, ForeignContent, ForeignError};

use super::{GROUPS, MAX, SPACEBOT, database, read, refused};
use crate::made::{save, store};

/// Returns the files of a folder and their content, except the shared memory of SQLite.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let file = |entry: fs::DirEntry| {
        (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).expect("read"))
    };
    entries.map(file).filter(|(name, _)| !name.ends_with("-shm")).collect()
}

fn contents(path: &Path) -> Vec<String> {
    let mut contents: Vec<String> =
        read(path).1.memories.into_iter().map(|memory| memory.request.content).collect();
    contents.sort();
    contents
}

#[test]
fn a_database_that_nobody_has_open_is_read_without_a_trace() {
    for mode in ["delete", "wal", "truncate"] {
        let folder = tempdir().expect("a folder");
        let path = folder.path().join("max.db");
        let connection = database(&path, &format!("PRAGMA journal_mode = {mode}; {MAX}"));
        connection.close().expect("closed");
        let before = files(folder.path());
        assert_eq!(contents(&path).len(), 2);
        assert_eq!(files(folder.path()), before, "{mode}");
        assert_eq!(
            fs::read_dir(folder.path()).expect("a folder").count(),
            before.len(),
            "{mode}: nothing beside it"
        );
    }
}

#[test]
fn what_is_in_the_log_of_a_running_program_counts() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    let running = with_log(&path, "only in the log");
    let before = files(folder.path());
    assert!(contents(&path).contains(&"only in the log".to_owned()));
    assert_eq!(files(folder.path()), before, "nothing was written");
    running
        .execute_batch(
            "BEGIN IMMEDIATE; INSERT INTO memories (category, content) VALUES ('fact', 'not committed')",
        )
        .expect("begun");
    let seen = contents(&path);
    assert!(seen.contains(&"only in the log".to_owned()) && !seen.contains(&"not committed".to_owned()));
    running.execute_batch("COMMIT").expect("it could go on");
    assert!(contents(&path).contains(&"not committed".to_owned()));
}

/// Opens a database that is in use, with a memory that is only in its log.
fn with_log(path: &Path, content: &str) -> Connection {
    let running = database(path, &format!("PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0; {MAX}"));
    running
        .execute("INSERT INTO memories (category, content) VALUES ('fact', ?1)", [content])
        .expect("written");
    running
}

#[test]
fn what_a_program_left_in_its_log_when_it_ended_counts_and_stays() {
    let (folder, elsewhere) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let path = folder.path().join("max.db");
    let _running = with_log(&path, "in the log");
    let copy = elsewhere.path().join("max.db");
    for suffix in ["", "-wal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        fs::copy(name(&path), name(&copy)).expect("copied");
    }
    let before = files(elsewhere.path());
    assert!(contents(&copy).contains(&"in the log".to_owned()));
    assert_eq!(files(elsewhere.path()), before);
    assert_eq!(fs::read_dir(elsewhere.path()).expect("a folder").count(), 2, "nothing beside it");
}

#[test]
fn a_pipe_in_the_place_of_a_log_is_not_waited_for() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    database(&path, &format!("PRAGMA journal_mode = wal; {MAX}")).close().expect("closed");
    let pipe = folder.path().join("max.db-wal");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, rustix::fs::Mode::RUSR, 0)
        .expect("a pipe");
    assert_eq!(contents(&path).len(), 2);
}

#[test]
fn a_link_leads_to_the_log_of_the_file_itself() {
    let (folder, elsewhere) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    let path = folder.path().join("max.db");
    let _running = with_log(&path, "only in the log");
    let link = elsewhere.path().join("link.db");
    std::os::unix::fs::symlink(&path, &link).expect("linked");
    assert!(contents(&link).contains(&"only in the log".to_owned()));
}

/// Returns a database in this folder, as left by a program that dies in the middle of a write.
fn cut_off(elsewhere: &Path) -> PathBuf {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    let running = database(
        &path,
        &format!("PRAGMA journal_mode = delete; PRAGMA cache_spill = 1; PRAGMA cache_size = 1; {MAX}"),
    );
    running
        .execute_batch("BEGIN IMMEDIATE; UPDATE memories SET content = 'half done' || hex(zeroblob(20000))")
        .expect("begun");
    running.cache_flush().expect("written");
    let copy = elsewhere.join("max.db");
    for suffix in ["", "-journal"] {
        let name = |path: &Path| format!("{}{suffix}", path.display());
        fs::copy(name(&path), name(&copy)).expect("copied");
    }
    copy
}

#[test]
fn what_was_cut_off_in_the_middle_of_a_write_is_read_as_it_was_before() {
    let elsewhere = tempdir().expect("a folder");
    let copy = cut_off(elsewhere.path());
    let before = files(elsewhere.path());
    assert!(memchr::memmem::find(&before["max.db"], b"half done").is_some(), "the write had begun");
    assert_eq!(
        contents(&copy),
        ["Prefers TypeScript over JavaScript", "The auth service lives in ~/dev/api/src/auth"]
    );
    assert_eq!(files(elsewhere.path()), before, "it is for its own program to mend");
}

/// Only users other than root are prevented from writing to such a file.
#[test]
fn what_was_cut_off_and_may_not_be_written_is_not_said_to_be_in_use() {
    let elsewhere = tempdir().expect("a folder");
    let copy = cut_off(elsewhere.path());
    for suffix in ["", "-journal"] {
        let path = format!("{}{suffix}", copy.display());
        fs::set_permissions(path, fs::Permissions::from_mode(0o444)).expect("changed");
    }
    assert_eq!(contents(&copy).len(), 2);
}

#[test]
fn a_locked_database_is_said_to_be_in_use() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    let running = database(&path, MAX);
    running.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    let began = Instant::now();
    let error = foreign::find(&path).err().expect("it is locked");
    assert!(matches!(error, ForeignError::Busy { .. }), "{error}");
    assert_eq!(error.to_string(), format!("{} is being written by another program", path.display()));
    assert!(began.elapsed().as_secs() < 30);
}

#[test]
fn damage_is_named_and_nothing_is_read_by_half() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    let connection = database(&path, MAX);
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
        INSERT INTO memories (category, content) SELECT 'fact', 'memory number ' || i || hex(zeroblob(40)) FROM n";
    connection.execute_batch(many).expect("filled");
    connection.close().expect("closed");
    let whole = fs::read(&path).expect("read");
    let pages = whole.len() / 4096;
    let mut named = 0;
    for page in (1..pages).step_by(7) {
        let mut damaged = whole.clone();
        damaged[page * 4096..page * 4096 + 64].fill(0xa5);
        fs::write(&path, &damaged).expect("written");
        match foreign::find(&path).and_then(|source| source.expect("somebody's").read(None)) {
            // Nothing in the page is read.
            Ok(_) => {}
            Err(ForeignError::Damaged { .. } | ForeignError::Unknown { .. }) => named += 1,
            Err(other) => panic!("page {page}: {other}"),
        }
    }
    assert!(named > 5, "{named} of {pages} pages");
    fs::write(&path, &whole[..whole.len() / 2]).expect("cut");
    assert!(matches!(refused(&path), ForeignError::Damaged { .. }));
}

#[test]
fn what_is_no_database_whatever_its_name_is_said_to_be_none() {
    let folder = tempdir().expect("a folder");
    for (name, bytes) in [
        (
            "encrypted.db",
            (0..8192_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect::<Vec<u8>>(),
        ),
        ("empty.db", Vec::new()),
        ("header only.sqlite", b"SQLite format 3\0".to_vec()),
        ("text.sqlite3", b"just text".to_vec()),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, bytes).expect("written");
        let error = foreign::find(&path).err().unwrap_or_else(|| panic!("{name} is no database"));
        assert!(matches!(error, ForeignError::NotADatabase { .. }), "{name}: {error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("encrypted")), "{name}");
    }
}

#[test]
fn a_database_of_somebody_else_is_named_with_its_tables() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("music.db");
    database(
        &path,
        "CREATE TABLE songs (id INTEGER, title TEXT); CREATE TABLE memories (id INTEGER, text TEXT);",
    );
    let error = foreign::find(&path).err().expect("nobody's");
    assert_eq!(
        error.to_string(),
        format!("{} is a database of an unknown program: it has the tables memories, songs", path.display())
    );
    let error = foreign::of(&path, System::Max).and_then(|source| source.read(None)).expect_err("not Max's");
    assert_eq!(
        error.to_string(),
        format!("{} is not what max writes: its table `memories` has no column `category`", path.display())
    );
    let home = tempdir().expect("a folder");
    save(&store(home.path()), "ours");
    let error = foreign::find(&home.path().join("tulving.db")).err().expect("ours");
    assert!(matches!(error, ForeignError::Ours { .. }), "{error}");
}

#[test]
fn views_and_virtual_tables_and_computed_columns_are_never_read() {
    let folder = tempdir().expect("a folder");
    let view = folder.path().join("view.db");
    database(
        &view,
        "CREATE TABLE conversation_log (id INTEGER, role TEXT, content TEXT);
         CREATE VIEW memories AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
             SELECT i AS id, 'fact' AS category, 'without end' AS content, 0 AS last_accessed FROM n",
    );
    assert!(matches!(foreign::find(&view), Err(ForeignError::Unknown { .. })));
    let virtual_one = folder.path().join("virtual.db");
    database(&virtual_one, "CREATE VIRTUAL TABLE memories USING fts5(id, category, content, last_accessed)");
    assert!(matches!(foreign::find(&virtual_one), Err(ForeignError::Unknown { .. })));
    let computed = folder.path().join("computed.db");
    database(
        &computed,
        "CREATE TABLE memories (id INTEGER, category TEXT, content TEXT GENERATED ALWAYS AS (hex(zeroblob(400000000))) VIRTUAL,
             last_accessed TEXT);
         INSERT INTO memories (id, category) VALUES (1, 'fact')",
    );
    let error =
        foreign::of(&computed, System::Max).and_then(|source| source.read(None)).expect_err("computed");
    assert!(error.to_string().ends_with("has no column `content`"), "{error}");
}

#[test]
fn a_text_that_is_too_long_is_named_and_the_others_are_read() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    let connection = database(&path, MAX);
    connection
        .execute_batch(
            "INSERT INTO memories (id, category, content) VALUES (99, 'fact', hex(zeroblob(34000000)))",
        )
        .expect("long");
    connection.close().expect("closed");
    let (_, all) = read(&path);
    assert_eq!(all.memories.len(), 2);
    assert_eq!(all.unread[0].what, "#99");
    assert_eq!(all.unread[0].why, "its content has 68000000 bytes and the limit is 67108864");
}

#[test]
fn triggers_of_theirs_do_nothing_and_names_may_be_anything() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("ma x%?#.db");
    let connection = database(&path, &format!("PRAGMA journal_mode = wal; {GROUPS}"));
    connection.close().expect("closed");
    assert_eq!(contents(&path).len(), 3, "a name with signs in it");
    let path = folder.path().join("spacebot.db");
    database(&path, SPACEBOT);
    assert_eq!(foreign::glance(&path), Some(System::Spacebot));
    assert_eq!(foreign::glance(folder.path()), None);
    assert_eq!(foreign::glance(&folder.path().join("missing")), None);
}

#[test]
fn a_tree_of_pages_that_repeats_itself_is_damaged() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    let connection = database(&path, MAX);
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
        INSERT INTO memories (category, content) SELECT 'fact', 'memory number ' || i || hex(zeroblob(60)) FROM n";
    connection.execute_batch(many).expect("filled");
    let root: u32 = connection
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'memories'", [], |row| row.get(0))
        .expect("its first page");
    connection.close().expect("closed");
    let mut bytes = fs::read(&path).expect("read");
    let at = (root as usize - 1) * 4096;
    assert_eq!(bytes[at], 5, "an inner page");
    // Every cell of the first page points to the same page.
    let cells = usize::from(u16::from_be_bytes([bytes[at + 3], bytes[at + 4]]));
    let cell = |bytes: &[u8], n: usize| {
        usize::from(u16::from_be_bytes([bytes[at + 12 + 2 * n], bytes[at + 13 + 2 * n]]))
    };
    let first = bytes[at + cell(&bytes, 0)..][..4].to_vec();
    for n in 1..cells {
        let place = at + cell(&bytes, n);
        bytes[place..place + 4].copy_from_slice(&first);
    }
    fs::write(&path, bytes).expect("written");
    assert!(matches!(refused(&path), ForeignError::Damaged { .. }));
}

#[test]
fn reading_goes_on_beside_a_program_that_keeps_writing() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("max.db");
    database(&path, &format!("PRAGMA journal_mode = wal; {MAX}")).close().expect("closed");
    let writer = std::thread::spawn({
        let path = path.clone();
        move || {
            for n in 0..40 {
                // Opens and closes each time, so that the log comes and goes.
                let connection = Connection::open(&path).expect("opened");
                connection.busy_timeout(std::time::Duration::from_secs(20)).expect("set");
                let sql = "INSERT INTO memories (category, content) VALUES ('fact', ?1)";
                connection.execute(sql, [format!("written meanwhile {n}")]).expect("written");
            }
        }
    });
    let mut last = 0;
    while !writer.is_finished() {
        match foreign::find(&path).and_then(|source| source.expect("Max's").read(None)) {
            Ok(ForeignContent::Memories(all)) => {
                assert!(all.memories.len() >= last, "what was there is there");
                last = all.memories.len();
            }
            Ok(_) => panic!("journals"),
            Err(ForeignError::Busy { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    writer.join().expect("the writer was never in trouble");
    assert_eq!(contents(&path).len(), 42);
}
