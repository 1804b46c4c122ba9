//! A background thread that works until it is asked to stop.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time that a stopping server waits for its language model, and time between two checks.
const PARTING: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_millis(20);

/// The handle of the thread.
pub(super) struct StoppableThread {
    stop: Sender<()>,
    handle: JoinHandle<()>,
}

/// Receives the request to stop.
pub(super) struct StopSignal(Receiver<()>);

impl StoppableThread {
    /// Starts the thread. The work must check for a request to stop as often as it can.
    pub(super) fn start(work: impl FnOnce(&StopSignal) + Send + 'static) -> Self {
        let (stop, stopped) = channel();
        let handle = thread::spawn(move || work(&StopSignal(stopped)));
        Self { stop, handle }
    }

    /// Stops the thread, and waits until it has ended.
    pub(super) fn end(self) {
        drop(self.stop);
        let _ = self.handle.join();
    }

    /// Stops the thread, and waits only a moment: it may be calling a language model.
    pub(super) fn part(self) {
        drop(self.stop);
        let since = Instant::now();
        while !self.handle.is_finished() && since.elapsed() < PARTING {
            thread::sleep(LOOK);
        }
    }
}

impl StopSignal {
    /// Sleeps for this time, or until a request to stop. Returns true if the request came.
    pub(super) fn comes_within(&self, time: Duration) -> bool {
        !matches!(self.0.recv_timeout(time), Err(RecvTimeoutError::Timeout))
    }

    /// True if the request to stop came.
    pub(super) fn has_come(&self) -> bool {
        !matches!(self.0.try_recv(), Err(TryRecvError::Empty))
    }
}
