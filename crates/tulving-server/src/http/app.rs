//! The shared state of all routes. Routes call the engine only through this state.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rmcp::ServerHandler;
use tulving_core::Engine;
use tulving_core::model::error::Error;
use tulving_core::model::id::PrincipalId;
use tulving_core::model::request::Caller;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::Origin;
use tulving_dialects::Dialect;

use super::auth::Credentials;
use super::concurrency::{WorkerLimit, WorkerSlot};
use super::counters::ServerCounters;
use super::events::ChangeNotifier;
use super::guard::AuthRateLimiter;
use super::mcp::{self, McpHandler};
use super::metrics::Gauge;
use super::problem::Problem;
use super::request_log::RequestTrace;
use super::rules::{RequestLimits, ServerRules};
use crate::MaintenanceHook;
use crate::mcp::{AgentNaming, McpServer};

/// The shared state of all routes.
#[derive(Clone)]
pub struct HttpApp {
    /// The engine that carries out the requests.
    pub(super) engine: Arc<Engine>,
    /// Called after every request.
    pub(super) upkeep: Arc<dyn MaintenanceHook>,
    /// The server's rules. They can be replaced while the server runs.
    pub(super) rules: Arc<ServerRules>,
    /// State that lives as long as the server.
    pub(super) shared: Arc<ServerState>,
    /// Returns numbers about the whole store for `/metrics`.
    pub(super) gauges: Option<Arc<GaugeSource>>,
    /// The handler of requests to `/mcp`.
    pub(super) answer: Arc<McpHandler>,
    /// Notifies the event streams of new writes.
    pub(super) changes: Arc<ChangeNotifier>,
    worker_limit: Arc<WorkerLimit>,
}

/// State that outlives a change of the rules.
pub(super) struct ServerState {
    pub(super) counters: Arc<ServerCounters>,
    pub(super) guard: AuthRateLimiter,
    pub(super) started: Timestamp,
    /// True if the server is about to stop. Answers then ask clients to close their connection.
    pub(super) stopping: AtomicBool,
}

/// Returns numbers about the whole store.
type GaugeSource = dyn Fn() -> Vec<Gauge> + Send + Sync;

impl HttpApp {
    /// Creates the state for this engine.
    pub fn new(engine: Arc<Engine>, upkeep: Arc<dyn MaintenanceHook>, limits: RequestLimits) -> Self {
        let (memory, bell) = (Arc::clone(&engine), Arc::clone(&upkeep));
        let server = move |caller, dialect| {
            McpServer::new(Arc::clone(&memory), Arc::clone(&bell), caller, dialect, AgentNaming::Nobody)
        };
        Self::with_mcp(engine, upkeep, limits, server)
    }

    /// Creates the state with another MCP server at `/mcp`. The server is created for each request. A conformance suite uses
    /// this function to test its own tools with the same listener, host check and authorisation.
    pub fn with_mcp<S: ServerHandler + Clone>(
        engine: Arc<Engine>,
        upkeep: Arc<dyn MaintenanceHook>,
        limits: RequestLimits,
        server: impl Fn(Caller, Dialect) -> S + Send + Sync + 'static,
    ) -> Self {
        let answer = mcp::answering(server);
        let shared = ServerState {
            counters: Arc::default(),
            guard: AuthRateLimiter::default(),
            started: engine.now(),
            stopping: AtomicBool::new(false),
        };
        let rules = Arc::new(ServerRules { limits, ..ServerRules::default() });
        let shared = Arc::new(shared);
        let (changes, worker_limit) = (Arc::default(), Arc::default());
        Self { engine, upkeep, rules, shared, gauges: None, answer, changes, worker_limit }
    }

    /// Replaces the rules. The counters keep their values.
    pub fn under(self, rules: ServerRules) -> Self {
        Self { rules: Arc::new(rules), ..self }
    }

    /// Adds numbers about the whole store to `/metrics`. The server computes these numbers on every request, so they must be
    /// cheap.
    pub fn telling(self, gauges: impl Fn() -> Vec<Gauge> + Send + Sync + 'static) -> Self {
        Self { gauges: Some(Arc::new(gauges)), ..self }
    }

    /// Returns the limits on the cost of a request.
    pub(super) fn limits(&self) -> &RequestLimits {
        &self.rules.limits
    }

    /// Runs work that only reads on the blocking pool, as soon as a worker slot is free. Work that has begun is completed
    /// even if the client has disconnected.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        self.work(false, work).await
    }

    /// Like [`blocking`](Self::blocking), for work that may write.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        writes: bool,
        work: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        let (engine, place) = (Arc::clone(&self.engine), self.place(writes).await?);
        let work = move || {
            let _held = place;
            work(&engine)
        };
        tokio::task::spawn_blocking(work).await.map_err(|_| Problem::fault())
    }

    /// Waits for a free worker slot.
    pub(super) async fn place(&self, writes: bool) -> Result<WorkerSlot, Problem> {
        self.worker_limit.enter(writes).await
    }

    /// Returns the caller that the credentials identify, in the space that they name. The call counts against the token's
    /// rate limit.
    pub(super) async fn caller(&self, given: Credentials, origin: Origin) -> Result<Caller, Problem> {
        let (guard, counters) = (&self.shared.guard, &self.shared.counters);
        let (token, trace) = (given.token.clone(), given.trace.clone());
        let from = trace.as_ref().and_then(RequestTrace::origin);
        guard.hear(self.limits(), counters, from, &token)?;
        match self.known(given, origin).await? {
            Ok((principal, caller)) => {
                if let Some(trace) = trace {
                    trace.by(principal);
                }
                guard.right(self.limits(), counters, &token)?;
                Ok(caller?)
            }
            Err(Error::BadToken) => {
                guard.wrong(self.limits(), from);
                Err(Problem::wrong_token())
            }
            Err(other) => Err(other.into()),
        }
    }

    /// Checks the credentials of a running request again and returns the caller. This check does not count against the rate
    /// limit.
    pub(super) async fn still(&self, given: Credentials, origin: Origin) -> Result<Caller, Problem> {
        let (_, caller) = self.known(given, origin).await??;
        Ok(caller?)
    }

    /// Returns the principal of the token, and the caller if the principal may enter the space.
    async fn known(&self, given: Credentials, origin: Origin) -> Result<AuthenticationResult, Problem> {
        let Credentials { token, space, default_space, confined, agent, zone, .. } = given;
        let found = self.blocking(move |engine| {
            let mut caller = engine.authenticate(&token, origin, agent.as_deref())?;
            caller.zone = zone.unwrap_or(caller.zone);
            let principal = caller.viewer.principal;
            let caller = match (space, default_space) {
                (Some(space), _) if confined => engine.confine(&caller, &[&space]),
                (Some(space), _) | (None, Some(space)) => engine.enter(&caller, &space),
                (None, None) => Ok(caller),
            };
            Ok((principal, caller))
        });
        found.await
    }
}

type AuthenticationResult = Result<(PrincipalId, Result<Caller, Error>), Error>;
