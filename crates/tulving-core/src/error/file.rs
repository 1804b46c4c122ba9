//! What cannot be done with a file that people can read, and why.
//!
//! Whoever asks may be far away: paths are those below the workspace, and never tell where on this machine that is.

use std::path::PathBuf;

use super::Class;

/// What cannot be done with a file, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// There is no workspace.
    #[error("there is no workspace to keep files in")]
    NoWorkspace,
    /// It leads out of its folder, or is not a regular file.
    #[error("{} is refused: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// There is no such file.
    #[error("there is no file `{name}`")]
    Absent {
        /// As it was named.
        name: String,
    },
    /// There is a file of that name.
    #[error("there is a file `{name}` already")]
    Exists {
        /// As it was named.
        name: String,
    },
    /// It is no longer what the caller saw.
    #[error("`{name}` was changed by somebody else")]
    Changed {
        /// As it was named.
        name: String,
    },
    /// It is larger than what is read at once.
    #[error("{} has {size} bytes and at most {limit} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The most that is read.
        limit: u64,
    },
    /// It is not text.
    #[error("`{name}` is not a text")]
    NotText {
        /// As it was named.
        name: String,
    },
    /// Another program holds the folder that it is in.
    #[error("another program has held the folder of {} for too long", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The disk is full.
    #[error("no space is left on the disk that holds {}", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{} cannot be {verb}: {why}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// What was tried: `read`, `written`, `created`, `removed`.
        verb: &'static str,
        /// What the system said.
        why: String,
    },
}

impl FileError {
    /// What sort of trouble it is.
    pub fn class(&self) -> Class {
        match self {
            Self::Refused { .. } | Self::TooLarge { .. } | Self::NotText { .. } => Class::Caller,
            Self::Absent { .. } => Class::Absent,
            Self::Exists { .. } | Self::Changed { .. } => Class::Conflict,
            Self::Busy { .. } => Class::Busy,
            Self::NoWorkspace | Self::DiskFull { .. } | Self::Unusable { .. } => Class::Host,
        }
    }

    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NoWorkspace => "no_workspace",
            Self::Refused { .. } => "file_refused",
            Self::Absent { .. } => "file_not_found",
            Self::Exists { .. } => "file_exists",
            Self::Changed { .. } => "file_changed",
            Self::TooLarge { .. } => "file_too_large",
            Self::NotText { .. } => "not_text",
            Self::Busy { .. } => "busy",
            Self::DiskFull { .. } => "disk_full",
            Self::Unusable { .. } => "file_unusable",
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoWorkspace => "set `workspace` to a folder",
            Self::Refused { .. } => "put a regular file inside of the folder in its place",
            Self::Exists { .. } => "choose another name, or replace it",
            Self::Changed { .. } => "look at it again and repeat",
            Self::TooLarge { .. } => "open the file itself, or split it",
            Self::Busy { .. } => "try again",
            Self::DiskFull { .. } => "make room and repeat; nothing was changed",
            Self::Unusable { .. } => "check that the folder is there and may be read and written",
            Self::Absent { .. } | Self::NotText { .. } => return None,
        })
    }
}
