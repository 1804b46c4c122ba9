//! The port to a backend that stores memories elsewhere.

use std::time::Duration;

use crate::model::backend::{BackendListQuery, BackendRecallQuery, Description, Given, Listed};
use crate::model::error::BackendError;
use crate::model::id::{MemoryId, PrincipalId, SpaceId};
use crate::model::memory::Memory;

/// Stores memories elsewhere.
///
/// Every call returns within its timeout, whatever the backend does; a late answer is
/// [`TimedOut`](BackendError::TimedOut). A verb that it does not offer is [`NotOffered`](BackendError::NotOffered) and
/// changes nothing. A backend decides nothing: the engine checks access before the call and screens the results
/// afterwards.
pub trait Backend: Send + Sync {
    /// Returns its description of itself.
    fn describe(&self, within: Duration) -> Result<Description, BackendError>;

    /// Stores this memory, replacing one with the same id. Returns once it is stored.
    fn save(&self, memory: &Memory, within: Duration) -> Result<(), BackendError>;

    /// Returns the memories that match a query, best first.
    fn recall(&self, query: &BackendRecallQuery, within: Duration) -> Result<Vec<Given>, BackendError>;

    /// Returns the memory with this id, if it is in any of these spaces.
    fn get(
        &self,
        id: MemoryId,
        spaces: &[SpaceId],
        viewer: PrincipalId,
        within: Duration,
    ) -> Result<Option<Given>, BackendError>;

    /// Returns the memories in the order of their creation.
    fn list(&self, query: &BackendListQuery, within: Duration) -> Result<Listed, BackendError>;

    /// Forgets a memory: it is never returned again. With `hard`, nothing is left of it. Returns true if it existed.
    fn forget(
        &self,
        id: MemoryId,
        space: SpaceId,
        hard: bool,
        within: Duration,
    ) -> Result<bool, BackendError>;
}
