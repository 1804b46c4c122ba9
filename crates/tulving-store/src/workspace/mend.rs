//! Finishes what a process that died in the middle of an append has begun.
//!
//! A file that ends with a part of what was to be written gets the rest. Where nothing of it was written, nothing is: nobody
//! was told that it was. Whatever else the file ends with is not ours and stays.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{OFlags, fstat};

use super::Workspace;
use super::append::{self, Intent};
use super::beneath::{self, Missing, Space, Spot};
use super::lock::{self, Tried};
use super::notes::Note;
use super::trouble::Trouble;

/// Finishes what was begun anywhere in the workspace. What somebody else is about to finish is left to them, and what cannot
/// be finished to whoever writes there next.
pub(super) fn all(files: &Workspace) {
    drop(each(files, |folder| lock::try_lock(folder) != Tried::Busy));
}

/// Finishes what was begun in a folder that is locked already. Who is to write there must not where this fails: nothing could
/// be told from what was begun then.
pub(super) fn within(files: &Workspace, locked: &OwnedFd) -> Result<(), Trouble> {
    each(files, |folder| match (fstat(locked), fstat(folder)) {
        (Ok(one), Ok(other)) => beneath::same(&one, &other),
        _ => false,
    })
}

/// Finishes what was begun in those folders that it may, all of it as far as possible. The first failure is told.
fn each(files: &Workspace, mut may: impl FnMut(&OwnedFd) -> bool) -> Result<(), Trouble> {
    let mut outcome = Ok(());
    for note in Note::of_the_dead(&files.home.appends()) {
        let Some((intent, lines)) = note.read::<Intent>() else {
            note.remove();
            continue;
        };
        // What is of another workspace is for those who use that one.
        let Some(path) = intent.file.path(&files.root) else {
            continue;
        };
        let spot = Space::open(&files.root, path.folder(), Missing::Leave)
            .and_then(|space| space.spot(path.name(), Missing::Leave));
        let finished = match spot {
            Ok(spot) if may(&spot.folder) => finish(&spot, intent.start, &lines),
            // A disk that is not there may be so again.
            Err(Trouble::Absent | Trouble::Refused(_)) if files.root.is_dir() => Ok(()),
            _ => continue,
        };
        match finished {
            // What took the place of the file is not what was written to.
            Ok(()) | Err(Trouble::Refused(_)) => note.remove(),
            Err(trouble) => outcome = outcome.and(Err(trouble)),
        }
    }
    outcome
}

/// Writes what is missing of `lines` at the end of a file that had `start` bytes before.
fn finish(spot: &Spot, start: u64, lines: &[u8]) -> Result<(), Trouble> {
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

/// What is missing of `lines`, where a part of them and nothing else is in the file from `start` on.
fn torn<'a>(file: &File, start: u64, lines: &'a [u8]) -> Result<Option<&'a [u8]>, Trouble> {
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
