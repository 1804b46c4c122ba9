//! The clock. No other code of this crate reads the wall clock.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::model::time::Timestamp;

/// A source of the current time.
pub trait Clock: Send + Sync {
    /// Returns the current time. The time may jump forwards or backwards, so no code may rely on ascending times.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(jiff::Timestamp::now().as_microsecond())
    }
}

/// A clock that can be stopped. Calls of one command that are made at the same instant count as one act, so undo reverses
/// these calls together.
pub struct PausableClock {
    clock: Arc<dyn Clock>,
    held: Mutex<Option<Timestamp>>,
}

impl PausableClock {
    /// Creates a running clock that takes its time from another clock.
    pub fn over(clock: Arc<dyn Clock>) -> Self {
        Self { clock, held: Mutex::new(None) }
    }

    /// Stops the clock until the guard is dropped.
    pub fn hold(&self) -> ClockPause<'_> {
        *self.instant() = Some(self.clock.now());
        ClockPause(self)
    }

    fn instant(&self) -> MutexGuard<'_, Option<Timestamp>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for PausableClock {
    fn now(&self) -> Timestamp {
        let held = *self.instant();
        held.unwrap_or_else(|| self.clock.now())
    }
}

/// A guard that keeps a [`PausableClock`] stopped until it is dropped.
pub struct ClockPause<'a>(&'a PausableClock);

impl Drop for ClockPause<'_> {
    fn drop(&mut self) {
        *self.0.instant() = None;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};

    use super::*;

    struct TickingClock(AtomicI64);

    impl Clock for TickingClock {
        fn now(&self) -> Timestamp {
            Timestamp::from_micros(self.0.fetch_add(1, Ordering::Relaxed))
        }
    }

    #[test]
    fn a_held_clock_stands_still_until_it_is_let_go() {
        let clock = PausableClock::over(Arc::new(TickingClock(AtomicI64::new(0))));
        assert!(clock.now() < clock.now());
        let held = clock.hold();
        assert_eq!(clock.now(), clock.now());
        drop(held);
        assert!(clock.now() < clock.now());
    }
}
