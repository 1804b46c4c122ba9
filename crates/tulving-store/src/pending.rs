//! An unfinished restore: the files that are exchanged after the database was replaced.
//!
//! The new files wait in a stage, a folder inside their target folder, so that moving them is a rename. `restore.json`
//! in the home contains the name of the stages and the epoch of the new database. Replacing the database is the commit.
//! If the process of the restore dies, the next process that finds `restore.json` compares the epochs: if the database
//! has the new epoch, the process finishes the moves; if not, it removes the stages. So after a kill at any point the
//! home contains either only the old data or only the new data.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use data_encoding::HEXLOWER;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use tulving_core::model::error::StoreError;

use crate::draft::DraftFile;
use crate::files;
use crate::home::{Home, make_folder};

/// The prefix of the names of stages. These names are hidden, so that no listing of a workspace contains them.
const STAGE: &str = ".tulving-restore-";
/// The folder inside a stage with the new files. It is removed before the rest of the stage: a stage without it needs no
/// more moves.
const NEW: &str = "new";
/// The folder inside a stage with the previous files.
const OLD: &str = "old";
/// The name of a marker file. It is created in a stage after all old files were moved into the stage: from then on, all
/// files in the live folder are new.
const EMPTIED: &str = "emptied";
/// The name of the new `config.toml` in the stage of the home.
const CONFIG: &str = "config.toml";
/// The name of the new `config.json` in the stage of the home.
const CONFIG_JSON: &str = "config.json";

/// The names that belong to Tulving in a workspace outside the home. All other files there are not Tulving's.
pub(crate) const OWN_NAMES: [&str; 6] = ["MEMORY.md", "memory", "conversations", "groups", "spaces", "teams"];

/// The time to wait for other processes before the restore of a dead process is left to the next process.
const PATIENCE: Duration = Duration::from_secs(30);
/// The pause between two attempts to lock a file.
const NAP: Duration = Duration::from_millis(5);

/// Selects the files of a folder that a restore replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReplaceScope {
    /// All files that are not hidden: the folder belongs to the home.
    All,
    /// The files with a name in [`OWN_NAMES`]: the folder is shared with other programs.
    OwnNames,
}

impl ReplaceScope {
    /// Returns true if the file or folder with this name, directly in the folder, is backed up and replaced.
    pub(crate) fn covers(self, name: &OsStr) -> bool {
        match self {
            Self::All => !name.as_bytes().starts_with(b"."),
            Self::OwnNames => OWN_NAMES.iter().any(|own| *own == name),
        }
    }
}

/// A folder whose files a restore replaces.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RestoreFolder {
    /// The path of the folder, as [`encoded`] returns it.
    live: String,
    extent: ReplaceScope,
    /// True if the folder did not exist and was created for the stage.
    made: bool,
}

/// The content of `restore.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RestoreIntent {
    /// The epoch of the new database, in hexadecimal.
    epoch: String,
    /// The name of the stages; it is the same in every folder.
    stage: String,
    places: Vec<RestoreFolder>,
}

/// An unfinished restore. The file `restore.json` stays locked while the process of the restore lives.
#[derive(Debug)]
pub(crate) struct PendingRestore {
    home: Home,
    intent: RestoreIntent,
    _lock: File,
}

impl PendingRestore {
    /// Records the start of a restore, and creates its stages. If another restore is running, waits at most `wait` for
    /// its end.
    pub(crate) fn begin(
        home: &Home,
        epoch: [u8; 16],
        folders: &[(PathBuf, ReplaceScope)],
        wait: Duration,
    ) -> Result<Self, StoreError> {
        let place = |(live, extent): &(PathBuf, ReplaceScope)| RestoreFolder {
            live: encoded(home, live),
            extent: *extent,
            made: !live.exists(),
        };
        let epoch = HEXLOWER.encode(&epoch);
        let intent = RestoreIntent {
            stage: format!("{STAGE}{}", &epoch[..12]),
            epoch,
            places: folders.iter().map(place).collect(),
        };
        let lock = note(home, &intent, wait)?;
        let pending = Self { home: home.clone(), intent, _lock: lock };
        pending.make_stages().inspect_err(|_| pending.discard())?;
        Ok(pending)
    }

