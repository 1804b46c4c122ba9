//! Bounds how many calls are under way at once. Who comes when all places are taken waits, as long as there is time.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use tulving_core::error::LlmError;

#[derive(Debug)]
pub(super) struct Gate {
    limit: usize,
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A place, until it is dropped.
pub(super) struct Slot<'a>(&'a Gate);

impl Gate {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), taken: Mutex::new(0), freed: Condvar::new() }
    }

    /// Takes a place, waiting for one until `end`.
    pub(super) fn enter(&self, end: Instant) -> Result<Slot<'_>, LlmError> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = end.saturating_duration_since(Instant::now());
        let waited = self.freed.wait_timeout_while(taken, left, |taken| *taken >= self.limit);
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *taken >= self.limit {
            return Err(LlmError::Busy { limit: self.limit });
        }
        *taken += 1;
        Ok(Slot(self))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_so_many_are_inside_and_a_place_that_is_left_is_free() {
        let gate = Gate::new(2);
        let now = Instant::now();
        let (first, second) = (gate.enter(now).expect("free"), gate.enter(now).expect("free"));
        assert_eq!(gate.enter(now).err(), Some(LlmError::Busy { limit: 2 }));
        drop(first);
        let third = gate.enter(now).expect("left");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| gate.enter(Instant::now() + Duration::from_secs(60)).map(drop));
            drop(second);
            assert_eq!(waiting.join().expect("no panic"), Ok(()));
        });
        drop(third);
    }
}
