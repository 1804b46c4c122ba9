//! The counters of a running server. [`metrics`](super::metrics) publishes them.
//!
//! The labels of every row are from closed lists: methods, route templates, status classes. So a client cannot create new
//! rows.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the duration buckets, in seconds. A longer duration counts only in the total.
pub(super) const BUCKETS: [f64; 12] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

/// The reason why a connection or a request was refused before it was read.
#[derive(Clone, Copy, Debug)]
pub(super) enum RefusalReason {
    /// Too many connections.
    Connections,
    /// The token has reached its rate limit.
    Rate,
    /// Too many wrong tokens from the address.
    Failures,
    /// The TLS handshake did not finish in time.
    Handshake,
    /// The client did not read its answer.
    SlowReader,
    /// A connection without a valid token made room for a new one.
    Displaced,
    /// A new connection sent no request in time.
    Silent,
}

impl RefusalReason {
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

/// The results of the requests to one route.
#[derive(Clone, Debug, Default)]
pub(super) struct RouteCounters {
    /// Number of answers by method and first digit of the status.
    pub(super) answers: BTreeMap<(&'static str, u16), u64>,
    /// Number of requests that took at most as long as each of [`BUCKETS`] and longer than the one before.
    pub(super) buckets: [u64; BUCKETS.len()],
    /// Number of all requests, of any duration.
    pub(super) count: u64,
    /// Total duration of the requests.
    pub(super) time: Duration,
}

/// All counters of a server.
#[derive(Debug, Default)]
pub(super) struct ServerCounters {
    routes: Mutex<BTreeMap<String, RouteCounters>>,
    in_flight: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    writing: Arc<AtomicUsize>,
    sent: AtomicU64,
    received: AtomicU64,
    refused: [AtomicU64; RefusalReason::ALL.len()],
}

impl ServerCounters {
    /// Counts an answered request.
    pub(super) fn answered(&self, method: &'static str, route: &str, status: u16, time: Duration) {
        let mut routes = self.routes.lock().unwrap_or_else(PoisonError::into_inner);
        if !routes.contains_key(route) {
            routes.insert(route.to_owned(), RouteCounters::default());
        }
        let Some(asked) = routes.get_mut(route) else { return };
        *asked.answers.entry((method, status / 100)).or_default() += 1;
        if let Some(bucket) = BUCKETS.iter().position(|end| time.as_secs_f64() <= *end) {
            asked.buckets[bucket] += 1;
        }
        asked.count += 1;
        asked.time += time;
    }

    /// The counters of each route so far.
    pub(super) fn routes(&self) -> BTreeMap<String, RouteCounters> {
        self.routes.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Counts a refusal.
    pub(super) fn refused(&self, reason: RefusalReason) {
        self.refused[reason as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// Number of refusals for this reason.
    pub(super) fn refusals(&self, reason: RefusalReason) -> u64 {
        self.refused[reason as usize].load(Ordering::Relaxed)
    }

    pub(super) fn sent(&self, bytes: usize) {
        self.sent.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Number of bytes received and sent.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.received.load(Ordering::Relaxed), self.sent.load(Ordering::Relaxed))
    }

    /// Counts one more request in progress.
    pub(super) fn begin(&self) -> CountGuard {
        CountGuard::among(&self.in_flight)
    }

    /// Number of requests in progress.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Counts one more open connection.
    pub(super) fn open(&self) -> CountGuard {
        CountGuard::among(&self.connections)
    }

    /// Number of open connections.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    /// Counts one more connection with bytes to send.
    pub(super) fn write(&self) -> CountGuard {
        CountGuard::among(&self.writing)
    }

    /// Returns the number of connections with bytes that are waiting to be sent.
    pub(super) fn writing(&self) -> usize {
        self.writing.load(Ordering::Relaxed)
    }
}

/// Counts something until the guard is dropped.
#[derive(Debug)]
pub(super) struct CountGuard(Arc<AtomicUsize>);

impl CountGuard {
    fn among(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for CountGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
