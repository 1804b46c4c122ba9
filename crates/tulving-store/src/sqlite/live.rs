//! The connections of a store: one that writes, a pool that reads, one that follows. Opened and closed together.
//!
//! SQLite keeps one shared memory for all connections of a process to one database. So where a file was taken from under
//! them, all are closed before the first is opened again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use tulving_core::error::StoreError;
use tulving_core::time::Timestamp;

use super::failure::Fault;
use super::gate::Gate;
use super::place::Place;
use super::reach::{self, Reach};
use super::readers::Readers;
use super::{Options, busy, failure, migrate, open, scrub, sums};
use crate::home::Home;

/// The time to wait for connections in use by other threads, before all are closed.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time to wait for others while the content of a removed log is saved.
const SAVE_PATIENCE: Duration = Duration::from_secs(2);
/// How often opening is tried again where a file went just then.
const ATTEMPTS: usize = 3;

/// The connections, and which files they have open.
pub(super) struct Live {
    pub(super) place: Place,
    pub(super) reach: Arc<Reach>,
    // Closed in this order: the writer last, so that it is the one that empties the log and removes it.
    pub(super) follower: Mutex<Connection>,
    pub(super) readers: Readers,
    writer: Mutex<Connection>,
    /// Set once the writer keeps checksums.
    keeps_sums: AtomicBool,
    /// How often they were opened before.
    pub(super) generation: u64,
}

impl Live {
    /// Opens all. What SQLite does at the last close, it does only where [`Drop`] finds the files in place.
    pub(super) fn open(
        home: &Home,
        gate: &Gate,
        options: Options,
        now: Timestamp,
        generation: u64,
    ) -> Result<Self, Fault> {
        let file = home.database();
        let opened = |reach: Reach, place: Place, writer: Connection| {
            let reach = Arc::new(reach);
            Ok(Self {
                place,
                follower: Mutex::new(reach.reader(options.busy_wait)?),
                readers: Readers::new(Arc::clone(&reach), options),
                writer: Mutex::new(writer),
                keeps_sums: AtomicBool::new(false),
                reach,
                generation,
            })
        };
        if home.is_read_only() {
            let reach = Reach::read_only(&file)?;
            // Nothing is written, so what would write reads as well.
            let writer = reach.reader(options.busy_wait)?;
            reach::require_newest(&writer, &file)?;
            return opened(reach, Place::read_only(&file), writer);
        }
        let mut attempt = 1;
        loop {
            let writer = open::writer(&file, gate, options.busy_wait, now)?;
            match Place::of(&writer, &file) {
                Ok(place) => return opened(Reach::Write(file), place, writer),
                Err(fault) if attempt == ATTEMPTS => return Err(fault),
                Err(_) => attempt += 1,
            }
        }
    }

    pub(super) fn writer(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction has rolled it back, so the connection is sound.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that writes rows. It keeps the checksums of what it writes from its first use on: setting that up takes
    /// milliseconds, which a process that only reads is spared.
    pub(super) fn row_writer(&self) -> Result<MutexGuard<'_, Connection>, Fault> {
        let writer = self.writer();
        if !self.keeps_sums.load(Ordering::Relaxed) {
            sums::watch(&writer)?;
            self.keeps_sums.store(true, Ordering::Relaxed);
        }
        Ok(writer)
    }
}

impl Live {
    /// Refuses to go on where one of the files is not the one that was opened, or was changed where it is read as one that
    /// does not change.
    pub(super) fn require_in_place(&self) -> Result<(), StoreError> {
        self.place.require()?;
        match self.reach.is_current() {
            true => Ok(()),
            false => Err(self.place.changed()),
        }
    }
}

impl Drop for Live {
    /// Lets the last close empty the log and remove it, but not where the log is another one: that would remove what others
    /// have written to it.
    fn drop(&mut self) {
        let writer = self.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        if self.place.require_whole(writer).is_ok() {
            // Where it fails, the log stays, and the next to open the store reads it.
            drop(writer.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false));
        }
    }
}

/// The connections of a store as they are now.
pub(super) struct Current {
    state: Mutex<State>,
}

struct State {
    /// None while they could not be opened again.
    live: Option<Arc<Live>>,
    generation: u64,
}

impl Current {
    pub(super) fn new(live: Live) -> Self {
        Self { state: Mutex::new(State { generation: live.generation, live: Some(Arc::new(live)) }) }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connections; opened where an attempt before has failed.
    pub(super) fn get(&self, reopen: impl FnOnce(u64) -> Result<Live, Fault>) -> Result<Arc<Live>, Fault> {
        let mut state = self.lock();
        match &state.live {
            Some(live) => Ok(Arc::clone(live)),
            None => state.open(reopen),
        }
    }

    /// Closes all connections and opens them on the files that are at the path now. Nothing happens where another thread
    /// has done it since the generation `seen`, or where the connections are in use for too long; it is then for the next
    /// who notices.
    pub(super) fn renew(
        &self,
        seen: u64,
        reopen: impl FnOnce(u64) -> Result<Live, Fault>,
    ) -> Result<(), Fault> {
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

impl State {
    fn open(&mut self, reopen: impl FnOnce(u64) -> Result<Live, Fault>) -> Result<Arc<Live>, Fault> {
        let opened = Arc::new(reopen(self.generation + 1)?);
        self.generation += 1;
        self.live = Some(Arc::clone(&opened));
        Ok(opened)
    }
}

/// Moves what is in a removed log into the database, where that is safe.
fn save_log(live: &mut Live) {
    if live.place.can_save_log() {
        let writer = live.writer.get_mut().unwrap_or_else(PoisonError::into_inner);
        // Where it fails, what was in the removed log is lost; the caller hears that the log was removed.
        drop(busy::in_a_hurry(SAVE_PATIENCE, || scrub::truncate_log(writer)));
    }
}

/// Gives a store a new epoch where it has lost changes up to `head`: an index that knows them would take later ones, which
/// get the same numbers, for known.
pub(super) fn renew_epoch_after_loss(live: &Live, head: u64) -> Result<(), Fault> {
    let writer = live.writer();
    let now: i64 = writer.query_row("SELECT coalesce(max(seq), 0) FROM changes", [], |row| row.get(0))?;
    if now.unsigned_abs() < head {
        migrate::renew_epoch(&writer)?;
    }
    Ok(())
}

/// Tells whether an error says that a file was taken from under the connections.
pub(super) fn is_detached(fault: &Fault) -> bool {
    match fault {
        Fault::Said(error) => matches!(error, StoreError::Detached { .. }),
        Fault::Sql(error) => failure::is_cut_log(error),
        Fault::Json(_) | Fault::Shut => false,
    }
}
