//! The rules of a server, which may change while it runs.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::tls::Tls;

/// Limits on the cost of requests.
#[derive(Clone, Copy, Debug)]
pub struct RequestLimits {
    /// Maximum size of a request body, in bytes.
    pub body_bytes: usize,
    /// Maximum size of a request body with a file, in bytes.
    pub upload_bytes: usize,
    /// Maximum nesting depth of JSON.
    pub depth: usize,
    /// Maximum number of items that one request may ask for.
    pub page: u64,
    /// The time limit for a whole request.
    pub time: Duration,
    /// Maximum number of open connections.
    pub connections: usize,
    /// Maximum number of connections without a valid token from one address.
    pub strangers: usize,
    /// The time limit for the first complete request head of a new connection.
    pub first_request: Duration,
    /// Maximum number of requests per minute with one token; 0 means no limit.
    pub requests_per_minute: u32,
    /// Maximum number of wrong tokens per minute from one address; 0 means no limit.
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
    /// The TLS certificate. Without a certificate, connections are not encrypted.
    pub tls: Option<Tls>,
    /// Sites whose pages may call the server from a browser, such as `https://app.example`.
    pub cors_origins: Vec<String>,
    /// Host names of this server, in addition to its address.
    pub allowed_hosts: Vec<String>,
    /// True if `/metrics` needs no token.
    pub open_metrics: bool,
}

/// Reloads the rules while a server runs.
pub trait RulesReloader: Send {
    /// Returns the new rules, or `None` if the rules have not changed. The server calls this method about once a second.
    /// `asked` is true if the process received a signal to reload (SIGHUP). After an error, the implementation logs it and
    /// the current rules remain.
    fn look(&mut self, asked: bool) -> Option<ServerRules>;
}

/// Rules that never change.
impl RulesReloader for () {
    fn look(&mut self, _: bool) -> Option<ServerRules> {
        None
    }
}

/// A shared value that can only be replaced as a whole.
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
