//! The rules of a server, which may change while it runs.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::tls::Tls;

/// Limits on the cost of requests.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// The most bytes of a body.
    pub body_bytes: usize,
    /// The most bytes of a body with a file.
    pub upload_bytes: usize,
    /// The greatest depth of nested JSON.
    pub depth: usize,
    /// The most items in one request.
    pub page: u64,
    /// The time limit for a whole request.
    pub time: Duration,
    /// The most connections at once.
    pub connections: usize,
    /// The most connections without a valid token from one address.
    pub strangers: usize,
    /// The time limit for the first complete request head of a new connection.
    pub first_request: Duration,
    /// The most requests with one token in a minute; 0 means no limit.
    pub requests_per_minute: u32,
    /// The most wrong tokens from one address in a minute; 0 means no limit.
    pub failures_per_minute: u32,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            body_bytes: 8 * 1024 * 1024,
            upload_bytes: 32 * 1024 * 1024,
            depth: 127,
            page: 1_000,
            time: Duration::from_secs(60),
            connections: 1_024,
            strangers: 512,
            first_request: Duration::from_secs(10),
            requests_per_minute: 6_000,
            failures_per_minute: 60,
        }
    }
}

/// The rules of a server.
#[derive(Clone, Debug, Default)]
pub struct ServerRules {
    /// Limits on the cost of requests.
    pub limits: RequestLimits,
    /// The certificate; without it connections are not encrypted.
    pub tls: Option<Tls>,
    /// Sites whose pages may call, such as `https://app.example`.
    pub cors_origins: Vec<String>,
    /// Names of this server, besides its address.
    pub allowed_hosts: Vec<String>,
    /// True if `/metrics` needs no token.
    pub open_metrics: bool,
}

/// Reads the rules again while a server runs.
pub trait RulesReloader: Send {
    /// Returns the new rules, or `None` if the old ones stay. It is called about once a second, and with `asked` when
    /// the process got a signal to reload (SIGHUP). An error is logged, and nothing changes.
    fn look(&mut self, asked: bool) -> Option<ServerRules>;
}

/// Rules that never change.
impl RulesReloader for () {
    fn look(&mut self, _: bool) -> Option<ServerRules> {
        None
    }
}

/// A value that is always present and is replaced as a whole.
#[derive(Debug)]
pub(super) struct LiveValue<T>(RwLock<Arc<T>>);

impl<T> LiveValue<T> {
    pub(super) fn new(value: T) -> Self {
        Self(RwLock::new(Arc::new(value)))
    }

    pub(super) fn get(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set(&self, value: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(value);
    }
}
