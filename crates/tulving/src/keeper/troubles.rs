//! What fails in the background, for the log: each once until it is well again.

use std::fmt::Display;

use tulving_core::error::Error;

/// An error by its name. Its text may hold what a service said, and that what it was asked.
#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(super) fn coded(error: Error) -> &'static str {
    error.code()
}

/// Says in the log what fails, once until it is well again.
#[derive(Default)]
pub(super) struct Troubles(Vec<&'static str>);

impl Troubles {
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
