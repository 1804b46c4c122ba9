//! Backups of a whole home: their content, a kill in the middle of a restore, and forged files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use data_encoding::HEXLOWER;
use rusqlite::Connection;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::EntryType;
use tempfile::{TempDir, tempdir};
use tulving_core::model::change::Write;
use tulving_core::model::error::{ObjectError, StoreError};
use tulving_core::model::file::{FilePath, Folder};
use tulving_core::model::integrity::{Severity, StoreCheckDepth};
use tulving_core::model::memory::Attachment;
use tulving_core::model::request::{Filter, Sort};
use tulving_core::ports::{Files, IntegrityChecks, Log, Memories, Objects, ObjectsHold, Upkeep};
use tulving_store::objects::LocalObjects;
use tulving_store::{
    BackupCounts, BackupReport, ConfigOutcome, ConfigTexts, DamagedDatabase, DamagedStoreRestore,
    ExistingFilePolicy, Home, HomeContent, RestoreOptions, RestoreReport, SqliteOptions, SqliteStore,
    Workspace, WrittenConfig,
};
use tulving_testkit::objects::hash;

use crate::made::{apply, insert, memory, quiet, save, store, user};

/// The time that a restore waits for others, as in [`store`].
const BUSY_WAIT: Duration = Duration::from_secs(30);

/// A home with a store, files and attachments.
struct BackupBed {
    folder: TempDir,
    store: SqliteStore,
    files: Workspace,
    objects: LocalObjects,
}

impl BackupBed {
    fn new() -> Self {
        let folder = tempdir().expect("a folder");
        let path = folder.path().join("home");
        Self::at(folder, &path)
    }

    fn at(folder: TempDir, path: &Path) -> Self {
        let store = store(path);
        let files = Workspace::open(store.home(), &store.home().workspace());
        let objects = LocalObjects::new(store.home().objects());
        Self { folder, store, files, objects }
    }

    /// Adds memories, files of several spaces, a previous text and an attachment, all with `word`.
    fn furnish(&self, word: &str) {
        save(&self.store, &format!("a memory of {word}"));
        for (folder, name) in FILES {
            self.write(folder, name, word);
        }
        let previous = self.store.home().path().join("previous/memory/MEMORY.md");
        fs::create_dir_all(&previous).expect("made");
        fs::write(previous.join("2026-05-27T09-30-00.000000Z.md"), word).expect("written");
        self.attach(word);
    }

    fn write(&self, folder: &str, name: &str, word: &str) {
        let folder = Folder::parse(folder).expect("a folder");
        let path = FilePath::new(&folder, name).expect("a name");
        self.files.append(&path, &format!("- {word}")).expect("written");
    }

    /// Adds a memory of a file that contains `word`.
    fn attach(&self, word: &str) -> String {
        let bytes = format!("%PDF {word}");
        let object_key = self.objects.put(bytes.as_bytes(), &hash(bytes.as_bytes())).expect("kept");
        let mut memory = memory(&format!("a document of {word}"));
        memory.provenance.attachment = Some(Attachment {
            object_key: object_key.clone(),
            media_type: "application/pdf".to_owned(),
            size: bytes.len() as u64,
            hash: hash(bytes.as_bytes()),
            name: Some("a.pdf".to_owned()),
            trouble: None,
        });
        apply(&self.store, vec![insert(memory)]);
        object_key
    }

    fn content<'a>(&'a self, objects: &'a dyn Objects) -> HomeContent<'a> {
        HomeContent {
            home: self.store.home(),
            store: &self.store,
            files: &self.files,
            objects,
            config: ConfigTexts::default(),
        }
    }

    fn back_up(&self) -> (PathBuf, BackupReport) {
        let path = self.folder.path().join(format!("backup-{}.tar", fastrand::u64(..)));
        let report = self
            .content(&self.objects)
            .back_up(&path, ExistingFilePolicy::Refuse, &mut quiet())
            .expect("made");
        (path, report)
    }

    fn try_restore(&self, from: &Path) -> Result<RestoreReport, StoreError> {
        self.try_restore_with(from, &self.objects)
    }

