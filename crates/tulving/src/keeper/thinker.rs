//! Does what asks a language model while a server runs, and the place of the one process of a home that does.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use tulving_core::Engine;
use tulving_store::Home;

use super::thread::Thread;
use super::troubles::{Troubles, coded};
use crate::worker;

/// How often it is looked whether a language model is to be asked about turns.
const PONDER: Duration = Duration::from_millis(500);

/// Does what asks a language model, in a thread of its own: one that is slow holds nothing else up.
pub(crate) struct Thinker(Thread);

impl Thinker {
    /// Starts it. For as long as it has anything to do with a model, commands on the home start no process for that.
    pub(crate) fn start(engine: &Arc<Engine>, home: &Home) -> Self {
        let (engine, home) = (Arc::clone(engine), home.clone());
        Self(Thread::start(move |stop| {
            let (mut troubles, mut turn) = (Troubles::default(), None);
            while !stop.comes_within(PONDER) {
                turn = engine.thinks().then(|| turn.take().or_else(|| thinking(&home))).flatten();
                while !stop.has_come() {
                    let thought = engine.think_waiting(worker::own()).map_err(coded);
                    let Some(Some(thought)) = troubles.note("no language model can be asked", thought) else {
                        break;
                    };
                    let trouble = thought.trouble.map_or(Ok(()), Err);
                    troubles.note(
                        "the language model does not answer: rules look at turns, and journals wait",
                        trouble,
                    );
                }
            }
        }))
    }

    /// Ends it after what it is at, where that takes a moment. A call that takes longer is left: what it was for is begun anew
    /// by the next process.
    pub(crate) fn stop(self) {
        self.0.part();
    }
}

/// Takes the place of the one process of a home that is sure to ask a language model; `None` where another has it.
pub(crate) fn thinking(home: &Home) -> Option<File> {
    let lock = File::options().create(true).append(true).mode(0o600).open(home.thinking_lock()).ok()?;
    lock.try_lock().is_ok().then_some(lock)
}
