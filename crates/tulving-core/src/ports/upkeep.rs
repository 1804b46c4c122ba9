//! The ports to the upkeep of a store: check-ups, and work that no verb waits for.
//!
//! Implement both for every store. `tulving doctor`, the maintenance thread of a server and `tulving forget --hard` know a store
//! only by them. They are separate from [`Store`](super::Store) because the engine never calls them: they are about the place where
//! the rows are, not about memories.

use crate::model::checkup::{MemoryAttachment, MirroredMemory, StoreCheckDepth, StoreCheckReport};
use crate::model::error::StoreError;

/// Checks that a store is sound.
///
/// Implement it to find damage before a user does: each finding says what is wrong and what to do. A call only reads, and may be
/// made while others write. It names everything that it finds, so damage is a finding and not an error; an error means that the
/// store could not even be read.
pub trait Checkup: Send + Sync {
    /// Checks the structure, the contents and the place of the store. A usual check reads a sample of the contents, a deep one
    /// everything.
    fn check(&self, depth: StoreCheckDepth) -> Result<StoreCheckReport, StoreError>;

    /// Returns all memories that have an attachment, by space and number, so that a missing file is noticed.
    fn memories_with_attachments(&self) -> Result<Vec<MemoryAttachment>, StoreError>;

    /// Returns all memories that are entries of files and not forgotten, by space and number, so that a missing file is noticed.
    fn mirrored_memories(&self) -> Result<Vec<MirroredMemory>, StoreError>;
}

/// Does the work that a store puts off.
///
/// Implement it to keep saves and erasures fast: a write does what its promise needs, and leaves the rest to these calls. Each may
/// be made at any time, by several processes at once, and be killed at any point: nothing that was acknowledged is lost, and the
/// next call continues.
pub trait Upkeep: Send + Sync {
    /// Removes erased text from the places where it may still be after the erasure was committed, such as unused parts of files.
    /// Returns true if there was anything to do.
    ///
    /// It may block writers for as long as it takes to write the whole store once. Called in the background, or by a process that
    /// has given its answer. If nothing was erased since the last time, it costs one read.
    fn scrub(&self) -> Result<bool, StoreError>;

    /// Returns true if erased text may still be in the store, so that [`scrub`](Self::scrub) is needed again. This is the case
    /// also while another process reads an old state.
    fn erased_lingers(&self) -> Result<bool, StoreError>;

    /// Moves the latest commits from a log into their final place, as far as readers of the log allow. Nobody waits for it.
    ///
    /// Commits are durable without this call. It limits the damage if another program removes the log. A store whose log
    /// cannot be removed by others does nothing.
    fn checkpoint(&self) -> Result<(), StoreError>;

    /// Removes vectors of models that are neither current nor next. Reads up to `limit` vectors in one short transaction, and
    /// returns true if there may be more.
    ///
    /// `chosen` is the user's choice of model: if another one was being prepared, it is given up. If there is nothing to do, it
    /// costs one read.
    fn drop_stale_vectors(&self, chosen: Option<&str>, limit: usize) -> Result<bool, StoreError>;
}
