//! The only crate of Tulving that touches a database or the disk.
//!
//! [`Home`] is the folder with all data; any number of processes may open it. [`SqliteStore`] implements the store
//! ports of `tulving-core`, [`HomeContent`] backs up the whole home, [`SearchIndex`] implements the index port over any
//! store, [`Workspace`] implements the port of the files that people can read, [`Plugin`] the port of backends, and
//! [`objects`] and [`extract`] the ports of attachments. [`tree`] reads files to import, and [`foreign`] reads the data
//! of other memory systems.

mod archive;
mod backup;
mod draft;
pub mod extract;
mod files;
pub mod foreign;
mod home;
mod index;
pub mod objects;
mod pending;
mod plugin;
mod presence;
mod process;
mod sqlite;
mod target;
mod token_file;
pub mod tree;
mod workspace;

pub use archive::{BackupCounts, BackupOmission};
pub use backup::{
    BackupReport, ConfigOutcome, ConfigTexts, DamagedStoreRestore, HomeContent, RestoreOptions,
    RestoreReport, WrittenConfig,
};
pub use draft::{DraftFile, replace};
pub use files::{open_regular, read_regular};
pub use home::Home;
pub use index::{FoldOutcome, IndexStatus, PendingIndexWork, SearchIndex};
pub use plugin::{Plugin, PluginCommand};
pub use presence::PresenceCheck;
pub use sqlite::{DamagedDatabase, DatabaseBackup, ExistingFilePolicy, SqliteOptions, SqliteStore};
pub use target::check_target;
pub use token_file::{read_token_file, remove_token_file, write_token_file};
pub use workspace::Workspace;
