//! The only crate of Tulving that touches a database or the disk.
//!
//! [`Home`] is the folder, [`SqliteStore`] fills the store ports of `tulving-core` and looks after the file: backup,
//! restore, check-up. Any number of processes may have the same home open.

mod draft;
mod files;
mod home;
mod sqlite;

pub use draft::Draft;
pub use files::{check_target, read_token_file, replace, write_token_file};
pub use home::Home;
pub use sqlite::{
    BackupReport, Checkup, Depth, Finding, IfExists, Options, RestoreReport, Severity, SqliteStore,
};
