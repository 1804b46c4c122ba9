//! Tells whether anything in the folder of a space may have changed since the last time.
//!
//! On Linux the kernel notes a change before whoever makes it goes on, so that asking it at each call is exact and needs no
//! thread. Watched is what memories are made of: `memory` and `conversations` of the workspace and of each space, and
//! everything below the folders of groups; beside these the folders above them, to notice that they come into being. Where not
//! all of that can be watched, nothing is for a while, and whoever asks looks at everything.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tulving_core::file::Folder;

#[cfg(target_os = "linux")]
use super::watch::{News, Unwatchable, Watch};

/// How long nothing is watched after it could not be.
#[cfg(target_os = "linux")]
const AGAIN: std::time::Duration = std::time::Duration::from_secs(60);

/// Whether anything may have changed.
#[derive(Default)]
pub(super) struct Pulse {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is watched there"))]
    wanted: bool,
    #[cfg(target_os = "linux")]
    seen: Seen,
}

/// What was seen so far.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct Seen {
    /// How often anything may have changed. Each folder has the number of its last change.
    changes: u64,
    /// The last that may have been anywhere.
    anywhere: u64,
    /// The last of each folder that had one since then.
    folders: std::collections::HashMap<Folder, u64>,
    watch: Option<Watch>,
    /// When it last could not be watched.
    failed: Option<std::time::Instant>,
}

impl Pulse {
    /// Watches from now on.
    pub(super) fn begin(&self) {
        self.state().wanted = true;
    }

    /// Another number than the last one whenever anything in a folder may have changed; `None` where it is not watched.
    #[cfg(target_os = "linux")]
    pub(super) fn number(&self, root: &Path, folder: &Folder) -> Option<u64> {
        let mut state = self.state();
        if !state.wanted || state.seen.failed.is_some_and(|at| at.elapsed() < AGAIN) {
            return None;
        }
        state.seen.look(root);
        state.seen.number(folder)
    }

    /// The number that was known when any was last asked for.
    #[cfg(target_os = "linux")]
    pub(super) fn last_known(&self, folder: &Folder) -> Option<u64> {
        self.state().seen.number(folder)
    }

    /// No other system tells reliably what was changed.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn number(&self, _: &Path, _: &Folder) -> Option<u64> {
        None
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn last_known(&self, _: &Folder) -> Option<u64> {
        None
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(target_os = "linux")]
impl Seen {
    /// Takes in what has happened, in whatever folder.
    fn look(&mut self, root: &Path) {
        match self.watch.as_mut().map_or(News::Lost, |watch| watch.news(root)) {
            News::Of(folders) => {
                self.changes += 1;
                self.folders.extend(folders.into_iter().map(|folder| (folder, self.changes)));
            }
            News::Lost => {
                self.changes += 1;
                self.anywhere = self.changes;
                self.folders.clear();
                // What changes while the watches are set up is seen by whoever looks after this number.
                (self.watch, self.failed) = match Watch::begin(root) {
                    Ok(watch) => (watch, None),
                    Err(Unwatchable) => (None, Some(std::time::Instant::now())),
                };
            }
        }
    }

    fn number(&self, folder: &Folder) -> Option<u64> {
        self.watch.as_ref().filter(|watch| watch.is_exact(folder))?;
        Some(self.folders.get(folder).copied().unwrap_or(self.anywhere))
    }
}

/// Whether all that can be listed below this path of a folder is watched.
pub(super) fn covers(folder: &Folder, below: &str) -> bool {
    let first = below.split('/').next().unwrap_or(below);
    folder.is_of_group() || CONTENT.contains(&first)
}

/// The folders of a space that memories are made of.
pub(super) const CONTENT: [&str; 2] = ["memory", "conversations"];

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::time::Instant;

    use super::*;

    #[test]
    fn what_could_not_be_watched_once_is_tried_again_after_a_while() {
        let outside = tempfile::tempdir().expect("a folder");
        let (root, folder) = (outside.path().join("root"), Folder::parse("").expect("a folder"));
        let pulse = Pulse::default();
        pulse.begin();
        // A link to itself can neither be opened nor is it nothing.
        symlink("root", &root).expect("linked");
        assert_eq!(pulse.number(&root, &folder), None);
        fs::remove_file(&root).expect("removed");
        fs::create_dir(&root).expect("made");
        assert_eq!(pulse.number(&root, &folder), None, "not at once");
        let Some(earlier) = Instant::now().checked_sub(AGAIN) else {
            eprintln!("not tested: this machine has just been started");
            return;
        };
        pulse.state().seen.failed = Some(earlier);
        let watchable = Watch::begin(&root).is_ok();
        assert_eq!(pulse.number(&root, &folder).is_some(), watchable);
    }
}
