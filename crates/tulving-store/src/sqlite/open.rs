//! Opens the database: checks it before changing anything, then configures the connection.
//!
//! The check only reads, so a foreign file stays unchanged.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};
use tulving_core::model::error::StoreError;
use tulving_core::model::time::Timestamp;

use super::failure::SqliteError;
use super::restore_lock::RestoreLock;
use super::{busy, failure, holds, migrate, sums};
use crate::files;
use crate::home::Home;

/// The bytes `TULV`, which mark a database as a store of Tulving.
pub(super) const APPLICATION_ID: i64 = 0x5455_4c56;

/// Number of pages after which the write-ahead log is moved into the database. This is four times SQLite's default. A
/// bulk load changes the same index pages again and again, and so each page is moved once instead of four times.
const LOG_PAGES: u32 = 4_000;
/// Size to which the log file is truncated after that, in bytes.
const LOG_BYTES_KEPT: u32 = 16 << 20;
/// Maximum number of different statements that a connection keeps prepared.
const STATEMENTS_KEPT: usize = 128;
/// Size of the page cache of a connection, in KiB. Further pages are in the cache of the system.
const CACHE_KIB: u32 = 64 << 10;

/// Number of times that an empty file is checked again, because another process may be about to fill it. All checks
/// together take half a second.
const LOOKS: i32 = 40;

/// Returns an error if the file is empty in a home that has been used. The file had content before, and SQLite would
/// create a new database in its place and delete its log.
pub(super) fn refuse_emptied(home: &Home) -> Result<(), StoreError> {
    let file = home.database();
    let is_emptied = || file.metadata().is_ok_and(|found| found.is_file() && found.len() == 0);
    for round in 0..LOOKS {
        if !is_emptied() || !home.token_file().exists() {
            return Ok(());
        }
        std::thread::sleep(busy::pause(round));
    }
    Err(StoreError::Corrupt { path: file, why: "it is empty, and this home was used before".to_owned() })
}

/// Returns an error if one of the files is a pipe, device or socket, because SQLite would wait for its output.
pub(super) fn refuse_special(home: &Home) -> Result<(), StoreError> {
    for suffix in ["", "-wal", "-shm"] {
        let path = files::beside(&home.database(), suffix);
        let Ok(found) = path.metadata() else { continue };
        if !found.is_file() {
            let why = format!("it is {}, not a file", files::sort(found.file_type()));
            return Err(StoreError::Unusable { path, verb: "used as a database", why });
        }
    }
    Ok(())
}

/// Opens the connection that writes, and migrates the database to the newest schema.
pub(super) fn writer(
    file: &Path,
    restore_lock: &RestoreLock,
    busy_wait: Duration,
    now: Timestamp,
) -> Result<Connection, SqliteError> {
    files::create_empty(file)?;
    recognise(file, busy_wait)?;
    let mut connection = connect(file, busy_wait)?;
    enter_wal(&connection, file, busy_wait)?;
    set_up(&connection)?;
    restore_lock
        .pass(busy_wait, || migrate::run(&mut connection, file, now, || restore_lock.require_open()))?;
    Ok(connection)
}

