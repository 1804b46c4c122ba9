//! What the engine asks of a backend: somewhere else that memories are kept.

use std::time::Duration;

use crate::backend::{Description, Given, ListQuery, Listed, RecallQuery};
use crate::error::BackendError;
use crate::id::{MemoryId, PrincipalId, SpaceId};
use crate::memory::Memory;

/// Keeps memories elsewhere.
///
/// Every call returns within the time it is given, whatever the backend does; that it took longer is
/// [`TimedOut`](BackendError::TimedOut). What it does not offer is [`NotOffered`](BackendError::NotOffered) and leaves
/// everything as it was. It decides nothing: who may see and do what is settled before, and what it gives is screened
/// afterwards.
pub trait Backend: Send + Sync {
    /// What it says of itself.
    fn describe(&self, within: Duration) -> Result<Description, BackendError>;

    /// Keeps this memory, in place of one with the same id. Returns once it is kept.
    fn save(&self, memory: &Memory, within: Duration) -> Result<(), BackendError>;

    /// The memories that a query is about, best first.
    fn recall(&self, query: &RecallQuery, within: Duration) -> Result<Vec<Given>, BackendError>;

    /// The memory with this id, where it has one in any of these spaces.
    fn get(
        &self,
        id: MemoryId,
        spaces: &[SpaceId],
        viewer: PrincipalId,
        within: Duration,
    ) -> Result<Option<Given>, BackendError>;

    /// The memories in the order of their creation.
    fn list(&self, query: &ListQuery, within: Duration) -> Result<Listed, BackendError>;

    /// Gives a memory up: it is not given again. With `hard`, nothing is left of it. Says whether it was there.
    fn forget(
        &self,
        id: MemoryId,
        space: SpaceId,
        hard: bool,
        within: Duration,
    ) -> Result<bool, BackendError>;
}
