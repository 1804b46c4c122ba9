//! Backs up a whole home into one file, and restores it: database, files, former texts of files, attachments, settings.
//!
//! [`create`] reads, [`restore`] writes. Both work while other processes have the home open. The file is an
//! [`archive`](crate::archive); [`pending`](crate::pending) finishes or reverts a restore that was killed.

mod create;
mod restore;

use std::path::{Path, PathBuf};

use tulving_core::ports::{Copies, Objects};

use crate::archive::{BackupCounts, BackupOmission};
use crate::home::Home;
use crate::pending::ReplaceScope;
use crate::workspace::Workspace;

pub use restore::{DamagedStoreRestore, RestoreOptions};

/// The parts of a home, each in its actual place.
pub struct HomeContent<'a> {
    /// The folder.
    pub home: &'a Home,
    /// The store.
    pub store: &'a dyn Copies,
    /// The files that people can read, in the home or elsewhere.
    pub files: &'a Workspace,
    /// The attachments, in the home or in a bucket.
    pub objects: &'a dyn Objects,
    /// The settings without their secrets.
    pub config: ConfigTexts,
}

/// The texts of the files with settings; `None` for a missing file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigTexts {
    /// `config.toml`.
    pub toml: Option<String>,
    /// `config.json`.
    pub json: Option<String>,
}

impl ConfigTexts {
    /// Returns true if there is neither file.
    pub fn is_empty(&self) -> bool {
        self.toml.is_none() && self.json.is_none()
    }
}

/// A finished backup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupReport {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
    /// The number of items in it.
    pub counts: BackupCounts,
    /// The parts of the home that are not in it.
    pub left_out: Vec<BackupOmission>,
}

/// A finished restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreReport {
    /// A backup of the previous content.
    pub previous: PathBuf,
    /// A second file with previous content: the files of a home whose database was damaged.
    pub previous_files: Option<PathBuf>,
    /// The number of restored items.
    pub counts: BackupCounts,
    /// True if the backup is only a database, as older versions made it. Then files and attachments stay unchanged.
    pub database_only: bool,
    /// The parts of the home that were left out of the backup.
    pub left_out: Vec<BackupOmission>,
    /// The schema version of the backup before its migration.
    pub schema: i64,
    /// Number of tokens that were valid in the backup and stay revoked, because they have been revoked since.
    pub kept_revoked: u64,
    /// The outcome for the settings.
    pub config: ConfigOutcome,
}

/// The outcome of a restore for the settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfigOutcome {
    /// They were written.
    Written(WrittenConfig),
    /// The home had settings, which stay unchanged.
    Kept,
    /// There were none to write.
    None,
}

/// The files with settings that a restore wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenConfig {
    /// True if `config.toml` is one of them.
    pub toml: bool,
    /// True if `config.json` is one of them.
    pub json: bool,
}

/// The extent of Tulving's files in a workspace: all files in the home's own workspace, only those with Tulving's names
/// elsewhere.
fn extent(own: &Path, workspace: &Path) -> ReplaceScope {
    match workspace == own || crate::files::same_file(workspace, own) {
        true => ReplaceScope::All,
        false => ReplaceScope::OwnNames,
    }
}
