//! Follows the settings of the embedding model while a server runs, so that `tulving model add` needs no restart.
//!
//! A thread looks at the files of the settings. An error in them is logged by the reload of the server, and the old model
//! stays.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tulving_core::ports::Store;

use crate::config::{self, EmbeddingSettings};
use crate::embedders::EmbedderSlots;
use crate::global::GlobalArgs;
use crate::wire::{self, App};

/// Time between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// Replaces the embedder when its settings change.
pub(crate) struct ModelWatch {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

/// Inode, size and modification time of the files with settings.
type FileStamps = Vec<Option<(u64, u64, i64, i64)>>;

struct WatchedModel {
    global: GlobalArgs,
    files: [PathBuf; 2],
    seen: FileStamps,
    embedding: EmbeddingSettings,
    slots: EmbedderSlots,
    store: Arc<dyn Store>,
}

impl ModelWatch {
    /// Starts to watch.
    pub(crate) fn start(global: &GlobalArgs, app: &App<'_>) -> Self {
        let home = &app.settings.home;
        let mut watched = WatchedModel {
            global: global.clone(),
            files: [config::file_of(home), config::json_of(home)],
            // The settings were read some time ago, so the files are read once at the start.
            seen: Vec::new(),
            embedding: app.settings.embedding.clone(),
            slots: app.embedders.clone(),
            store: Arc::clone(&app.store.records),
        };
        let (stop, stopped) = channel();
        let thread = thread::spawn(move || {
            while stopped.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                watched.look();
            }
        });
        Self { stop, thread }
    }

    /// Stops to watch.
    pub(crate) fn stop(self) {
        drop(self.stop);
        let _ = self.thread.join();
    }
}

impl WatchedModel {
    fn look(&mut self) {
        let now = self.stamps();
        if now == self.seen {
            return;
        }
        self.seen = now;
        let Ok(settings) = config::read(&self.global) else { return };
        if settings.embedding == self.embedding {
            return;
        }
        let new = wire::embedder(&settings, wire::noted(&settings, config::EmbeddingCallOptions::default()));
        self.slots.replace(new, &*self.store);
        self.embedding = settings.embedding;
        tracing::info!(provider = self.embedding.provider(), "the embedding model has changed");
    }

    fn stamps(&self) -> FileStamps {
        let look = |file: &PathBuf| {
            let found = fs::metadata(file).ok()?;
            Some((found.ino(), found.size(), found.mtime(), found.mtime_nsec()))
        };
        self.files.iter().map(look).collect()
    }
}
