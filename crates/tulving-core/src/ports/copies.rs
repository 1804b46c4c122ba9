//! The ports to copies of a whole store: into a backup, back from one, and back over a store that cannot be opened.
//!
//! Implement them so that `tulving backup` works with a store. A backup is an archive of the whole home: the copy of the store,
//! the files of the workspace, attachments and settings. The archive is the same for every store; only the copy in it is the
//! store's own, one file in a form of its choice.

use std::path::{Path, PathBuf};

use crate::model::copy::{RestoreContent, StoreCopy, StoreRestore};
use crate::model::error::StoreError;

/// Called while a copy is made, with the bytes done and the total.
pub type CopyProgress<'a> = dyn FnMut(u64, u64) + 'a;

/// Copies a store into a file, and back.
pub trait Copies: Send + Sync {
    /// Writes the store as it is at one moment into `file`, which is there and empty, while others continue to read and write.
    ///
    /// The copy is checked and durable when the call returns. Errors name `target`, the file that the user asked for.
    fn copy_into(
        &self,
        file: &Path,
        target: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<StoreCopy, StoreError>;

    /// Reads the copy in `file`, checks all of it and brings it to the newest schema, so that only the commit is left to do.
    ///
    /// Neither `file` nor the store is changed. A copy that is damaged, foreign, of a newer version or too old is refused. Errors
    /// name `backup`, the file that the user asked for.
    fn prepare_restore(
        &self,
        file: &Path,
        backup: &Path,
        progress: &mut CopyProgress<'_>,
    ) -> Result<Box<dyn PreparedRestore + '_>, StoreError>;
}

/// A restore before its commit. Dropping it gives it up, and nothing has changed.
pub trait PreparedRestore {
    /// Returns the content that the store will have.
    fn content(&self) -> &RestoreContent;

    /// Replaces the content of the store in one commit, with `steps` around it.
    ///
    /// No process writes from before [`RestoreSteps::keep`] until after [`RestoreSteps::follow`], so every acknowledged write is
    /// in the kept copy or was made on the new content. Readers see the old content or the new one. A token that was ever revoked
    /// here stays revoked. If `keep` fails, nothing changes.
    fn commit(self: Box<Self>, steps: &mut dyn RestoreSteps) -> Result<StoreRestore, StoreError>;
}

/// The steps of a restore around its commit, while nobody writes. Implemented by the caller of
/// [`PreparedRestore::commit`], who knows the parts of the home outside of the store.
pub trait RestoreSteps {
    /// Saves the previous content, and returns its path. Called before the commit.
    fn keep(&mut self) -> Result<PathBuf, StoreError>;

    /// Puts the files of the new content in their place. Called after the commit.
    fn follow(&mut self) -> Result<(), StoreError>;
}

/// Restores a copy over a store that is too damaged to be opened or read.
///
/// Implement it for a store that is in files of the home. A database server repairs itself, and has no use for it.
pub trait Rescue {
    /// Replaces the damaged store with the copy in `file`. The damaged store is kept unchanged, at the path in the result.
    ///
    /// `ready` is called after the copy was checked as in [`Copies::prepare_restore`], before anything is replaced. If it fails,
    /// or anything before it, nothing changes; a later failure is reverted. Errors name `backup`. No other process may have the
    /// store open. Revocations since the backup cannot be read any more, so they are not carried over.
    fn rescue(
        &self,
        file: &Path,
        backup: &Path,
        ready: &mut dyn FnMut(&RestoreContent) -> Result<(), StoreError>,
        progress: &mut CopyProgress<'_>,
    ) -> Result<StoreRestore, StoreError>;
}
