//! The connections of a store: one that writes, a pool that reads, and one that detects changes. They are opened and
//! closed together.
//!
//! SQLite shares one memory area among all connections of a process to one database. So if a file was removed or
//! replaced while connections were open, all connections are closed before a new connection is opened.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tulving_core::model::error::StoreError;
use tulving_core::model::time::Timestamp;

use super::failure::SqliteError;
use super::place::DatabaseFiles;
use super::reach::{self, DatabaseAccess};
use super::readers::ReaderPool;
use super::restore_lock::RestoreLock;
use super::{SqliteOptions, busy, failure, migrate, open, scrub, sums};
use crate::home::Home;

/// The time to wait until other threads have finished with the connections, before all are closed.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time to wait for other connections while the content of a removed log is saved.
const SAVE_PATIENCE: Duration = Duration::from_secs(2);
/// Number of attempts to open the database, if a file disappears at the same time.
const ATTEMPTS: usize = 3;

/// The connections, and the files that they have open.
pub(super) struct StoreConnections {
    pub(super) place: DatabaseFiles,
    pub(super) reach: Arc<DatabaseAccess>,
    // Rust drops the fields in this order: the writer is closed last, so that it empties the log and removes it.
    pub(super) follower: Mutex<Connection>,
    pub(super) readers: ReaderPool,
    writer: Mutex<Connection>,
    /// True once the writer maintains checksums.
    keeps_sums: AtomicBool,
    /// Number of times that the connections were opened before.
    pub(super) generation: u64,
}

impl StoreConnections {
    /// Opens all connections. At the last close, SQLite empties and removes the log only if [`Drop`] finds the files in
    /// place.
    pub(super) fn open(
        home: &Home,
        restore_lock: &RestoreLock,
        options: SqliteOptions,
        now: Timestamp,
        generation: u64,
    ) -> Result<Self, SqliteError> {
        let file = home.database();
        let opened = |reach: DatabaseAccess, place: DatabaseFiles, writer: Connection| {
            let reach = Arc::new(reach);
            Ok(Self {
                place,
                follower: Mutex::new(reach.reader(options.busy_wait)?),
                readers: ReaderPool::new(Arc::clone(&reach), options),
                writer: Mutex::new(writer),
                keeps_sums: AtomicBool::new(false),
                reach,
                generation,
            })
        };
        if home.is_read_only() {
            let reach = DatabaseAccess::read_only(&file)?;
            // Nothing can be written in a read-only home, so the writer is also a connection that only reads.
            let writer = reach.reader(options.busy_wait)?;
            reach::require_newest(&writer, &file)?;
            return opened(reach, DatabaseFiles::read_only(&file), writer);
        }
        let mut attempt = 1;
        loop {
            let writer = open::writer(&file, restore_lock, options.busy_wait, now)?;
            match DatabaseFiles::of(&writer, &file) {
                Ok(place) => return opened(DatabaseAccess::Write(file), place, writer),
                Err(fault) if attempt == ATTEMPTS => return Err(fault),
                Err(_) => attempt += 1,
            }
        }
    }

    pub(super) fn writer(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction has rolled it back, so the connection can be used again.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connection that writes rows. It maintains checksums of its writes from its first use on. Preparing
    /// this takes milliseconds, which a process that only reads does not spend.
    pub(super) fn row_writer(&self) -> Result<MutexGuard<'_, Connection>, SqliteError> {
        let writer = self.writer();
        if !self.keeps_sums.load(Ordering::Relaxed) {
            sums::watch(&writer)?;
            self.keeps_sums.store(true, Ordering::Relaxed);
        }
        Ok(writer)
    }
}

impl StoreConnections {
    /// Returns an error if one of the files is not the file that was opened, or if a file that was opened as read-only
    /// has changed.
    pub(super) fn require_in_place(&self) -> Result<(), StoreError> {
        self.place.require()?;
        match self.reach.is_current() {
            true => Ok(()),
            false => Err(self.place.changed()),
        }
    }
}

