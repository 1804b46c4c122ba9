//! The store on SQLite. It is the source of truth for every record.
//!
//! Each process has one writer connection, a pool of readers and one connection that detects changes. Any number of
//! processes can use one file. Only [`apply`] writes rows, and only [`visible`] decides which memories a viewer can
//! see.

mod aging;
mod apply;
mod attached;
mod backup;
mod busy;
mod check;
mod claims;
mod copies;
mod directory;
mod dump;
mod failure;
mod feed;
mod filter;
mod holds;
mod imports;
mod jobs;
mod live;
mod log;
mod migrate;
mod mirrors;
mod open;
mod passes;
mod place;
mod reach;
mod read;
mod readers;
mod rescue;
mod restore;
mod restore_lock;
mod rows;
mod schema;
mod scrub;
mod stage;
mod sums;
mod usage;
mod vectors;
mod visibility_cache;
mod visible;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use tulving_core::model::change::{Applied, ChangeSet};
use tulving_core::model::error::StoreError;
use tulving_core::ports::{Clock, Store, SystemClock};

use crate::home::Home;
use crate::{draft, files, pending};
use failure::SqliteError;
use live::{CurrentConnections, StoreConnections};

pub use backup::{DatabaseBackup, ExistingFilePolicy};
pub(crate) use backup::{free_target, put};
pub use rescue::DamagedDatabase;
pub(crate) use restore::{first_copy, place_copy, refuse_unfit};

/// Options for opening a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SqliteOptions {
    /// The time that a write waits for other connections before it returns an error.
    pub busy_wait: Duration,
    /// Maximum number of concurrent reads in this process.
    pub readers: usize,
}

impl Default for SqliteOptions {
    fn default() -> Self {
        Self { busy_wait: Duration::from_secs(60), readers: 4 }
    }
}

/// A check that a transaction may continue: no restore is running, and the files are in place.
type TransactionCheck<'a> = dyn Fn() -> Result<(), SqliteError> + 'a;

/// A store in one SQLite file.
pub struct SqliteStore {
    home: Home,
    file: PathBuf,
    options: SqliteOptions,
    clock: Arc<dyn Clock>,
    restore_lock: restore_lock::RestoreLock,
    scrub: scrub::ScrubSchedule,
    visibilities: visibility_cache::SightCache,
    current: CurrentConnections,
    /// The number of the newest change that this process has written.
    head: AtomicU64,
}

impl SqliteStore {
    /// Opens the store of a home. Creates the store or migrates it to the newest schema, if needed.
    ///
    /// If the file is damaged, foreign or of a later version, the error names it and the file stays unchanged.
    pub fn open(home: &Home, options: SqliteOptions) -> Result<Self, StoreError> {
        Self::open_with_clock(home, options, Arc::new(SystemClock))
    }

    /// Does the same as [`open`](Self::open), with another clock.
    pub fn open_with_clock(
        home: &Home,
        options: SqliteOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, StoreError> {
        let file = home.database();
        let explain = |fault: SqliteError| fault.explained(&file, options.busy_wait);
        let restore_lock = restore_lock::RestoreLock::new(home.restore_lock());
        open::refuse_special(home)?;
        home.refuse_foreign()?;
        pending::settle(home);
        open::refuse_emptied(home)?;
        let live = StoreConnections::open(home, &restore_lock, options, clock.now(), 0).map_err(explain)?;
        let pending = scrub::pending(&live.writer()).map_err(|error| explain(error.into()))?;
        let store = Self {
            home: home.clone(),
            options,
            clock,
            restore_lock,
            scrub: scrub::ScrubSchedule::new(pending),
            visibilities: visibility_cache::SightCache::default(),
            current: CurrentConnections::new(live),
            head: AtomicU64::new(0),
            file,
        };
        if home.is_read_only() {
            return Ok(store);
        }
        let live = store.live().map_err(|fault| store.explain(fault))?;
        store.scrub.after_write(&live.writer());
        drop(live);
        draft::sweep(home.path());
        draft::sweep(&home.backups());
        Ok(store)
    }

    /// The home that contains the store.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// Returns the connections. They stay open while a caller uses them.
    fn live(&self) -> Result<Arc<StoreConnections>, SqliteError> {
        self.current.get(|generation| self.reopen(generation))
    }

    fn reopen(&self, generation: u64) -> Result<StoreConnections, SqliteError> {
        let live = StoreConnections::open(
            &self.home,
            &self.restore_lock,
            self.options,
            self.clock.now(),
            generation,
        )?;
        if !self.home.is_read_only() {
            live::renew_epoch_after_loss(&live, self.head.load(Ordering::Relaxed))?;
        }
        Ok(live)
    }

    /// Reads from the present files at the path. If one of the files was removed or replaced, the connections are
    /// opened again first.
    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, SqliteError>) -> Result<T, StoreError> {
        self.attached(|live| live.readers.take().and_then(|reader| work(&reader)))
    }

