//! The waiting of a connection for other connections.
//!
//! The pauses are random, so that many writers do not all wake at the same time.

use std::cell::Cell;
use std::time::{Duration, Instant};

use rusqlite::Connection;

const FIRST_PAUSE: Duration = Duration::from_micros(200);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

thread_local! {
    /// The limit for work on this thread that must wait less than its connection would.
    static HURRY: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// Makes a connection wait for up to `limit`, after which it returns the error that the database is busy.
pub(super) fn be_patient(connection: &mut Connection, limit: Duration) -> rusqlite::Result<()> {
    let mut began = Instant::now();
    connection.busy_handler(Some(move |round: i32| {
        if round == 0 {
            began = Instant::now();
        }
        let limit = HURRY.get().unwrap_or(limit);
        let waited = began.elapsed();
        if waited >= limit {
            return false;
        }
        std::thread::sleep(pause(round).min(limit.saturating_sub(waited)));
        true
    }))
}

/// Runs work that waits for at most `limit`, even if its connection would wait longer.
pub(super) fn in_a_hurry<T>(limit: Duration, work: impl FnOnce() -> T) -> T {
    /// Restores the previous value, even if the work panics.
    struct WaitLimitGuard(Option<Duration>);
    impl Drop for WaitLimitGuard {
        fn drop(&mut self) {
            HURRY.set(self.0);
        }
    }
    let _back = WaitLimitGuard(HURRY.replace(Some(limit)));
    work()
}

/// A random pause that gets longer on average with each round.
pub(super) fn pause(round: i32) -> Duration {
    let grown = FIRST_PAUSE.mul_f64(1.5_f64.powi(round.clamp(0, 20))).min(LONGEST_PAUSE);
    grown.mul_f64(0.5 + fastrand::f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_stay_short() {
        assert!((0..100).all(|_| pause(0) < FIRST_PAUSE * 2));
        assert!((0..100).all(|round| pause(round) <= LONGEST_PAUSE * 3 / 2));
        assert!(pause(50) >= LONGEST_PAUSE / 2);
    }
}
