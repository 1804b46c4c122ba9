//! Errors of a store, and conflicts between writers.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::model::id::{MemoryId, Version};

use super::Class;

/// The reason why a write on outdated data was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Conflict {
    /// The memory now has another version.
    #[error("memory {id} is at version {found} and the edit was made on version {expected}")]
    Stale {
        /// The memory.
        id: MemoryId,
        /// The version that the writer saw.
        expected: Version,
        /// The current version.
        found: Version,
    },
    /// The memory's status, space or sources have changed.
    #[error("memory {id} was moved by somebody else")]
    Moved {
        /// The memory.
        id: MemoryId,
    },
    /// The memory no longer exists.
    #[error("memory {id} is gone")]
    Gone {
        /// The memory.
        id: MemoryId,
    },
    /// The memory has no such chunk.
    #[error("memory {id} has no chunk {ordinal}")]
    NoChunk {
        /// The memory.
        id: MemoryId,
        /// The chunk, from 0.
        ordinal: u32,
    },
    /// Another model is now in use.
    #[error("another model was chosen by somebody else: {}", found.as_deref().unwrap_or("none"))]
    OtherModel {
        /// The model in use; `None` if none was chosen.
        found: Option<String>,
    },
    /// Another memory already has a value that must be unique.
    #[error("the {what} is taken")]
    Taken {
        /// The unique value.
        what: Unique,
    },
    /// The actor's role has changed.
    #[error("the right to do this was taken away")]
    RightLost,
    /// The request was begun by somebody else, or has changed.
    #[error("the request was begun by somebody else")]
    Claimed,
    /// The file was mirrored by somebody else.
    #[error("{path} was mirrored by somebody else")]
    Mirrored {
        /// Its path below the workspace.
        path: String,
    },
    /// The job has changed.
    #[error("the job was taken by somebody else")]
    JobMoved,
    /// The pass has changed.
    #[error("the pass was changed by somebody else")]
    PassMoved,
}

/// A value that must be unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unique {
    /// A key in a space.
    Key,
    /// A source path in a space.
    SourcePath,
    /// A content in a space.
    Content,
    /// A file in a space.
    Attachment,
    /// An entry of a file in a space.
    Entry,
    /// A name of a space in its team.
    SpaceName,
    /// A name of a principal.
    PrincipalName,
    /// An id.
    Id,
}

impl fmt::Display for Unique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "key",
            Self::SourcePath => "source path",
            Self::Content => "content",
            Self::Attachment => "file",
            Self::Entry => "entry of a file",
            Self::SpaceName => "name of the space",
            Self::PrincipalName => "name of the principal",
            Self::Id => "id",
        })
    }
}