    fn make_stages(&self) -> Result<(), StoreError> {
        for place in &self.intent.places {
            let stage = self.stage(place);
            make_folder(&stage.join(NEW))?;
            make_folder(&stage.join(OLD))?;
        }
        make_folder(&self.home_stage())
    }

    /// Returns the folder that contains the new files of the folder `live` until the commit.
    pub(crate) fn new_files(&self, live: &Path) -> PathBuf {
        live.join(&self.intent.stage).join(NEW)
    }

    /// Returns the file that contains the new `config.toml` until the commit.
    pub(crate) fn new_config(&self) -> PathBuf {
        self.home_stage().join(CONFIG)
    }

    /// Returns the file that contains the new `config.json` until the commit.
    pub(crate) fn new_config_json(&self) -> PathBuf {
        self.home_stage().join(CONFIG_JSON)
    }

    /// Moves the new files to their targets after the commit. May be called again if a call was interrupted.
    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        for place in &self.intent.places {
            let (live, stage) = (decoded(&self.home, &place.live), self.stage(place));
            exchange(&live, &stage, place.extent)
                .map_err(|error| files::unwritten(&live, "restored", &error))?;
        }
        self.place_config().map_err(|error| files::unwritten(&self.home.config_file(), "written", &error))?;
        self.remove_stages();
        self.remove_empty();
        self.remove_note();
        Ok(())
    }

    /// Removes the staged files, because the commit will not happen.
    pub(crate) fn discard(&self) {
        self.remove_stages();
        self.remove_empty();
        self.remove_note();
    }

    /// Removes empty folders that were created for a stage.
    fn remove_empty(&self) {
        for place in self.intent.places.iter().filter(|place| place.made) {
            drop(fs::remove_dir(decoded(&self.home, &place.live)));
        }
    }

    /// Removes the staged files, unless the restore is committed or this is unknown. In that case the next process
    /// decides.
    pub(crate) fn discard_unless_committed(&self) {
        if is_committed(&self.home, &self.intent.epoch) == Some(false) {
            self.discard();
        }
    }

    fn place_config(&self) -> io::Result<()> {
        let toml = (self.new_config(), self.home.config_file());
        let json = (self.new_config_json(), self.home.config_json_file());
        for (new, live) in [toml, json] {
            if new.exists() && live.symlink_metadata().is_err() {
                fs::rename(new, live)?;
            }
        }
        files::sync_names(self.home.path())
    }

    fn remove_stages(&self) {
        for place in &self.intent.places {
            let stage = self.stage(place);
            // The new files are removed first. Otherwise a process that is killed here could leave a stage without its
            // marker but with files to move.
            drop(fs::remove_dir_all(stage.join(NEW)));
            drop(fs::remove_dir_all(stage));
        }
        drop(fs::remove_dir_all(self.home_stage()));
    }

    /// Removes `restore.json` after the restore was finished or reverted.
    fn remove_note(&self) {
        drop(fs::remove_file(self.home.pending_restore()));
        drop(files::sync_names(self.home.path()));
    }

    fn stage(&self, place: &RestoreFolder) -> PathBuf {
        decoded(&self.home, &place.live).join(&self.intent.stage)
    }

    fn home_stage(&self) -> PathBuf {
        self.home.path().join(&self.intent.stage)
    }

    /// Returns the unfinished restore of a dead process; `None` if there is no such restore or its process is alive.
    fn of_the_dead(home: &Home) -> Option<Self> {
        let path = home.pending_restore();
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).ok()?;
        let mut lock = File::options().read(true).custom_flags(flags).open(&path).ok()?;
        lock.try_lock().ok()?;
        // The previous owner of the lock may have removed the file in the meantime.
        if !is_still(&path, &lock) {
            return None;
        }
        let mut text = String::new();
        lock.read_to_string(&mut text).ok()?;
        match serde_json::from_str::<RestoreIntent>(&text) {
            Ok(intent) if is_stage(&intent.stage) => Some(Self { home: home.clone(), intent, _lock: lock }),
            // A note appears only when it is complete, so an invalid one was not written by Tulving.
            _ => None,
        }
    }
}