/// Opens a connection that only reads. [`writer`] must have opened the database before.
pub(super) fn reader(file: &Path, busy_wait: Duration) -> Result<Connection, SqliteError> {
    let connection = connect(file, busy_wait)?;
    set_up(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Opens a connection to an existing file, without configuring it.
pub(super) fn connect(file: &Path, busy_wait: Duration) -> Result<Connection, SqliteError> {
    connect_as(file, busy_wait, OpenFlags::SQLITE_OPEN_READ_WRITE)
}

/// Opens a connection to a draft without configuring it. Only this process uses a draft, and an incomplete draft is
/// worthless. So the connection uses no locks (on some systems they would conflict with the draft's own lock), has no
/// journal on the disk and does not wait for the disk.
pub(super) fn connect_draft(file: &Path) -> Result<Connection, SqliteError> {
    let access = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags_and_vfs(file, access, "unix-none")?;
    connection.execute_batch(
        "PRAGMA locking_mode = EXCLUSIVE; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;",
    )?;
    Ok(connection)
}

/// Opens a connection that cannot write, without configuring it.
pub(super) fn connect_read_only(file: &Path, busy_wait: Duration) -> Result<Connection, SqliteError> {
    connect_as(file, busy_wait, OpenFlags::SQLITE_OPEN_READ_ONLY)
}

fn connect_as(file: &Path, busy_wait: Duration, access: OpenFlags) -> Result<Connection, SqliteError> {
    let mut connection = Connection::open_with_flags(file, access | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    busy::be_patient(&mut connection, busy_wait)?;
    Ok(connection)
}

/// The marks in a database.
#[derive(Clone, Copy, Debug)]
pub(super) struct DatabaseMarks {
    pub(super) application_id: i64,
    pub(super) schema: i64,
    objects: i64,
}

impl DatabaseMarks {
    /// Reads all marks in one transaction, because another process may be writing them. Writes nothing.
    pub(super) fn read(connection: &Connection) -> rusqlite::Result<Self> {
        let moment = connection.is_autocommit().then(|| connection.unchecked_transaction()).transpose()?;
        let marks = Self {
            application_id: connection.pragma_query_value(None, "application_id", |row| row.get(0))?,
            schema: connection.pragma_query_value(None, "user_version", |row| row.get(0))?,
            objects: connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?,
        };
        moment.map_or(Ok(()), rusqlite::Transaction::finish)?;
        Ok(marks)
    }

    /// Returns true if nothing has been written into the database yet.
    pub(super) fn is_blank(self) -> bool {
        (self.application_id, self.schema, self.objects) == (0, 0, 0)
    }

    /// Returns an error if the database is neither blank nor ours, or if its schema is too new or older than the
    /// baseline.
    pub(super) fn accept(self, file: &Path) -> Result<(), StoreError> {
        let path = file.to_owned();
        if self.is_blank() {
            Ok(())
        } else if self.application_id != APPLICATION_ID {
            Err(StoreError::Foreign { path, why: "it is another program's SQLite database".to_owned() })
        } else if self.schema > migrate::SCHEMA {
            Err(StoreError::NewerSchema { path, found: self.schema, known: migrate::SCHEMA })
        } else if self.schema < 1 {
            Err(StoreError::Corrupt { path, why: format!("its schema is {}", self.schema) })
        } else if self.schema < migrate::OLDEST {
            Err(StoreError::OlderSchema { path, found: self.schema, oldest: migrate::OLDEST })
        } else {
            Ok(())
        }
    }
}

/// Checks the file through a connection that changes nothing. Returns an error if the file must not be changed.
fn recognise(file: &Path, busy_wait: Duration) -> Result<(), SqliteError> {
    let has_log = files::beside(file, "-wal").metadata().is_ok_and(|log| log.len() > 0);
    let connection = connect(file, busy_wait)?;
    // Without this setting, the last close would move an abandoned log into the file.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, has_log)?;
    Ok(DatabaseMarks::read(&connection)?.accept(file)?)
}

/// Switches to the write-ahead log. While the database is busy, the switch is repeated for up to `busy_wait`: it needs
/// exclusive access for a moment, and SQLite does not always call the busy handler for it.
fn enter_wal(connection: &Connection, file: &Path, busy_wait: Duration) -> Result<(), SqliteError> {
    let began = Instant::now();
    for round in 0.. {
        match connection.pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0)) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let why = format!("its file system allows no write-ahead log (journal mode {mode})");
                return Err(StoreError::Unusable { path: file.to_owned(), verb: "used", why }.into());
            }
            Err(error) if failure::is_busy(&error) && began.elapsed() < busy_wait => {
                std::thread::sleep(busy::pause(round));
            }
            Err(error) => return Err(error.into()),
        }
    }
    unreachable!("the loop ends by returning")
}

pub(super) fn set_up(connection: &Connection) -> Result<(), SqliteError> {
    connection.execute_batch(&format!(
        "PRAGMA synchronous = FULL;
         PRAGMA foreign_keys = ON;
         PRAGMA secure_delete = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA trusted_schema = OFF;
         PRAGMA cache_size = -{CACHE_KIB};
         PRAGMA wal_autocheckpoint = {LOG_PAGES};
         PRAGMA journal_size_limit = {LOG_BYTES_KEPT};"
    ))?;
    // Without this setting, SQLite compiles a statement again whenever a value is bound to a column with an index. That
    // takes three quarters of the time of a save.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Without this setting, the last close would empty and remove the log even if the log is no longer the one that was
    // opened.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    holds::register(connection)?;
    sums::register(connection)?;
    Ok(())
}
