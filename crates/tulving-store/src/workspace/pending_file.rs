//! Pending files: a pending file stays only if its memory is saved.
//!
//! A note in the home is written before the file, and removed after it is decided whether the file stays. So after a
//! crash, no file without a memory remains. The note identifies the file by inode and content, so that no other file is
//! removed.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use tulving_core::model::file::PendingFile;
use tulving_core::model::id::MemoryId;

use super::draft::WorkspaceDraftFile;
use super::errors::WorkspaceFileError;
use super::folder_access::{self, MissingFolderPolicy};
use super::notes::{RecoveryNote, RecoveryNoteFile};
use super::{Workspace, replace};

/// The content of a note about a pending file.
#[derive(Debug, Serialize, Deserialize)]
struct PendingFileNote {
    file: RecoveryNoteFile,
    memory: MemoryId,
    inode: u64,
    digest: String,
}

/// Creates a pending file, which stays only if its memory is saved.
pub(super) fn create(
    files: &Workspace,
    pending_file: &PendingFile,
    content: &[u8],
) -> Result<(), WorkspaceFileError> {
    let spot = replace::unlinked(files, &pending_file.path, MissingFolderPolicy::Make)?;
    if spot.stat()?.is_some() {
        return Err(WorkspaceFileError::Exists);
    }
    let draft = WorkspaceDraftFile::write(&spot.folder, content)?;
    let promise = PendingFileNote {
        file: RecoveryNoteFile::new(&files.root, &pending_file.path),
        memory: pending_file.memory,
        inode: folder_access::stamp(&draft.stat()?).inode,
        digest: HEXLOWER.encode(&Sha256::digest(content)),
    };
    let folder = files.home.pending_files();
    let note =
        RecoveryNote::write(&folder, &pending_file.memory.to_string(), &promise, b"")?.synced(&folder)?;
    match draft.create(&spot) {
        Ok(()) => {
            files.pledged().insert(pending_file.memory, note);
            Ok(())
        }
        Err(trouble) => {
            // The file may exist although its name could not be made durable. If the file cannot be removed, the note
            // stays for the process that settles the files of dead processes.
            if matches!(trouble, WorkspaceFileError::Exists) || undone(files, pending_file, &promise).is_ok()
            {
                note.remove();
            }
            Err(trouble)
        }
    }
}

/// Returns the pending files of dead processes.
pub(super) fn of_dead_processes(files: &Workspace) -> Vec<PendingFile> {
    let mut found: Vec<PendingFile> = RecoveryNote::of_the_dead(&files.home.pending_files())
        .into_iter()
        .filter_map(|note| {
            let (promise, _) = note.read::<PendingFileNote>().ok()??;
            Some(PendingFile { path: promise.file.path(&files.root)?, memory: promise.memory })
        })
        .collect();
    found.sort_unstable_by_key(|pending_file| pending_file.memory);
    found
}

/// Settles a pending file: keeps it if the memory was saved, and otherwise removes it. Skips a file that is already
/// settled, or that another process is about to settle.
pub(super) fn settle(
    files: &Workspace,
    pending_file: &PendingFile,
    saved: bool,
) -> Result<(), WorkspaceFileError> {
    let name = pending_file.memory.to_string();
    let held = files.pledged().remove(&pending_file.memory);
    let Some(note) = held.or_else(|| RecoveryNote::take(&files.home.pending_files(), &name)) else {
        return Ok(());
    };
    if !saved
        && let Some((promise, _)) = note.read::<PendingFileNote>()?
        && let Err(trouble) = undone(files, pending_file, &promise)
    {
        return Err(trouble);
    }
    note.remove();
    Ok(())
}

/// Removes a pending file, unless another file has replaced it.
fn undone(
    files: &Workspace,
    pending_file: &PendingFile,
    promise: &PendingFileNote,
) -> Result<(), WorkspaceFileError> {
    let digest = HEXLOWER.decode(promise.digest.as_bytes()).ok().and_then(|digest| digest.try_into().ok());
    let ours = promise.file.path(&files.root).is_some_and(|path| path == pending_file.path);
    let (Some(digest), true) = (digest, ours) else {
        return Ok(());
    };
    match replace::remove_exactly(files, &pending_file.path, promise.inode, digest) {
        // A link or a folder at this path is not the file that was created.
        Ok(()) | Err(WorkspaceFileError::Absent | WorkspaceFileError::Refused(_)) => Ok(()),
        failed => failed,
    }
}
