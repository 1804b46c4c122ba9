//! The ports to copies of a whole store: copying into a backup, restoring from a backup, and restoring over a store that
//! cannot be opened.
//!
//! Implement them so that `tulving backup` works with a store. A backup is an archive of the whole home: the copy of the
//! store, the files of the workspace, attachments and settings. The archive has the same format for every store. Only the
//! copy of the store differs: it is one file in a format that the store chooses.

use std::path::{Path, PathBuf};

use crate::model::copy::{RestoreContent, StoreCopy, StoreRestore};
use crate::model::error::StoreError;

/// A callback during a copy. Its arguments are the number of bytes done and the total number of bytes.
pub type CopyProgress<'a> = dyn FnMut(u64, u64) + 'a;

/// Copies a store into a file, and restores it from the file.
pub trait Copies: Send + Sync {
    /// Writes the state of the store at one moment into `file`, which exists and is empty. Other processes may read and
    /// write meanwhile.
    ///
    /// The copy is checked and durable when the call returns. Errors name `target`, the file that the user asked for.
    fn copy_into(
        &self,
        file: &Path,
        target: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<StoreCopy, StoreError>;

    /// Reads the copy in `file`, checks all of the copy and converts it to the newest schema, so that only the commit
    /// remains.
    ///
    /// `file` and the store stay unchanged. A copy is refused if it is damaged, is not a store, has a newer version or is
    /// too old. Errors name `backup`, the file that the user asked for.
    fn prepare_restore(
        &self,
        file: &Path,
        backup: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<Box<dyn PreparedRestore + '_>, StoreError>;
}

/// A restore before its commit. Dropping this value cancels the restore and changes nothing.
pub trait PreparedRestore {
    /// Returns the content that the store will have.
    fn content(&self) -> &RestoreContent;

    /// Replaces the content of the store in one commit, and calls `steps` before and after the commit.
    ///
    /// Writers are blocked from before [`RestoreSteps::keep`] until after [`RestoreSteps::follow`], so that every
    /// acknowledged write is either in the copy of the previous content or in the new content. Readers see either the old or
    /// the new content. A token that was ever revoked in this store stays revoked. If `keep` fails, nothing changes.
    fn commit(self: Box<Self>, steps: &mut dyn RestoreSteps) -> Result<StoreRestore, StoreError>;
}

/// The steps before and after the commit of a restore, while writers are blocked. The caller of [`PreparedRestore::commit`]
/// implements them, because only the caller knows the parts of the home outside the store.
pub trait RestoreSteps {
    /// Saves the previous content, and returns its path. Called before the commit.
    fn keep(&mut self) -> Result<PathBuf, StoreError>;

    /// Moves the files of the new content to their final paths. Called after the commit.
    fn follow(&mut self) -> Result<(), StoreError>;
}

/// Restores a copy over a store that is too damaged to be opened or read.
///
/// Implement this trait for a store that consists of files of the home. A database server repairs itself and does not need
/// it.
pub trait Rescue {
    /// Replaces the damaged store with the copy in `file`. The damaged store is moved, unchanged, to the path in the result.
    ///
    /// `ready` is called after the copy was checked as in [`Copies::prepare_restore`], before anything is replaced. If
    /// `ready` or an earlier step fails, nothing changes; if a later step fails, all changes are reverted. Errors name
    /// `backup`. No other process may have the store open. Revocations since the backup are lost, because the damaged
    /// store cannot be read.
    fn rescue(
        &self,
        file: &Path,
        backup: &Path,
        ready: &mut dyn FnMut(&RestoreContent) -> Result<(), StoreError>,
        progress: &mut CopyProgress<'_>,
    ) -> Result<StoreRestore, StoreError>;
}
