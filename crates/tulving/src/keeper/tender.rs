//! Applies the rules for what has aged while a server runs.

use std::sync::Arc;
use std::time::Duration;

use tulving_core::{Engine, Tended};

use super::DUE;
use super::thread::Thread;
use super::troubles::{Troubles, coded};
use crate::worker;

/// Between two steps others have their turn.
const TURN: Duration = Duration::from_millis(20);

/// Applies the rules for what has aged, in a thread of its own: it may take a while, and nothing else shall wait for it.
pub(crate) struct Tender(Thread);

impl Tender {
    /// Starts it. Of several processes on one home, one does the work each time.
    pub(crate) fn start(engine: &Arc<Engine>, interval: Duration) -> Self {
        let engine = Arc::clone(engine);
        Self(Thread::start(move |stop| {
            let mut troubles = Troubles::default();
            loop {
                let mut stopped = false;
                let tended = engine.tend_due(worker::own(), interval, &mut || {
                    stopped = stop.comes_within(TURN);
                    !stopped
                });
                if let Some(Some(tended)) = troubles.note("rules are not applied", tended.map_err(coded)) {
                    say(&tended);
                }
                if stopped || stop.comes_within(DUE.min(interval)) {
                    return;
                }
            }
        }))
    }

    /// Ends it after the step that it is at.
    pub(crate) fn stop(self) {
        self.0.end();
    }
}

/// What was done, for the log: numbers and nothing of what memories say. That nothing was due is for who looks closely.
fn say(tended: &Tended) {
    const SAID: &str = "applied the rules for what has aged";
    let Tended { looked_at, cooled, revived, archived, erased, audit_removed, .. } = tended;
    if tended.moved() == 0 && *audit_removed == 0 {
        tracing::debug!(looked_at, "{SAID}");
    } else {
        tracing::info!(looked_at, cooled, revived, archived, erased, audit_removed, "{SAID}");
    }
}
