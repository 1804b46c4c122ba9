//! Logs failures of background work. A repeated failure is logged only once, until the work has succeeded again.

use std::fmt::Display;

use tulving_core::model::error::Error;

/// Returns the code of an error. The text of the error must not be logged: it may contain the answer of a service,
/// which may repeat the text that was sent to the service.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(super) fn coded(error: Error) -> &'static str {
    error.code()
}

/// Logs a failure once, until the same work has succeeded again.
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
