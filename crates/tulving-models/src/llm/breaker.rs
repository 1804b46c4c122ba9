//! Leaves a service alone for a while that failed several times in a row, so that nobody waits for what will not come.
//!
//! After the pause one call is let through. If that is answered, all are; if not, the pause begins anew.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tulving_core::error::LlmError;
use tulving_core::llm::Reply;

#[derive(Debug)]
pub(super) struct Breaker {
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
pub(super) struct Pass {
    /// Until when the others wait for what comes of it, where it is the one call after a pause.
    until: Option<Instant>,
}

impl Breaker {
    pub(super) fn new(after: u32, pause: Duration) -> Self {
        Self { after: after.max(1), pause, state: Mutex::default() }
    }

    /// Lets a call through, or says why not.
    pub(super) fn pass(&self, now: Instant) -> Result<Pass, LlmError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match state.until {
            None => Ok(Pass { until: None }),
            Some(until) if until > now => Err(LlmError::CircuitOpen {
                failures: state.failures,
                left: until - now,
                why: state.why.clone(),
            }),
            Some(_) => {
                // The others wait for what comes of this one.
                state.until = Some(now + self.pause);
                Ok(Pass { until: state.until })
            }
        }
    }

    /// Takes in what came of a call that was let through.
    pub(super) fn note(&self, pass: Pass, replied: &Result<Reply, LlmError>, now: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match replied {
            // It was never asked. Where that was to be the one call after the pause, the next one is.
            Err(LlmError::Busy { .. }) => {
                if pass.until.is_some() && pass.until == state.until {
                    state.until = Some(now);
                }
            }
            Err(error) if error.is_the_services() => {
                state.failures = state.failures.saturating_add(1);
                state.why = error.to_string();
                if state.failures >= self.after {
                    state.until = Some(now + self.pause);
                }
            }
            // That it will not answer this one thing says that it is well.
            Ok(_) | Err(_) => *state = State::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use tulving_core::llm::{Ended, Tokens};

    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    fn good() -> Result<Reply, LlmError> {
        Ok(Reply { text: String::new(), calls: Vec::new(), tokens: Tokens::default(), ended: Ended::Stop })
    }

    fn bad() -> Result<Reply, LlmError> {
        Err(LlmError::Failing { url: "u".to_owned(), status: 503, said: String::new() })
    }

    fn noted(breaker: &Breaker, replied: &Result<Reply, LlmError>, now: Instant) {
        breaker.note(Pass { until: None }, replied, now);
    }

    fn is_open(breaker: &Breaker, now: Instant) -> bool {
        breaker.pass(now).is_err()
    }

    #[test]
    fn it_opens_after_failures_in_a_row_and_tries_one_call_after_the_pause() {
        let (breaker, start) = (Breaker::new(3, PAUSE), Instant::now());
        for replied in [bad(), bad(), good(), bad(), bad()] {
            assert!(!is_open(&breaker, start));
            noted(&breaker, &replied, start);
        }
        assert!(!is_open(&breaker, start), "not three in a row");
        noted(&breaker, &bad(), start);
        let told = breaker.pass(start + PAUSE / 3).expect_err("open").to_string();
        assert_eq!(
            told,
            "the language model is left alone for 20 s more after it failed 3 times in a row: u failed (503)"
        );
        let later = start + PAUSE;
        assert!(!is_open(&breaker, later), "one is let through");
        assert!(is_open(&breaker, later), "and only one");
        noted(&breaker, &bad(), later);
        assert!(is_open(&breaker, later + PAUSE / 2), "the pause begins anew");
        assert!(!is_open(&breaker, later + PAUSE));
        noted(&breaker, &good(), later + PAUSE);
        assert!(!is_open(&breaker, later + PAUSE) && !is_open(&breaker, later + PAUSE));
    }

    #[test]
    fn what_is_not_the_fault_of_the_service_does_not_open_it() {
        let (breaker, now) = (Breaker::new(1, PAUSE), Instant::now());
        noted(&breaker, &Err(LlmError::Policy { said: String::new() }), now);
        noted(&breaker, &Err(LlmError::Busy { limit: 1 }), now);
        assert!(!is_open(&breaker, now));
    }

    #[test]
    fn a_call_after_the_pause_that_found_no_free_place_leaves_its_turn_to_the_next() {
        let (breaker, start) = (Breaker::new(1, PAUSE), Instant::now());
        noted(&breaker, &bad(), start);
        let later = start + PAUSE;
        let busy = || Err(LlmError::Busy { limit: 1 });
        let first = breaker.pass(later).expect("one is let through");
        assert!(is_open(&breaker, later), "and only one");
        noted(&breaker, &busy(), later);
        assert!(is_open(&breaker, later), "what another call found is not about this one");
        breaker.note(first, &busy(), later);
        let next = breaker.pass(later).expect("the service was not asked, so the next one is let through");
        assert!(is_open(&breaker, later), "and only one");
        noted(&breaker, &good(), later);
        breaker.note(next, &busy(), later);
        assert!(!is_open(&breaker, later) && !is_open(&breaker, later), "it was answered meanwhile");
    }
}
