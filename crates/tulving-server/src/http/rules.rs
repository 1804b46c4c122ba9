//! What a server keeps to, and may be told anew while it runs.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use super::tls::Tls;

/// Bounds on what requests may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most bytes of a body.
    pub body_bytes: usize,
    /// Most bytes of a body that holds a file.
    pub upload_bytes: usize,
    /// How deep JSON may be nested.
    pub depth: usize,
    /// Most items that may be asked for at once.
    pub page: u64,
    /// How long a request may take in all.
    pub time: Duration,
    /// Most connections at once.
    pub connections: usize,
    /// Most connections without a valid token from one address.
    pub strangers: usize,
    /// How long a new connection may take to its first whole request head.
    pub first_request: Duration,
    /// Most requests with one token in a minute; 0 is no bound.
    pub requests_per_minute: u32,
    /// Most wrong tokens from one address in a minute; 0 is no bound.
    pub failures_per_minute: u32,
}

impl Default for Limits {
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

/// What a server keeps to.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Bounds on what requests may cost.
    pub limits: Limits,
    /// What encrypts; without it everything is plain.
    pub tls: Option<Tls>,
    /// Sites whose pages may call, such as `https://app.example`.
    pub cors_origins: Vec<String>,
    /// Names that this server is called by, besides its address.
    pub allowed_hosts: Vec<String>,
    /// Whether `/metrics` asks for no token.
    pub open_metrics: bool,
}

/// Reads the rules again while a server runs.
pub trait Reload: Send {
    /// The rules that hold from now on; `None` where those of before go on. It is asked about once a second, and with
    /// `asked` when somebody told the process to look (SIGHUP). What is wrong is said in the log, and nothing changes.
    fn look(&mut self, asked: bool) -> Option<Rules>;
}

/// Rules that never change.
impl Reload for () {
    fn look(&mut self, _: bool) -> Option<Rules> {
        None
    }
}

/// Something of which there is always one, replaced as a whole.
#[derive(Debug)]
pub(super) struct Live<T>(RwLock<Arc<T>>);

impl<T> Live<T> {
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
