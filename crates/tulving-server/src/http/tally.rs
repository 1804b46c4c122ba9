//! What is counted while a server runs. [`metrics`](super::metrics) tells it.
//!
//! Whatever names a row is one of a closed list: methods, templates of routes, classes of status. A client cannot make
//! rows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the buckets of durations, in seconds. What is above the last is only in the total.
pub(super) const BUCKETS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// Why a connection or a request was turned away before it was looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reason {
    /// Too many connections.
    Connections,
    /// The token has used up its share.
    Rate,
    /// Too many wrong tokens from the address.
    Failures,
    /// No TLS was agreed upon in time.
    Handshake,
    /// The client did not read its answer.
    SlowReader,
    /// A connection without a valid token made room for a new one.
    Displaced,
    /// No request came in time on a new connection.
    Silent,
}

impl Reason {
    pub(super) const ALL: [Self; 7] = [
        Self::Connections,
        Self::Rate,
        Self::Failures,
        Self::Handshake,
        Self::SlowReader,
        Self::Displaced,
        Self::Silent,
    ];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Rate => "rate",
            Self::Failures => "failures",
            Self::Handshake => "handshake",
            Self::SlowReader => "slow_reader",
            Self::Displaced => "displaced",
            Self::Silent => "silent",
        }
    }
}

/// What became of the requests to one route.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// By method and the first digit of the status.
    pub(super) answers: BTreeMap<(&'static str, u16), u64>,
    /// How many took at most as long as each of [`BUCKETS`] and longer than the one before.
    pub(super) buckets: [u64; BUCKETS.len()],
    /// All of them, however long they took.
    pub(super) count: u64,
    /// How long they took together.
    pub(super) time: Duration,
}

/// The counts of a server.
#[derive(Debug, Default)]
pub(super) struct Tally {
    routes: Mutex<BTreeMap<String, Asked>>,
    in_flight: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    writing: Arc<AtomicUsize>,
    sent: AtomicU64,
    received: AtomicU64,
    refused: [AtomicU64; Reason::ALL.len()],
}

impl Tally {
    /// A request was answered.
    pub(super) fn answered(&self, method: &'static str, route: &str, status: u16, time: Duration) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), Asked::default());
        }
        let Some(asked) = routes.get_mut(route) else { return };
        *asked.answers.entry((method, status / 100)).or_default() += 1;
        if let Some(bucket) = BUCKETS.iter().position(|end| time.as_secs_f64() <= *end) {
            asked.buckets[bucket] += 1;
        }
        asked.count += 1;
        asked.time += time;
    }

    /// What was asked of each route so far.
    pub(super) fn routes(&self) -> BTreeMap<String, Asked> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Something was turned away.
    pub(super) fn refused(&self, reason: Reason) {
        self.refused[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often something was turned away for this reason.
    pub(super) fn refusals(&self, reason: Reason) -> u64 {
        self.refused[reason as usize].load(Ordering::Relaxed)
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Bytes received and sent.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.received.load(Ordering::Relaxed), self.sent.load(Ordering::Relaxed))
    }

    /// One more request is being answered.
    pub(super) fn begin(&self) -> Counted {
        Counted::among(&self.in_flight)
    }

    /// How many requests are being answered.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// One more connection is open.
    pub(super) fn open(&self) -> Counted {
        Counted::among(&self.connections)
    }

    /// How many connections are open.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// One more connection has something to send.
    pub(super) fn write(&self) -> Counted {
        Counted::among(&self.writing)
    }

    /// How many connections have something to send that was not taken yet.
    pub(super) fn writing(&self) -> usize {
        self.writing.load(Ordering::Relaxed)
    }
}

/// Counts something for as long as it is held.
#[derive(Debug)]
pub(super) struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn among(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
