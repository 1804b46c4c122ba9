//! The port to the files that people can read.
//!
//! All of them are below one folder, the workspace. Every implementation keeps these promises:
//!
//! - No call reads or writes anything outside the folder of the space that it names. A symbolic link that leads out, a device, a
//!   pipe or a socket is refused by name, even if it replaces a file between two calls.
//! - A write is whole or absent, even if the process is killed in the middle, and durable when the call returns.
//! - Anything else is left unchanged, to the byte.
//! - Every call sees what any process, including an editor, has written before it began.

use crate::model::error::FileError;
use crate::model::file::{Appended, FileContent, FileList, FilePath, Folder, Pledge, Previous, Stamp};
use crate::model::time::Timestamp;

/// The state of a file on which a replacement was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Any state.
    Any,
    /// No file.
    Nothing,
    /// A file whose bytes have this SHA-256.
    Digest([u8; 32]),
}

/// The files of a workspace.
pub trait Files: Send + Sync {
    /// Lists the files below `below` in a folder (empty: below the folder itself), at any depth, by name, at most `most`. Hidden
    /// ones are left out. A missing folder has none; if the whole workspace is missing, the list is [absent](FileList::absent).
    fn list(&self, folder: &Folder, below: &str, most: usize) -> Result<FileList, FileError>;

    /// Returns the stamp of a file; `None` if there is none.
    fn stamp(&self, path: &FilePath) -> Result<Option<Stamp>, FileError>;

    /// Reads a file with at most `most` bytes; `None` if there is none, [`FileError::TooLarge`] if it has more.
    fn read(&self, path: &FilePath, most: u64) -> Result<Option<FileContent>, FileError>;

    /// Appends an entry to a file, on lines of its own, and creates file and folder if they are missing. Line breaks follow those
    /// of the file. If several processes append at once, every entry is there in full.
    fn append(&self, path: &FilePath, entry: &str) -> Result<Appended, FileError>;

    /// Creates a file; [`FileError::Exists`] if there is one.
    fn create(&self, path: &FilePath, content: &[u8]) -> Result<(), FileError>;

    /// Replaces or creates a file; [`FileError::Changed`] if it is not in the state on which this was decided. With `keep`, the
    /// old content is kept as a [previous text](Self::previous) of that time, and the oldest of too many is deleted.
    fn replace(
        &self,
        path: &FilePath,
        content: &[u8],
        from: From,
        keep: Option<Timestamp>,
    ) -> Result<(), FileError>;

    /// Removes a file, and returns true if there was one; [`FileError::Changed`] if it is not in the state on which this was
    /// decided.
    fn remove(&self, path: &FilePath, from: From) -> Result<bool, FileError>;

    /// Returns the previous texts of a file, newest first.
    fn previous(&self, path: &FilePath) -> Result<Vec<Previous>, FileError>;

    /// Returns one previous text.
    fn previous_content(&self, path: &FilePath, id: &str) -> Result<Option<Vec<u8>>, FileError>;

    /// Removes all previous texts of a file, even if the file is gone, and returns their number.
    fn forget_previous(&self, path: &FilePath) -> Result<usize, FileError>;

    /// Creates a file that stays only if a memory is saved, and records this across a crash until it is [settled](Self::settle).
    /// [`FileError::Exists`] if there is one.
    fn pledge(&self, pledge: &Pledge, content: &[u8]) -> Result<(), FileError>;

    /// Returns the pledges that are not settled and that no living process is about to settle.
    fn pledges(&self) -> Result<Vec<Pledge>, FileError>;

    /// Settles a pledge: the file stays, or is removed unless somebody has changed it since.
    fn settle(&self, pledge: &Pledge, saved: bool) -> Result<(), FileError>;

    /// Creates the folder of a space if it is missing.
    fn make_folder(&self, folder: &Folder) -> Result<(), FileError>;

    /// Returns a number that differs from the last one whenever a memory file below that folder may have changed in between, and
    /// that never decreases; `None` if the folder is not watched. A missing folder has one too, which differs once the folder is
    /// created. Cheap: it is called before every recall.
    fn change_counter(&self, folder: &Folder) -> Option<u64>;
}

/// A workspace that is missing: it has no files and nothing can be written.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn list(&self, _: &Folder, _: &str, _: usize) -> Result<FileList, FileError> {
        Ok(FileList::default())
    }

    fn stamp(&self, _: &FilePath) -> Result<Option<Stamp>, FileError> {
        Ok(None)
    }

    fn read(&self, _: &FilePath, _: u64) -> Result<Option<FileContent>, FileError> {
        Ok(None)
    }

    fn append(&self, _: &FilePath, _: &str) -> Result<Appended, FileError> {
        Err(FileError::NoWorkspace)
    }

    fn create(&self, _: &FilePath, _: &[u8]) -> Result<(), FileError> {
        Err(FileError::NoWorkspace)
    }

    fn replace(&self, _: &FilePath, _: &[u8], _: From, _: Option<Timestamp>) -> Result<(), FileError> {
        Err(FileError::NoWorkspace)
    }

    fn remove(&self, _: &FilePath, _: From) -> Result<bool, FileError> {
        Ok(false)
    }

    fn previous(&self, _: &FilePath) -> Result<Vec<Previous>, FileError> {
        Ok(Vec::new())
    }

    fn previous_content(&self, _: &FilePath, _: &str) -> Result<Option<Vec<u8>>, FileError> {
        Ok(None)
    }

    fn forget_previous(&self, _: &FilePath) -> Result<usize, FileError> {
        Ok(0)
    }

    fn pledge(&self, _: &Pledge, _: &[u8]) -> Result<(), FileError> {
        Err(FileError::NoWorkspace)
    }

    fn pledges(&self) -> Result<Vec<Pledge>, FileError> {
        Ok(Vec::new())
    }

    fn settle(&self, _: &Pledge, _: bool) -> Result<(), FileError> {
        Ok(())
    }

    fn make_folder(&self, _: &Folder) -> Result<(), FileError> {
        Ok(())
    }

    fn change_counter(&self, _: &Folder) -> Option<u64> {
        Some(0)
    }
}
