//! What every route works with, and the one way to the engine from here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::ServerHandler;
use tulving_core::Engine;
use tulving_core::error::Error;
use tulving_core::request::Caller;
use tulving_core::vocabulary::Origin;
use tulving_dialects::Dialect;

use super::auth::Credentials;
use super::events::Pulse;
use super::mcp::{self, Answer};
use super::problem::Problem;
use crate::Upkeep;
use crate::mcp::{Naming, Server};

/// Bounds on what a request may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Most bytes of a body.
    pub body_bytes: usize,
    /// How long a request may take in all.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { body_bytes: 8 * 1024 * 1024, time: Duration::from_secs(60) }
    }
}

/// What every route works with.
#[derive(Clone)]
pub struct App {
    /// Does the work.
    pub(super) engine: Arc<Engine>,
    /// Is told after every call.
    pub(super) upkeep: Arc<dyn Upkeep>,
    /// Bounds on what a request may cost.
    pub(super) limits: Limits,
    /// Answers at `/mcp`.
    pub(super) answer: Arc<Answer>,
    /// Tells who follows that something was written.
    pub(super) pulse: Arc<Pulse>,
    in_flight: Arc<AtomicUsize>,
}

/// Counts a request for as long as it is being answered.
pub(super) struct InFlight(Arc<AtomicUsize>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl App {
    /// Routes over this engine.
    pub fn new(engine: Arc<Engine>, upkeep: Arc<dyn Upkeep>, limits: Limits) -> Self {
        let (memory, bell) = (Arc::clone(&engine), Arc::clone(&upkeep));
        let server = move |caller, dialect| {
            Server::new(Arc::clone(&memory), Arc::clone(&bell), caller, dialect, Naming::Nobody)
        };
        Self::with_mcp(engine, upkeep, limits, server)
    }

    /// The same with another server at `/mcp`, made for each request. A conformance suite asks for tools of its own, over
    /// the same listener, gate and authorisation.
    pub fn with_mcp<S: ServerHandler + Clone>(
        engine: Arc<Engine>,
        upkeep: Arc<dyn Upkeep>,
        limits: Limits,
        server: impl Fn(Caller, Dialect) -> S + Send + Sync + 'static,
    ) -> Self {
        let answer = mcp::answering(server, limits.body_bytes);
        Self { engine, upkeep, limits, answer, pulse: Arc::default(), in_flight: Arc::default() }
    }

    /// One more request is being answered.
    pub(super) fn begin(&self) -> InFlight {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(Arc::clone(&self.in_flight))
    }

    /// How many requests are being answered.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Works on the blocking pool. What was begun goes to its end, whether anybody waits for it or not.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let engine = Arc::clone(&self.engine);
        tokio::task::spawn_blocking(move || work(&engine)).await.map_err(|_| Problem::fault())
    }

    /// Whom the credentials speak for, in the space that they name.
    pub(super) async fn caller(&self, given: Credentials, origin: Origin) -> Result<Caller, Problem> {
        let found = self.blocking(move |engine| {
            let caller = engine.authenticate(&given.token, origin, given.agent.as_deref())?;
            match given.space {
                None => Ok(caller),
                Some(space) => engine.enter(&caller, &space),
            }
        });
        found.await?.map_err(|error| match error {
            Error::BadToken => Problem::wrong_token(),
            other => other.into(),
        })
    }
}
