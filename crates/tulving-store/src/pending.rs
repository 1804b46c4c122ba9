//! A restore that was begun: which files take whose place once the database was replaced.
//!
//! The new files wait in a stage inside the folder that they go to, so that moving them is a rename. `restore.json` in the
//! home names the stages and the epoch of the new database. Replacing the database is the commit: whoever finds that file
//! after its process died finishes the moves where the database has that epoch, and removes the stages where it has not.
//! So after a kill at any point the home is the old one or the new one, as a whole.

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
use tulving_core::error::StoreError;

use crate::draft::Draft;
use crate::files;
use crate::home::{Home, make_folder};

/// The prefix of the names of stages. They are hidden, so no listing of a workspace shows them.
const STAGE: &str = ".tulving-restore-";
/// The new files in a stage.
const NEW: &str = "new";
/// The files that were there before, in a stage.
const OLD: &str = "old";
/// Made in a stage once all old files are in it: from then on, what is in the live folder is new.
const EMPTIED: &str = "emptied";
/// The new settings in the stage of the home.
const CONFIG: &str = "config.toml";

/// The names that are Tulving's in a workspace that is not the home's own. Everything else there is somebody else's.
pub(crate) const OWN_NAMES: [&str; 6] = ["MEMORY.md", "memory", "conversations", "groups", "spaces", "teams"];

/// The time that others are waited for before what a dead process began is left to whoever comes next.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two tries to lock something.
const NAP: Duration = Duration::from_millis(5);

/// The files of a folder that are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Extent {
    /// All that are not hidden: the folder is the home's own.
    All,
    /// Those of [`OWN_NAMES`]: the folder is also somebody else's.
    OwnNames,
}

impl Extent {
    /// Tells if a name in the folder itself is one of those that are backed up and replaced.
    pub(crate) fn covers(self, name: &OsStr) -> bool {
        match self {
            Self::All => !name.as_bytes().starts_with(b"."),
            Self::OwnNames => OWN_NAMES.iter().any(|own| *own == name),
        }
    }
}

/// A folder whose files are replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    /// The folder, as [`encoded`].
    live: String,
    extent: Extent,
    /// True if the folder was made for the stage.
    made: bool,
}

/// The content of `restore.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Intent {
    /// The epoch of the new database, hexadecimal.
    epoch: String,
    /// The name of the stages.
    stage: String,
    places: Vec<Place>,
}

/// A restore that is not finished. It is locked for as long as its process lives.
#[derive(Debug)]
pub(crate) struct PendingRestore {
    home: Home,
    intent: Intent,
    _lock: File,
}

