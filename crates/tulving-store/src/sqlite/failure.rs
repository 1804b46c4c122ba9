//! Converts errors of SQLite into errors that a caller can handle.

use std::path::Path;
use std::time::Duration;

use rusqlite::ffi::{self, ErrorCode};
use tulving_core::model::error::{Conflict, StoreError, Unique};

/// An error without the path of the database. [`explained`](Self::explained) adds the path.
#[derive(Debug)]
pub(super) enum SqliteError {
    /// An error of SQLite.
    Sql(rusqlite::Error),
    /// An error that is already in its final form.
    Said(StoreError),
    /// A text could not be converted from or to JSON.
    Json(serde_json::Error),
    /// A restore is running, so nothing was written.
    Shut,
}

impl From<rusqlite::Error> for SqliteError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for SqliteError {
    fn from(error: StoreError) -> Self {
        Self::Said(error)
    }
}

impl From<Conflict> for SqliteError {
    fn from(conflict: Conflict) -> Self {
        Self::Said(conflict.into())
    }
}

impl From<serde_json::Error> for SqliteError {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error)
    }
}

impl SqliteError {
    /// Converts to the error for a caller, given the file and the waiting time of its connections.
    pub(super) fn explained(self, file: &Path, busy_wait: Duration) -> StoreError {
        match self {
            Self::Said(error) => error,
            Self::Json(error) => StoreError::Corrupt { path: file.to_owned(), why: error.to_string() },
            Self::Shut => StoreError::Busy { waited: busy_wait },
            Self::Sql(error) => explained(error, file, busy_wait),
        }
    }
}

/// Returns true if the error was caused by other connections.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Returns true if the write-ahead log was truncated: it ends before the part that was to be read.
pub(super) fn is_cut_log(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(code, _) if code.extended_code == ffi::SQLITE_IOERR_SHORT_READ)
}

fn explained(error: rusqlite::Error, file: &Path, busy_wait: Duration) -> StoreError {
    use rusqlite::Error as Sql;
    let path = file.to_owned();
    match error {
        Sql::SqliteFailure(code, ref message) => {
            let mut why = message.clone().unwrap_or_else(|| code.to_string());
            // The path is already in the message.
            if let Some(rest) = why.strip_suffix(&format!(": {}", file.display())) {
                why.truncate(rest.len());
            }
            match code.code {
                ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::Busy { waited: busy_wait },
                ErrorCode::DiskFull => StoreError::DiskFull { path },
                ErrorCode::SystemIoFailure if is_cut_log(&error) => {
                    StoreError::Detached { path: crate::files::beside(file, "-wal"), how: "cut" }
                }
                ErrorCode::SystemIoFailure if disk_is_full(file) => StoreError::DiskFull { path },
                ErrorCode::SystemIoFailure => StoreError::Unusable { path, verb: "read or written", why },
                ErrorCode::ReadOnly => StoreError::ReadOnly { path, why },
                ErrorCode::CannotOpen if disk_is_full(file) => StoreError::DiskFull { path },
                ErrorCode::CannotOpen if file.is_dir() => StoreError::Unusable {
                    path,
                    verb: "used as a database",
                    why: "it is a folder, not a file".to_owned(),
                },
                ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::AuthorizationForStatementDenied => {
                    StoreError::Unusable { path, verb: "opened", why }
                }
                ErrorCode::DatabaseCorrupt => StoreError::Corrupt { path, why },
                ErrorCode::NotADatabase => {
                    StoreError::Foreign { path, why: "it is not a SQLite database".to_owned() }
                }
                _ => match message.as_deref().filter(|_| is_unique(code)).and_then(taken) {
                    Some(what) => Conflict::Taken { what }.into(),
                    None => {
                        let what = match code.code {
                            ErrorCode::ConstraintViolation => {
                                "a value breaks a rule of the database".to_owned()
                            }
                            _ => why,
                        };
                        StoreError::Failed { what, source: Some(Box::new(error)) }
                    }
                },
            }
        }
        Sql::FromSqlConversionFailure(..) | Sql::InvalidColumnType(..) | Sql::IntegralValueOutOfRange(..) => {
            StoreError::Corrupt { path, why: error.to_string() }
        }
        error => StoreError::Failed { what: error.to_string(), source: Some(Box::new(error)) },
    }
}

fn is_unique(code: ffi::Error) -> bool {
    matches!(code.extended_code, ffi::SQLITE_CONSTRAINT_UNIQUE | ffi::SQLITE_CONSTRAINT_PRIMARYKEY)
}

/// The value that must be unique and is already used. SQLite's message names the columns of the violated index.
fn taken(message: &str) -> Option<Unique> {
    let columns = message.strip_prefix("UNIQUE constraint failed: ")?;
    Some(match columns {
        "memories.space, memories.audience, memories.key" => Unique::Key,
        "memories.space, memories.audience, memories.source_path" => Unique::SourcePath,
        "memories.space, memories.boundary, memories.audience, memories.content_hash, memories.apart" => {
            Unique::Content
        }
        "memories.space, memories.boundary, memories.audience, memories.attachment_hash, memories.apart" => {
            Unique::Attachment
        }
        "memories.space, memories.source_path, memories.content_hash, memories.mirror_occurrence" => {
            Unique::Entry
        }
        "spaces.team, spaces.name" => Unique::SpaceName,
        "principals.name" => Unique::PrincipalName,
        _ if columns.ends_with(".id") && !columns.contains(',') => Unique::Id,
        _ => return None,
    })
}

/// Returns true if the disk is full. SQLite reports some failed writes on a full disk as I/O errors.
fn disk_is_full(file: &Path) -> bool {
    rustix::fs::statvfs(crate::files::folder_of(file)).is_ok_and(|disk| disk.f_bavail == 0)
}
