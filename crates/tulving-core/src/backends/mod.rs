//! The verbs for a setup with more than the built-in backend: the primary is written to, all are read, and their results
//! are screened and merged.
//!
//! A backend that fails or is late is named in the answer, and the others still answer. A verb that the primary does not
//! offer is an error; the built-in backend never replaces it. Without such a setup none of this runs.

mod merge;
mod read;
mod recall;
mod registry;
mod screen;
mod write;

use std::thread;

pub(crate) use read::{get, list};
pub(crate) use recall::recall;
pub use registry::{BackendEntry, Backends, Keeps};
pub(crate) use write::{forget, forget_many, save, save_many};

use crate::model::answer::FailedBackend;
use crate::model::backend::Verb;
use crate::model::error::{BackendError, Error};

/// Builds the error for a verb that a backend failed to do.
fn failure(entry: &BackendEntry, source: BackendError) -> Error {
    Error::Backend { name: entry.name.clone(), done: 0, source }
}

/// Builds the entry for a failed backend in an answer that others gave.
fn failed(name: &str, error: &BackendError) -> FailedBackend {
    FailedBackend { backend: name.to_owned(), code: error.code(), why: error.to_string() }
}

/// Refuses a verb that only the built-in backend knows if another one is primary.
pub(crate) fn require_built_in(backends: Option<&Backends>, what: &'static str) -> Result<(), Error> {
    match backends.map(Backends::primary) {
        Some(primary @ BackendEntry { keeps: Keeps::Elsewhere(_), .. }) => {
            Err(failure(primary, BackendError::NotOffered { what }))
        }
        _ => Ok(()),
    }
}

/// Returns the error for counting memories when there are several backends, or when the only one is elsewhere.
pub(crate) fn not_counted(backends: &Backends) -> Error {
    let elsewhere = |entry: &&BackendEntry| matches!(entry.keeps, Keeps::Elsewhere(_));
    let all = backends.all();
    let entry = all.iter().copied().find(elsewhere).unwrap_or(backends.primary());
    failure(entry, BackendError::NotOffered { what: "a count" })
}

/// Asks these backends in parallel and returns their results in order. This thread asks the first.
fn each<'a, T: Send>(
    entries: &[&'a BackendEntry],
    ask: impl Fn(&BackendEntry) -> Result<T, Error> + Sync,
) -> Vec<(&'a BackendEntry, Result<T, Error>)> {
    let Some((first, others)) = entries.split_first() else {
        return Vec::new();
    };
    let ask = &ask;
    thread::scope(|scope| {
        let asked: Vec<_> = others.iter().map(|entry| (*entry, scope.spawn(move || ask(entry)))).collect();
        let mut said = vec![(*first, ask(first))];
        said.extend(asked.into_iter().map(|(entry, thread)| {
            let broke = || Err(failure(entry, BackendError::Gone { why: "its thread panicked".to_owned() }));
            (entry, thread.join().unwrap_or_else(|_| broke()))
        }));
        said
    })
}

/// Separates the results of the backends, in order, from those that failed. If all failed, the first failure is the
/// error. An error in the request or in the store is always returned.
fn settled<T>(said: Vec<(&BackendEntry, Result<T, Error>)>) -> Result<(Vec<T>, Vec<FailedBackend>), Error> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let mut first = None;
    for (at, (entry, said)) in said.into_iter().enumerate() {
        match said {
            Ok(said) => good.push(said),
            // A secondary that does not offer this verb is ignored.
            Err(Error::Backend { source: BackendError::NotOffered { what }, .. })
                if at > 0 && Verb::ALL.iter().any(|verb| verb.as_str() == what) => {}
            Err(Error::Backend { name, done, source }) => {
                bad.push(failed(&entry.name, &source));
                first = first.or(Some(Error::Backend { name, done, source }));
            }
            Err(error) => return Err(error),
        }
    }
    match first {
        Some(error) if good.is_empty() => Err(error),
        _ => Ok((good, bad)),
    }
}
