//! What time it is. The only place that reads the wall clock.

use crate::time::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now. May jump, also backwards: nothing may rely on it ascending.
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
