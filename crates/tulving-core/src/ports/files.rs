//! What the engine asks of the files that people can read.
//!
//! All of them are below one folder, the workspace. Every implementation keeps these promises:
//!
//! - No call reads or writes anything outside of the folder of the space that it names: a symbolic link that leads out, a device,
//!   a pipe or a socket is refused by name, also where it takes the place of a file between two calls.
//! - A write is whole or absent, also where the process is killed in its middle, and durable when the call returns.
//! - What was not asked for is left as it is, to the byte.
//! - Every call sees what any process, an editor too, has written before it began.

use crate::error::FileError;
use crate::file::{Appended, FileContent, FileList, FilePath, Folder, Pledge, Previous, Stamp};
use crate::time::Timestamp;

/// Which state of a file a replacement was decided on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum From {
    /// Whatever is there.
    Any,
    /// No file.
    Nothing,
    /// A file with these bytes, as their SHA-256.
    Digest([u8; 32]),
}

/// The files of a workspace.
pub trait Files: Send + Sync {
    /// The files below `below` in a folder (empty: below the folder itself), in whatever depth, by name, at most `most`. Hidden
    /// ones are left out. A folder that is not there has none; where the whole workspace is not there, the list is
    /// [absent](FileList::absent).
    fn list(&self, folder: &Folder, below: &str, most: usize) -> Result<FileList, FileError>;

    /// How a file is now; `None` where there is none.
    fn stamp(&self, path: &FilePath) -> Result<Option<Stamp>, FileError>;

    /// A file with at most `most` bytes; `None` where there is none, [`FileError::TooLarge`] where it has more.
    fn read(&self, path: &FilePath, most: u64) -> Result<Option<FileContent>, FileError>;

    /// Adds an entry at the end of a file, as lines of its own, and makes file and folder where they are missing. Line breaks
    /// are written as the file has them. What several processes append at once is all there, each whole.
    fn append(&self, path: &FilePath, entry: &str) -> Result<Appended, FileError>;

    /// Makes a file; [`FileError::Exists`] where there is one.
    fn create(&self, path: &FilePath, content: &[u8]) -> Result<(), FileError>;

    /// Puts a content in the place of a file, or makes it; [`FileError::Changed`] where the file is not what this was decided on.
    /// With `keep`, what was there is kept as a [previous text](Self::previous) of that time, and the oldest of too many goes.
    fn replace(
        &self,
        path: &FilePath,
        content: &[u8],
        from: From,
        keep: Option<Timestamp>,
    ) -> Result<(), FileError>;

    /// Removes a file, and says whether there was one; [`FileError::Changed`] where it is not what this was decided on.
    fn remove(&self, path: &FilePath, from: From) -> Result<bool, FileError>;

    /// The previous texts of a file, newest first.
    fn previous(&self, path: &FilePath) -> Result<Vec<Previous>, FileError>;

    /// One of them.
    fn previous_content(&self, path: &FilePath, id: &str) -> Result<Option<Vec<u8>>, FileError>;

    /// Removes all previous texts of a file, there or not, and says how many there were.
    fn forget_previous(&self, path: &FilePath) -> Result<usize, FileError>;

    /// Makes a file that is to stay only if a memory is saved, and remembers so across a crash until it is
    /// [settled](Self::settle). [`FileError::Exists`] where there is one.
    fn pledge(&self, pledge: &Pledge, content: &[u8]) -> Result<(), FileError>;

    /// The pledges that are not settled and that no living process is about to settle.
    fn pledges(&self) -> Result<Vec<Pledge>, FileError>;

    /// Settles a pledge: the file stays, or goes unless somebody has changed it since.
    fn settle(&self, pledge: &Pledge, saved: bool) -> Result<(), FileError>;

    /// Makes the folder of a space where it is missing.
    fn make_folder(&self, folder: &Folder) -> Result<(), FileError>;

    /// A number that differs from the last one whenever anything below that folder that is kept there may have changed in
    /// between, and never falls; `None` where it is not watched. A folder that is not there has one too, which differs once it
    /// comes into being. Cheap: it is asked before every recall.
    fn pulse(&self, folder: &Folder) -> Option<u64>;
}

/// No workspace: nothing is there and nothing can be written.
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

    fn pulse(&self, _: &Folder) -> Option<u64> {
        Some(0)
    }
}
