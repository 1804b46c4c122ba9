//! Makes writers wait while a restore replaces the data.
//!
//! A restore copies the present content, then replaces it with the backup. A commit in between would be in neither of
//! them, so no process may commit from before the copy until after the replacement. The restore lock is a lock on a
//! separate file. The system releases it when the restoring process dies. While that process lives, the lock stays
//! taken, however long the process hangs.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tulving_core::model::error::StoreError;

use super::busy;
use super::failure::SqliteError;
use crate::files;

/// The restore lock of one home. Every writer checks it inside its transaction.
pub(super) struct RestoreLock {
    file: PathBuf,
}

/// The lock while it is taken. Dropping this value releases the lock.
pub(super) struct RestoreLockGuard {
    _lock: File,
}

impl RestoreLock {
    /// Creates the lock of a home. The first restore creates the lock file, which then stays: after a removal, two
    /// processes could have the lock at once.
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// Returns [`SqliteError::Shut`] while a restore is running. Inside a write transaction, the result is valid until
    /// the transaction ends.
    pub(super) fn require_open(&self) -> Result<(), SqliteError> {
        let lock = match files::open_regular(&self.file) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(files::unwritten(&self.file, "opened", &error).into()),
        };
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Err(SqliteError::Shut),
            // If the file system does not support locks, no restore can have started.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Runs `work`, and repeats it while the lock is taken, for up to `wait`.
    ///
    /// After `work` has returned [`SqliteError::Shut`], it must not hold any lock that the restoring thread needs.
    pub(super) fn pass<T>(
        &self,
        wait: Duration,
        mut work: impl FnMut() -> Result<T, SqliteError>,
    ) -> Result<T, SqliteError> {
        let began = Instant::now();
        loop {
            match work() {
                Err(SqliteError::Shut) => self.wait(began, wait)?,
                done => return done,
            }
        }
    }

    /// Waits for the restore. The caller has no transaction open, so waiting writers do not block the restore.
    fn wait(&self, began: Instant, wait: Duration) -> Result<(), SqliteError> {
        for round in 0.. {
            if began.elapsed() >= wait {
                return Err(StoreError::Busy { waited: began.elapsed() }.into());
            }
            std::thread::sleep(busy::pause(round));
            match self.require_open() {
                Err(SqliteError::Shut) => {}
                open => return open,
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// Takes the lock and waits for the writers that have already begun. Afterwards no process commits until the lock
    /// is released.
    pub(super) fn shut(&self, live: &Connection, wait: Duration) -> Result<RestoreLockGuard, SqliteError> {
        let failed = |error: &io::Error| files::unwritten(&self.file, "locked", error);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(&self.file)
            .map_err(|error| failed(&error))?;
        // If root restores, the home's owner must still be able to open the lock file. If the owner restores, the
        // file already belongs to the owner.
        if let Ok(home) = files::folder_of(&self.file).metadata() {
            drop(fchown(&lock, Some(home.uid()), Some(home.gid())));
        }
        let began = Instant::now();
        for round in 0.. {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(failed(&error).into()),
                Err(TryLockError::WouldBlock) if began.elapsed() >= wait => {
                    return Err(StoreError::Busy { waited: began.elapsed() }.into());
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(busy::pause(round)),
            }
        }
        // A writer that found the lock free had already begun its transaction. When this transaction can begin, that
        // writer's has ended.
        Transaction::new_unchecked(live, TransactionBehavior::Immediate)?.rollback()?;
        Ok(RestoreLockGuard { _lock: lock })
    }
}
