//! The shared state of all routes, and the only way from here to the engine.

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
    /// Does the work.
    pub(super) engine: Arc<Engine>,
    /// Called after every request.
    pub(super) upkeep: Arc<dyn MaintenanceHook>,
    /// The rules, which may be replaced while the server runs.
    pub(super) rules: Arc<ServerRules>,
    /// State that lives as long as the server.
    pub(super) shared: Arc<ServerState>,
    /// Measures the whole store for `/metrics`.
    pub(super) gauges: Option<Arc<GaugeSource>>,
    /// Answers at `/mcp`.
    pub(super) answer: Arc<McpHandler>,
    /// Tells the event streams that something was written.
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

/// Measures the whole store.
type GaugeSource = dyn Fn() -> Vec<Gauge> + Send + Sync;

impl HttpApp {
    /// Routes over this engine.
    pub fn new(engine: Arc<Engine>, upkeep: Arc<dyn MaintenanceHook>, limits: RequestLimits) -> Self {
        let (memory, bell) = (Arc::clone(&engine), Arc::clone(&upkeep));
        let server = move |caller, dialect| {
            McpServer::new(Arc::clone(&memory), Arc::clone(&bell), caller, dialect, AgentNaming::Nobody)
        };
        Self::with_mcp(engine, upkeep, limits, server)
    }

    /// The same with another server at `/mcp`, made for each request. A conformance suite needs its own tools, over the
    /// same listener, host check and authorisation.
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

    /// The same under these rules. Counters are kept.
    pub fn under(self, rules: ServerRules) -> Self {
        Self { rules: Arc::new(rules), ..self }
    }

    /// The same with numbers about the whole store at `/metrics`. They are computed on every request, so they must be
    /// cheap.
    pub fn telling(self, gauges: impl Fn() -> Vec<Gauge> + Send + Sync + 'static) -> Self {
        Self { gauges: Some(Arc::new(gauges)), ..self }
    }

    /// Limits on the cost of a request.
    pub(super) fn limits(&self) -> &RequestLimits {
        &self.rules.limits
    }

    /// Reads on the blocking pool, once a place is free. Work that has begun is finished even if nobody waits for it.
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

    /// Waits for a place to work.
    pub(super) async fn place(&self, writes: bool) -> Result<WorkerSlot, Problem> {
        self.worker_limit.enter(writes).await
    }

    /// The caller that the credentials stand for, in the space that they name. Counts against the rate limit of the token.
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

    /// The same for a request that is still running. It does not count against the rate limit again.
    pub(super) async fn still(&self, given: Credentials, origin: Origin) -> Result<Caller, Problem> {
        let (_, caller) = self.known(given, origin).await??;
        Ok(caller?)
    }

    /// The principal of the token, and the caller in the space if the principal may enter it.
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
