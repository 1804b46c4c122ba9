//! Tells whether anything in the workspace may have changed since the last time.
//!
//! On Linux the kernel notes a change before whoever makes it goes on, so that asking it at each call is exact and needs no
//! thread. Watched is what memories are made of: `memory` and `conversations` of the workspace and of each space, and
//! everything below the folders of groups; beside these the folders above them, to notice that they come into being. Where not
//! all of that can be watched, nothing is, and whoever asks looks at everything.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(target_os = "linux")]
use super::watch::{News, Watch};

/// Whether anything may have changed.
#[derive(Default)]
pub(super) struct Pulse {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    wanted: bool,
    number: u64,
    #[cfg(target_os = "linux")]
    watch: Option<Watch>,
}

impl Pulse {
    /// Watches from now on.
    pub(super) fn begin(&self) {
        self.state().wanted = true;
    }

    /// Another number than the last one whenever anything may have changed; `None` where it is not watched.
    #[cfg(target_os = "linux")]
    pub(super) fn number(&self, root: &Path) -> Option<u64> {
        let mut state = self.state();
        if !state.wanted {
            return None;
        }
        match state.watch.as_mut().map_or(News::Lost, |watch| watch.news(root)) {
            News::None => {}
            News::Some => state.number += 1,
            News::Lost => {
                state.number += 1;
                // What changes while the watches are set up is seen by whoever looks after this number.
                state.watch = match Watch::begin(root) {
                    Ok(watch) => watch,
                    Err(_) => {
                        state.wanted = false;
                        None
                    }
                };
            }
        }
        state.watch.as_ref().filter(|watch| watch.is_exact()).map(|_| state.number)
    }

    /// No other system tells reliably what was changed.
    #[cfg(not(target_os = "linux"))]
    pub(super) fn number(&self, _: &Path) -> Option<u64> {
        let state = self.state();
        state.wanted.then_some(state.number).filter(|_| false)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether all that can be listed below this path of a folder is watched.
pub(super) fn covers(folder: &str, below: &str) -> bool {
    let first = below.split('/').next().unwrap_or(below);
    folder.starts_with("groups/") || CONTENT.contains(&first)
}

/// The folders of a space that memories are made of.
pub(super) const CONTENT: [&str; 2] = ["memory", "conversations"];