    fn try_restore_with(&self, from: &Path, objects: &dyn Objects) -> Result<RestoreReport, StoreError> {
        let options =
            RestoreOptions { workspace: self.files.folder(), busy_wait: BUSY_WAIT, config: &|texts| texts };
        self.content(objects).restore(from, &options, &mut quiet())
    }

    fn restore(&self, from: &Path) -> RestoreReport {
        self.try_restore(from).expect("restored")
    }

    /// Returns everything that a person would miss: memories, files, previous texts, attachments.
    fn state(&self) -> State {
        let home = self.store.home().path();
        let all = self.store.list(&user(), &Filter::default(), Sort::Oldest, 1_000, None).expect("read");
        let mut memories: Vec<String> = Vec::new();
        for memory in all {
            if let Some(attachment) = &memory.provenance.attachment {
                let bytes = self.objects.get(&attachment.object_key).expect("sound").expect("there");
                memories.push(String::from_utf8(bytes).expect("text"));
            }
            memories.push(memory.fields.text.content);
        }
        let mut files = BTreeMap::new();
        for folder in ["workspace", "previous"] {
            tree(&home.join(folder), folder, &mut files);
        }
        State { memories, files }
    }

    /// Returns the names in the home that must not stay there.
    fn left_behind(&self) -> Vec<String> {
        let mut files = BTreeMap::new();
        tree(self.store.home().path(), "", &mut files);
        let odd = |name: &String| name.contains(".tulving-") || name.ends_with("restore.json");
        files.into_keys().filter(odd).collect()
    }
}

const FILES: [(&str, &str); 4] = [
    ("", "memory/MEMORY.md"),
    ("", "memory/2026-05-27.md"),
    ("groups/family", "rota.md"),
    ("", "conversations/2026-05-27-standup.md"),
];

#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    memories: Vec<String>,
    files: BTreeMap<String, String>,
}

/// Collects the files below a folder, including hidden ones.
fn tree(folder: &Path, name: &str, found: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = format!("{name}/{}", entry.file_name().to_string_lossy());
        if path.is_dir() {
            tree(&path, &name, found);
        } else {
            found.insert(name, fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// Copies a folder as a kill at this moment would leave it: without any lock.
fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("made");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() { copy_tree(&path, &to) } else { fs::copy(&path, &to).map(drop).expect("copied") }
    }
}

#[test]
fn a_backup_holds_the_whole_home_and_a_new_home_finds_all_of_it() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (file, report) = bed.back_up();
    let counts = BackupCounts { memories: 2, files: 4, former_texts: 1, attachments: 1 };
    assert_eq!((report.counts, report.left_out.as_slice()), (counts, [].as_slice()));
    assert_eq!(report.bytes, file.metadata().expect("there").len());
    let mode = std::os::unix::fs::PermissionsExt::mode(&file.metadata().expect("there").permissions());
    assert_eq!(mode & 0o777, 0o600);

    let other = BackupBed::new();
    let report = other.restore(&file);
    assert_eq!((report.counts, report.database_only, report.config), (counts, false, ConfigOutcome::None));
    assert_eq!(other.state(), bed.state());
    assert_eq!(other.left_behind(), [""; 0]);
    let checkup = other.store.check(StoreCheckDepth::Deep).expect("checked");
    assert!(checkup.severity() < Severity::Bad, "{checkup:?}");
}

#[test]
fn a_restore_keeps_the_whole_home_that_was_there_and_can_be_undone() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (file, _) = bed.back_up();
    let apples = bed.state();
    bed.furnish("pears");
    bed.write("spaces/work", "memory/later.md", "made after the backup");
    let pears = bed.state();
    let report = bed.restore(&file);
    assert_eq!(bed.state(), apples);
    assert!(report.previous.extension().is_some_and(|ending| ending == "tar"), "{report:?}");
    bed.restore(&report.previous);
    assert_eq!(bed.state(), pears);
    assert_eq!(bed.left_behind(), [""; 0]);
}

/// Calls back before an attachment is kept and before one is read.
struct Watched<'a> {
    inner: &'a LocalObjects,
    put: &'a (dyn Fn() + Sync),
    get: &'a (dyn Fn() + Sync),
}

