//! Stops calls to a service for a while after several failures in a row, so that callers do not wait for a service that
//! does not answer.
//!
//! After the pause, one call is let through. If the service answers this call, all calls are let through; if not, the
//! pause starts again. Each language model and each embedding service has its own breaker.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct CircuitBreaker {
    /// Number of failures in a row after which the breaker opens.
    after: u32,
    pause: Duration,
    state: Mutex<BreakerState>,
}

#[derive(Debug, Default)]
struct BreakerState {
    /// Failures in a row.
    failures: u32,
    /// End of the pause, if the breaker is open.
    until: Option<Instant>,
    /// The last failure.
    why: String,
}

/// Permission for a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BreakerPermit {
    /// End of the pause for other calls, if this is the one call after a pause.
    until: Option<Instant>,
}

impl BreakerPermit {
    /// Returns true if this is the one call after a pause.
    pub(crate) fn is_trial(self) -> bool {
        self.until.is_some()
    }
}

/// Refusal of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CircuitOpenError {
    /// Number of failures in a row.
    pub(crate) failures: u32,
    /// Time until the next call is let through.
    pub(crate) left: Duration,
    /// The last failure.
    pub(crate) why: String,
}

impl fmt::Display for CircuitOpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failures, left, why } = self;
        let times = if *failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
        write!(f, "it is paused for {} s more after it failed {times}: {why}", left.as_secs().max(1))
    }
}

/// The result of a call that was let through.
#[derive(Debug)]
pub(crate) enum CallOutcome {
    /// The service answered, even if it refused this request.
    Answered,
    /// The service was never called.
    NotAsked,
    /// The service failed.
    Failed(String),
    /// The service did not answer in time. A single timeout counts as much as several immediate failures, so it opens
    /// the breaker.
    TimedOut(String),
}

impl CircuitBreaker {
    pub(crate) fn new(after: u32, pause: Duration) -> Self {
        Self { after: after.max(1), pause, state: Mutex::default() }
    }

    /// Lets a call through, or returns the reason not to.
    pub(crate) fn pass(&self, now: Instant) -> Result<BreakerPermit, CircuitOpenError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.until {
            None => Ok(BreakerPermit { until: None }),
            Some(until) if until > now => {
                Err(CircuitOpenError { failures: state.failures, left: until - now, why: state.why.clone() })
            }
            Some(_) => {
                // Other calls wait for the result of this call.
                state.until = Some(now + self.pause);
                Ok(BreakerPermit { until: state.until })
            }
        }
    }

    /// Records the result of a call that was let through. Returns true if the result opens the breaker.
    pub(crate) fn note(&self, pass: BreakerPermit, ending: CallOutcome, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (why, slow) = match ending {
            // If this was the one call after the pause, the next call is let through instead.
            CallOutcome::NotAsked => {
                if pass.until.is_some() && pass.until == state.until {
                    state.until = Some(now);
                }
                return false;
            }
            CallOutcome::Answered => {
                *state = BreakerState::default();
                return false;
            }
            CallOutcome::Failed(why) => (why, false),
            CallOutcome::TimedOut(why) => (why, true),
        };
        state.failures = state.failures.saturating_add(1);
        state.why = why;
        let opens = slow || state.failures >= self.after;
        if opens {
            state.until = Some(now + self.pause);
        }
        opens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    fn bad() -> CallOutcome {
        CallOutcome::Failed("u failed (503)".to_owned())
    }

    fn noted(breaker: &CircuitBreaker, ending: CallOutcome, now: Instant) {
        breaker.note(BreakerPermit { until: None }, ending, now);
    }

    fn is_open(breaker: &CircuitBreaker, now: Instant) -> bool {
        breaker.pass(now).is_err()
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_tries_one_call_after_the_pause() {
        let (breaker, start) = (CircuitBreaker::new(3, PAUSE), Instant::now());
        for ending in [bad(), bad(), CallOutcome::Answered, bad(), bad()] {
            assert!(!is_open(&breaker, start));
            noted(&breaker, ending, start);
        }
        assert!(!is_open(&breaker, start), "not three in a row");
        noted(&breaker, bad(), start);
        let described = breaker.pass(start + PAUSE / 3).expect_err("open").to_string();
        assert_eq!(described, "it is paused for 20 s more after it failed 3 times in a row: u failed (503)");
        let later = start + PAUSE;
        assert!(!is_open(&breaker, later), "one is let through");
        assert!(is_open(&breaker, later), "and only one");
        noted(&breaker, bad(), later);
        assert!(is_open(&breaker, later + PAUSE / 2), "the pause begins anew");
        assert!(!is_open(&breaker, later + PAUSE));
        noted(&breaker, CallOutcome::Answered, later + PAUSE);
        assert!(!is_open(&breaker, later + PAUSE) && !is_open(&breaker, later + PAUSE));
    }

    #[test]
    fn one_call_that_is_not_answered_in_time_opens_it() {
        let (breaker, now) = (CircuitBreaker::new(3, PAUSE), Instant::now());
        noted(&breaker, CallOutcome::TimedOut("u did not answer within 30 s".to_owned()), now);
        let described = breaker.pass(now).expect_err("open").to_string();
        assert_eq!(
            described,
            "it is paused for 30 s more after it failed once: u did not answer within 30 s"
        );
    }

    #[test]
    fn what_is_not_the_fault_of_the_service_does_not_open_it() {
        let (breaker, now) = (CircuitBreaker::new(1, PAUSE), Instant::now());
        noted(&breaker, CallOutcome::Answered, now);
        noted(&breaker, CallOutcome::NotAsked, now);
        assert!(!is_open(&breaker, now));
    }

    #[test]
    fn a_call_after_the_pause_that_found_no_free_place_leaves_its_turn_to_the_next() {
        let (breaker, start) = (CircuitBreaker::new(1, PAUSE), Instant::now());
        noted(&breaker, bad(), start);
        let later = start + PAUSE;
        let first = breaker.pass(later).expect("one is let through");
        assert!(first.is_trial() && is_open(&breaker, later), "and only one");
        noted(&breaker, CallOutcome::NotAsked, later);
        assert!(is_open(&breaker, later), "what another call found is not about this one");
        breaker.note(first, CallOutcome::NotAsked, later);
        let next = breaker.pass(later).expect("the service was not asked, so the next one is let through");
        assert!(is_open(&breaker, later), "and only one");
        noted(&breaker, CallOutcome::Answered, later);
        breaker.note(next, CallOutcome::NotAsked, later);
        assert!(!is_open(&breaker, later) && !is_open(&breaker, later), "it was answered meanwhile");
    }
}
