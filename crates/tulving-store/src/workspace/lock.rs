//! Allows only one writer in a folder at a time, among all processes of Tulving on this machine, even if they use
//! different homes.
//!
//! The lock is on the open folder itself, so no lock file is needed. It ends with the process that has it.

use std::os::fd::AsFd;
use std::thread::sleep;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use super::errors::WorkspaceFileError;

/// Maximum time to wait for a folder. A writer normally locks it for a few milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Maximum pause between two attempts, in microseconds.
const LONGEST_NAP: u64 = 5_000;

/// Locks an open folder for as long as it stays open. Returns [`WorkspaceFileError::Busy`] if the folder stays locked for
/// too long. If the file system does not support locks, continues without one.
pub(super) fn lock(folder: impl AsFd) -> Result<(), WorkspaceFileError> {
    lock_within(folder, PATIENCE)
}

fn lock_within(folder: impl AsFd, patience: Duration) -> Result<(), WorkspaceFileError> {
    let (mut waited, mut nap) = (Duration::ZERO, 50);
    while try_lock(folder.as_fd()) == LockAttempt::Busy {
        if waited > patience {
            return Err(WorkspaceFileError::Busy);
        }
        let pause = Duration::from_micros(fastrand::u64(nap / 2..=nap));
        sleep(pause);
        waited += pause;
        nap = (nap * 2).min(LONGEST_NAP);
    }
    Ok(())
}

/// The result of an attempt to lock something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockAttempt {
    /// The file or folder is now locked.
    Locked,
    /// Another open handle of the file or folder has the lock.
    Busy,
    /// The file system does not support locks.
    Unsupported,
}

/// Tries to lock an open file or folder, without waiting.
pub(super) fn try_lock(file: impl AsFd) -> LockAttempt {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => LockAttempt::Locked,
        Err(Errno::WOULDBLOCK | Errno::INTR) => LockAttempt::Busy,
        Err(_) => LockAttempt::Unsupported,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use tulving_core::model::error::Class;

    use super::*;

    #[test]
    fn a_folder_that_somebody_else_does_not_let_go_is_busy_and_worth_another_try() {
        let folder = tempfile::tempdir().expect("a folder");
        let opened = || File::open(folder.path()).expect("opened");
        let (theirs, ours) = (opened(), opened());
        lock(&theirs).expect("nobody has it");
        let trouble = lock_within(&ours, Duration::from_millis(1)).expect_err("they have it");
        let described = trouble.described("memory/a.md", "memory/a.md", folder.path(), "written");
        assert_eq!(
            (described.class(), described.code(), described.hint()),
            (Class::Busy, "busy", Some("try again"))
        );
        drop(theirs);
        lock(&ours).expect("it was let go");
    }
}
