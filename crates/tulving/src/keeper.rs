//! Does what waits while a server runs: counts what was used, embeds, folds.
//!
//! A command does this after it has answered; a server has no end, so a thread does it between calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tulving_core::Engine;
use tulving_server::Upkeep;
use tulving_store::SearchIndex;

/// Sections that are embedded in one step between calls.
const STEP: usize = 16;
/// How long calls have to be quiet before what waits is done.
const QUIET: Duration = Duration::from_millis(200);

/// Does what waits, in a thread of its own, whenever calls have been quiet for a moment.
pub(crate) struct Keeper {
    ring: SyncSender<()>,
    stopped: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

/// Tells the keeper that something may wait.
pub(crate) struct Bell(SyncSender<()>);

impl Upkeep for Bell {
    fn tend(&self) {
        // Where it rings already, once is enough.
        let _ = self.0.try_send(());
    }
}

impl Keeper {
    /// Starts it.
    pub(crate) fn start(engine: &Arc<Engine>, index: &Arc<SearchIndex>) -> Self {
        let (ring, rung) = sync_channel(1);
        let stopped = Arc::new(AtomicBool::new(false));
        let (engine, index, stop) = (Arc::clone(engine), Arc::clone(index), Arc::clone(&stopped));
        let thread = thread::spawn(move || keep(&engine, &index, &rung, &stop));
        Self { ring, stopped, thread }
    }

    /// What rings for it after calls.
    pub(crate) fn bell(&self) -> Bell {
        Bell(self.ring.clone())
    }

    /// Ends what is being done at the next step, and counts what was used.
    pub(crate) fn stop(self) {
        self.stopped.store(true, Ordering::Relaxed);
        let _ = self.ring.try_send(());
        drop(self.ring);
        let _ = self.thread.join();
    }
}

fn keep(engine: &Engine, index: &SearchIndex, rung: &Receiver<()>, stopped: &AtomicBool) {
    while rung.recv().is_ok() {
        // What fails now is done at another time, here or by the next process.
        let mut waits = true;
        while waits && !stopped.load(Ordering::Relaxed) {
            thread::sleep(QUIET);
            let _ = engine.flush();
            let embedded = engine.embed_waiting(STEP).unwrap_or_default();
            waits = embedded.sections > 0 && embedded.left > 0;
            let _ = index.tend();
        }
        if stopped.load(Ordering::Relaxed) {
            break;
        }
    }
    let _ = engine.flush();
}
