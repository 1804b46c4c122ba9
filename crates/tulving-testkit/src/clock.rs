//! Clocks that go as the test says.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tulving_core::ports::Clock;
use tulving_core::time::Timestamp;

use crate::build;

/// Stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock(AtomicI64);

impl ManualClock {
    /// A clock at the instant where every test begins.
    pub fn new() -> Self {
        Self::at(build::second(0))
    }

    /// A clock at this instant.
    pub fn at(now: Timestamp) -> Self {
        Self(AtomicI64::new(now.as_micros()))
    }

    /// Moves it forward.
    pub fn advance(&self, by: Duration) {
        let micros = i64::try_from(by.as_micros()).expect("a test does not last for ages");
        self.0.fetch_add(micros, Ordering::SeqCst);
    }

    /// Sets it, backwards too.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::SeqCst);
    }
}

impl Default for ManualClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::SeqCst))
    }
}

/// Moves forward by a step each time it is asked, so that no two instants are equal.
#[derive(Debug)]
pub struct TickingClock {
    micros: AtomicI64,
    step: i64,
}

impl TickingClock {
    /// A clock that begins where every test begins.
    pub fn new(step: Duration) -> Self {
        Self {
            micros: AtomicI64::new(build::second(0).as_micros()),
            step: i64::try_from(step.as_micros()).expect("a step is short"),
        }
    }
}

impl Default for TickingClock {
    /// A millisecond for each look.
    fn default() -> Self {
        Self::new(Duration::from_millis(1))
    }
}

impl Clock for TickingClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.micros.fetch_add(self.step, Ordering::SeqCst))
    }
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
        let clock = TickingClock::default();
        assert!(clock.now() < clock.now());
    }
}