impl Objects for Watched<'_> {
    fn put(&self, bytes: &[u8], hash: &str) -> Result<String, ObjectError> {
        (self.put)();
        self.inner.put(bytes, hash)
    }

    fn get(&self, key: &str) -> Result<Option<Vec<u8>>, ObjectError> {
        (self.get)();
        self.inner.get(key)
    }

    fn remove(&self, key: &str) -> Result<(), ObjectError> {
        self.inner.remove(key)
    }

    fn keeping(&self) -> Result<ObjectsHold, ObjectError> {
        self.inner.keeping()
    }

    fn removing(&self) -> Result<Option<ObjectsHold>, ObjectError> {
        self.inner.removing()
    }
}

/// Returns copies of a home at three moments of a restore, in a folder of their own: while attachments are stored, when
/// everything is staged, and after the database was also replaced.
fn killed_restores() -> (TempDir, [PathBuf; 3], State, State) {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (file, _) = bed.back_up();
    let apples = bed.state();
    bed.furnish("pears");
    let pears = bed.state();
    let copies = tempdir().expect("a folder");
    let [early, staged, committed] = ["early", "staged", "committed"].map(|name| copies.path().join(name));
    let home = bed.store.home().path().to_owned();
    let take = |copy: &Path| {
        if !copy.exists() {
            copy_tree(&home, copy);
        }
    };
    let watched = Watched { inner: &bed.objects, put: &|| take(&early), get: &|| take(&staged) };
    bed.try_restore_with(&file, &watched).expect("restored");
    assert!(staged.join("restore.json").exists(), "it was noted before what was there is kept");
    // The commit replaces only the database: a kill right after it leaves the staged copy with the new database.
    copy_tree(&staged, &committed);
    for name in ["tulving.db", "tulving.db-wal", "tulving.db-shm"] {
        drop(fs::remove_file(committed.join(name)));
    }
    bed.store
        .backup(&committed.join("tulving.db"), ExistingFilePolicy::Refuse, &mut quiet())
        .expect("copied");
    (copies, [early, staged, committed], pears, apples)
}

fn opened(home: &Path) -> BackupBed {
    BackupBed::at(tempdir().expect("a folder"), home)
}

#[test]
fn a_restore_killed_before_the_commit_leaves_the_old_home_whole() {
    let (_copies, [early, staged, _], old, _) = killed_restores();
    for home in [early, staged] {
        let bed = opened(&home);
        assert_eq!(bed.state(), old, "{}", home.display());
        assert_eq!(bed.left_behind(), [""; 0]);
        bed.write("", "memory/2026-05-28.md", "on it goes");
    }
}

#[test]
fn a_restore_killed_after_the_commit_is_finished_wherever_it_stopped() {
    let (copies, [_, _, committed], _, new) = killed_restores();
    let stage = |home: &Path| {
        let names = fs::read_dir(home.join("workspace")).expect("a folder").flatten();
        let name = names.map(|entry| entry.path()).find(|path| path.to_string_lossy().contains(".tulving-"));
        name.expect("a stage")
    };
    // Number of old files moved away, true if that was noted, number of new files in place.
    for (round, (away, noted, there)) in
        [(0, false, 0), (1, false, 0), (3, false, 0), (3, true, 0), (3, true, 1), (3, true, 3)]
            .into_iter()
            .enumerate()
    {
        let home = copies.path().join(format!("round-{round}"));
        copy_tree(&committed, &home);
        let (live, stage) = (home.join("workspace"), stage(&home));
        let names = ["conversations", "groups", "memory"];
        for name in &names[..away] {
            fs::rename(live.join(name), stage.join("old").join(name)).expect("moved");
        }
        if noted {
            fs::write(stage.join("emptied"), "").expect("written");
        }
        for name in &names[..there] {
            fs::rename(stage.join("new").join(name), live.join(name)).expect("moved");
        }
        let bed = opened(&home);
        assert_eq!(bed.state(), new, "round {round}");
        assert_eq!(bed.left_behind(), [""; 0], "round {round}");
    }
}

