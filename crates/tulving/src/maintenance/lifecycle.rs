//! Applies the rules for aged memories while a server runs.

use std::sync::Arc;
use std::time::Duration;

use tulving_core::{Engine, TendingResult};

use super::DUE;
use super::failures::{LoggedFailures, coded};
use super::thread::StoppableThread;
use crate::worker;

/// Pause between two steps, so that other writers can continue.
const TURN: Duration = Duration::from_millis(20);

/// Applies the rules for aged memories in its own thread: it may take a while, and nothing else should wait for it.
pub(crate) struct LifecycleWorker(StoppableThread);

impl LifecycleWorker {
    /// Starts the thread. If several processes use one home, only one of them does the work.
    pub(crate) fn start(engine: &Arc<Engine>, interval: Duration) -> Self {
        let engine = Arc::clone(engine);
        Self(StoppableThread::start(move |stop| {
            let mut troubles = LoggedFailures::default();
            loop {
                let mut stopped = false;
                let tended = engine.tend_due(worker::own(), interval, &mut || {
                    stopped = stop.comes_within(TURN);
                    !stopped
                });
                if let Some(Some(tended)) =
                    troubles.note("lifecycle rules were not applied", tended.map_err(coded))
                {
                    say(&tended);
                }
                if stopped || stop.comes_within(DUE.min(interval)) {
                    return;
                }
            }
        }))
    }

    /// Stops the thread after its current step.
    pub(crate) fn stop(self) {
        self.0.end();
    }
}

/// Logs what was done: numbers, and no content of memories. A run without changes is logged at debug level.
fn say(tended: &TendingResult) {
    const SAID: &str = "applied lifecycle rules";
    let TendingResult { looked_at, cooled, revived, archived, erased, audit_removed, .. } = tended;
    if tended.moved() == 0 && *audit_removed == 0 {
        tracing::debug!(looked_at, "{SAID}");
    } else {
        tracing::info!(looked_at, cooled, revived, archived, erased, audit_removed, "{SAID}");
    }
}
