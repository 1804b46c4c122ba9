//! The ports to the upkeep of a store: checks, and maintenance work that no verb waits for.
//!
//! Implement both for every store. `tulving doctor`, the maintenance thread of a server and `tulving forget --hard` use a
//! store only through these traits. The traits are separate from [`Store`](super::Store) because the engine never calls
//! them: they concern the files and tables of a store, not its memories.

use crate::model::error::StoreError;
use crate::model::integrity::{MemoryAttachment, MirroredMemory, StoreCheckDepth, StoreCheckReport};

/// Checks that a store is undamaged.
///
/// Implement this trait to find damage before a user does: each finding describes the problem and the solution. A call only
/// reads, and may be made while other processes write. A call returns all damage as findings; an error means that the store
/// could not be read at all.
pub trait IntegrityChecks: Send + Sync {
    /// Checks the structure, the contents and the location of the store. A usual check reads a sample of the contents; a
    /// deep check reads all contents.
    fn check(&self, depth: StoreCheckDepth) -> Result<StoreCheckReport, StoreError>;

    /// Returns all memories that have an attachment, ordered by space and number, so that the caller can find missing
    /// attachments.
    fn memories_with_attachments(&self) -> Result<Vec<MemoryAttachment>, StoreError>;

    /// Returns all memories that mirror entries of files and are not forgotten, ordered by space and number, so that the
    /// caller can find missing files.
    fn mirrored_memories(&self) -> Result<Vec<MirroredMemory>, StoreError>;
}

/// Does the work that a store defers.
///
/// Implement this trait to keep saves and erasures fast: a write does only the work that it must finish before it returns,
/// and leaves the rest to these calls. Several processes may make these calls at any time and at once. If a process is
/// killed during a call, no acknowledged write is lost, and the next call continues the work.
pub trait Upkeep: Send + Sync {
    /// Removes text that is still stored after its erasure was committed, for example in unused parts of files. Returns true
    /// if there was any work to do.
    ///
    /// The call may block writers for the time that it takes to write the whole store once. Callers run it in the
    /// background, or after they have returned their answer. If nothing was erased since the last call, the call costs one
    /// read.
    fn scrub(&self) -> Result<bool, StoreError>;

    /// Returns true if erased text may still be in the store, so that [`scrub`](Self::scrub) is needed again. Also returns
    /// true while another process reads an old state of the store.
    fn erased_lingers(&self) -> Result<bool, StoreError>;

    /// Moves the latest commits from a log to their final place, as far as readers of the log allow. No caller waits for
    /// this work.
    ///
    /// Commits are durable without this call. The call limits the damage if another program removes the log. If other
    /// programs cannot remove the log of a store, the call does nothing.
    fn checkpoint(&self) -> Result<(), StoreError>;

    /// Removes vectors of models other than the current model and the next model. Reads up to `limit` vectors in one short
    /// transaction, and returns true if more vectors may remain.
    ///
    /// `chosen` is the model that the user configured. If the store was preparing the vectors of a different model, it
    /// cancels that preparation. If there is nothing to do, the call costs one read.
    fn drop_stale_vectors(&self, chosen: Option<&str>, limit: usize) -> Result<bool, StoreError>;
}
