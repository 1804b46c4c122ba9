//! What may go wrong inside the index, before it is decided what to do about it.

use std::io;
use std::path::{Path, PathBuf};

use tulving_core::error::{IndexError, StoreError};

/// A file of the index is not as it was written. Noticed before anything of it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Damaged {
    /// The file's name.
    pub(super) file: String,
    /// What is wrong with it.
    pub(super) what: &'static str,
}

/// Why a step did not succeed.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The store failed: the caller is told.
    Store(StoreError),
    /// The disk failed: memory has to do.
    Disk(PathBuf, io::Error),
    /// A file is damaged: the index is made anew.
    Damaged(Damaged),
}

impl Trouble {
    /// That something could not be done with a file.
    pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |error| Self::Disk(path, error)
    }

    /// The same of what the rest of this crate says about its files.
    pub(super) fn unwritten(path: &Path) -> impl FnOnce(StoreError) -> Self {
        let path = path.to_owned();
        |error| Self::Disk(path, io::Error::other(error))
    }
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Damaged> for Trouble {
    fn from(damaged: Damaged) -> Self {
        Self::Damaged(damaged)
    }
}

impl From<Trouble> for IndexError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Store(error) => Self::Store(error),
            Trouble::Disk(path, source) => Self::File { path: path.display().to_string(), source },
            Trouble::Damaged(Damaged { file, what }) => {
                Self::File { path: file, source: io::Error::new(io::ErrorKind::InvalidData, what) }
            }
        }
    }
}