/// The reason why a store failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The write was based on outdated data; decide again.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// Other processes held the store for too long.
    #[error("the store was busy for {} s", waited.as_secs())]
    Busy {
        /// The time waited.
        waited: Duration,
    },
    /// The disk is full.
    #[error("no space is left on the disk that holds {}", path.display())]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The home, or the database in it, is read-only. Nothing was changed.
    #[error("{} cannot be written: {why}", path.display())]
    ReadOnly {
        /// The home, or its database.
        path: PathBuf,
        /// The message of the system.
        why: String,
    },
    /// The file or folder cannot be written or opened.
    #[error("{} cannot be {verb}: {why}", path.display())]
    Unusable {
        /// The file or folder.
        path: PathBuf,
        /// The attempted operation, such as `opened` or `written`. Some operations have their own hint.
        verb: &'static str,
        /// The message of the system.
        why: String,
    },
    /// The file was moved or deleted after it was opened.
    #[error("{} was deleted or replaced while it was in use, so nothing was written", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// The log or the shared memory of the store was removed or truncated while connections were open.
    #[error("{} was {how} while it was in use, so nothing was acknowledged", path.display())]
    Detached {
        /// The file.
        path: PathBuf,
        /// The change to it: `removed or replaced`, or `cut`.
        how: &'static str,
    },
    /// A file to create already exists.
    #[error("{} already exists", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged.
    #[error("{} is damaged: {why}", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The damage.
        why: String,
    },
    /// The file is not a store of Tulving.
    #[error("{} is not a store of Tulving: {why}", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// The actual type of the file.
        why: String,
    },
    /// The file is not a backup that can be restored; the store is unchanged.
    #[error("{} cannot be restored: {why}", path.display())]
    BadBackup {
        /// The file.
        path: PathBuf,
        /// The problem.
        why: String,
    },
    /// A later version wrote the file.
    #[error("{} has schema {found} and this version knows up to {known}", path.display())]
    NewerSchema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest known.
        known: i64,
    },
    /// An earlier version wrote the file, and this version cannot bring it to the newest schema.
    #[error("{} has schema {found}, and this version opens schema {oldest} and later", path.display())]
    OlderSchema {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The oldest that can be opened.
        oldest: i64,
    },
    /// An unexpected failure.
    #[error("the store failed: {what}")]
    Failed {
        /// The attempted operation.
        what: String,
        /// The error of the database.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl StoreError {
    /// Returns the class of the error.
    pub fn class(&self) -> Class {
        match self {
            Self::Conflict(_) | Self::Exists { .. } => Class::Conflict,
            Self::Busy { .. } => Class::Busy,
            Self::DiskFull { .. }
            | Self::ReadOnly { .. }
            | Self::Unusable { .. }
            | Self::Replaced { .. }
            | Self::Detached { .. } => Class::Host,
            Self::Corrupt { .. }
            | Self::Foreign { .. }
            | Self::BadBackup { .. }
            | Self::NewerSchema { .. }
            | Self::OlderSchema { .. } => Class::Corrupt,
            Self::Failed { .. } => Class::Bug,
        }
    }

    /// Returns a stable code for programs.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Conflict(Conflict::Taken { what }) => match what {
                Unique::Key => "key_taken",
                Unique::SourcePath => "source_path_taken",
                Unique::Attachment => "file_taken",
                Unique::Content => "content_taken",
                Unique::Entry => "conflict",
                Unique::SpaceName | Unique::PrincipalName => "name_taken",
                Unique::Id => "id_taken",
            },
            Self::Conflict(_) => "conflict",
            Self::Busy { .. } => "busy",
            Self::DiskFull { .. } => "disk_full",
            Self::ReadOnly { .. } => "home_read_only",
            Self::Unusable { .. } => "store_unusable",
            Self::Replaced { .. } => "store_replaced",
            Self::Detached { .. } => "store_detached",
            Self::Exists { .. } => "file_exists",
            Self::Corrupt { .. } => "store_damaged",
            Self::Foreign { .. } => "store_foreign",
            Self::BadBackup { .. } => "bad_backup",
            Self::NewerSchema { .. } => "store_newer",
            Self::OlderSchema { .. } => "store_older",
            Self::Failed { .. } => "store_failed",
        }
    }

    /// Returns advice on what to do.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Conflict(Conflict::Taken { what: Unique::SpaceName | Unique::PrincipalName }) => {
                "choose another name"
            }
            Self::Conflict(Conflict::Taken { .. }) => {
                "another memory has it; update that one, or choose another"
            }
            Self::Conflict(_) => "read it again, then repeat",
            Self::Busy { .. } => "try again; if that does not help, check which process uses the store",
            Self::DiskFull { .. } => "free some space and repeat; what was acknowledged before is safe",
            Self::ReadOnly { .. } => {
                "run it as the owner of the home, or make the home writable; --home or TULVING_HOME choose another home"
            }
            Self::Unusable {
                verb:
                    "used as a home"
                    | "used as a database"
                    | "used as the token of this home"
                    | "used as the index of this home",
                ..
            } => "move it away, or choose another folder with --home or TULVING_HOME",
            Self::Unusable { verb: "restored", .. } => {
                "choose a file that `tulving backup create` has made; the store is as it was"
            }
            Self::Unusable { verb: "read or written", .. } => {
                "see whether a limit on the size of files (`ulimit -f`), a quota or the disk itself is at fault; \
                 what was acknowledged before is safe"
            }
            Self::Unusable { .. } => {
                "check that it exists and that you may read and write it; --home or TULVING_HOME choose another home"
            }
            Self::Replaced { .. } => "restart this process; it then opens the file at this path",
            Self::Detached { .. } => {
                "check whether it was saved, and repeat it if not; keep cleaning and sync programs away from the home"
            }
            Self::Exists { .. } => "choose another name, or allow it to be replaced",
            Self::Corrupt { .. } => {
                "`tulving backup restore FILE` puts a backup in its place and keeps the damaged file; \
                 without a backup, move the file away to start again"
            }
            Self::Foreign { .. } => "it was left untouched; choose another home with TULVING_HOME",
            Self::BadBackup { .. } => "the store is as it was; choose another backup file",
            Self::NewerSchema { .. } => "it was left untouched; use the newer Tulving that wrote it",
            Self::OlderSchema { .. } => {
                "it was left untouched; open it with the older Tulving that wrote it (restore it there if it is a backup), \
                 run `tulving dump FILE` there, then `tulving load FILE` here in another home"
            }
            Self::Failed { .. } => return None,
        })
    }
}
