//! Finishes the appends of processes that died during the write.
//!
//! If a file ends with the first part of the recorded bytes, the rest is added. If none of these bytes were written,
//! nothing is added, because no caller got a confirmation. If the file ends in any other way, it does not change.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{OFlags, fstat};

use super::Workspace;
use super::append::{self, AppendIntent};
use super::errors::WorkspaceFileError;
use super::folder_access::{self, FileLocation, MissingFolderPolicy, SpaceFolder};
use super::lock::{self, LockAttempt};
use super::notes::RecoveryNote;

/// Finishes the unfinished appends in the whole workspace. Skips an append that another writer is about to finish. If
/// an append cannot be finished, the next writer tries again.
pub(super) fn all(files: &Workspace) {
    drop(each(files, |folder| lock::try_lock(folder) != LockAttempt::Busy));
}

/// Finishes the unfinished appends in a folder that is already locked. If this fails, the caller must not write to that
/// folder, because the unfinished bytes could no longer be recognised.
pub(super) fn within(files: &Workspace, locked: &OwnedFd) -> Result<(), WorkspaceFileError> {
    each(files, |folder| match (fstat(locked), fstat(folder)) {
        (Ok(one), Ok(other)) => folder_access::same(&one, &other),
        _ => false,
    })
}

/// Finishes as many of the unfinished appends in the permitted folders as possible. Returns the first error.
fn each(files: &Workspace, mut may: impl FnMut(&OwnedFd) -> bool) -> Result<(), WorkspaceFileError> {
    let mut outcome = Ok(());
    for note in RecoveryNote::of_the_dead(&files.home.appends()) {
        outcome = outcome.and(one(files, note, &mut may));
    }
    outcome
}

/// Finishes the append of a note, if permitted. An invalid note is removed. A note that cannot be read because of a
/// disk error stays, because it may be readable later.
fn one(
    files: &Workspace,
    note: RecoveryNote,
    may: &mut impl FnMut(&OwnedFd) -> bool,
) -> Result<(), WorkspaceFileError> {
    let Some((intent, lines)) = note.read::<AppendIntent>()? else {
        note.remove();
        return Ok(());
    };
    // Notes about another workspace are handled by the processes that use it.
    let Some(path) = intent.file.path(&files.root) else {
        return Ok(());
    };
    let spot = SpaceFolder::open(&files.root, path.folder(), MissingFolderPolicy::Leave)
        .and_then(|space| space.spot(path.name(), MissingFolderPolicy::Leave));
    let finished = match spot {
        Ok(spot) if may(&spot.folder) => finish(&spot, intent.start, &lines),
        Err(WorkspaceFileError::Absent | WorkspaceFileError::Refused(_)) => Ok(()),
        // A missing disk may be mounted again later.
        _ => return Ok(()),
    };
    match finished {
        // If the file was replaced, the new file is not the one that the bytes were added to.
        Ok(()) | Err(WorkspaceFileError::Refused(_)) => {
            note.remove();
            Ok(())
        }
        failed => failed,
    }
}

/// Writes the missing part of `lines` at the end of a file that had `start` bytes before.
fn finish(spot: &FileLocation, start: u64, lines: &[u8]) -> Result<(), WorkspaceFileError> {
    let Some(file) = spot.file(OFlags::RDWR | OFlags::APPEND)? else {
        return Ok(());
    };
    match torn(&file, start, lines)? {
        Some(rest) => {
            (&file).write_all(rest)?;
            append::sync(&file, spot, start)
        }
        None => Ok(()),
    }
}

/// Returns the missing part of `lines`, if the content of the file after `start` is exactly the first part of `lines`.
fn torn<'a>(file: &File, start: u64, lines: &'a [u8]) -> Result<Option<&'a [u8]>, WorkspaceFileError> {
    let tail = file.metadata()?.len().saturating_sub(start);
    let Some((head, rest)) = usize::try_from(tail).ok().and_then(|tail| lines.split_at_checked(tail)) else {
        return Ok(None);
    };
    if head.is_empty() || rest.is_empty() {
        return Ok(None);
    }
    let mut found = vec![0; head.len()];
    file.read_exact_at(&mut found, start)?;
    Ok((found == head).then_some(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::home::Home;

    #[test]
    fn a_note_that_the_disk_does_not_give_stays_and_one_that_is_none_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open_or_create(folder.path()).expect("a home");
        let files = Workspace::open(&home, &home.workspace());
        std::fs::create_dir(home.appends()).expect("made");
        let path = home.appends().join("1");
        std::fs::write(&path, "no note").expect("written");
        let unread = one(&files, RecoveryNote::unreadable(&path), &mut |_| true);
        assert!(matches!(unread, Err(WorkspaceFileError::Home(_))), "{unread:?}");
        assert!(path.exists(), "it may be read another time");
        each(&files, |_| true).expect("there is nothing to finish");
        assert!(!path.exists());
    }
}