/// Finishes or reverts the restore of a dead process. If there is no such restore, the only cost is one check of a file
/// name.
pub(crate) fn settle(home: &Home) {
    if home.pending_restore().symlink_metadata().is_err() {
        return;
    }
    let Some(pending) = PendingRestore::of_the_dead(home) else {
        return;
    };
    // This lock keeps other processes from writing files in the meantime.
    let Some(_shut) = lock_writers_out(home) else {
        return;
    };
    match is_committed(home, &pending.intent.epoch) {
        // If this fails, the next process tries again.
        Some(true) => drop(pending.finish()),
        Some(false) => pending.discard(),
        None => {}
    }
}

/// Returns a lock that keeps restores from starting until it is dropped. Every writer of files takes this lock.
pub(crate) fn hold_off_restores(home: &Home) -> io::Result<Option<File>> {
    let file = open_lock(home)?;
    let began = Instant::now();
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Ok(Some(file)),
            // If the file system has no locks, no restore can have started.
            Err(TryLockError::Error(_)) => return Ok(None),
            Err(TryLockError::WouldBlock) if began.elapsed() >= PATIENCE => {
                return Err(io::ErrorKind::ResourceBusy.into());
            }
            Err(TryLockError::WouldBlock) => std::thread::sleep(NAP),
        }
    }
}

fn lock_writers_out(home: &Home) -> Option<File> {
    let file = open_lock(home).ok()?;
    let began = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Some(file),
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => std::thread::sleep(NAP),
            Err(_) => return None,
        }
    }
}

fn open_lock(home: &Home) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true).mode(0o600);
    let file = options.open(home.restore_lock())?;
    // If root creates this file, the home's owner must still be able to open it.
    if let (Ok(found), Ok(folder)) = (file.metadata(), home.path().metadata())
        && found.uid() != folder.uid()
    {
        drop(fchown(&file, Some(folder.uid()), Some(folder.gid())));
    }
    Ok(file)
}

/// Writes `restore.json` and locks it. If another restore is running, waits at most `wait` for its end.
fn note(home: &Home, intent: &RestoreIntent, wait: Duration) -> Result<File, StoreError> {
    let path = home.pending_restore();
    let failed = |error: io::Error| files::unwritten(&path, "written", &error);
    let text = serde_json::to_vec(intent).map_err(|error| failed(error.into()))?;
    let began = Instant::now();
    loop {
        settle(home);
        let mut draft = DraftFile::beside(&path, "")?;
        draft.write_all(&text).map_err(failed)?;
        draft.sync().map_err(failed)?;
        match draft.hold(&path) {
            Ok(lock) => {
                files::sync_folder(home.path())?;
                return Ok(lock);
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
            Err(_) if began.elapsed() >= wait => {
                return Err(StoreError::Busy { waited: began.elapsed() });
            }
            Err(_) => std::thread::sleep(NAP),
        }
    }
}

/// Moves the live files into the stage, then the new files out of the stage. May be called again if a call was
/// interrupted.
fn exchange(live: &Path, stage: &Path, extent: ReplaceScope) -> io::Result<()> {
    let emptied = stage.join(EMPTIED);
    if !stage.join(NEW).exists() {
        return Ok(());
    }
    if !emptied.exists() {
        for name in names(live)?.filter(|name| extent.covers(name)) {
            fs::rename(live.join(&name), stage.join(OLD).join(&name))?;
        }
        files::sync_names(&stage.join(OLD))?;
        files::sync_names(live)?;
        File::create(&emptied)?.sync_all()?;
        files::sync_names(stage)?;
    }
    for name in names(&stage.join(NEW))? {
        fs::rename(stage.join(NEW).join(&name), live.join(&name))?;
    }
    files::sync_names(live)
}

fn names(folder: &Path) -> io::Result<std::vec::IntoIter<OsString>> {
    let names: io::Result<Vec<OsString>> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.file_name())).collect();
    Ok(names?.into_iter())
}

/// Returns true if the database has this epoch; `None` if the epoch cannot be read now.
fn is_committed(home: &Home, epoch: &str) -> Option<bool> {
    let read = || -> rusqlite::Result<Vec<u8>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(home.database(), flags)?;
        database.busy_timeout(PATIENCE)?;
        // If a dead writer left a write-ahead log behind, this connection must not copy the log into the database file.
        database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        database.query_row("SELECT value FROM meta WHERE name = 'epoch'", [], |row| row.get(0))
    };
    match read() {
        Ok(found) => Some(HEXLOWER.encode(&found) == epoch),
        Err(rusqlite::Error::SqliteFailure(error, _)) => match error.code {
            // A restore only installs a valid database, so a damaged one is the old database.
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown => Some(false),
            ErrorCode::CannotOpen if !home.database().exists() => Some(false),
            _ => None,
        },
        Err(_) => Some(false),
    }
}

