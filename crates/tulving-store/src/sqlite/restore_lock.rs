//! Keeps writers out while a restore replaces the data that they would write to.
//!
//! A restore copies the present content, then replaces it with the backup. A commit in between would be in neither, so
//! nothing is committed from before the copy until after the replacement. It is a lock on a separate file: the system frees
//! it when the restoring process dies, and it stays taken while that lives, however long it hangs.

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

/// The lock while it is taken. It is freed when this is dropped.
pub(super) struct RestoreLockGuard {
    _lock: File,
}

impl RestoreLock {
    /// Creates it. The first restore creates the lock file, which then stays: if it were removed, two processes could
    /// have the lock at once.
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// Returns [`SqliteError::Shut`] while a restore is running. The answer is valid for a whole write transaction if called
    /// inside it.
    pub(super) fn require_open(&self) -> Result<(), SqliteError> {
        let lock = match files::open_regular(&self.file) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(files::unwritten(&self.file, "opened", &error).into()),
        };
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Err(SqliteError::Shut),
            // Without locks in the file system, no restore can have started.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Runs `work`, again and again while the lock is taken, for up to `wait`.
    ///
    /// `work` must hold nothing that the restoring thread may need after it has returned [`SqliteError::Shut`].
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

    /// Waits outside of any transaction, so that waiting writers do not block the restore.
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

    /// Takes the lock and waits for the writers that have begun. Afterwards nothing is committed until it is freed.
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
        // A restore by root must not leave a file that the home's owner cannot open. For others the file is already theirs.
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
        // A writer that found the lock free has begun its transaction before; by our turn, it has ended.
        Transaction::new_unchecked(live, TransactionBehavior::Immediate)?.rollback()?;
        Ok(RestoreLockGuard { _lock: lock })
    }
}
