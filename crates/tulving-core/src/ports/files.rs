//! The port to the files that people can read.
//!
//! All of these files are below one folder, the workspace. Every implementation keeps these promises:
//!
//! - No call reads or writes anything outside the folder of the space that the call names. A symbolic link that leads out of
//!   the folder, a device, a pipe or a socket is refused with an error that names it, even if it replaced a file between two
//!   calls.
//! - A write is done completely or not at all, even if the process is killed during the call. The write is durable when the
//!   call returns.
//! - A write changes no other byte of any file.
//! - Every call sees everything that any process, including an editor, wrote before the call began.

use crate::model::error::FileError;
use crate::model::file::{
    AppendResult, FileContent, FileList, FilePath, FileStamp, Folder, PendingFile, PreviousFile,
};
use crate::model::time::Timestamp;

/// The state that a file must still have when it is replaced or removed.
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
    /// Lists the files of a folder below the path `below`, at any depth, ordered by name, at most `most` files. If `below`
    /// is empty, all files of the folder are listed. Hidden files are left out. For a missing folder, the list is empty; if
    /// the whole workspace is missing, the list is [absent](FileList::absent).
    fn list(&self, folder: &Folder, below: &str, most: usize) -> Result<FileList, FileError>;

    /// Returns the stamp of a file; `None` if there is no such file.
    fn stamp(&self, path: &FilePath) -> Result<Option<FileStamp>, FileError>;

    /// Reads a file of at most `most` bytes; `None` if there is no such file, [`FileError::TooLarge`] if the file is larger.
    fn read(&self, path: &FilePath, most: u64) -> Result<Option<FileContent>, FileError>;

    /// Appends an entry to a file, on its own lines, and creates the file and its folder if they are missing. The entry uses
    /// the same line breaks as the file. If several processes append at the same time, the file contains every entry
    /// completely.
    fn append(&self, path: &FilePath, entry: &str) -> Result<AppendResult, FileError>;

    /// Creates a file; [`FileError::Exists`] if the file already exists.
    fn create(&self, path: &FilePath, content: &[u8]) -> Result<(), FileError>;

    /// Replaces or creates a file; [`FileError::Changed`] if the file does not have the state `from`. With `keep`, the old
    /// content is stored as a [previous text](Self::previous) of that time, and the oldest previous text is deleted if there
    /// are too many.
    fn replace(
        &self,
        path: &FilePath,
        content: &[u8],
        from: From,
        keep: Option<Timestamp>,
    ) -> Result<(), FileError>;

    /// Removes a file, and returns true if the file existed; [`FileError::Changed`] if the file does not have the state
    /// `from`.
    fn remove(&self, path: &FilePath, from: From) -> Result<bool, FileError>;

    /// Returns the previous texts of a file, newest first.
    fn previous(&self, path: &FilePath) -> Result<Vec<PreviousFile>, FileError>;

    /// Returns one previous text.
    fn previous_content(&self, path: &FilePath, id: &str) -> Result<Option<Vec<u8>>, FileError>;

    /// Removes all previous texts of a file, even if the file is gone, and returns their number.
    fn forget_previous(&self, path: &FilePath) -> Result<usize, FileError>;

    /// Creates a file that stays only if a memory is saved. A durable record of the file is kept until the pending file
    /// is [settled](Self::settle). Returns [`FileError::Exists`] if the file already exists.
    fn add_pending_file(&self, pending_file: &PendingFile, content: &[u8]) -> Result<(), FileError>;

    /// Returns the pending files that are not settled and whose process has ended.
    fn pending_files(&self) -> Result<Vec<PendingFile>, FileError>;

    /// Settles a pending file. If the memory was saved, the file stays. Otherwise the file is removed, unless somebody has changed
    /// it since.
    fn settle(&self, pending_file: &PendingFile, saved: bool) -> Result<(), FileError>;

    /// Creates the folder of a space if it is missing.
    fn make_folder(&self, folder: &Folder) -> Result<(), FileError>;

    /// Returns a number that increases whenever a memory file below the folder may have changed; `None` if the folder is not
    /// watched. A missing folder also has a number, which changes when the folder is created. The call must be cheap,
    /// because it is made before every recall.
    fn change_counter(&self, folder: &Folder) -> Option<u64>;
}

/// A missing workspace: it has no files, and every write fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn list(&self, _: &Folder, _: &str, _: usize) -> Result<FileList, FileError> {
        Ok(FileList::default())
    }

    fn stamp(&self, _: &FilePath) -> Result<Option<FileStamp>, FileError> {
        Ok(None)
    }

    fn read(&self, _: &FilePath, _: u64) -> Result<Option<FileContent>, FileError> {
        Ok(None)
    }

    fn append(&self, _: &FilePath, _: &str) -> Result<AppendResult, FileError> {
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

    fn previous(&self, _: &FilePath) -> Result<Vec<PreviousFile>, FileError> {
        Ok(Vec::new())
    }

    fn previous_content(&self, _: &FilePath, _: &str) -> Result<Option<Vec<u8>>, FileError> {
        Ok(None)
    }

    fn forget_previous(&self, _: &FilePath) -> Result<usize, FileError> {
        Ok(0)
    }

    fn add_pending_file(&self, _: &PendingFile, _: &[u8]) -> Result<(), FileError> {
        Err(FileError::NoWorkspace)
    }

    fn pending_files(&self) -> Result<Vec<PendingFile>, FileError> {
        Ok(Vec::new())
    }

    fn settle(&self, _: &PendingFile, _: bool) -> Result<(), FileError> {
        Ok(())
    }

    fn make_folder(&self, _: &Folder) -> Result<(), FileError> {
        Ok(())
    }

    fn change_counter(&self, _: &Folder) -> Option<u64> {
        Some(0)
    }
}
