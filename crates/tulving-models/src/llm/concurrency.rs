//! Limits the number of concurrent calls. A caller waits for a free slot until its time limit.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

use tulving_core::model::error::LlmError;

#[derive(Debug)]
pub(super) struct CallLimit {
    limit: usize,
    taken: Mutex<usize>,
    freed: Condvar,
}

/// A slot. It becomes free when this value is dropped.
pub(super) struct CallSlot<'a>(&'a CallLimit);

impl CallLimit {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), taken: Mutex::new(0), freed: Condvar::new() }
    }

    /// Takes a slot, waiting for one until `end`.
    pub(super) fn enter(&self, end: Instant) -> Result<CallSlot<'_>, LlmError> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let left = end.saturating_duration_since(Instant::now());
        let waited = self.freed.wait_timeout_while(taken, left, |taken| *taken >= self.limit);
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *taken >= self.limit {
            return Err(LlmError::Busy { limit: self.limit });
        }
        *taken += 1;
        Ok(CallSlot(self))
    }
}

impl Drop for CallSlot<'_> {
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
        let limit = CallLimit::new(2);
        let now = Instant::now();
        let (first, second) = (limit.enter(now).expect("free"), limit.enter(now).expect("free"));
        assert_eq!(limit.enter(now).err(), Some(LlmError::Busy { limit: 2 }));
        drop(first);
        let third = limit.enter(now).expect("left");
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| limit.enter(Instant::now() + Duration::from_secs(60)).map(drop));
            drop(second);
            assert_eq!(waiting.join().expect("no panic"), Ok(()));
        });
        drop(third);
    }
}
