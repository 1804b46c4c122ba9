//! The ways to open the database: for reading and writing, or in a read-only home only for reading.
//!
//! Even to read, SQLite needs to create files next to a database. If it cannot, there are three other ways. If a
//! writing process has a log and shared memory there, this process reads with their help. If there is no log, the
//! database file is complete, and is read as a file that does not change; this is checked. If a process has left a log
//! behind, a copy of the database and the log is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;
use tulving_core::model::error::StoreError;

use super::failure::SqliteError;
use super::{busy, migrate, open};
use crate::files;

/// Maximum number of attempts to copy the files, if they change meanwhile.
const ATTEMPTS: usize = 5;

/// The way in which connections are opened.
#[derive(Debug)]
pub(super) enum DatabaseAccess {
    /// Reads and writes.
    Write(PathBuf),
    /// Reads with the help of the log and the shared memory of another process, which writes.
    Beside(PathBuf),
    /// Reads a file that does not change.
    Still(PathBuf, DatabaseFilesStamp),
    /// Reads a copy of files that had this stamp. Dropping this value deletes the copy.
    Copy(TempDir, PathBuf, DatabaseFilesStamp),
}

/// The size and the modification time of a database and of its log, if there is one.
pub(super) type DatabaseFilesStamp = [Option<(u64, SystemTime)>; 2];

impl DatabaseAccess {
    /// Chooses the way to read a read-only database.
    pub(super) fn read_only(file: &Path) -> Result<Self, SqliteError> {
        for _ in 0..ATTEMPTS {
            let stamp = stamp(file);
            let has_log = stamp[1].is_some_and(|(size, _)| size > 0);
            if !has_log {
                return Ok(Self::Still(file.to_owned(), stamp));
            }
            let beside = Self::Beside(file.to_owned());
            if files::beside(file, "-shm").exists() && beside.is_readable() {
                return Ok(beside);
            }
            let folder = tempfile::tempdir()
                .map_err(|error| files::unwritten(&std::env::temp_dir(), "written", &error))?;
            let copy = folder.path().join("tulving.db");
            for suffix in ["", "-wal"] {
                let from = files::beside(file, suffix);
                fs::copy(&from, files::beside(&copy, suffix))
                    .map_err(|error| files::unwritten(&from, "copied to read it", &error))?;
            }
            if self::stamp(file) == stamp {
                return Ok(Self::Copy(folder, file.to_owned(), stamp));
            }
        }
        Err(StoreError::Busy { waited: Duration::ZERO }.into())
    }

    /// Opens another connection that reads.
    pub(super) fn reader(&self, busy_wait: Duration) -> Result<Connection, SqliteError> {
        let (file, flags) = match self {
            Self::Write(file) => return open::reader(file, busy_wait),
            Self::Beside(file) => (file.clone(), OpenFlags::SQLITE_OPEN_READ_ONLY),
            Self::Still(file, _) => {
                (still(file)?, OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
            }
            Self::Copy(folder, ..) => (folder.path().join("tulving.db"), OpenFlags::SQLITE_OPEN_READ_WRITE),
        };
        let mut connection = Connection::open_with_flags(file, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        busy::be_patient(&mut connection, busy_wait)?;
        open::set_up(&connection)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    }

    /// Returns true if a connection can be opened and read from.
    fn is_readable(&self) -> bool {
        let read = self.reader(Duration::ZERO).and_then(|reader| Ok(open::DatabaseMarks::read(&reader)?));
        read.is_ok()
    }

    /// Returns true if the files are unchanged since they were opened or copied.
    pub(super) fn is_current(&self) -> bool {
        match self {
            Self::Write(_) | Self::Beside(_) => true,
            Self::Still(file, then) | Self::Copy(_, file, then) => stamp(file) == *then,
        }
    }
}

/// Returns an error if the database cannot be read without being migrated first.
pub(super) fn require_newest(connection: &Connection, file: &Path) -> Result<(), SqliteError> {
    let marks = open::DatabaseMarks::read(connection)?;
    marks.accept(file)?;
    if marks.schema < migrate::SCHEMA {
        let why = format!(
            "its schema is {} and must be upgraded to {} first, but its home is read-only",
            marks.schema,
            migrate::SCHEMA
        );
        return Err(StoreError::Unusable { path: file.to_owned(), verb: "opened", why }.into());
    }
    Ok(())
}

fn stamp(file: &Path) -> DatabaseFilesStamp {
    ["", "-wal"].map(|suffix| {
        let found = files::beside(file, suffix).metadata().ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

/// The URI that tells SQLite that the file does not change.
fn still(file: &Path) -> Result<PathBuf, SqliteError> {
    let absolute = std::path::absolute(file).map_err(|error| files::unwritten(file, "opened", &error))?;
    let mut address = String::from("file:");
    for byte in absolute.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'~' => address.push(char::from(*byte)),
            byte if byte.is_ascii_alphanumeric() => address.push(char::from(*byte)),
            byte => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address.push_str("?immutable=1");
    Ok(PathBuf::from(address))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_file_names_it_whatever_is_in_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("100% of ä?#&.db");
        let made = Connection::open(&file).expect("made");
        made.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (7)").expect("filled");
        drop(made);
        let reach = DatabaseAccess::read_only(&file).expect("a way");
        assert!(matches!(reach, DatabaseAccess::Still(..)), "{reach:?}");
        let reader = reach.reader(Duration::ZERO).expect("opened");
        let seven: i64 = reader.query_row("SELECT x FROM t", [], |row| row.get(0)).expect("read");
        assert_eq!(seven, 7);
        assert!(reach.is_current());
    }
}
