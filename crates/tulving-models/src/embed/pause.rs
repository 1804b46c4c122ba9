//! A note in a file that a service did not answer, shared by all processes that call the service.
//!
//! Each command is a separate process. Without the note, each process would wait for a service that does not answer.
//! The note is only a hint: if the file cannot be read or written, or contains impossible values, it is ignored.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::breaker::CircuitOpenError;

/// The note about one service.
#[derive(Debug)]
pub(super) struct PauseFile {
    file: Option<PathBuf>,
    service: String,
    pause: Duration,
    /// True if this process has seen or written a note about the service. The note is removed when the service answers.
    noted: AtomicBool,
}

#[derive(Debug, Deserialize, Serialize)]
struct PauseRecord {
    service: String,
    /// Milliseconds since 1970.
    until: u64,
    why: String,
}

impl PauseFile {
    pub(super) fn new(file: Option<PathBuf>, service: &str, pause: Duration) -> Self {
        Self { file, service: service.to_owned(), pause, noted: AtomicBool::new(false) }
    }

    /// Returns the pause that the note describes, if the pause has not ended.
    pub(super) fn open(&self) -> Option<CircuitOpenError> {
        let text = fs::read(self.file.as_ref()?).ok()?;
        let note: PauseRecord =
            serde_json::from_slice(&text).ok().filter(|note: &PauseRecord| note.service == self.service)?;
        self.noted.store(true, Ordering::Relaxed);
        let until = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(note.until))?;
        // If the clock was set back, the pause must not become longer.
        let left = until.duration_since(now()).ok().filter(|left| *left <= self.pause)?;
        Some(CircuitOpenError { failures: 1, left, why: note.why })
    }

    /// Notes that the service did not answer.
    pub(super) fn write(&self, why: &str) {
        let Some(file) = &self.file else { return };
        let until = now() + self.pause;
        let until = until.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
        let until = u64::try_from(until).unwrap_or(u64::MAX);
        let note = PauseRecord { service: self.service.clone(), until, why: why.to_owned() };
        if let Ok(text) = serde_json::to_vec(&note) {
            let _ = fs::write(file, text);
            self.noted.store(true, Ordering::Relaxed);
        }
    }

    /// Removes the note because the service answers.
    pub(super) fn clear(&self) {
        if let Some(file) = &self.file
            && self.noted.swap(false, Ordering::Relaxed)
        {
            let _ = fs::remove_file(file);
        }
    }
}

/// The clock that all processes of a machine share.
#[expect(
    clippy::disallowed_methods,
    reason = "a model gets no clock port, and a pause must end when real time has passed"
)]
fn now() -> SystemTime {
    SystemTime::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(30);

    #[test]
    fn a_note_is_for_its_service_and_ends_with_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("note");
        let at = |service: &str| PauseFile::new(Some(file.clone()), service, PAUSE);
        assert_eq!(at("a").open(), None);
        at("a").write("it hangs");
        let open = at("a").open().expect("a note");
        assert!(open.left <= PAUSE && open.left > PAUSE / 2 && open.why == "it hangs");
        assert_eq!(at("b").open(), None, "another service");
        at("b").clear();
        let own = at("a");
        assert!(own.open().is_some(), "it is not the other's to remove");
        own.clear();
        assert_eq!(at("a").open(), None);
    }

    #[test]
    fn a_note_from_another_time_or_that_cannot_be_read_changes_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("note");
        let note = PauseFile::new(Some(file.clone()), "a", PAUSE);
        for text in [
            "no note",
            r#"{"service":"a","until":0,"why":"long ago"}"#,
            r#"{"service":"a","until":18446744073709551615,"why":"the far future"}"#,
        ] {
            fs::write(&file, text).expect("written");
            assert_eq!(note.open(), None, "{text}");
        }
        assert_eq!(PauseFile::new(None, "a", PAUSE).open(), None);
    }
}
