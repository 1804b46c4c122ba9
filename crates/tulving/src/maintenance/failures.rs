//! Logs what fails in the background: each failure once, until it succeeds again.

use std::fmt::Display;

use tulving_core::model::error::Error;

/// Returns the code of an error. Its text may contain a service's answer, and that may repeat what the service was asked.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(super) fn coded(error: Error) -> &'static str {
    error.code()
}

/// Logs failures, each once until it succeeds again.
#[derive(Default)]
pub(super) struct LoggedFailures(Vec<&'static str>);

impl LoggedFailures {
    pub(super) fn note<T>(&mut self, what: &'static str, done: Result<T, impl Display>) -> Option<T> {
        let known = self.0.contains(&what);
        match done {
            Ok(done) => {
                self.0.retain(|trouble| *trouble != what);
                Some(done)
            }
            Err(error) => {
                if !known {
                    self.0.push(what);
                    tracing::warn!(reason = %error, "{what}");
                }
                None
            }
        }
    }
}