#[test]
fn a_process_that_was_open_finishes_what_a_killed_restore_left() {
    let (_copies, [_, _, committed], _, new) = killed_restores();
    let note = fs::read(committed.join("restore.json")).expect("noted");
    fs::remove_file(committed.join("restore.json")).expect("removed");
    let bed = opened(&committed);
    fs::write(committed.join("restore.json"), note).expect("written");
    bed.write("", "memory/2026-05-28.md", "written by a process that was open");
    let mut expected = new.files;
    expected.insert(
        "workspace/memory/2026-05-28.md".to_owned(),
        "- written by a process that was open\n".to_owned(),
    );
    assert_eq!(bed.state().files, expected);
}

#[test]
fn a_backup_that_was_cut_or_changed_is_refused_and_nothing_changes() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (file, _) = bed.back_up();
    bed.furnish("pears");
    let (before, epoch) = (bed.state(), bed.store.epoch().expect("read"));
    let whole = fs::read(&file).expect("there");
    let bad = bed.folder.path().join("bad.tar");
    let refused = |bytes: &[u8], what: &str| {
        fs::write(&bad, bytes).expect("written");
        let error = bed.try_restore(&bad).expect_err(what);
        assert!(error.to_string().contains("bad.tar cannot be restored: "), "{what}: {error}");
    };
    // The last two blocks are empty and only mark the end of the file.
    for cut in [512, 1_000, whole.len() / 3, whole.len() / 2, whole.len() - 1_024 - 600] {
        refused(&whole[..cut], &format!("cut at {cut}"));
    }
    let places = contents(&whole);
    for (name, at, size) in &places {
        let mut flipped = whole.clone();
        flipped[at + size / 2] ^= 1;
        refused(&flipped, &format!("{name} was changed"));
        let mut flipped = whole.clone();
        flipped[at - 512] ^= 1;
        refused(&flipped, &format!("the name of {name} was changed"));
    }
    assert!(places.len() >= 8, "{places:?}");
    assert_eq!((bed.state(), bed.store.epoch().expect("read")), (before, epoch));
    assert_eq!(bed.left_behind(), [""; 0]);
    assert!(!bed.store.home().path().join("backups").exists(), "nothing was begun");
}

/// Finds the contents of a tar file.
fn contents(bytes: &[u8]) -> Vec<(String, usize, usize)> {
    let mut tar = tar::Archive::new(bytes);
    let place = |entry: Result<tar::Entry<'_, &[u8]>, std::io::Error>| {
        let entry = entry.expect("an entry");
        let at = usize::try_from(entry.raw_file_position()).expect("small");
        (
            entry.path().expect("a name").display().to_string(),
            at,
            usize::try_from(entry.size()).expect("small"),
        )
    };
    tar.entries().expect("entries").map(place).collect()
}

/// Writes an archive with these entries after its header, and a manifest that is right about all of them.
fn forged(path: &Path, entries: &[(&str, EntryType, Vec<u8>)]) {
    let header = json!({ "format": "tulving-backup", "version": 1, "made_at": "", "erasure": null, "erased_text_left": false });
    let mut all = vec![("tulving-backup.json", EntryType::Regular, header.to_string().into_bytes())];
    all.extend(entries.iter().cloned());
    let listed: Vec<Value> = all
        .iter()
        .map(|(name, _, content)| json!({ "path": name, "size": content.len(), "sha256": HEXLOWER.encode(&Sha256::digest(content)) }))
        .collect();
    let below = |prefix: &str| entries.iter().filter(|(name, ..)| name.starts_with(prefix)).count();
    let counts = json!({ "memories": 1, "files": below("workspace/"), "former_texts": below("previous/"), "attachments": below("objects/") });
    let manifest = json!({ "entries": listed, "counts": counts, "left_out": [] });
    all.push(("manifest.json", EntryType::Regular, manifest.to_string().into_bytes()));
    let mut tar = tar::Builder::new(fs::File::create(path).expect("made"));
    for (name, kind, content) in all {
        let mut header = tar::Header::new_gnu();
        // Written by hand, because the library refuses such names.
        header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o777);
        header.set_size(content.len() as u64);
        if matches!(kind, EntryType::Symlink | EntryType::Link) {
            header.set_link_name_literal("/etc/passwd").expect("set");
        }
        header.set_cksum();
        tar.append(&header, content.as_slice()).expect("added");
    }
    tar.finish().expect("written");
}

