//! The store on SQLite: the truth of every record.
//!
//! One writer connection, a pool of readers and one follower in each process; any number of processes on one file.
//! [`apply`] is the only writer of rows, [`visible`] the only place that says who sees what.

mod aging;
mod apply;
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
mod gate;
mod holds;
mod imports;
mod jobs;
mod log;
mod migrate;
mod mirrors;
mod open;
mod passes;
mod read;
mod readers;
mod rescue;
mod restore;
mod rows;
mod scrub;
mod sights;
mod stage;
mod usage;
mod vectors;
mod visible;

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use tulving_core::change::{Applied, ChangeSet};
use tulving_core::error::StoreError;
use tulving_core::ports::{Clock, Store, SystemClock};

use crate::home::Home;
use crate::{draft, files};
use failure::Fault;
use readers::Readers;

pub use backup::{BackupReport, IfExists};
pub use check::{Checkup, Depth, Finding, Severity};
pub use restore::RestoreReport;

/// How a store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How long a write waits for others before it gives up.
    pub busy_wait: Duration,
    /// How many reads may run at the same time in this process.
    pub readers: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { busy_wait: Duration::from_secs(60), readers: 4 }
    }
}

/// A store in one SQLite file.
pub struct SqliteStore {
    home: Home,
    file: PathBuf,
    /// Which file that was when it was opened.
    opened: Option<(u64, u64)>,
    options: Options,
    clock: Arc<dyn Clock>,
    gate: gate::Gate,
    scrub: scrub::Scrub,
    sights: sights::Sights,
    // Closed in this order: the writer last, so that it is the one that empties the log and removes it.
    follower: Mutex<Connection>,
    readers: Readers,
    writer: Mutex<Connection>,
}

impl SqliteStore {
    /// Opens the store of a home, made or brought to the newest schema where needed.
    ///
    /// A file that is damaged, foreign or of a later version is named and left as it is.
    pub fn open(home: &Home, options: Options) -> Result<Self, StoreError> {
        Self::open_with_clock(home, options, Arc::new(SystemClock))
    }

    /// Like [`open`](Self::open), with another clock.
    pub fn open_with_clock(home: &Home, options: Options, clock: Arc<dyn Clock>) -> Result<Self, StoreError> {
        let file = home.database();
        let explain = |fault: Fault| fault.explained(&file, options.busy_wait);
        let gate = gate::Gate::new(home.restore_lock());
        open::refuse_emptied(home)?;
        let writer = open::writer(&file, &gate, options.busy_wait, clock.now()).map_err(explain)?;
        let follower = open::reader(&file, options.busy_wait).map_err(explain)?;
        let pending = scrub::pending(&writer).map_err(|error| explain(error.into()))?;
        let store = Self {
            home: home.clone(),
            opened: files::identity(&file),
            options,
            clock,
            gate,
            scrub: scrub::Scrub::new(pending),
            sights: sights::Sights::default(),
            follower: Mutex::new(follower),
            readers: Readers::new(file.clone(), options),
            writer: Mutex::new(writer),
            file,
        };
        store.scrub.after_write(&store.writer());
        draft::sweep(home.path());
        draft::sweep(&home.backups());
        Ok(store)
    }

    /// The home that the store is in.
    pub fn home(&self) -> &Home {
        &self.home
    }

    fn writer(&self) -> MutexGuard<'_, Connection> {
        // A panic inside a transaction has rolled it back, so the connection is sound.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        let found =
            self.require_in_place().and_then(|()| self.readers.take()).and_then(|reader| work(&reader));
        found.map_err(|fault| self.explain(fault))
    }

    /// Several reads of one state of the store.
    fn read_steadily<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Fault>) -> Result<T, StoreError> {
        self.read(|reader| {
            let moment = reader.unchecked_transaction()?;
            let found = work(&moment)?;
            moment.finish()?;
            Ok(found)
        })
    }

    /// Refuses a file that has lost its name: nobody would find again what is written there, and what is read is of a home
    /// that is gone.
    fn require_in_place(&self) -> Result<(), Fault> {
        match files::identity(&self.file) == self.opened {
            true => Ok(()),
            false => Err(StoreError::Replaced { path: self.file.clone() }.into()),
        }
    }

    fn explain(&self, fault: Fault) -> StoreError {
        fault.explained(&self.file, self.options.busy_wait)
    }
}

impl Store for SqliteStore {
    fn apply(&self, changes: &ChangeSet) -> Result<Applied, StoreError> {
        let cut = match apply::loads_memories(changes) {
            true => self.read(|reader| apply::cut(reader, changes))?,
            false => apply::Cut::default(),
        };
        let write = || {
            let mut writer = self.writer();
            self.require_in_place()?;
            let (applied, erased) = apply::run(&mut writer, &self.gate, changes, &cut)?;
            if erased {
                self.scrub.ask();
            }
            self.scrub.after_write(&writer);
            Ok(applied)
        };
        self.gate.pass(self.options.busy_wait, write).map_err(|fault| self.explain(fault))
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
