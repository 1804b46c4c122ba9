//! Opens another program's SQLite database without changing it, even while that program is running.
//!
//! The content of the write-ahead log is read too. If no program has the database open, it is read in place, so that
//! SQLite creates no files next to it. A database with an unfinished write is repaired in a copy. The schema is not
//! trusted: views, virtual tables and computed columns are never read, because reading them could do anything.

use std::ffi::OsStr;
use std::fs::{self, OpenOptions, Permissions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::ffi::{self, ErrorCode};
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;
use tulving_core::model::file::FileStamp;
use tulving_core::model::preview;

use super::error::ForeignError;
use super::table::ForeignTable;
use crate::{files, tree};

/// The first bytes of every SQLite file.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// The position of the journal mode in the header. The next constant is its value for a write-ahead log.
const VERSIONS: std::ops::Range<usize> = 18..20;
const WITH_LOG: u8 = 2;
/// The position of the application id in the header. The next constant is its value in a store of Tulving.
const APPLICATION: std::ops::Range<usize> = 68..72;
const OURS: &[u8; 4] = b"TULV";
/// The time to wait for a program that writes to the database.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum size of a database that is copied, in bytes.
const COPIED_BYTES: u64 = 8 << 30;
/// Maximum number of attempts to read a file that changes in the meantime.
pub(super) const ROUNDS: usize = 3;

/// A snapshot of another program's database.
pub(super) struct ForeignDatabase {
    /// The path as it was given.
    pub(super) path: PathBuf,
    there: PathBuf,
    pub(super) connection: Connection,
    /// The state of the files when the database was opened without locks. If the state has changed, another program has
    /// written to the files.
    stamps: Option<ForeignFileStamps>,
    _copy: Option<TempDir>,
}

/// The path of a database: the path as it was given, and the path without links.
#[derive(Clone, Copy)]
struct ForeignDatabasePath<'a> {
    shown: &'a Path,
    there: &'a Path,
}

/// Returns the first bytes of a file; fewer if the file is shorter.
pub(super) fn header(path: &Path) -> Result<Vec<u8>, ForeignError> {
    let unreadable = |source| ForeignError::Unreadable { path: path.to_owned(), source };
    // This flag keeps the open of a pipe from blocking.
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if !about.is_file() {
        let is = files::sort(about.file_type());
        return Err(ForeignError::NotAFile { path: path.to_owned(), is, needs: "a file" });
    }
    let mut bytes = Vec::with_capacity(100);
    file.take(100).read_to_end(&mut bytes).map_err(unreadable)?;
    Ok(bytes)
}

impl ForeignDatabase {
    /// Opens a database and starts a read transaction.
    pub(super) fn open(path: &Path) -> Result<Self, ForeignError> {
        let header = header(path)?;
        if !header.starts_with(MAGIC) || header.len() < 100 {
            return Err(ForeignError::NotADatabase { path: path.to_owned() });
        }
        if &header[APPLICATION] == OURS {
            return Err(ForeignError::Ours { path: path.to_owned() });
        }
        // SQLite's companion files are next to the file itself, and not next to a link to the file.
        let there = path.canonicalize();
        let there = there.map_err(|source| ForeignError::Unreadable { path: path.to_owned(), source })?;
        let at = ForeignDatabasePath { shown: path, there: &there };
        let has = |suffix: &str| files::beside(&there, suffix).metadata().is_ok_and(|file| file.len() > 0);
        let with_log = header[VERSIONS].contains(&WITH_LOG);
        let shared = files::beside(&there, "-shm").exists();
        match (with_log, shared, has("-wal")) {
            (true, false, true) => Self::copied(at),
            (true, false, false) => Self::as_it_lies(at),
            // Shared memory or SQLite's file locks show that another program has the database open.
            _ => match Self::beside_others(at) {
                Err(ForeignOpenError::Unfinished) => Self::copied(at),
                opened => opened.map_err(|fault| fault.explained(path)),
            },
        }
    }

    /// Opens the database like any other program, with SQLite's locks.
    fn beside_others(at: ForeignDatabasePath<'_>) -> Result<Self, ForeignOpenError> {
        let connection = Connection::open_with_flags(at.there, flags())?;
        Self::set_up(at, connection, None, None)
    }

    /// Opens the database without locks, because no other program has it open.
    fn as_it_lies(at: ForeignDatabasePath<'_>) -> Result<Self, ForeignError> {
        let stamps = ForeignFileStamps::of(at)?;
        let uri = format!("file:{}?immutable=1", encoded(at.there.as_os_str()));
        let connection = Connection::open_with_flags(uri, flags() | OpenFlags::SQLITE_OPEN_URI);
        let opened = connection.map_err(ForeignOpenError::from);
        let opened = opened.and_then(|connection| Self::set_up(at, connection, Some(stamps), None));
        opened.map_err(|fault| fault.explained(at.shown))
    }