#[test]
fn a_hostile_archive_writes_nothing_anywhere() {
    let bed = BackupBed::new();
    save(&bed.store, "mine");
    let copy = bed.folder.path().join("copy.db");
    bed.store.backup(&copy, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    let database = fs::read(&copy).expect("there");
    let before = bed.state();
    let evil = bed.folder.path().join("evil.tar");
    let (file, text) = (EntryType::Regular, || b"evil".to_vec());
    let base = || vec![("tulving.db", file, database.clone())];
    let wrong_key = format!("objects/sha256/aa/{}", "aa".repeat(32));
    let with =
        |more: Vec<(&'static str, EntryType, Vec<u8>)>| base().into_iter().chain(more).collect::<Vec<_>>();
    let cases: Vec<Vec<(&str, EntryType, Vec<u8>)>> = vec![
        with(vec![("/tmp/evil-absolute", file, text())]),
        with(vec![("workspace/../../evil", file, text())]),
        with(vec![("../evil", file, text())]),
        with(vec![("workspace/.git/hooks/post-commit", file, text())]),
        with(vec![("workspace/link", EntryType::Symlink, Vec::new())]),
        with(vec![("workspace/link", EntryType::Link, Vec::new())]),
        with(vec![("workspace/folder", EntryType::Directory, Vec::new())]),
        with(vec![("workspace/pipe", EntryType::Fifo, Vec::new())]),
        with(vec![("workspace/a.md", file, text()), ("workspace/a.md", file, text())]),
        with(vec![("workspace/a", file, text()), ("workspace/a/b", file, text())]),
        with(vec![("api-token", file, text())]),
        with(vec![("index/manifest", file, text())]),
        with(vec![("pax", EntryType::XHeader, b"20 path=../../evil\n".to_vec())]),
        base().into_iter().chain([(wrong_key.as_str(), file, text())]).collect(),
        vec![("workspace/a.md", file, text())],
        vec![("tulving.db", file, text())],
        vec![("tulving.db", file, database.clone()), ("tulving.db", file, database.clone())],
    ];
    for case in cases {
        forged(&evil, &case);
        let error = bed.try_restore(&evil).expect_err("hostile");
        assert!(matches!(error, StoreError::BadBackup { .. }), "{error}");
    }
    forged(&evil, &base());
    assert!(bed.try_restore(&evil).is_ok(), "without what is hostile it is a backup");
    assert_eq!(bed.state(), before);
    let mut around = BTreeMap::new();
    tree(bed.folder.path(), "", &mut around);
    assert!(around.keys().all(|name| !name.ends_with("/evil") && !name.contains("link")), "{around:?}");
    assert!(!Path::new("/tmp/evil-absolute").exists());
}

#[test]
fn a_size_or_a_count_that_lies_is_refused() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (file, _) = bed.back_up();
    let before = bed.state();
    let whole = fs::read(&file).expect("there");
    let places = contents(&whole);
    let (_, at, size) = places.last().cloned().expect("a manifest");
    let lie = bed.folder.path().join("lie.tar");
    for (honest, lying) in [
        ("\"memories\": 2", "\"memories\": 3"),
        ("\"files\": 4", "\"files\": 5"),
        ("\"size\": ", "\"size\": 9"),
    ] {
        let text = String::from_utf8(whole[at..at + size].to_vec()).expect("text").replacen(honest, lying, 1);
        let mut bytes = whole[..at].to_vec();
        let mut header = tar::Header::from_byte_slice(&whole[at - 512..at]).clone();
        header.set_size(text.len() as u64);
        header.set_cksum();
        bytes.truncate(at - 512);
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(512) + 1_024, 0);
        fs::write(&lie, bytes).expect("written");
        let error = bed.try_restore(&lie).expect_err(lying);
        assert!(matches!(error, StoreError::BadBackup { .. }), "{error}");
    }
    assert_eq!(bed.state(), before);
}

/// Writes a backup in the old form, before backups covered the whole home: the output of SQLite's own backup.
fn old_backup(bed: &BackupBed) -> PathBuf {
    let path = bed.folder.path().join("old.db");
    let source = Connection::open(bed.store.home().database()).expect("opened");
    let mut target = Connection::open(&path).expect("made");
    let copy = rusqlite::backup::Backup::new(&source, &mut target).expect("begun");
    copy.run_to_completion(1_000, Duration::ZERO, None).expect("copied");
    path
}

