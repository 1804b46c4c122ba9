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
        outcome = outcome.and(one(files, note, &mut may));
    }
    outcome
}

/// Finishes what a note tells of, where it may. A note that is none goes; one that the disk does not give stays: it may yet.
fn one(files: &Workspace, note: Note, may: &mut impl FnMut(&OwnedFd) -> bool) -> Result<(), Trouble> {
    let Some((intent, lines)) = note.read::<Intent>()? else {
        note.remove();
        return Ok(());
    };
    // What is of another workspace is for those who use that one.
    let Some(path) = intent.file.path(&files.root) else {
        return Ok(());
    };
    let spot = Space::open(&files.root, path.folder(), Missing::Leave)
        .and_then(|space| space.spot(path.name(), Missing::Leave));
    let finished = match spot {
        Ok(spot) if may(&spot.folder) => finish(&spot, intent.start, &lines),
        Err(Trouble::Absent | Trouble::Refused(_)) => Ok(()),
        // A disk that is not there may be so again.
        _ => return Ok(()),
    };
    match finished {
        // What took the place of the file is not what was written to.
        Ok(()) | Err(Trouble::Refused(_)) => {
            note.remove();
            Ok(())
        }
        failed => failed,
    }
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
        let unread = one(&files, Note::unreadable(&path), &mut |_| true);
        assert!(matches!(unread, Err(Trouble::Home(_))), "{unread:?}");
        assert!(path.exists(), "it may be read another time");
        each(&files, |_| true).expect("there is nothing to finish");
        assert!(!path.exists());
    }
}
