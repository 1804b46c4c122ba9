//! Retries an attempt that may succeed later, at most twice, after a growing random wait.

use std::thread;
use std::time::{Duration, Instant};

use ureq::http::HeaderMap;

/// Number of retries after a failed attempt.
const RETRIES: u32 = 2;
/// The approximate length of the first wait. Each further wait is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(250);
/// Maximum wait of [`retry`], even if the service requests a longer pause, because the caller waits for the answer.
const LONGEST_WAIT: Duration = Duration::from_secs(8);

/// The failure of an attempt.
#[derive(Debug)]
pub(crate) enum AttemptError<E> {
    /// A further attempt would fail in the same way.
    Final(E),
    /// A further attempt may succeed, possibly after the pause that the service has requested.
    Passing(E, Option<Duration>),
}

impl<E> AttemptError<E> {
    /// The error, permanent or not.
    pub(crate) fn into_error(self) -> E {
        match self {
            Self::Final(error) | Self::Passing(error, _) => error,
        }
    }
}

/// Returns the pause that a service requests, if it is given in seconds or milliseconds.
pub(crate) fn asked(headers: &HeaderMap) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<u64>().ok();
    let milliseconds = header("retry-after-ms").map(Duration::from_millis);
    milliseconds.or_else(|| header("retry-after").map(Duration::from_secs))
}

/// Runs the attempt until it succeeds, fails permanently or has no retries left. Returns the last error.
pub(crate) fn retry<T, E>(attempt: impl FnMut() -> Result<T, AttemptError<E>>) -> Result<T, E> {
    retry_with(attempt, |pause| {
        thread::sleep(pause.min(LONGEST_WAIT));
        true
    })
}

/// Works like [`retry`], but with a deadline: if the next attempt would start after the deadline, the error is returned
/// at once. The service is not called during a pause that it has requested.
pub(crate) fn retry_until<T, E>(
    end: Instant,
    attempt: impl FnMut() -> Result<T, AttemptError<E>>,
) -> Result<T, E> {
    retry_with(attempt, |pause| {
        let in_time = pause < end.saturating_duration_since(Instant::now());
        if in_time {
            thread::sleep(pause);
        }
        in_time
    })
}

/// Retries while `wait` finds time for one more attempt.
fn retry_with<T, E>(
    mut attempt: impl FnMut() -> Result<T, AttemptError<E>>,
    mut wait: impl FnMut(Duration) -> bool,
) -> Result<T, E> {
    let mut made = 0;
    loop {
        match attempt() {
            Ok(value) => return Ok(value),
            Err(AttemptError::Final(error)) => return Err(error),
            Err(AttemptError::Passing(error, asked)) => {
                if made == RETRIES || !wait(pause(made, asked)) {
                    return Err(error);
                }
            }
        }
        made += 1;
    }
}

/// Returns a random time between half and one and a half times the wait, so that clients that failed together do not
/// retry together.
fn pause(made: u32, asked: Option<Duration>) -> Duration {
    let around = FIRST_WAIT * 2_u32.pow(made);
    let varied = around.mul_f64(0.5 + fastrand::f64());
    asked.map_or(varied, |asked| asked.max(varied))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_service_asks_for_is_read_in_seconds_or_milliseconds() {
        let read = |said: &[(&'static str, &str)]| {
            let header = |(name, value): &(&'static str, &str)| {
                (ureq::http::HeaderName::from_static(name), value.parse().expect("a header"))
            };
            asked(&said.iter().map(header).collect())
        };
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[("retry-after", " 3 ")]), Some(Duration::from_secs(3)));
        assert_eq!(
            read(&[("retry-after", "3"), ("retry-after-ms", "250")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(read(&[("retry-after", "Wed, 21 Oct 2026 07:28:00 GMT")]), None);
    }

    /// The result of attempts that end like this, and the waits between them.
    fn run(ends: Vec<Result<u8, AttemptError<&'static str>>>) -> (Result<u8, &'static str>, Vec<Duration>) {
        let mut waits = Vec::new();
        let mut ends = ends.into_iter();
        let end = retry_with(
            || ends.next().expect("no further attempt"),
            |wait| {
                waits.push(wait);
                wait < Duration::from_secs(60)
            },
        );
        (end, waits)
    }

    #[test]
    fn a_passing_failure_is_tried_again() {
        let (end, waits) = run(vec![Err(AttemptError::Passing("busy", None)), Ok(7)]);
        assert_eq!(end, Ok(7));
        assert!(matches!(&waits[..], [wait] if (125..=375).contains(&wait.as_millis())), "{waits:?}");
    }

    #[test]
    fn a_final_failure_is_not() {
        assert_eq!(run(vec![Err(AttemptError::Final("wrong"))]), (Err("wrong"), vec![]));
    }

    #[test]
    fn it_ends_after_two_retries_with_the_last_error() {
        let ends = ["one", "two", "three"].map(|error| Err(AttemptError::Passing(error, None))).into();
        let (end, waits) = run(ends);
        assert_eq!((end, waits.len()), (Err("three"), 2));
    }

    #[test]
    fn what_the_service_asks_for_is_kept() {
        let asked =
            |seconds| vec![Err(AttemptError::Passing("busy", Some(Duration::from_secs(seconds)))), Ok(1)];
        assert_eq!(run(asked(3)), (Ok(1), vec![Duration::from_secs(3)]));
        let (end, _) = run(asked(3_600));
        assert_eq!(end, Err("busy"), "there is no time for it");
    }

    #[test]
    fn no_wait_goes_beyond_the_end() {
        let begun = Instant::now();
        let asked = Some(Duration::from_secs(3_600));
        let end = retry_until(begun + Duration::from_secs(5), || {
            Err::<(), _>(AttemptError::Passing("busy", asked))
        });
        assert_eq!(end, Err("busy"));
        assert!(begun.elapsed() < Duration::from_secs(4));
    }
}