#[test]
fn a_backup_of_the_database_alone_still_restores_and_leaves_files_as_they_are() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let old = old_backup(&bed);
    let apples = bed.state();
    save(&bed.store, "gone");
    bed.write("", "memory/2026-05-28.md", "a file that is newer");
    let files = bed.state().files;
    let report = bed.restore(&old);
    assert!(report.database_only, "{report:?}");
    assert_eq!(report.counts, BackupCounts { memories: 2, ..BackupCounts::default() });
    assert_eq!(bed.state(), State { memories: apples.memories, files });
    bed.restore(&report.previous);
    assert!(bed.state().memories.contains(&"gone".to_owned()), "what was there is kept whole");
}

#[test]
fn a_backup_with_a_database_from_before_the_baseline_is_refused_by_name_and_nothing_changes() {
    let old = BackupBed::new();
    old.furnish("earlier");
    let database = Connection::open(old.store.home().database()).expect("opened");
    database.pragma_update(None, "user_version", 13).expect("set");
    let (backup, _) = old.back_up();
    let bytes = fs::read(&backup).expect("read");
    let bed = BackupBed::new();
    bed.furnish("now");
    let before = bed.state();
    let error = bed.try_restore(&backup).expect_err("it is too old");
    match &error {
        StoreError::OlderSchema { path, found: 13, oldest: 14 } => assert_eq!(path, &backup),
        other => panic!("{other}"),
    }
    assert_eq!(bed.state(), before);
    assert_eq!(bed.left_behind(), Vec::<String>::new());
    assert_eq!(fs::read(&backup).expect("still there"), bytes);
    let attached = bed.objects.get(&bed.attach("later")).expect("read");
    assert!(attached.is_some(), "the home can still be written");
}

