//! The verbs for a configuration with backends other than the built-in one. Writes go to the primary. Reads ask all
//! backends, and the results are screened and merged.
//!
//! The answer names each backend that failed or was too slow, and still contains the results of the others. If the primary
//! does not support a verb, the call fails; the built-in backend never replaces the primary. If only the built-in backend is
//! configured, this module is not used.

mod merge;
mod read;
mod recall;
mod registry;
mod screen;
mod write;

use std::thread;

pub(crate) use read::{get, list};
pub(crate) use recall::recall;
pub use registry::{BackendEntry, BackendLocation, Backends};
pub(crate) use write::{forget, forget_many, save, save_many};

use crate::model::answer::FailedBackend;
use crate::model::backend::Verb;
use crate::model::error::{BackendError, Error};

/// Builds the error for a verb that failed in a backend.
fn failure(entry: &BackendEntry, source: BackendError) -> Error {
    Error::Backend { name: entry.name.clone(), done: 0, source }
}

/// Builds the entry for a failed backend. It is added to an answer from the other backends.
fn failed(name: &str, error: &BackendError) -> FailedBackend {
    FailedBackend { backend: name.to_owned(), code: error.code(), why: error.to_string() }
}

/// Refuses a verb that only the built-in backend supports if another backend is primary.
pub(crate) fn require_built_in(backends: Option<&Backends>, what: &'static str) -> Result<(), Error> {
    match backends.map(Backends::primary) {
        Some(primary @ BackendEntry { keeps: BackendLocation::Elsewhere(_), .. }) => {
            Err(failure(primary, BackendError::NotOffered { what }))
        }
        _ => Ok(()),
    }
}

/// Returns the error for counting memories when several backends, or only an external one, are configured.
pub(crate) fn not_counted(backends: &Backends) -> Error {
    let elsewhere = |entry: &&BackendEntry| matches!(entry.keeps, BackendLocation::Elsewhere(_));
    let all = backends.all();
    let entry = all.iter().copied().find(elsewhere).unwrap_or(backends.primary());
    failure(entry, BackendError::NotOffered { what: "a count" })
}

/// Asks these backends in parallel and returns their results in order. The current thread asks the first backend.
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

/// Separates the successful results, in order, from the failed backends. If all backends failed, the first failure is the
/// error. An error in the request or in the store is always returned.
fn settled<T>(said: Vec<(&BackendEntry, Result<T, Error>)>) -> Result<(Vec<T>, Vec<FailedBackend>), Error> {
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    let mut first = None;
    for (at, (entry, said)) in said.into_iter().enumerate() {
        match said {
            Ok(said) => good.push(said),
            // A secondary that does not support this verb is ignored.
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
