//! How connections reach the database: to read and write, or only to read, in a home that cannot be written.
//!
//! SQLite wants to make files beside a database even to read it. Where it cannot, there are three ways. With a log and the shared
//! memory of a process that writes, it reads along. Without a log, the file is all there is, and is read as one that does not
//! change; that it does not is watched. With a log that a process has left behind, a copy of both is read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;
use tulving_core::error::StoreError;

use super::failure::Fault;
use super::{busy, migrate, open};
use crate::files;

/// How often a copy is made again where the files changed meanwhile.
const ATTEMPTS: usize = 5;

/// How connections are opened.
#[derive(Debug)]
pub(super) enum Reach {
    /// To read and write.
    Write(PathBuf),
    /// Beside a process that writes.
    Beside(PathBuf),
    /// A file that does not change.
    Still(PathBuf, Stamp),
    /// A copy, gone when this is dropped, of files that were so.
    Copy(TempDir, PathBuf, Stamp),
}

/// The size and the time of the last change of a database and of its log, where there is one.
pub(super) type Stamp = [Option<(u64, SystemTime)>; 2];

impl Reach {
    /// The way to read a database that cannot be written.
    pub(super) fn read_only(file: &Path) -> Result<Self, Fault> {
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

    /// Another connection that reads.
    pub(super) fn reader(&self, busy_wait: Duration) -> Result<Connection, Fault> {
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

    /// Whether a connection can be opened and read from.
    fn is_readable(&self) -> bool {
        let read = self.reader(Duration::ZERO).and_then(|reader| Ok(open::Marks::read(&reader)?));
        read.is_ok()
    }

    /// Whether the files are as they were when they were opened or copied.
    pub(super) fn is_current(&self) -> bool {
        match self {
            Self::Write(_) | Self::Beside(_) => true,
            Self::Still(file, then) | Self::Copy(_, file, then) => stamp(file) == *then,
        }
    }
}

/// Refuses what cannot be read without writing first.
pub(super) fn require_newest(connection: &Connection, file: &Path) -> Result<(), Fault> {
    let marks = open::Marks::read(connection)?;
    marks.accept(file)?;
    if marks.schema < migrate::SCHEMA {
        let why = format!(
            "its schema is {} and has to be brought to {} first, and its home cannot be written",
            marks.schema,
            migrate::SCHEMA
        );
        return Err(StoreError::Unusable { path: file.to_owned(), verb: "opened", why }.into());
    }
    Ok(())
}

fn stamp(file: &Path) -> Stamp {
    ["", "-wal"].map(|suffix| {
        let found = files::beside(file, suffix).metadata().ok()?;
        Some((found.len(), found.modified().ok()?))
    })
}

/// The address of a file that does not change, as SQLite takes it.
fn still(file: &Path) -> Result<PathBuf, Fault> {
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
        let reach = Reach::read_only(&file).expect("a way");
        assert!(matches!(reach, Reach::Still(..)), "{reach:?}");
        let reader = reach.reader(Duration::ZERO).expect("opened");
        let seven: i64 = reader.query_row("SELECT x FROM t", [], |row| row.get(0)).expect("read");
        assert_eq!(seven, 7);
        assert!(reach.is_current());
    }
}