#[test]
fn a_backup_made_while_others_write_is_consistent() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let stop = AtomicBool::new(false);
    thread::scope(|threads| {
        let (path, stop) = (bed.store.home().path(), &stop);
        threads.spawn(move || {
            let other = BackupBed::at(tempdir().expect("a folder"), path);
            for n in 0.. {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                other.attach(&format!("meanwhile {n}"));
                other.write("", "memory/2026-05-28.md", &format!("{n} {}", "x".repeat(3_000)));
            }
        });
        for _ in 0..4 {
            let (file, report) = bed.back_up();
            assert_eq!(report.left_out, []);
            let other = BackupBed::new();
            other.restore(&file);
            // Every attachment exists and has its hash, otherwise reading it fails.
            let state = other.state();
            assert_eq!(state.memories.len() as u64, report.counts.memories + report.counts.attachments);
            let journal = state.files.get("workspace/memory/2026-05-28.md").cloned().unwrap_or_default();
            assert!(journal.lines().all(|line| line.len() > 3_000), "an entry is cut");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_restore_waits_for_whoever_writes_a_file_and_loses_nothing_that_was_acknowledged() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (file, _) = bed.back_up();
    let stop = AtomicBool::new(false);
    let mut found = Vec::new();
    let written = thread::scope(|threads| {
        let (path, stop) = (bed.store.home().path(), &stop);
        let writer = threads.spawn(move || {
            let other = BackupBed::at(tempdir().expect("a folder"), path);
            let mut written = 0;
            while !stop.load(Ordering::Relaxed) {
                other.write("", "memory/2026-05-29.md", &format!("line {written}."));
                written += 1;
            }
            written
        });
        for _ in 0..8 {
            found.push(bed.restore(&file).previous);
            thread::sleep(Duration::from_millis(10));
        }
        stop.store(true, Ordering::Relaxed);
        writer.join().expect("it ended well")
    });
    let name = "workspace/memory/2026-05-29.md";
    let mut texts = bed.state().files.get(name).cloned().unwrap_or_default();
    for previous in found {
        let other = BackupBed::new();
        other.restore(&previous);
        texts.push_str(other.state().files.get(name).map_or("", String::as_str));
    }
    let lost: Vec<usize> = (0..written).filter(|n| !texts.contains(&format!("line {n}."))).collect();
    assert!(written > 8 && lost.is_empty(), "{} of {written} lines are lost", lost.len());
}

#[test]
fn a_workspace_outside_the_home_is_in_the_backup_and_what_is_not_of_memory_stays() {
    let mut bed = BackupBed::new();
    let outside = bed.folder.path().join("agent");
    bed.files = Workspace::open(bed.store.home(), &outside);
    for (folder, name) in FILES {
        bed.write(folder, name, "apples");
    }
    fs::create_dir(outside.join("src")).expect("made");
    fs::write(outside.join("src/main.rs"), "fn main() {}").expect("written");
    let (file, report) = bed.back_up();
    assert_eq!(report.counts.files, 4, "the code of the agent is not of memory");
    let other = BackupBed::new();
    other.restore(&file);
    let files = other.state().files;
    assert_eq!(files.len(), 4, "{files:?}");
    assert_eq!(files["workspace/memory/MEMORY.md"], "- apples\n");

    bed.write("", "memory/2026-05-28.md", "later");
    bed.restore(&file);
    assert!(!outside.join("memory/2026-05-28.md").exists());
    assert_eq!(fs::read_to_string(outside.join("src/main.rs")).expect("there"), "fn main() {}");
    assert_eq!(fs::read_to_string(outside.join("memory/MEMORY.md")).expect("there"), "- apples\n");
    assert_eq!(fs::read_dir(&outside).expect("a folder").count(), 4, "no stage is left");
}

#[test]
fn another_folder_for_the_files_is_not_taken_where_it_has_some() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (file, _) = bed.back_up();
    let taken = bed.folder.path().join("taken");
    fs::create_dir_all(taken.join("memory")).expect("made");
    let restore = |folder: &Path| {
        let options =
            RestoreOptions { workspace: folder, busy_wait: BUSY_WAIT, config: &|_| ConfigTexts::default() };
        bed.content(&bed.objects).restore(&file, &options, &mut quiet())
    };
    let error = restore(&taken).expect_err("taken").to_string();
    assert!(error.contains("taken") && error.contains("memory is in it"), "{error}");
    let free = bed.folder.path().join("free");
    restore(&free).expect("restored");
    assert_eq!(fs::read_to_string(free.join("memory/MEMORY.md")).expect("there"), "- apples\n");
    assert_eq!(bed.state().files["workspace/memory/MEMORY.md"], "- apples\n", "the one in use stays");
}

#[test]
fn an_attachment_that_is_missing_or_damaged_is_named_and_the_rest_is_backed_up() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (gone, damaged) = (bed.attach("gone"), bed.attach("damaged"));
    let objects = bed.store.home().objects();
    fs::remove_file(objects.join(&gone)).expect("removed");
    fs::write(objects.join(&damaged), "not it").expect("written");
    let (file, report) = bed.back_up();
    assert_eq!(report.counts.attachments, 1);
    let named: Vec<&str> = report.left_out.iter().map(|out| out.path.as_str()).collect();
    let mut expected = [format!("objects/{gone}"), format!("objects/{damaged}")];
    expected.sort();
    assert_eq!(named, expected);
    let other = BackupBed::new();
    assert_eq!(other.restore(&file).left_out, report.left_out);
}

#[test]
fn config_is_written_only_where_the_home_has_none() {
    let bed = BackupBed::new();
    let file = bed.folder.path().join("backup.tar");
    let content = HomeContent {
        config: ConfigTexts {
            toml: Some("space = \"work\"\n".to_owned()),
            json: Some("{\"page\": 5}".to_owned()),
        },
        ..bed.content(&bed.objects)
    };
    content.back_up(&file, ExistingFilePolicy::Refuse, &mut quiet()).expect("made");
    let other = BackupBed::new();
    let written = WrittenConfig { toml: true, json: true };
    assert_eq!(other.restore(&file).config, ConfigOutcome::Written(written));
    let json = other.store.home().path().join("config.json");
    assert_eq!(fs::read_to_string(&json).expect("there"), "{\"page\": 5}");
    let path = other.store.home().path().join("config.toml");
    assert_eq!(fs::read_to_string(&path).expect("there"), "space = \"work\"\n");
    fs::write(&path, "space = \"mine\"\n").expect("written");
    assert_eq!(other.restore(&file).config, ConfigOutcome::Kept);
    assert_eq!(fs::read_to_string(&path).expect("there"), "space = \"mine\"\n");
    // If one of the files exists, both are kept: a setting in both files is an error.
    fs::remove_file(&json).expect("removed");
    assert_eq!(other.restore(&file).config, ConfigOutcome::Kept);
    assert!(!json.exists());
}

