//! A thread that works in the background until it is told to stop.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a server that ends waits for what its language model says, and how often it looks.
const PARTING: Duration = Duration::from_millis(200);
const LOOK: Duration = Duration::from_millis(20);

/// The thread, as whoever started it has it.
pub(super) struct Thread {
    stop: Sender<()>,
    handle: JoinHandle<()>,
}

/// Tells the thread that it is to stop.
pub(super) struct Stop(Receiver<()>);

impl Thread {
    /// Starts it. The work is to look for its stop as often as it can.
    pub(super) fn start(work: impl FnOnce(&Stop) + Send + 'static) -> Self {
        let (stop, stopped) = channel();
        let handle = thread::spawn(move || work(&Stop(stopped)));
        Self { stop, handle }
    }

    /// Stops it, and waits until it has.
    pub(super) fn end(self) {
        drop(self.stop);
        let _ = self.handle.join();
    }

    /// Stops it, and waits a moment: it may be asking a language model.
    pub(super) fn part(self) {
        drop(self.stop);
        let since = Instant::now();
        while !self.handle.is_finished() && since.elapsed() < PARTING {
            thread::sleep(LOOK);
        }
    }
}

impl Stop {
    /// Rests for so long, or until the stop comes; whether it came.
    pub(super) fn comes_within(&self, time: Duration) -> bool {
        !matches!(self.0.recv_timeout(time), Err(RecvTimeoutError::Timeout))
    }

    /// Whether it came.
    pub(super) fn has_come(&self) -> bool {
        !matches!(self.0.try_recv(), Err(TryRecvError::Empty))
    }
}
