//! The verbs: the operations that a caller can request. Each verb has one file or folder.
//!
//! Each verb checks the caller's rights, decides on the change, and writes the change in one
//! [`Store::apply`](crate::ports::Store::apply).

pub mod foreign_import;
pub mod import;

pub(crate) mod access;
pub(crate) mod ask;
pub(crate) mod associate;
pub(crate) mod briefing;
pub(crate) mod conversation;
pub(crate) mod directory;
pub(crate) mod done;
pub(crate) mod edit;
pub(crate) mod embedding;
pub(crate) mod follow;
pub(crate) mod forget;
pub(crate) mod history;
pub(crate) mod idempotency;
pub(crate) mod jobs;
pub(crate) mod objects;
pub(crate) mod push;
pub(crate) mod quality;
pub(crate) mod read;
pub(crate) mod recall;
pub(crate) mod recall_counts;
pub(crate) mod related;
pub(crate) mod relocate;
pub(crate) mod retract;
pub(crate) mod review;
pub(crate) mod save;
pub(crate) mod status;
pub(crate) mod succession;
pub(crate) mod timeline;
pub(crate) mod transfer;
pub(crate) mod usage;