#[test]
fn a_damaged_store_is_replaced_by_the_whole_backup_and_its_files_are_kept() {
    let folder = tempdir().expect("a folder");
    let path = folder.path().join("home");
    let bed = BackupBed::at(folder, &path);
    bed.furnish("apples");
    let (file, _) = bed.back_up();
    let apples = bed.state();
    bed.write("", "memory/2026-05-28.md", "written before the damage");
    let BackupBed { folder, store, files, objects } = bed;
    let home = store.home().clone();
    drop(store);
    fs::write(home.database(), "damaged").expect("written");
    let damaged = DamagedDatabase { home: home.clone(), options: SqliteOptions::default() };
    let rescue = DamagedStoreRestore { home: &home, store: &damaged, files: &files, objects: &objects };
    let options = RestoreOptions {
        workspace: files.folder(),
        busy_wait: BUSY_WAIT,
        config: &|_| ConfigTexts::default(),
    };
    let report = rescue.restore(&file, &options, &mut quiet()).expect("rescued");
    assert_eq!(fs::read_to_string(&report.previous).expect("kept"), "damaged");
    let kept = report.previous_files.expect("the files are kept");
    let kept = fs::read(kept).expect("there");
    assert!(contents(&kept).iter().any(|(name, ..)| name == "workspace/memory/2026-05-28.md"));
    let bed = BackupBed::at(folder, home.path());
    assert_eq!(bed.state(), apples);
    assert_eq!(bed.left_behind(), [""; 0]);
}

#[test]
fn whole_backups_from_before_an_erasure_are_named() {
    let bed = BackupBed::new();
    let id = save(&bed.store, "xyzzy");
    let (file, _) = bed.back_up();
    let report = bed.restore(&file);
    let named = || {
        let checkup = bed.store.check(StoreCheckDepth::Usual).expect("checked");
        let copies =
            checkup.findings.into_iter().find(|finding| finding.name == "copies").expect("looked at");
        (copies.severity, copies.text)
    };
    assert_eq!(named().0, Severity::Fine);
    apply(&bed.store, vec![Write::Erase { id, from: None }]);
    assert!(bed.store.scrub().expect("rewritten"));
    let (severity, text) = named();
    assert_eq!(severity, Severity::Warn);
    assert!(text.contains(&report.previous.display().to_string()), "{text}");
    fs::remove_file(&report.previous).expect("removed");
    let (file, _) = bed.back_up();
    let clean = bed.restore(&file).previous;
    let (severity, text) = named();
    assert_eq!(severity, Severity::Fine, "{} is not older: {text}", clean.display());
}

#[test]
fn names_that_are_long_or_not_english_come_back() {
    let bed = BackupBed::new();
    let long = format!("memory/{}/{}.md", "ä".repeat(100), "journal-".repeat(25));
    bed.write("groups/Familie Müller", "Räume 日本.md", "apples");
    bed.write("", &long, "pears");
    let (file, report) = bed.back_up();
    assert_eq!(report.left_out, []);
    let other = BackupBed::new();
    other.restore(&file);
    assert_eq!(other.state(), bed.state());
}

/// The path used to open a home must not matter.
#[test]
fn a_home_that_is_opened_by_a_relative_or_linked_path_is_restored_too() {
    let bed = BackupBed::new();
    bed.furnish("apples");
    let (file, _) = bed.back_up();
    let apples = bed.state();
    let link = bed.folder.path().join("link");
    std::os::unix::fs::symlink(bed.store.home().path(), &link).expect("linked");
    bed.furnish("pears");
    let linked = BackupBed::at(tempdir().expect("a folder"), &link);
    linked.restore(&file);
    assert_eq!(bed.state(), apples);
    let home = Home::open_or_create(&link).expect("a home");
    assert_eq!(Workspace::open(&home, &home.workspace()).folder(), link.join("workspace"));
}
