//! Leaves a service alone for a while that failed several times in a row, so that nobody waits for what will not come.
//!
//! After the pause one call is let through. If that is answered, all are; if not, the pause begins anew. Language models and
//! services that embed are called through one each.

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(crate) struct Breaker {
    /// After how many failures in a row it opens.
    after: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Failures in a row.
    failures: u32,
    /// Until when nobody is let through, where it is open.
    until: Option<Instant>,
    /// How it failed last.
    why: String,
}

/// That a call was let through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    /// Until when the others wait for what comes of it, where it is the one call after a pause.
    until: Option<Instant>,
}

impl Pass {
    /// Whether it is the one call after a pause.
    pub(crate) fn is_trial(self) -> bool {
        self.until.is_some()
    }
}

/// That no call is let through.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// How often the service failed in a row.
    pub(crate) failures: u32,
    /// How long it is still left alone.
    pub(crate) left: Duration,
    /// How it failed last.
    pub(crate) why: String,
}

impl fmt::Display for Open {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { failures, left, why } = self;
        let times = if *failures == 1 { "once".to_owned() } else { format!("{failures} times in a row") };
        write!(f, "it is left alone for {} s more after it failed {times}: {why}", left.as_secs().max(1))
    }
}

/// How a call ended that was let through.
#[derive(Debug)]
pub(crate) enum Ending {
    /// The service answered, be it that it will not do this one thing.
    Answered,
    /// The service was never asked.
    NotAsked,
    /// The service failed.
    Failed(String),
    /// The service did not answer in time. One such call is as bad as several that fail at once, so it opens the breaker.
    TimedOut(String),
}

impl Breaker {
    pub(crate) fn new(after: u32, pause: Duration) -> Self {
        Self { after: after.max(1), pause, state: Mutex::default() }
    }

    /// Lets a call through, or says why not.
    pub(crate) fn pass(&self, now: Instant) -> Result<Pass, Open> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.until {
            None => Ok(Pass { until: None }),
            Some(until) if until > now => {
                Err(Open { failures: state.failures, left: until - now, why: state.why.clone() })
            }
            Some(_) => {
                // The others wait for what comes of this one.
                state.until = Some(now + self.pause);
                Ok(Pass { until: state.until })
            }
        }
    }

    /// Takes in what came of a call that was let through. Returns whether the service is left alone from now on.
    pub(crate) fn note(&self, pass: Pass, ending: Ending, now: Instant) -> bool {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (why, slow) = match ending {
            // Where that was to be the one call after the pause, the next one is.
            Ending::NotAsked => {
                if pass.until.is_some() && pass.until == state.until {
                    state.until = Some(now);
                }
                return false;
            }
            Ending::Answered => {
                *state = State::default();
                return false;
            }
            Ending::Failed(why) => (why, false),
            Ending::TimedOut(why) => (why, true),
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

    fn bad() -> Ending {
        Ending::Failed("u failed (503)".to_owned())
    }

    fn noted(breaker: &Breaker, ending: Ending, now: Instant) {
        breaker.note(Pass { until: None }, ending, now);
    }

    fn is_open(breaker: &Breaker, now: Instant) -> bool {
        breaker.pass(now).is_err()
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_tries_one_call_after_the_pause() {
        let (breaker, start) = (Breaker::new(3, PAUSE), Instant::now());
        for ending in [bad(), bad(), Ending::Answered, bad(), bad()] {
            assert!(!is_open(&breaker, start));
            noted(&breaker, ending, start);
        }
        assert!(!is_open(&breaker, start), "not three in a row");
        noted(&breaker, bad(), start);
        let told = breaker.pass(start + PAUSE / 3).expect_err("open").to_string();
        assert_eq!(told, "it is left alone for 20 s more after it failed 3 times in a row: u failed (503)");
        let later = start + PAUSE;
        assert!(!is_open(&breaker, later), "one is let through");
        assert!(is_open(&breaker, later), "and only one");
        noted(&breaker, bad(), later);
        assert!(is_open(&breaker, later + PAUSE / 2), "the pause begins anew");
        assert!(!is_open(&breaker, later + PAUSE));
        noted(&breaker, Ending::Answered, later + PAUSE);
        assert!(!is_open(&breaker, later + PAUSE) && !is_open(&breaker, later + PAUSE));
    }

    #[test]
    fn one_call_that_is_not_answered_in_time_opens_it() {
        let (breaker, now) = (Breaker::new(3, PAUSE), Instant::now());
        noted(&breaker, Ending::TimedOut("u did not answer within 30 s".to_owned()), now);
        let told = breaker.pass(now).expect_err("open").to_string();
        assert_eq!(told, "it is left alone for 30 s more after it failed once: u did not answer within 30 s");
    }

    #[test]
    fn what_is_not_the_fault_of_the_service_does_not_open_it() {
        let (breaker, now) = (Breaker::new(1, PAUSE), Instant::now());
        noted(&breaker, Ending::Answered, now);
        noted(&breaker, Ending::NotAsked, now);
        assert!(!is_open(&breaker, now));
    }

    #[test]
    fn a_call_after_the_pause_that_found_no_free_place_leaves_its_turn_to_the_next() {
        let (breaker, start) = (Breaker::new(1, PAUSE), Instant::now());
        noted(&breaker, bad(), start);
        let later = start + PAUSE;
        let first = breaker.pass(later).expect("one is let through");
        assert!(first.is_trial() && is_open(&breaker, later), "and only one");
        noted(&breaker, Ending::NotAsked, later);
        assert!(is_open(&breaker, later), "what another call found is not about this one");
        breaker.note(first, Ending::NotAsked, later);
        let next = breaker.pass(later).expect("the service was not asked, so the next one is let through");
        assert!(is_open(&breaker, later), "and only one");
        noted(&breaker, Ending::Answered, later);
        breaker.note(next, Ending::NotAsked, later);
        assert!(!is_open(&breaker, later) && !is_open(&breaker, later), "it was answered meanwhile");
    }
}