    /// Opens a copy of the database. SQLite completes or reverts the unfinished write in the copy.
    fn copied(at: ForeignDatabasePath<'_>) -> Result<Self, ForeignError> {
        let unreadable = |source| ForeignError::Unreadable { path: at.shown.to_owned(), source };
        for _ in 0..ROUNDS {
            let before = ForeignFileStamps::of(at)?;
            if before.size() > COPIED_BYTES {
                let (path, size, limit) = (at.shown.to_owned(), before.size(), COPIED_BYTES);
                return Err(ForeignError::TooLarge { path, size, limit });
            }
            let folder = tempfile::tempdir().map_err(unreadable)?;
            let copy = folder.path().join("copy.db");
            for suffix in ["", "-wal", "-journal"] {
                let (from, to) = (files::beside(at.there, suffix), files::beside(&copy, suffix));
                // Opening a pipe would block.
                if from.is_file() {
                    fs::copy(&from, &to).map_err(unreadable)?;
                    // The copy must be writable for the repair, even if the original file is read-only.
                    fs::set_permissions(&to, Permissions::from_mode(0o600)).map_err(unreadable)?;
                }
            }
            if ForeignFileStamps::of(at)? != before {
                continue;
            }
            let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(&copy, access).map_err(ForeignOpenError::from);
            let opened = connection.and_then(|connection| Self::set_up(at, connection, None, Some(folder)));
            return opened.map_err(|fault| fault.explained(at.shown));
        }
        Err(ForeignError::Busy { path: at.shown.to_owned() })
    }

    fn set_up(
        at: ForeignDatabasePath<'_>,
        connection: Connection,
        stamps: Option<ForeignFileStamps>,
        copy: Option<TempDir>,
    ) -> Result<Self, ForeignOpenError> {
        connection.busy_timeout(PATIENCE)?;
        for (switch, to) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
        ] {
            connection.set_db_config(switch, to)?;
        }
        connection.execute_batch(
            "PRAGMA query_only = ON; PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY; BEGIN",
        )?;
        // The read transaction begins with the first read.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        let (path, there) = (at.shown.to_owned(), at.there.to_owned());
        Ok(Self { path, there, connection, stamps, _copy: copy })
    }

    /// Returns the table with this name; `None` if it does not exist or does not store its own rows.
    pub(super) fn table(&self, name: &'static str) -> Result<Option<ForeignTable<'_>>, ForeignError> {
        ForeignTable::find(self, name)
    }

    /// Returns the names of the tables.
    pub(super) fn tables(&self) -> Result<Vec<String>, ForeignError> {
        let names = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
            let mut statement = self.connection.prepare(sql)?;
            let names = statement.query_map([], |row| row.get(0))?;
            names.collect()
        };
        names().map_err(|error| self.failed(error))
    }

    /// Returns true if no program has written to the database while it was read in place.
    pub(super) fn is_as_it_was(&self) -> Result<bool, ForeignError> {
        match &self.stamps {
            None => Ok(true),
            Some(stamps) => {
                Ok(ForeignFileStamps::of(ForeignDatabasePath { shown: &self.path, there: &self.there })?
                    == *stamps)
            }
        }
    }

    pub(super) fn failed(&self, error: rusqlite::Error) -> ForeignError {
        ForeignOpenError::from(error).explained(&self.path)
    }
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// Encodes a path for a URI.
fn encoded(path: &OsStr) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let piece = |byte: &u8| {
        if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
    };
    path.as_bytes().iter().map(piece).collect()
}

/// The state of the files of a database: the file itself, its write-ahead log and its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ForeignFileStamps(Vec<Option<FileStamp>>);

impl ForeignFileStamps {
    fn of(at: ForeignDatabasePath<'_>) -> Result<Self, ForeignError> {
        let stamp = |suffix: &str| match files::beside(at.there, suffix).metadata() {
            Ok(found) => Ok(Some(tree::stamp(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(ForeignError::Unreadable { path: at.shown.to_owned(), source }),
        };
        ["", "-wal", "-journal"].into_iter().map(stamp).collect::<Result<_, _>>().map(Self)
    }

    fn size(&self) -> u64 {
        self.0.iter().flatten().map(|stamp| stamp.size).sum()
    }
}

/// An error of an open, before the path is added to it.
enum ForeignOpenError {
    /// The database must be repaired before it can be read.
    Unfinished,
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for ForeignOpenError {
    fn from(error: rusqlite::Error) -> Self {
        let extended = error.sqlite_error().map(|code| code.extended_code);
        match extended {
            Some(
                ffi::SQLITE_READONLY_ROLLBACK
                | ffi::SQLITE_READONLY_RECOVERY
                | ffi::SQLITE_READONLY_CANTINIT
                | ffi::SQLITE_READONLY_DIRECTORY
                | ffi::SQLITE_BUSY_RECOVERY,
            ) => Self::Unfinished,
            _ => Self::Sql(error),
        }
    }
}

impl ForeignOpenError {
    fn explained(self, path: &Path) -> ForeignError {
        let path = path.to_owned();
        let error = match self {
            Self::Unfinished => return ForeignError::Busy { path },
            Self::Sql(error) => error,
        };
        let why = |error: &rusqlite::Error| preview::cut(&error.to_string(), 200);
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => ForeignError::Busy { path },
            Some(ErrorCode::NotADatabase) => ForeignError::NotADatabase { path },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::SystemIoFailure) => {
                ForeignError::Unreadable { path, source: io::Error::other(why(&error)) }
            }
            _ => ForeignError::Damaged { why: why(&error), path },
        }
    }
}
