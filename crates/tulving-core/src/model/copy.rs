//! Copies of a whole store: the data about a copy that a backup needs, and the result of a restore.

use std::path::PathBuf;

/// A copy of a store, which a backup contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreCopy {
    /// Number of memories in it, including forgotten ones. Entries of files are not counted.
    pub memories: u64,
    /// The keys of all attachments, in order.
    pub attached: Vec<String>,
    /// The mark of the last erasure; `None` if nothing was ever erased.
    pub erasure: Option<[u8; 16]>,
    /// True if unused parts of the copy may still contain erased text.
    pub erased_text_left: bool,
}

/// The content of a backup that is ready to replace a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoreContent {
    /// The epoch that the store will have: a new id that was never used before.
    pub epoch: [u8; 16],
    /// As in [`StoreCopy::memories`].
    pub memories: u64,
    /// The keys of its attachments, in order.
    pub attached: Vec<String>,
}

/// A finished restore of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreRestore {
    /// A copy of the previous content.
    pub previous: PathBuf,
    /// As in [`StoreCopy::memories`].
    pub memories: u64,
    /// The schema version of the backup before its migration.
    pub schema: i64,
    /// Number of tokens that were valid in the backup and stay revoked, because they have been revoked since.
    pub kept_revoked: u64,
}
