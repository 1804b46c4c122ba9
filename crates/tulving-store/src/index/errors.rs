//! Errors inside the index, before a caller decides how to handle them.

use std::io;
use std::path::{Path, PathBuf};

use tulving_core::model::error::{IndexError, StoreError};

/// A file of the index differs from the file that was written. The damage is noticed before any of the content is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DamagedIndexFile {
    /// The file's name.
    pub(super) file: String,
    /// The description of the damage.
    pub(super) what: &'static str,
}

/// The reason why a step failed.
#[derive(Debug)]
pub(super) enum IndexStepError {
    /// The store failed. The caller gets the error.
    Store(StoreError),
    /// The disk failed. The index continues in memory.
    Disk(PathBuf, io::Error),
    /// A file is damaged. The index is rebuilt.
    Damaged(DamagedIndexFile),
}

impl IndexStepError {
    /// Converts an I/O error on a file.
    pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |error| Self::Disk(path, error)
    }

    /// Converts an error of this crate about its files.
    pub(super) fn unwritten(path: &Path) -> impl FnOnce(StoreError) -> Self {
        let path = path.to_owned();
        |error| Self::Disk(path, io::Error::other(error))
    }
}

impl From<StoreError> for IndexStepError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<DamagedIndexFile> for IndexStepError {
    fn from(damaged: DamagedIndexFile) -> Self {
        Self::Damaged(damaged)
    }
}

impl From<IndexStepError> for IndexError {
    fn from(trouble: IndexStepError) -> Self {
        match trouble {
            IndexStepError::Store(error) => Self::Store(error),
            IndexStepError::Disk(path, source) => Self::File { path: path.display().to_string(), source },
            IndexStepError::Damaged(DamagedIndexFile { file, what }) => {
                Self::File { path: file, source: io::Error::new(io::ErrorKind::InvalidData, what) }
            }
        }
    }
}
