//! Clocks controlled by the test.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tulving_core::model::time::Timestamp;
use tulving_core::ports::Clock;

use crate::build;

/// A clock that stands still until the test moves it, or that advances by a step each time it is read.
#[derive(Debug)]
pub struct ManualClock {
    micros: AtomicI64,
    step: i64,
}

impl ManualClock {
    /// A clock that stands still at the start of every test.
    pub fn new() -> Self {
        Self::ticking(Duration::ZERO)
    }

    /// A clock that starts at the start of every test and advances each time it is read, so that no two instants are
    /// equal.
    pub fn ticking(step: Duration) -> Self {
        Self { micros: AtomicI64::new(build::second(0).as_micros()), step: micros(step) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.micros.fetch_add(micros(by), Ordering::SeqCst);
    }

    /// Sets the clock, even backwards.
    pub fn set(&self, now: Timestamp) {
        self.micros.store(now.as_micros(), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.micros.fetch_add(self.step, Ordering::SeqCst))
    }
}

fn micros(span: Duration) -> i64 {
    i64::try_from(span.as_micros()).expect("a test does not last for ages")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::new();
        let before = clock.now();
        assert_eq!(clock.now(), before);
        clock.advance(Duration::from_secs(1));
        assert_eq!(clock.now(), before.plus_millis(1_000));
        clock.set(before);
        assert_eq!(clock.now(), before);
    }

    #[test]
    fn a_ticking_clock_never_says_the_same_twice() {
        let clock = ManualClock::ticking(Duration::from_millis(1));
        assert!(clock.now() < clock.now());
    }
}