impl PendingRestore {
    /// Notes that a restore was begun, and makes its stages. `wait` is how long another restore is waited for.
    pub(crate) fn begin(
        home: &Home,
        epoch: [u8; 16],
        folders: &[(PathBuf, Extent)],
        wait: Duration,
    ) -> Result<Self, StoreError> {
        let place = |(live, extent): &(PathBuf, Extent)| Place {
            live: encoded(home, live),
            extent: *extent,
            made: !live.exists(),
        };
        let epoch = HEXLOWER.encode(&epoch);
        let intent = Intent {
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

    /// The folder of the new files of a folder until the commit.
    pub(crate) fn new_files(&self, live: &Path) -> PathBuf {
        live.join(&self.intent.stage).join(NEW)
    }

    /// The file of the new settings until the commit.
    pub(crate) fn new_config(&self) -> PathBuf {
        self.home_stage().join(CONFIG)
    }

    /// Puts the new files in their places, after the commit. May be repeated.
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

    /// Removes everything that waits for a commit that does not come.
    pub(crate) fn discard(&self) {
        self.remove_stages();
        self.remove_empty();
        self.remove_note();
    }

    /// Removes folders that were made for a stage and have nothing in them.
    fn remove_empty(&self) {
        for place in self.intent.places.iter().filter(|place| place.made) {
            drop(fs::remove_dir(decoded(&self.home, &place.live)));
        }
    }

    /// Removes everything, unless the commit has come or that cannot be told: then whoever comes next sees to it.
    pub(crate) fn discard_unless_committed(&self) {
        if is_committed(&self.home, &self.intent.epoch) == Some(false) {
            self.discard();
        }
    }

    fn place_config(&self) -> io::Result<()> {
        let (new, live) = (self.new_config(), self.home.config_file());
        if !new.exists() || live.symlink_metadata().is_ok() {
            return Ok(());
        }
        fs::rename(new, live)?;
        files::sync_names(self.home.path())
    }

    fn remove_stages(&self) {
        for place in &self.intent.places {
            drop(fs::remove_dir_all(self.stage(place)));
        }
        drop(fs::remove_dir_all(self.home_stage()));
    }

    /// Removes the note, after what it tells of is done.
    fn remove_note(&self) {
        drop(fs::remove_file(self.home.pending_restore()));
        drop(files::sync_names(self.home.path()));
    }

    fn stage(&self, place: &Place) -> PathBuf {
        decoded(&self.home, &place.live).join(&self.intent.stage)
    }

    fn home_stage(&self) -> PathBuf {
        self.home.path().join(&self.intent.stage)
    }

    /// The restore that a dead process began; `None` where there is none or its process lives.
    fn of_the_dead(home: &Home) -> Option<Self> {
        let path = home.pending_restore();
        let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits()).ok()?;
        let mut lock = File::options().read(true).custom_flags(flags).open(&path).ok()?;
        lock.try_lock().ok()?;
        // Whoever had it before may have removed it just now.
        if !is_still(&path, &lock) {
            return None;
        }
        let mut text = String::new();
        lock.read_to_string(&mut text).ok()?;
        match serde_json::from_str::<Intent>(&text) {
            Ok(intent) if is_stage(&intent.stage) => Some(Self { home: home.clone(), intent, _lock: lock }),
            // It appears whole, so this is nobody's note.
            _ => None,
        }
    }
}

/// Finishes or takes back the restore that a dead process began. It costs one look at a name where there is none.
pub(crate) fn settle(home: &Home) {
    if home.pending_restore().symlink_metadata().is_err() {
        return;
    }
    let Some(pending) = PendingRestore::of_the_dead(home) else {
        return;
    };
    // Nobody writes files meanwhile.
    let Some(_shut) = lock_writers_out(home) else {
        return;
    };
    match is_committed(home, &pending.intent.epoch) {
        // What fails now is tried again by whoever comes next.
        Some(true) => drop(pending.finish()),
        Some(false) => pending.discard(),
        None => {}
    }
}

/// Lets no restore begin for as long as this is held. Every writer of files holds it.
pub(crate) fn hold_off_restores(home: &Home) -> io::Result<Option<File>> {
    let file = open_lock(home)?;
    let began = Instant::now();
    loop {
        match file.try_lock_shared() {
            Ok(()) => return Ok(Some(file)),
            // Where the file system has no locks, no restore can have begun.
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
    // Root must not leave a file that the home's owner cannot open.
    if let (Ok(found), Ok(folder)) = (file.metadata(), home.path().metadata())
        && found.uid() != folder.uid()
    {
        drop(fchown(&file, Some(folder.uid()), Some(folder.gid())));
    }
    Ok(file)
}

/// Writes the note and locks it; waits for another restore.
fn note(home: &Home, intent: &Intent, wait: Duration) -> Result<File, StoreError> {
    let path = home.pending_restore();
    let failed = |error: io::Error| files::unwritten(&path, "written", &error);
    let text = serde_json::to_vec(intent).map_err(|error| failed(error.into()))?;
    let began = Instant::now();
    loop {
        settle(home);
        let mut draft = Draft::beside(&path, "")?;
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

/// Moves what is live into the stage, then what is new out of it. May be repeated wherever it was interrupted.
fn exchange(live: &Path, stage: &Path, extent: Extent) -> io::Result<()> {
    let emptied = stage.join(EMPTIED);
    if !stage.exists() {
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

/// Tells if the database has this epoch; `None` where that cannot be told now.
fn is_committed(home: &Home, epoch: &str) -> Option<bool> {
    let read = || -> rusqlite::Result<Vec<u8>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let database = Connection::open_with_flags(home.database(), flags)?;
        database.busy_timeout(PATIENCE)?;
        // A log that its writer left behind is not for this connection to move into the file.
        database.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        database.query_row("SELECT value FROM meta WHERE name = 'epoch'", [], |row| row.get(0))
    };
    match read() {
        Ok(found) => Some(HEXLOWER.encode(&found) == epoch),
        Err(rusqlite::Error::SqliteFailure(error, _)) => match error.code {
            // A restore puts a sound database in its place, so this is what was there before.
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

/// Tells if a name is one that [`PendingRestore::begin`] gives: nothing else is ever removed.
fn is_stage(name: &str) -> bool {
    let id = name.strip_prefix(STAGE);
    id.is_some_and(|id| id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A folder as text: from the home on where it is below it, so that a home can be moved. It need not be UTF-8.
fn encoded(home: &Home, folder: &Path) -> String {
    HEXLOWER.encode(folder.strip_prefix(home.path()).unwrap_or(folder).as_os_str().as_bytes())
}

fn decoded(home: &Home, text: &str) -> PathBuf {
    // Every text comes from `encoded`; a note with another one names no folder that there is.
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
