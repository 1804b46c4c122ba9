//! The errors of the files that a command reads or writes, and of standard input.

use std::io;
use std::path::PathBuf;

use tulving_core::model::error::{Class, Field, Invalid};

/// The reason why an input cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    /// A file, or standard input, cannot be read.
    #[error("{name} cannot be read: {source}")]
    Unreadable {
        /// The name in messages.
        name: String,
        /// The error of the system.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("{} cannot be written: {source}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file exists already.
    #[error("{} already exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The bytes are not UTF-8.
    #[error("{name} is not UTF-8: byte {at} is 0x{byte:02X}")]
    NotUtf8 {
        /// The name in messages.
        name: String,
        /// The position of the first wrong byte, from 0.
        at: usize,
        /// The first wrong byte.
        byte: u8,
    },
    /// The file is empty.
    #[error("{name} is empty")]
    Empty {
        /// The name in messages.
        name: String,
    },
    /// The file is a database or a backup, but lines are expected.
    #[error("{name} is {what}, not a dump")]
    Database {
        /// The name in messages.
        name: String,
        /// The sort of file.
        what: &'static str,
    },
    /// The file to write is not a regular file, so it cannot be replaced.
    #[error("{} is not a regular file", path.display())]
    NotRegular {
        /// The file.
        path: PathBuf,
    },
    /// A line of a file cannot be accepted.
    #[error("line {line} of {name}: {why}")]
    Line {
        /// The line number, from 1.
        line: u64,
        /// The name of the file in messages.
        name: String,
        /// The reason.
        why: String,
        /// The engine's error, if the engine refused the line.
        invalid: Option<Box<Invalid>>,
    },
}

impl InputError {
    /// Returns the class of the error.
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Unreadable { .. } | Self::Unwritable { .. } => Class::Host,
            Self::Exists { .. } => Class::Conflict,
            Self::NotUtf8 { .. }
            | Self::Empty { .. }
            | Self::Database { .. }
            | Self::NotRegular { .. }
            | Self::Line { .. } => Class::Caller,
        }
    }

    /// Returns a stable name for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "unreadable",
            Self::Unwritable { .. } => "unwritable",
            Self::Exists { .. } => "file_exists",
            Self::NotUtf8 { .. } => "invalid_utf8",
            Self::Empty { .. } => "empty_file",
            Self::Database { .. } => "not_a_dump",
            Self::NotRegular { .. } => "not_regular",
            Self::Line { invalid: Some(invalid), .. } => invalid.code(),
            Self::Line { .. } => "invalid_line",
        }
    }

    /// Returns what the user can do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Exists { .. } => Some("choose another name, or add --force to replace it".to_owned()),
            Self::NotUtf8 { .. } => Some("convert it first, for example with `iconv -t UTF-8`".to_owned()),
            Self::Empty { .. } => Some("create a dump with `tulving dump`".to_owned()),
            Self::Database { .. } => Some("this is a backup; use `tulving backup restore`".to_owned()),
            Self::NotRegular { .. } => Some("`-` is standard output".to_owned()),
            Self::Line { invalid: Some(invalid), .. } => invalid.hint(),
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("check the path; it is relative to the current folder".to_owned())
            }
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                Some("give yourself permission to read it".to_owned())
            }
            Self::Unreadable { source, .. } if source.kind() == io::ErrorKind::IsADirectory => {
                Some("name a file in the folder".to_owned())
            }
            Self::Unreadable { .. } | Self::Unwritable { .. } | Self::Line { .. } => None,
        }
    }

    /// Returns the field of the request that it is about.
    pub(crate) fn field(&self) -> Option<&'static str> {
        match self {
            Self::Line { invalid: Some(invalid), .. } => invalid.field().map(Field::as_str),
            _ => None,
        }
    }
}