impl Drop for StoreConnections {
    /// Allows SQLite to empty and remove the log at the last close, but only if the log is the one that was opened.
    /// Otherwise it would remove the writes of other processes.
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.place.require_whole(writer).is_ok() {
            // If this call fails, the log stays, and the next process that opens the store reads it.
            drop(writer.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false));
        }
    }
}

/// The present connections of a store.
pub(super) struct CurrentConnections {
    state: Mutex<ConnectionsState>,
}

struct ConnectionsState {
    /// `None` while all attempts to open them again have failed.
    live: Option<Arc<StoreConnections>>,
    generation: u64,
}

impl CurrentConnections {
    pub(super) fn new(live: StoreConnections) -> Self {
        Self {
            state: Mutex::new(ConnectionsState { generation: live.generation, live: Some(Arc::new(live)) }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the connections. Opens them if an earlier attempt has failed.
    pub(super) fn get(
        &self,
        reopen: impl FnOnce(u64) -> Result<StoreConnections, SqliteError>,
    ) -> Result<Arc<StoreConnections>, SqliteError> {
        let mut state = self.lock();
        match &state.live {
            Some(live) => Ok(Arc::clone(live)),
            None => state.open(reopen),
        }
    }

    /// Closes all connections and opens them on the present files at the path. Does nothing if another thread has done
    /// so since the generation `seen`. If the connections are in use for too long, it also does nothing; the next
    /// thread that notices the problem tries again.
    pub(super) fn renew(
        &self,
        seen: u64,
        reopen: impl FnOnce(u64) -> Result<StoreConnections, SqliteError>,
    ) -> Result<(), SqliteError> {
        let mut state = self.lock();
        if state.generation != seen {
            return Ok(());
        }
        let began = Instant::now();
        for round in 0.. {
            match state.live.as_mut().map(Arc::get_mut) {
                None => break,
                Some(Some(alone)) => {
                    save_log(alone);
                    break;
                }
                Some(None) if began.elapsed() >= PATIENCE => return Ok(()),
                Some(None) => std::thread::sleep(busy::pause(round)),
            }
        }
        state.live = None;
        state.open(reopen).map(drop)
    }
}

impl ConnectionsState {
    fn open(
        &mut self,
        reopen: impl FnOnce(u64) -> Result<StoreConnections, SqliteError>,
    ) -> Result<Arc<StoreConnections>, SqliteError> {
        let opened = Arc::new(reopen(self.generation + 1)?);
        self.generation += 1;
        self.live = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

/// Moves the content of a removed log into the database, if that is safe.
fn save_log(live: &mut StoreConnections) {
    if live.place.can_save_log() {
        let writer = live.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        // If this call fails, the content of the removed log is lost. The caller gets the error that the log was
        // removed.
        drop(busy::in_a_hurry(SAVE_PATIENCE, || scrub::truncate_log(writer)));
    }
}

/// Gives a store a new epoch if it has lost changes up to `head`. Later changes get the numbers of the lost changes, so
/// an index could not notice that it has not seen the later changes.
pub(super) fn renew_epoch_after_loss(live: &StoreConnections, head: u64) -> Result<(), SqliteError> {
    let writer = live.writer();
    let now: i64 = writer.query_row("SELECT coalesce(max(seq), 0) FROM changes", [], |row| row.get(0))?;
    if now.unsigned_abs() < head {
        migrate::renew_epoch(&writer)?;
    }
    Ok(())
}

/// Returns true if an error means that a file was removed or replaced while the connections were open.
pub(super) fn is_detached(fault: &SqliteError) -> bool {
    match fault {
        SqliteError::Said(error) => matches!(error, StoreError::Detached { .. }),
        SqliteError::Sql(error) => failure::is_cut_log(error),
        SqliteError::Json(_) | SqliteError::Shut => false,
    }
}
