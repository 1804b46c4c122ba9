//! Calls the language model while a server runs, in only one process of a home.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use tulving_core::Engine;
use tulving_store::Home;

use super::failures::{LoggedFailures, coded};
use super::thread::StoppableThread;
use crate::worker;

/// Time between two checks for turns to ask a language model about.
const PONDER: Duration = Duration::from_millis(500);

/// Does the work that calls a language model in its own thread, so that a slow model blocks nothing else.
pub(crate) struct LlmWorker(StoppableThread);

impl LlmWorker {
    /// Starts the thread. As long as the thread uses a model, commands on the home start no other process for this
    /// work.
    pub(crate) fn start(engine: &Arc<Engine>, home: &Home) -> Self {
        let (engine, home) = (Arc::clone(engine), home.clone());
        Self(StoppableThread::start(move |stop| {
            let (mut troubles, mut turn) = (LoggedFailures::default(), None);
            while !stop.comes_within(PONDER) {
                turn = engine.thinks().then(|| turn.take().or_else(|| lock_llm_work(&home))).flatten();
                while !stop.has_come() {
                    let thought = engine.think_waiting(worker::own()).map_err(coded);
                    let Some(Some(thought)) = troubles.note("no language model is available", thought) else {
                        break;
                    };
                    let trouble = thought.trouble.map_or(Ok(()), Err);
                    troubles.note(
                        "the language model does not answer: rules read the turns, and journals wait",
                        trouble,
                    );
                }
            }
        }))
    }

    /// Stops the thread after its current work, if that is short. A longer call is abandoned, and the next process
    /// starts its work again.
    pub(crate) fn stop(self) {
        self.0.part();
    }
}

/// Takes the lock for the background work with the language model; `None` if another process of the home has it.
pub(crate) fn lock_llm_work(home: &Home) -> Option<File> {
    let lock = File::options().create(true).append(true).mode(0o600).open(home.thinking_lock()).ok()?;
    lock.try_lock().is_ok().then_some(lock)
}
