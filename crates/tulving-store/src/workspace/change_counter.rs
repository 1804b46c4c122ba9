//! Detects that files in the folder of a space may have changed since the last check.
//!
//! On Linux the kernel records a change before the writer continues. So reading these records at each call detects
//! every change and needs no thread. The watched folders contain the files that memories mirror: `memory` and
//! `conversations` of the workspace and of each space, and everything below the folders of groups. Their parent folders
//! are watched too, to notice new folders. If not all of these folders can be watched, nothing is watched for a while,
//! and callers read all files.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tulving_core::model::file::Folder;

#[cfg(target_os = "linux")]
use super::watch::{ChangedFolders, WatchError, WorkspaceWatcher};

/// The time without watching after an attempt to watch has failed.
#[cfg(target_os = "linux")]
const AGAIN: std::time::Duration = std::time::Duration::from_secs(60);

/// Counts the detected changes.
#[derive(Default)]
pub(super) struct WorkspaceChangeCounter {
    state: Mutex<ChangeCounterState>,
}

#[derive(Default)]
struct ChangeCounterState {
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "nothing is watched there"))]
    wanted: bool,
    #[cfg(target_os = "linux")]
    seen: WatchedChanges,
}

/// The state on Linux.
#[cfg(target_os = "linux")]
#[derive(Default)]
struct WatchedChanges {
    /// Number of changes so far. It becomes the number of the latest change.
    changes: u64,
    /// The number of the last change that may have affected any folder.
    anywhere: u64,
    /// The number of the last change in each folder that has changed since `anywhere`.
    folders: std::collections::HashMap<Folder, u64>,
    watch: Option<WorkspaceWatcher>,
    /// The time of the last failed attempt to watch.
    failed: Option<std::time::Instant>,
}

impl WorkspaceChangeCounter {
    /// Starts watching.
    pub(super) fn begin(&self) {
        self.state().wanted = true;
    }

    /// Returns a different number after every possible change in a folder; `None` if the folder is not watched.
    #[cfg(target_os = "linux")]
    pub(super) fn number(&self, root: &Path, folder: &Folder) -> Option<u64> {
        let mut state = self.state();
        if !state.wanted || state.seen.failed.is_some_and(|at| at.elapsed() < AGAIN) {
            return None;
        }
        state.seen.look(root);
        state.seen.number(folder)
    }

    /// Returns the number of a folder as of the last call of [`number`](Self::number), for any folder.
    #[cfg(target_os = "linux")]
    pub(super) fn last_known(&self, folder: &Folder) -> Option<u64> {
        self.state().seen.number(folder)
    }

    /// No other system reports changes reliably.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn number(&self, _: &Path, _: &Folder) -> Option<u64> {
        None
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn last_known(&self, _: &Folder) -> Option<u64> {
        None
    }

    fn state(&self) -> MutexGuard<'_, ChangeCounterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(target_os = "linux")]
impl WatchedChanges {
    /// Reads the changes in all folders.
    fn look(&mut self, root: &Path) {
        match self.watch.as_mut().map_or(ChangedFolders::Lost, |watch| watch.news(root)) {
            ChangedFolders::Of(folders) => {
                self.changes += 1;
                self.folders.extend(folders.into_iter().map(|folder| (folder, self.changes)));
            }
            ChangedFolders::Lost => {
                self.changes += 1;
                self.anywhere = self.changes;
                self.folders.clear();
                // If a file changes while the watches are being set up, callers see the change, because they read the
                // files after they got this number.
                (self.watch, self.failed) = match WorkspaceWatcher::begin(root) {
                    Ok(watch) => (watch, None),
                    Err(WatchError) => (None, Some(std::time::Instant::now())),
                };
            }
        }
    }

    fn number(&self, folder: &Folder) -> Option<u64> {
        self.watch.as_ref().filter(|watch| watch.is_exact(folder))?;
        Some(self.folders.get(folder).copied().unwrap_or(self.anywhere))
    }
}

/// Returns true if all files that can be listed below this path of a folder are watched.
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
        let change_counter = WorkspaceChangeCounter::default();
        change_counter.begin();
        // A link to itself cannot be opened, but exists.
        symlink("root", &root).expect("linked");
        assert_eq!(change_counter.number(&root, &folder), None);
        fs::remove_file(&root).expect("removed");
        fs::create_dir(&root).expect("made");
        assert_eq!(change_counter.number(&root, &folder), None, "not at once");
        let Some(earlier) = Instant::now().checked_sub(AGAIN) else {
            eprintln!("not tested: this machine has just been started");
            return;
        };
        change_counter.state().seen.failed = Some(earlier);
        let watchable = WorkspaceWatcher::begin(&root).is_ok();
        assert_eq!(change_counter.number(&root, &folder).is_some(), watchable);
    }
}