fn is_still(path: &Path, file: &File) -> bool {
    match (path.symlink_metadata(), file.metadata()) {
        (Ok(named), Ok(open)) => open.is_file() && (named.dev(), named.ino()) == (open.dev(), open.ino()),
        _ => false,
    }
}

/// Returns true if [`PendingRestore::begin`] could have created this name. Only folders with such names are removed.
fn is_stage(name: &str) -> bool {
    let id = name.strip_prefix(STAGE);
    id.is_some_and(|id| id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Encodes the path of a folder as text. A path below the home is stored relative to it, so that a home can be moved.
/// The path need not be UTF-8.
fn encoded(home: &Home, folder: &Path) -> String {
    HEXLOWER.encode(folder.strip_prefix(home.path()).unwrap_or(folder).as_os_str().as_bytes())
}

fn decoded(home: &Home, text: &str) -> PathBuf {
    // Every valid text was written by `encoded`. For any other text, the result is a folder that does not exist.
    let bytes = HEXLOWER.decode(text.as_bytes()).unwrap_or_else(|_| b".tulving-nowhere".to_vec());
    home.path().join(OsString::from_vec(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_stages_are_taken_for_stages() {
        assert!(is_stage(".tulving-restore-0123456789ab"));
        for wrong in ["", "..", ".tulving-restore-", ".tulving-restore-../../../a", "memory"] {
            assert!(!is_stage(wrong), "{wrong}");
        }
    }

    /// A home with this database epoch and an unfinished restore of it. The restore replaces the file `old` of the
    /// workspace with the file `new`.
    fn unfinished(folder: &Path) -> (Home, PendingRestore) {
        let home = Home::open_or_create(folder).expect("a home");
        let database = Connection::open(home.database()).expect("a database");
        let epoch = "CREATE TABLE meta (name, value); INSERT INTO meta VALUES ('epoch', zeroblob(16));";
        database.execute_batch(epoch).expect("written");
        let workspace = home.workspace();
        make_folder(&workspace).expect("a folder");
        fs::write(workspace.join("old"), "old").expect("written");
        let places = [(workspace.clone(), ReplaceScope::All)];
        let pending = PendingRestore::begin(&home, [0; 16], &places, Duration::ZERO).expect("begun");
        fs::write(pending.new_files(&workspace).join("new"), "new").expect("written");
        (home, pending)
    }

    #[test]
    fn a_restore_killed_while_it_removes_its_stage_is_finished_by_the_next_process() {
        // The names in the stage, in the order in which a killed removal may have removed them.
        for removed in [&[][..], &[NEW], &[NEW, EMPTIED], &[NEW, OLD], &[NEW, EMPTIED, OLD]] {
            let folder = tempfile::tempdir().expect("a folder");
            let (home, pending) = unfinished(folder.path());
            let (live, stage) = (home.workspace(), pending.stage(&pending.intent.places[0]));
            exchange(&live, &stage, ReplaceScope::All).expect("exchanged");
            for name in removed {
                let path = stage.join(name);
                if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
                    .expect("removed");
            }
            drop(pending);
            settle(&home);
            assert!(!home.pending_restore().exists(), "{removed:?}: the next restore would wait for ever");
            assert_eq!(names(&live).expect("names").collect::<Vec<_>>(), ["new"], "{removed:?}");
        }
    }

    #[test]
    fn a_note_keeps_the_folder_of_a_home_that_was_moved() {
        let folder = tempfile::tempdir().expect("a folder");
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        let home = Home::open_or_create(&one).expect("a home");
        let text = encoded(&home, &home.workspace());
        fs::rename(&one, &two).expect("moved");
        let moved = Home::open_or_create(&two).expect("a home");
        assert_eq!(decoded(&moved, &text), moved.workspace());
        assert_eq!(decoded(&moved, &encoded(&moved, Path::new("/srv/files"))), Path::new("/srv/files"));
    }
}
