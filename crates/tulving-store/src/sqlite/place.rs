//! Checks that the three files of the store are still the files that its connections have open.
//!
//! SQLite removes `-wal` and `-shm` only at the last close, so nothing else may remove them while a connection is open.
//! But sync programs, cleaning programs and people remove them. After that, this process writes to files that nobody
//! can open again, and its last writes destroy the writes of other processes. So writers check the files before and
//! after each commit.
//!
//! The files are checked by name only, because opening and closing `tulving.db` or `-shm` would release the locks of
//! SQLite.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tulving_core::model::error::StoreError;

use super::busy;
use super::failure::SqliteError;
use crate::files;

/// The device and the inode of a file.
type FileIdentity = (u64, u64);

/// The sizes, in bytes, of the log's header and of the header of each page in the log.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: u64 = 24;

/// Number of times that a log that seems too short is checked again, because another process may be truncating it
/// correctly.
const LOOKS: i32 = 8;

/// The identities of a store's files when its connections opened them.
#[derive(Debug)]
pub(super) struct DatabaseFiles {
    database: (PathBuf, Option<FileIdentity>),
    log: (PathBuf, Option<FileIdentity>),
    memory: (PathBuf, Option<FileIdentity>),
    page_size: u64,
}

impl DatabaseFiles {
    /// Records the files that a connection has open. The connection must have read from them before.
    pub(super) fn of(connection: &Connection, file: &Path) -> Result<Self, SqliteError> {
        let named = |suffix: &str| {
            let path = files::beside(file, suffix);
            let identity = files::identity(&path);
            (path, identity)
        };
        let page_size: i64 = connection.pragma_query_value(None, "page_size", |row| row.get(0))?;
        let place = Self {
            database: named(""),
            log: named("-wal"),
            memory: named("-shm"),
            page_size: page_size.unsigned_abs(),
        };
        place.require_opened()?;
        Ok(place)
    }

    /// Records the file of a read-only database, without the log and the shared memory of this process.
    pub(super) fn read_only(file: &Path) -> Self {
        let identity = files::identity(file);
        let database = (file.to_owned(), identity);
        Self { log: database.clone(), memory: database.clone(), database, page_size: 0 }
    }

    /// Returns the error that a read-only database was changed.
    pub(super) fn changed(&self) -> StoreError {
        detached(&self.database.0, "changed by another process")
    }

    /// Returns an error if an existing file is not the one that this process has open.
    fn require_opened(&self) -> Result<(), StoreError> {
        let Some(open) = open_files() else {
            return Ok(());
        };
        for (path, identity) in [&self.database, &self.log, &self.memory] {
            if identity.is_none_or(|identity| !open.contains(&identity)) {
                return Err(detached(path, REMOVED));
            }
        }
        Ok(())
    }

    /// Returns an error if one of the files is not the one that was opened.
    pub(super) fn require(&self) -> Result<(), StoreError> {
        let (database, identity) = &self.database;
        if files::identity(database) != *identity {
            return Err(StoreError::Replaced { path: database.clone() });
        }
        for (path, identity) in [&self.log, &self.memory] {
            if files::identity(path) != *identity {
                return Err(detached(path, REMOVED));
            }
        }
        Ok(())
    }

    /// Does the same as [`require`](Self::require), and also returns an error if the log is shorter than its written
    /// content.
    ///
    /// SQLite would write beyond the end of the log, and later read zeros instead of the lost pages.
    pub(super) fn require_whole(&self, writer: &Connection) -> Result<(), SqliteError> {
        self.require()?;
        // The length of the log of a read-only database is unknown.
        if self.page_size == 0 {
            return Ok(());
        }
        for round in 0..LOOKS {
            let written = self.log_bytes(writer)?;
            let there = self.log.0.metadata().map_or(0, |log| log.len());
            if written <= there {
                return Ok(());
            }
            // A process that truncates the log correctly first marks it as empty, so the next check sees that.
            std::thread::sleep(busy::pause(round));
        }
        Err(detached(&self.log.0, "cut").into())
    }

    /// The minimum length of the log file for the content that SQLite knows to be in it, in bytes.
    fn log_bytes(&self, writer: &Connection) -> Result<u64, SqliteError> {
        let mut statement = writer.prepare_cached("PRAGMA wal_checkpoint(NOOP)")?;
        let pages: i64 = statement.query_row([], |row| row.get(1))?;
        let pages = u64::try_from(pages).unwrap_or(0);
        Ok(if pages == 0 { 0 } else { LOG_HEADER + pages * (FRAME_HEADER + self.page_size) })
    }

    /// Returns true if only the log is gone, so that its content can still be moved into the database. This is safe
    /// because the conditions exclude writes of other processes: no new log has content, and the shared memory is that
    /// of this process or is gone too.
    pub(super) fn can_save_log(&self) -> bool {
        let is_same = |(path, identity): &(PathBuf, Option<FileIdentity>)| files::identity(path) == *identity;
        let is_gone = |path: &Path| !path.exists();
        let log_is_unused = self.log.0.metadata().map_or(0, |log| log.len()) == 0;
        self.page_size > 0
            && is_same(&self.database)
            && !is_same(&self.log)
            && log_is_unused
            && (is_same(&self.memory) || (is_gone(&self.memory.0) && is_gone(&self.log.0)))
    }
}

const REMOVED: &str = "removed or replaced";

fn detached(path: &Path, how: &'static str) -> StoreError {
    StoreError::Detached { path: path.to_owned(), how }
}

/// The identities of the files that this process has open; `None` if the system does not list them.
#[cfg(target_os = "linux")]
fn open_files() -> Option<Vec<FileIdentity>> {
    let open = Path::new("/proc/self/fd").read_dir().ok()?;
    Some(open.flatten().filter_map(|entry| files::identity(&entry.path())).collect())
}

/// The identities of the files that this process has open; `None` if the system does not list them.
#[cfg(not(target_os = "linux"))]
fn open_files() -> Option<Vec<FileIdentity>> {
    None
}
