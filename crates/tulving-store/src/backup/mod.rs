//! Backs up a whole home into one file, and restores it: database, files, former texts of files, attachments, settings.
//!
//! [`create`] reads, [`restore`] writes. Both work while other processes have the home open. The file is an
//! [`archive`](crate::archive); what a kill leaves of a restore is finished or taken back by [`pending`](crate::pending).

mod create;
mod restore;

use std::path::{Path, PathBuf};

use tulving_core::ports::Objects;

use crate::archive::{BackupCounts, LeftOut};
use crate::pending::Extent;
use crate::sqlite::SqliteStore;
use crate::workspace::Workspace;

pub use restore::{Rescue, RestoreOptions};

/// The parts of a home, each where it really is.
pub struct HomeContent<'a> {
    /// The database.
    pub store: &'a SqliteStore,
    /// The files that people can read, in the home or elsewhere.
    pub files: &'a Workspace,
    /// The attachments, in the home or in a bucket.
    pub objects: &'a dyn Objects,
    /// The text of `config.toml` without its secrets; `None` where there is none.
    pub config: Option<String>,
}

/// A backup that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The amounts in it.
    pub counts: BackupCounts,
    /// The parts of the home that are not in it.
    pub left_out: Vec<LeftOut>,
}

/// A home that was restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreReport {
    /// A backup of what was there before.
    pub previous: PathBuf,
    /// A second file with what was there before: the files of a home whose database was damaged.
    pub previous_files: Option<PathBuf>,
    /// The amounts that were restored.
    pub counts: BackupCounts,
    /// True if the backup is the database alone, as older versions made it. Then files and attachments are as they were.
    pub database_only: bool,
    /// The parts of the home that were not in the backup when it was made.
    pub left_out: Vec<LeftOut>,
    /// The schema that the backup had before it was brought to the newest.
    pub schema: i64,
    /// The number of tokens that were still good in the backup and stay revoked, because they had been revoked since.
    pub kept_revoked: u64,
    /// The outcome for the settings.
    pub config: ConfigFate,
}

/// The outcome of a restore for `config.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigFate {
    /// It was written.
    Written,
    /// The home had one, which stays.
    Kept,
    /// There was none to write.
    None,
}

/// The extent of Tulving's files in a workspace: all in the home's own, those with its own names elsewhere.
fn extent(own: &Path, workspace: &Path) -> Extent {
    match workspace == own || crate::files::same_file(workspace, own) {
        true => Extent::All,
        false => Extent::OwnNames,
    }
}
