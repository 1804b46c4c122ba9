//! Errors of files, and their conversion to errors for a caller.
//!
//! Inside the workspace, an error does not contain the path of its file; the methods of the port add the path. A
//! message to a caller never contains control characters, even if the name of a folder does. It never contains the
//! paths of the workspace and the home, because the caller may be on another machine.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use tulving_core::model::error::{FileError, StoreError};

/// The reason why a file cannot be used.
#[derive(Debug)]
pub(super) enum WorkspaceFileError {
    /// The file does not exist.
    Absent,
    /// Neither the file nor the workspace exists.
    NoWorkspace,
    /// The file already exists.
    Exists,
    /// The file is not in the state that the decision was based on.
    Changed,
    /// The path leads out of its folder, or the file is not a regular file. Contains the reason.
    Refused(&'static str),
    /// The file is larger than the limit.
    TooLarge {
        /// The size of the file, in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: u64,
    },
    /// Another process keeps the folder of the file locked.
    Busy,
    /// An error of the system.
    System(io::Error),
    /// An error of the workspace itself.
    Workspace(String),
    /// An error of a file in the home.
    Home(StoreError),
}

/// The name of the workspace in messages.
const WORKSPACE: &str = "the workspace";

impl WorkspaceFileError {
    /// Converts the error for a caller. The file is at `below` in the workspace and is called `name`. `verb` names the
    /// operation that failed.
    pub(super) fn described(self, below: &str, name: &str, home: &Path, verb: &'static str) -> FileError {
        let path = if below.is_empty() { WORKSPACE.into() } else { printable(below.as_ref()) };
        let workspace = |why| FileError::Unusable { path: WORKSPACE.into(), verb, why };
        match self {
            Self::Absent => FileError::Absent { name: name.to_owned() },
            Self::Exists => FileError::Exists { name: name.to_owned() },
            Self::Changed => FileError::Changed { name: name.to_owned() },
            Self::Refused(why) => FileError::Refused { path, why: why.to_owned() },
            Self::TooLarge { size, limit } => FileError::TooLarge { path, size, limit },
            Self::System(error) if is_full(&error) => FileError::DiskFull { path },
            Self::System(error) => FileError::Unusable { path, verb, why: error.to_string() },
            Self::Busy => FileError::Busy { path },
            Self::NoWorkspace => workspace("it is not there".to_owned()),
            Self::Workspace(why) => workspace(why),
            Self::Home(StoreError::DiskFull { path }) => FileError::DiskFull { path: within(home, &path) },
            Self::Home(StoreError::ReadOnly { why, .. }) => FileError::ReadOnly { why },
            Self::Home(StoreError::Unusable { path, verb, why }) => {
                FileError::Unusable { path: within(home, &path), verb, why }
            }
            Self::Home(other) => FileError::Unusable { path, verb, why: other.code().to_owned() },
        }
    }

    /// Returns true if the only problem is that the file is missing.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent | Self::NoWorkspace)
    }
}

/// Turns a missing file into `None`.
pub(super) fn or_none<T>(found: Result<T, WorkspaceFileError>) -> Result<Option<T>, WorkspaceFileError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(trouble) if trouble.is_absent() => Ok(None),
        Err(trouble) => Err(trouble),
    }
}

impl From<io::Error> for WorkspaceFileError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::Absent,
            io::ErrorKind::AlreadyExists => Self::Exists,
            _ => Self::System(error),
        }
    }
}

impl From<Errno> for WorkspaceFileError {
    fn from(error: Errno) -> Self {
        Self::from(io::Error::from(error))
    }
}

/// An error of a file of the home.
impl From<StoreError> for WorkspaceFileError {
    fn from(error: StoreError) -> Self {
        Self::Home(error)
    }
}

/// Returns a path of the home as messages show it: relative to the home.
fn within(home: &Path, path: &Path) -> PathBuf {
    let last = || path.file_name().map_or(Path::new(""), Path::new);
    printable(path.strip_prefix(home).unwrap_or_else(|_| last()))
}

/// Returns true if the disk is full.
fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// Returns a path with its unprintable characters escaped.
pub(super) fn printable(path: &Path) -> PathBuf {
    match path.to_str() {
        Some(text) if !text.contains(char::is_control) => path.to_owned(),
        _ => PathBuf::from(escaped(path.as_os_str().as_encoded_bytes())),
    }
}

/// Returns a name as text, with escapes for bytes that are not text or cannot be printed.
pub(super) fn escaped(name: &[u8]) -> String {
    let mut shown = String::with_capacity(name.len());
    for part in name.utf8_chunks() {
        for letter in part.valid().chars() {
            if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
        }
        for byte in part.invalid() {
            shown.push_str(&format!("\\x{byte:02x}"));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_what_a_terminal_would_obey() {
        assert_eq!(escaped("räume.md".as_bytes()), "räume.md");
        assert_eq!(escaped(b"a\x1b[31m\n\xffb"), "a\\u{1b}[31m\\n\\xffb");
        let described =
            WorkspaceFileError::Refused("it is a pipe").described("a\nb/c", "c", Path::new("/home"), "read");
        assert_eq!(described.to_string(), "a\\nb/c is refused: it is a pipe");
    }

    #[test]
    fn nobody_is_told_where_on_this_machine_a_file_is() {
        let unusable = |path: &str| {
            WorkspaceFileError::from(StoreError::Unusable {
                path: path.into(),
                verb: "written",
                why: "no".to_owned(),
            })
        };
        let full = |path: &str| WorkspaceFileError::from(StoreError::DiskFull { path: path.into() });
        for (trouble, text) in [
            (
                WorkspaceFileError::Busy,
                "another program has kept the folder of memory/a.md locked for too long",
            ),
            (WorkspaceFileError::System(io::Error::other("no")), "memory/a.md cannot be read: no"),
            (WorkspaceFileError::NoWorkspace, "the workspace cannot be read: it is not there"),
            (WorkspaceFileError::Workspace("no".to_owned()), "the workspace cannot be read: no"),
            (unusable("/srv/home/appends/7"), "appends/7 cannot be written: no"),
            (unusable("/srv/elsewhere/7"), "7 cannot be written: no"),
            (full("/srv/home/previous"), "no space is left on the disk that holds previous"),
        ] {
            let described = trouble.described("memory/a.md", "memory/a.md", Path::new("/srv/home"), "read");
            assert_eq!(described.to_string(), text);
        }
        let described = WorkspaceFileError::System(io::Error::other("no")).described(
            "",
            "",
            Path::new("/srv/home"),
            "read",
        );
        assert_eq!(described.to_string(), "the workspace cannot be read: no");
    }
}
