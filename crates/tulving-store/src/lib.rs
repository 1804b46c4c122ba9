//! The only crate of Tulving that touches a database or the disk.
//!
//! [`Home`] is the folder, which any number of processes may have open. [`SqliteStore`] fills the store ports of `tulving-core`,
//! [`HomeContent`] backs all of it up, [`SearchIndex`] fills the index port over any store, [`Workspace`] that of the files that people can read, [`Plugin`] that of backends,
//! and [`objects`] and [`extract`] those of attachments. [`tree`] reads what is imported, [`foreign`] what other memories have kept.

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
pub mod tree;
mod workspace;

pub use archive::{BackupCounts, LeftOut};
pub use backup::{BackupReport, ConfigFate, HomeContent, Rescue, RestoreOptions, RestoreReport};
pub use draft::Draft;
pub use files::{
    check_target, open_regular, read_regular, read_token_file, remove_token_file, replace, write_token_file,
};
pub use home::Home;
pub use index::{Chore, Folded, IndexStatus, SearchIndex};
pub use plugin::{Plugin, PluginCommand};
pub use presence::PresenceCheck;
pub use sqlite::{
    Checkup, DatabaseBackup, DatabaseRestore, Depth, Finding, IfExists, Options, Severity, SqliteStore,
};
pub use workspace::Workspace;
