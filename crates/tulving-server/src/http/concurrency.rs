//! Limits concurrent work. A request that waits for a slot has not begun, and leaves the queue when its client disconnects.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::problem::Problem;

/// Maximum number of threads for blocking work.
pub(super) const WORKERS: usize = 64;

/// The slots for concurrent work.
#[derive(Debug)]
pub(super) struct WorkerLimit {
    any: Arc<Semaphore>,
    /// The slots for work that may write. Writers can wait for each other, so they never take all slots; reads can continue.
    writing: Arc<Semaphore>,
}

/// A slot for work. Dropping the value frees the slot.
pub(super) struct WorkerSlot {
    _any: OwnedSemaphorePermit,
    _writing: Option<OwnedSemaphorePermit>,
}

impl Default for WorkerLimit {
    fn default() -> Self {
        // The remaining threads are left for the server itself.
        let of = |share: usize| Arc::new(Semaphore::new(share));
        Self { any: of(WORKERS - WORKERS / 8), writing: of(WORKERS / 2) }
    }
}

impl WorkerLimit {
    /// Waits for a free slot.
    pub(super) async fn enter(&self, writes: bool) -> Result<WorkerSlot, Problem> {
        let of = |places: &Arc<Semaphore>| Arc::clone(places).acquire_owned();
        let writing = match writes {
            true => Some(of(&self.writing).await.map_err(|_| Problem::fault())?),
            false => None,
        };
        Ok(WorkerSlot { _any: of(&self.any).await.map_err(|_| Problem::fault())?, _writing: writing })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn those_who_write_leave_room_for_those_who_read() {
        let limit = WorkerLimit::default();
        let soon = |writes| tokio::time::timeout(Duration::from_millis(10), limit.enter(writes));
        let mut held = Vec::new();
        while let Ok(place) = soon(true).await {
            held.push(place.expect("a place"));
        }
        assert_eq!(held.len(), WORKERS / 2);
        let reading = soon(false).await.expect("there is room").expect("a place");
        held.pop();
        assert!(soon(true).await.is_ok(), "who leaves makes room");
        drop(reading);
    }
}
