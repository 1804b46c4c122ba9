//! Keeps writers out while a restore replaces what they would write to.
//!
//! A restore copies what is there, then puts the backup in its place. What is committed in between would be in neither, so
//! from before the copy until after the replacement nothing is. The gate is a lock on a file of its own: it opens by itself
//! when the restoring process dies, and stays shut for as long as it lives, however long that stands still.

use std::fs::{File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tulving_core::error::StoreError;

use super::busy;
use super::failure::Fault;
use crate::files;

/// The gate of one home. Every writer asks it inside its transaction.
pub(super) struct Gate {
    file: PathBuf,
}

/// A gate that is shut. It opens when this is dropped.
pub(super) struct Shut {
    _lock: File,
}

impl Gate {
    /// The lock file is made by the first restore and then stays: were it removed, two could hold it at once.
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// Answers [`Fault::Shut`] while a restore goes on. Holds for a whole write transaction if asked inside it.
    pub(super) fn require_open(&self) -> Result<(), Fault> {
        let lock = match files::open_regular(&self.file) {
            Ok(lock) => lock,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(files::unwritten(&self.file, "opened", &error).into()),
        };
        match lock.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Err(Fault::Shut),
            // Where the file system has no locks, no restore can have begun.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Does some writing, again and again while the gate is shut, for up to `wait`.
    ///
    /// `work` shall hold nothing that the restoring thread may need after it has answered [`Fault::Shut`].
    pub(super) fn pass<T>(
        &self,
        wait: Duration,
        mut work: impl FnMut() -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let began = Instant::now();
        loop {
            match work() {
                Err(Fault::Shut) => self.wait(began, wait)?,
                done => return done,
            }
        }
    }

    /// Waits outside of any transaction, so that those who wait are not in the way of the restore.
    fn wait(&self, began: Instant, wait: Duration) -> Result<(), Fault> {
        for round in 0.. {
            if began.elapsed() >= wait {
                return Err(StoreError::Busy { waited: began.elapsed() }.into());
            }
            std::thread::sleep(busy::pause(round));
            match self.require_open() {
                Err(Fault::Shut) => {}
                open => return open,
            }
        }
        unreachable!("the loop ends by returning")
    }

    /// Shuts the gate and waits for those inside. Afterwards nothing is committed until it opens.
    pub(super) fn shut(&self, live: &Connection, wait: Duration) -> Result<Shut, Fault> {
        let failed = |error: &io::Error| files::unwritten(&self.file, "locked", error);
        let lock = File::options()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .mode(0o600)
            .open(&self.file)
            .map_err(|error| failed(&error))?;
        // A restore by root must not leave a file that the home's owner cannot open; for anybody else it is theirs already.
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
        // A writer that found the gate open has begun its transaction before; once it was our turn, it has ended.
        Transaction::new_unchecked(live, TransactionBehavior::Immediate)?.rollback()?;
        Ok(Shut { _lock: lock })
    }
}
