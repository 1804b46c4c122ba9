//! Opens another program's SQLite database without changing anything of it, also while that program runs.
//!
//! What is in its write-ahead log counts. A database that nobody has open is read as it lies, so that no file appears beside
//! it; one that was left in the middle of a write is mended in a copy. What its schema says is not believed: views, virtual
//! tables and computed columns are never read, because they could do anything.

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
use tulving_core::file::Stamp;
use tulving_core::preview;

use super::error::ForeignError;
use super::table::Table;
use crate::{files, tree};

/// How every file of SQLite begins.
pub(super) const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Where its header says that it has a write-ahead log, and what it is then.
const VERSIONS: std::ops::Range<usize> = 18..20;
const WITH_LOG: u8 = 2;
/// Where its header says whose it is, and what it says in a store of ours.
const APPLICATION: std::ops::Range<usize> = 68..72;
const OURS: &[u8; 4] = b"TULV";
/// How long a program that writes is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most bytes of a database that has to be copied.
const COPIED_BYTES: u64 = 8 << 30;
/// How often a file that changes while it is read is read again.
pub(super) const ROUNDS: usize = 3;

/// Another program's database, as it is at one moment.
pub(super) struct Database {
    /// As it was named.
    pub(super) path: PathBuf,
    there: PathBuf,
    pub(super) connection: Connection,
    /// How its files were, where nothing but this tells whether somebody has written to them.
    stamps: Option<Stamps>,
    _copy: Option<TempDir>,
}

/// Where a database is: as it was named, and as it is called without links.
#[derive(Clone, Copy)]
struct At<'a> {
    shown: &'a Path,
    there: &'a Path,
}

/// The first bytes of a file; shorter where the file is.
pub(super) fn header(path: &Path) -> Result<Vec<u8>, ForeignError> {
    let unreadable = |source| ForeignError::Unreadable { path: path.to_owned(), source };
    // A pipe would be waited for.
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

impl Database {
    /// Opens a database and holds the moment fast.
    pub(super) fn open(path: &Path) -> Result<Self, ForeignError> {
        let header = header(path)?;
        if !header.starts_with(MAGIC) || header.len() < 100 {
            return Err(ForeignError::NotADatabase { path: path.to_owned() });
        }
        if &header[APPLICATION] == OURS {
            return Err(ForeignError::Ours { path: path.to_owned() });
        }
        // What belongs to it lies beside the file itself, and not beside a link to it.
        let there = path.canonicalize();
        let there = there.map_err(|source| ForeignError::Unreadable { path: path.to_owned(), source })?;
        let at = At { shown: path, there: &there };
        let has = |suffix: &str| files::beside(&there, suffix).metadata().is_ok_and(|file| file.len() > 0);
        let with_log = header[VERSIONS].contains(&WITH_LOG);
        let shared = files::beside(&there, "-shm").exists();
        match (with_log, shared, has("-wal")) {
            (true, false, true) => Self::copied(at),
            (true, false, false) => Self::as_it_lies(at),
            // The memory that is shared, or the locks of old, tell of other programs.
            _ => match Self::beside_others(at) {
                Err(ForeignFault::Unfinished) => Self::copied(at),
                opened => opened.map_err(|fault| fault.explained(path)),
            },
        }
    }

    /// Reads like any other program, with the locks of SQLite.
    fn beside_others(at: At<'_>) -> Result<Self, ForeignFault> {
        let connection = Connection::open_with_flags(at.there, flags())?;
        Self::set_up(at, connection, None, None)
    }

    /// Reads without locks what nobody has open.
    fn as_it_lies(at: At<'_>) -> Result<Self, ForeignError> {
        let stamps = Stamps::of(at)?;
        let uri = format!("file:{}?immutable=1", encoded(at.there.as_os_str()));
        let connection = Connection::open_with_flags(uri, flags() | OpenFlags::SQLITE_OPEN_URI);
        let opened = connection.map_err(ForeignFault::from);
        let opened = opened.and_then(|connection| Self::set_up(at, connection, Some(stamps), None));
        opened.map_err(|fault| fault.explained(at.shown))
    }

    /// Reads a copy, in which what was left unfinished is finished.
    fn copied(at: At<'_>) -> Result<Self, ForeignError> {
        let unreadable = |source| ForeignError::Unreadable { path: at.shown.to_owned(), source };
        for _ in 0..ROUNDS {
            let before = Stamps::of(at)?;
            if before.size() > COPIED_BYTES {
                let (path, size, limit) = (at.shown.to_owned(), before.size(), COPIED_BYTES);
                return Err(ForeignError::TooLarge { path, size, limit });
            }
            let folder = tempfile::tempdir().map_err(unreadable)?;
            let copy = folder.path().join("copy.db");
            for suffix in ["", "-wal", "-journal"] {
                let (from, to) = (files::beside(at.there, suffix), files::beside(&copy, suffix));
                // A pipe would be waited for.
                if from.is_file() {
                    fs::copy(&from, &to).map_err(unreadable)?;
                    // The copy is mended also where the file itself may not be written.
                    fs::set_permissions(&to, Permissions::from_mode(0o600)).map_err(unreadable)?;
                }
            }
            if Stamps::of(at)? != before {
                continue;
            }
            let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(&copy, access).map_err(ForeignFault::from);
            let opened = connection.and_then(|connection| Self::set_up(at, connection, None, Some(folder)));
            return opened.map_err(|fault| fault.explained(at.shown));
        }
        Err(ForeignError::Busy { path: at.shown.to_owned() })
    }

    fn set_up(
        at: At<'_>,
        connection: Connection,
        stamps: Option<Stamps>,
        copy: Option<TempDir>,
    ) -> Result<Self, ForeignFault> {
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
        // The moment is held from the first read on.
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
        let (path, there) = (at.shown.to_owned(), at.there.to_owned());
        Ok(Self { path, there, connection, stamps, _copy: copy })
    }

    /// The table of this name, where there is one that holds rows of its own.
    pub(super) fn table(&self, name: &'static str) -> Result<Option<Table<'_>>, ForeignError> {
        Table::find(self, name)
    }

    /// The names of its tables.
    pub(super) fn tables(&self) -> Result<Vec<String>, ForeignError> {
        let names = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
            let mut statement = self.connection.prepare(sql)?;
            let names = statement.query_map([], |row| row.get(0))?;
            names.collect()
        };
        names().map_err(|error| self.failed(error))
    }

    /// That nobody has written to it while it was read as it lay.
    pub(super) fn is_as_it_was(&self) -> Result<bool, ForeignError> {
        match &self.stamps {
            None => Ok(true),
            Some(stamps) => Ok(Stamps::of(At { shown: &self.path, there: &self.there })? == *stamps),
        }
    }

    pub(super) fn failed(&self, error: rusqlite::Error) -> ForeignError {
        ForeignFault::from(error).explained(&self.path)
    }
}

fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

/// A path as it is written in the name of a resource.
fn encoded(path: &OsStr) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte);
    let piece = |byte: &u8| {
        if plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") }
    };
    path.as_bytes().iter().map(piece).collect()
}

/// How the files of a database are: itself, its log and its journal.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Stamps(Vec<Option<Stamp>>);

impl Stamps {
    fn of(at: At<'_>) -> Result<Self, ForeignError> {
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

/// What goes wrong before it is known which file it is about.
enum ForeignFault {
    /// It has to be mended before it can be read.
    Unfinished,
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for ForeignFault {
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

impl ForeignFault {
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
