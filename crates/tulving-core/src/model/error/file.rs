//! Errors with files that people can read.
//!
//! The caller may be remote: paths are relative to the workspace, and never show where on this machine it is.

use std::path::PathBuf;

use super::Class;

/// The reason why an operation on a file failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// There is no workspace.
    #[error("there is no workspace for files")]
    NoWorkspace,
    /// The path leads out of its folder, or is not a regular file.
    #[error("{} is refused: {why}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// The reason.
        why: String,
    },
    /// There is no such file.
    #[error("there is no file `{name}`")]
    Absent {
        /// The name as given.
        name: String,
    },
    /// A file with that name exists.
    #[error("the file `{name}` already exists")]
    Exists {
        /// The name as given.
        name: String,
    },
    /// The file changed since the caller read it.
    #[error("`{name}` was changed by somebody else")]
    Changed {
        /// The name as given.
        name: String,
    },
    /// The file is larger than the limit for reading.
    #[error("{} has {size} bytes and at most {limit} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// Maximum number of bytes that are read.
        limit: u64,
    },
    /// The file is not text.
    #[error("`{name}` is not a text file")]
    NotText {
        /// The name as given.
        name: String,
    },
    /// Another program has locked its folder.
    #[error("another program has kept the folder of {} locked for too long", path.display())]
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
    /// The home is read-only, so its files cannot be changed either. Nothing was changed.
    #[error("the home cannot be written: {why}")]
    ReadOnly {
        /// The message of the system.
        why: String,
    },
    /// The system refused.
    #[error("{} cannot be {verb}: {why}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// The attempted operation: `read`, `written`, `created`, `removed`.
        verb: &'static str,
        /// The message of the system.
        why: String,
    },
}

impl FileError {
    /// Returns the class of the error.
    pub fn class(&self) -> Class {
        match self {
            Self::Refused { .. } | Self::TooLarge { .. } | Self::NotText { .. } => Class::Caller,
            Self::Absent { .. } => Class::Absent,
            Self::Exists { .. } | Self::Changed { .. } => Class::Conflict,
            Self::Busy { .. } => Class::Busy,
            Self::NoWorkspace | Self::DiskFull { .. } | Self::ReadOnly { .. } | Self::Unusable { .. } => {
                Class::Host
            }
        }
    }

    /// Returns a stable code for programs.
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
            Self::ReadOnly { .. } => "home_read_only",
            Self::Unusable { .. } => "file_unusable",
        }
    }

    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoWorkspace => "set `workspace` to a folder",
            Self::Refused { .. } => "replace it with a regular file inside the folder",
            Self::Exists { .. } => "choose another name, or replace it",
            Self::Changed { .. } => "read it again, then repeat",
            Self::TooLarge { .. } => "open the file itself, or split it",
            Self::Busy { .. } => "try again",
            Self::DiskFull { .. } => "make room and repeat; nothing was changed",
            Self::ReadOnly { .. } => "run it as the owner of the home, or make the home writable",
            Self::Unusable { .. } => "check that the folder is there and may be read and written",
            Self::Absent { .. } | Self::NotText { .. } => return None,
        })
    }
}
