//! Backs up a whole home into one file, and restores it: database, files, previous texts of files, attachments,
//! settings.
//!
//! [`create`] makes a backup, and [`restore`] restores one. Both work while other processes have the home open. The
//! format of the file is [`archive`](crate::archive). If a restore was killed, [`pending`](crate::pending) finishes or
//! reverts it.

mod create;
mod restore;

use std::path::{Path, PathBuf};

use tulving_core::ports::{Copies, Objects};

use crate::archive::{BackupCounts, BackupOmission};
use crate::home::Home;
use crate::pending::ReplaceScope;
use crate::workspace::Workspace;

pub use restore::{DamagedStoreRestore, RestoreOptions};

/// The parts of a home, each at its configured location.
pub struct HomeContent<'a> {
    /// The folder of the home.
    pub home: &'a Home,
    /// The store with the memories.
    pub store: &'a dyn Copies,
    /// The workspace with the files that people can read, inside or outside the home.
    pub files: &'a Workspace,
    /// The store of the attachments: a folder of the home or a bucket.
    pub objects: &'a dyn Objects,
    /// The settings without their secrets.
    pub config: ConfigTexts,
}

/// The texts of the settings files; `None` for a missing file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigTexts {
    /// The text of `config.toml`.
    pub toml: Option<String>,
    /// The text of `config.json`.
    pub json: Option<String>,
}

impl ConfigTexts {
    /// Returns true if both files are missing.
    pub fn is_empty(&self) -> bool {
        self.toml.is_none() && self.json.is_none()
    }
}

/// A finished backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The path of the backup.
    pub path: PathBuf,
    /// The size of the backup, in bytes.
    pub bytes: u64,
    /// The number of items of each kind in the backup.
    pub counts: BackupCounts,
    /// The parts of the home that are not in the backup.
    pub left_out: Vec<BackupOmission>,
}

/// A finished restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreReport {
    /// The path of a backup of the previous content.
    pub previous: PathBuf,
    /// The path of a second file with previous content: the files of a home whose database was damaged.
    pub previous_files: Option<PathBuf>,
    /// The number of restored items of each kind.
    pub counts: BackupCounts,
    /// True if the backup is only a database, as older versions of Tulving wrote it. In that case files and attachments
    /// do not change.
    pub database_only: bool,
    /// The parts of the original home that are missing from the backup.
    pub left_out: Vec<BackupOmission>,
    /// The schema version of the backup before the restore migrated it.
    pub schema: i64,
    /// Number of tokens that are valid in the backup and stay revoked, because they were revoked after the backup was
    /// made.
    pub kept_revoked: u64,
    /// The result of the restore for the settings.
    pub config: ConfigOutcome,
}

/// The result of a restore for the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigOutcome {
    /// The settings of the backup were written.
    Written(WrittenConfig),
    /// The home already had settings, which did not change.
    Kept,
    /// There were no settings to write.
    None,
}

/// The files with settings that a restore wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenConfig {
    /// True if `config.toml` was written.
    pub toml: bool,
    /// True if `config.json` was written.
    pub json: bool,
}

/// Returns the files of a workspace that belong to Tulving: all files if the workspace is in the home, and only the
/// files with Tulving's names if it is elsewhere.
fn extent(own: &Path, workspace: &Path) -> ReplaceScope {
    match workspace == own || crate::files::same_file(workspace, own) {
        true => ReplaceScope::All,
        false => ReplaceScope::OwnNames,
    }
}
