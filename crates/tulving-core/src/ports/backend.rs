//! The port to a backend, which stores memories outside the built-in store.

use std::time::Duration;

use crate::model::backend::{
    BackendDescription, BackendItem, BackendList, BackendListQuery, BackendRecallQuery,
};
use crate::model::error::BackendError;
use crate::model::id::{MemoryId, PrincipalId, SpaceId};
use crate::model::memory::Memory;

/// A backend that stores memories outside the built-in store.
///
/// Every call returns within its timeout, whatever the backend does; if the answer is late, the call returns
/// [`TimedOut`](BackendError::TimedOut). If the backend does not offer a verb, the call returns
/// [`NotOffered`](BackendError::NotOffered) and changes nothing. A backend makes no decisions about access: the engine
/// checks access before the call and screens the results after the call.
pub trait Backend: Send + Sync {
    /// Returns the backend's description of itself.
    fn describe(&self, within: Duration) -> Result<BackendDescription, BackendError>;

    /// Stores this memory and replaces any memory with the same id. The call returns after the memory is stored.
    fn save(&self, memory: &Memory, within: Duration) -> Result<(), BackendError>;

    /// Returns the memories that match a query, best first.
    fn recall(&self, query: &BackendRecallQuery, within: Duration) -> Result<Vec<BackendItem>, BackendError>;

    /// Returns the memory with this id, if the memory is in any of these spaces.
    fn get(
        &self,
        id: MemoryId,
        spaces: &[SpaceId],
        viewer: PrincipalId,
        within: Duration,
    ) -> Result<Option<BackendItem>, BackendError>;

    /// Returns the memories that match a query, in the order of their creation.
    fn list(&self, query: &BackendListQuery, within: Duration) -> Result<BackendList, BackendError>;

    /// Forgets a memory: the backend never returns the memory again. With `hard`, the backend also deletes all data of the
    /// memory. Returns true if the memory existed.
    fn forget(
        &self,
        id: MemoryId,
        space: SpaceId,
        hard: bool,
        within: Duration,
    ) -> Result<bool, BackendError>;
}