    /// Reads with connections to the present files at the path.
    fn attached<T>(
        &self,
        work: impl FnOnce(&StoreConnections) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        let attached = || {
            let live = self.live()?;
            match live.require_in_place() {
                Err(error @ StoreError::Detached { .. }) => {
                    let seen = live.generation;
                    drop(live);
                    self.current.renew(seen, |generation| self.reopen(generation))?;
                    let live = self.live()?;
                    if live.generation == seen { Err(error.into()) } else { Ok(live) }
                }
                in_place => in_place.map(|()| live).map_err(SqliteError::from),
            }
        };
        let found = attached().and_then(|live| {
            self.renewing(live, |live| {
                let found = work(live);
                // Data read from removed files is not a valid answer. The removal may also be the only cause of an
                // error.
                live.require_in_place()?;
                found
            })
        });
        found.map_err(|fault| self.explain(fault))
    }

    /// Writes to the store. `work` gets the writer connection and a check to call inside its transaction.
    ///
    /// The write is acknowledged only if the files of the store are in place after the commit.
    fn write<T>(
        &self,
        mut work: impl FnMut(&mut Connection, &TransactionCheck<'_>) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        self.home.require_writable()?;
        let attempt = || {
            self.renewing(self.live()?, |live| {
                let mut writer = live.row_writer()?;
                live.place.require_whole(&writer)?;
                let written = work(&mut writer, &|| {
                    self.restore_lock.require_open()?;
                    Ok(live.place.require()?)
                });
                if matches!(written, Err(SqliteError::Shut)) {
                    return written;
                }
                live.place.require_whole(&writer)?;
                self.scrub.after_write(&writer);
                written
            })
        };
        self.restore_lock.pass(self.options.busy_wait, attempt).map_err(|fault| self.explain(fault))
    }

    /// Runs work with the connections. If a file was removed or replaced, the connections are opened again for later
    /// callers.
    fn renewing<T>(
        &self,
        live: Arc<StoreConnections>,
        work: impl FnOnce(&StoreConnections) -> Result<T, SqliteError>,
    ) -> Result<T, SqliteError> {
        let done = work(&live);
        let seen = live.generation;
        drop(live);
        if done.as_ref().is_err_and(live::is_detached) {
            // The caller already gets an error. If opening fails too, the next caller tries again and gets that error.
            drop(self.current.renew(seen, |generation| self.reopen(generation)));
        }
        done
    }

    /// Runs several reads in one transaction, so that all of them see the same state of the store.
    fn read_steadily<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, SqliteError>,
    ) -> Result<T, StoreError> {
        self.read(|reader| {
            let moment = reader.unchecked_transaction()?;
            let found = work(&moment)?;
            moment.finish()?;
            Ok(found)
        })
    }

    fn explain(&self, fault: SqliteError) -> StoreError {
        fault.explained(&self.file, self.options.busy_wait)
    }
}

impl Store for SqliteStore {
    fn require_writable(&self) -> Result<(), StoreError> {
        self.home.require_writable()
    }

    fn apply(&self, changes: &ChangeSet) -> Result<Applied, StoreError> {
        pending::settle(&self.home);
        let cut = match apply::loads_memories(changes) {
            true => self.read(|reader| apply::cut(reader, changes))?,
            false => apply::ChunksByMemory::default(),
        };
        let write = || {
            self.write(|writer, allowed| {
                let (applied, erased) = apply::run(writer, allowed, changes, &cut)?;
                if erased {
                    self.scrub.ask();
                }
                Ok(applied)
            })
        };
        let applied = match write() {
            // Nothing was written because the process cannot open more files. Closing unused readers allows a second
            // attempt. A reader can be opened again later, but a failed write is lost.
            Err(_)
                if files::is_short_of_handles() && self.live().is_ok_and(|live| live.readers.release()) =>
            {
                write()
            }
            done => done,
        }?;
        if let Some(seq) = applied.seq {
            self.head.fetch_max(seq.0, Ordering::Relaxed);
        }
        Ok(applied)
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("file", &self.file)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
