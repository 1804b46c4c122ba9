//! Files that are to stay only if a memory is saved.
//!
//! A note in the home comes before the file and goes after it was settled, so that no crash leaves a file that nobody knows
//! the reason of. The note says which file it was, to the inode and the byte: no other is ever removed.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tulving_core::file::Pledge;
use tulving_core::id::MemoryId;

use super::beneath::{self, Missing};
use super::draft::Draft;
use super::notes::{Note, Subject};
use super::trouble::Trouble;
use super::{Workspace, replace};

/// What a note says of a pledge.
#[derive(Debug, Serialize, Deserialize)]
struct Promise {
    file: Subject,
    memory: MemoryId,
    inode: u64,
    digest: String,
}

/// Makes a file that is to stay only if a memory is saved.
pub(super) fn pledge(files: &Workspace, pledge: &Pledge, content: &[u8]) -> Result<(), Trouble> {
    let spot = replace::unlinked(files, &pledge.path, Missing::Make)?;
    if spot.stat()?.is_some() {
        return Err(Trouble::Exists);
    }
    let draft = Draft::write(&spot.folder, content)?;
    let promise = Promise {
        file: Subject::new(&files.root, &pledge.path),
        memory: pledge.memory,
        inode: beneath::stamp(&draft.stat()?).inode,
        digest: HEXLOWER.encode(&Sha256::digest(content)),
    };
    let folder = files.home.pledges();
    let note = Note::write(&folder, &pledge.memory.to_string(), &promise, b"")?.synced(&folder)?;
    match draft.create(&spot) {
        Ok(()) => {
            files.pledged().insert(pledge.memory, note);
            Ok(())
        }
        Err(trouble) => {
            // It may be there although its name could not be made durable. Where it cannot be taken back, the note stays for
            // whoever settles the pledges of the dead.
            if matches!(trouble, Trouble::Exists) || undone(files, pledge, &promise).is_ok() {
                note.remove();
            }
            Err(trouble)
        }
    }
}

/// The pledges of dead processes.
pub(super) fn pledges(files: &Workspace) -> Vec<Pledge> {
    let mut found: Vec<Pledge> = Note::of_the_dead(&files.home.pledges())
        .into_iter()
        .filter_map(|note| {
            let (promise, _) = note.read::<Promise>().ok()??;
            Some(Pledge { path: promise.file.path(&files.root)?, memory: promise.memory })
        })
        .collect();
    found.sort_unstable_by_key(|pledge| pledge.memory);
    found
}

/// Settles a pledge. One that is settled already, or that somebody else is about to settle, is left alone.
pub(super) fn settle(files: &Workspace, pledge: &Pledge, saved: bool) -> Result<(), Trouble> {
    let name = pledge.memory.to_string();
    let held = files.pledged().remove(&pledge.memory);
    let Some(note) = held.or_else(|| Note::take(&files.home.pledges(), &name)) else {
        return Ok(());
    };
    if !saved
        && let Some((promise, _)) = note.read::<Promise>()?
        && let Err(trouble) = undone(files, pledge, &promise)
    {
        return Err(trouble);
    }
    note.remove();
    Ok(())
}

/// Removes the file of a pledge, unless it is another one by now.
fn undone(files: &Workspace, pledge: &Pledge, promise: &Promise) -> Result<(), Trouble> {
    let digest = HEXLOWER.decode(promise.digest.as_bytes()).ok().and_then(|digest| digest.try_into().ok());
    let ours = promise.file.path(&files.root).is_some_and(|path| path == pledge.path);
    let (Some(digest), true) = (digest, ours) else {
        return Ok(());
    };
    match replace::remove_exactly(files, &pledge.path, promise.inode, digest) {
        // A link or a folder in its place is not what was made.
        Ok(()) | Err(Trouble::Absent | Trouble::Refused(_)) => Ok(()),
        failed => failed,
    }
}
