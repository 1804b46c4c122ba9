//! Consolidates journals while a server runs.

use std::sync::Arc;

use tulving_core::model::answer::UnreadableFile;
use tulving_core::model::space::Space;
use tulving_core::{ConsolidationSummary, ConsolidationTick, Engine};

use super::DUE;
use super::failures::{LoggedFailures, coded};
use super::thread::StoppableThread;
use crate::worker;

/// Consolidates journals in its own thread: a language model may take minutes.
pub(crate) struct ConsolidationWorker(StoppableThread);

impl ConsolidationWorker {
    /// Starts the thread. The thread checks the setting before each run. If several processes use one home, only one of them
    /// does the work.
    pub(crate) fn start(engine: &Arc<Engine>) -> Self {
        let engine = Arc::clone(engine);
        Self(StoppableThread::start(move |stop| {
            let mut troubles = LoggedFailures::default();
            loop {
                // This releases all jobs of ended processes, of any kind.
                let released = engine.release_jobs(&worker::is_gone).map_err(coded);
                troubles.note("could not release the jobs of ended processes", released);
                let tick = match engine.consolidate_due(worker::own()) {
                    Ok(ConsolidationTick::NoModel) => Err("no language model is set up"),
                    tick => tick.map_err(coded),
                };
                match troubles.note("journals are not consolidated", tick) {
                    Some(ConsolidationTick::Busy) => {
                        tracing::debug!("journals are not consolidated now: the last pass is still running");
                    }
                    Some(ConsolidationTick::Done(done)) => say(&done),
                    Some(ConsolidationTick::NotDue | ConsolidationTick::NoModel) | None => {}
                }
                if stop.comes_within(DUE) {
                    return;
                }
            }
        }))
    }

    /// Stops the thread. It waits only a moment for a running call to the model.
    pub(crate) fn stop(self) {
        self.0.part();
    }
}

/// Logs what was done: facts, and no content of files.
fn say(done: &[(Space, ConsolidationSummary)]) {
    for (space, described) in done {
        let ConsolidationSummary { journals, added, removed, .. } = described;
        let (left_out, put_back) = (described.left_out.len(), described.put_back.len());
        let (space, pass) = (space.id, described.pass.map(|pass| pass.to_string()));
        for pass in &described.records {
            tracing::info!(%space, %pass, "applied proposals about memories");
        }
        if let Some(pass) = &described.held {
            tracing::info!(%space, %pass, "doubtful lines wait for review");
        }
        if let Some(reason) = &described.undecided {
            tracing::warn!(%space, reason, "no decisions about memories");
        }
        for UnreadableFile { path, why } in &described.unread {
            tracing::warn!(%space, path, reason = why, "a journal could not be read");
        }
        match &described.stays {
            None if described.journals == 0 => {}
            None => {
                tracing::info!(%space, pass, journals, added, removed, left_out, put_back, "consolidated journals");
            }
            Some(why) => {
                tracing::info!(%space, journals, left_out, put_back, reason = why, "MEMORY.md stays unchanged");
            }
        }
    }
    if done.is_empty() {
        tracing::debug!("there are no journals to consolidate");
    }
}
