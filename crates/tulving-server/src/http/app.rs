//! What every route works with, and the one way to the engine from here.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rmcp::ServerHandler;
use tulving_core::Engine;
use tulving_core::error::Error;
use tulving_core::id::PrincipalId;
use tulving_core::request::Caller;
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::Origin;
use tulving_dialects::Dialect;

use super::auth::Credentials;
use super::events::Pulse;
use super::guard::Guard;
use super::mcp::{self, Answer};
use super::metrics::Gauge;
use super::problem::Problem;
use super::room::{Place, Room};
use super::rules::{Limits, Rules};
use super::tally::Tally;
use super::visit::Visit;
use crate::Upkeep;
use crate::mcp::{Naming, Server};

/// What every route works with.
#[derive(Clone)]
pub struct App {
    /// Does the work.
    pub(super) engine: Arc<Engine>,
    /// Is told after every call.
    pub(super) upkeep: Arc<dyn Upkeep>,
    /// What may be told anew.
    pub(super) rules: Arc<Rules>,
    /// What goes on for as long as the server runs.
    pub(super) shared: Arc<Shared>,
    /// Tells of the whole store at `/metrics`.
    pub(super) gauges: Option<Arc<Gauges>>,
    /// Answers at `/mcp`.
    pub(super) answer: Arc<Answer>,
    /// Tells who follows that something was written.
    pub(super) pulse: Arc<Pulse>,
    room: Arc<Room>,
}

/// What goes on while rules come and go.
pub(super) struct Shared {
    pub(super) tally: Arc<Tally>,
    pub(super) guard: Guard,
    pub(super) started: Timestamp,
    /// Whether the server is about to end: who asks now is told to ask nothing more on its connection.
    pub(super) stopping: AtomicBool,
}

/// Tells of the whole store.
type Gauges = dyn Fn() -> Vec<Gauge> + Send + Sync;

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
        let answer = mcp::answering(server);
        let shared = Shared {
            tally: Arc::default(),
            guard: Guard::default(),
            started: engine.now(),
            stopping: AtomicBool::new(false),
        };
        let rules = Arc::new(Rules { limits, ..Rules::default() });
        let shared = Arc::new(shared);
        let (pulse, room) = (Arc::default(), Arc::default());
        Self { engine, upkeep, rules, shared, gauges: None, answer, pulse, room }
    }

    /// The same under these rules. What was counted goes on.
    pub fn under(self, rules: Rules) -> Self {
        Self { rules: Arc::new(rules), ..self }
    }

    /// The same with numbers about the whole store at `/metrics`. They are asked for at every look, so they must be cheap.
    pub fn telling(self, gauges: impl Fn() -> Vec<Gauge> + Send + Sync + 'static) -> Self {
        Self { gauges: Some(Arc::new(gauges)), ..self }
    }

    /// Bounds on what a request may cost.
    pub(super) fn limits(&self) -> &Limits {
        &self.rules.limits
    }

    /// Reads on the blocking pool, once there is room. What was begun goes to its end, whether anybody waits for it or not.
    pub(super) async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Engine) -> T + Send + 'static,
    ) -> Result<T, Problem> {
        self.work(false, work).await
    }

    /// The same for work that may write.
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

    /// A place among those who work.
    pub(super) async fn place(&self, writes: bool) -> Result<Place, Problem> {
        self.room.enter(writes).await
    }

    /// Whom the credentials speak for, in the space that they name, as often as the token may ask.
    pub(super) async fn caller(&self, given: Credentials, origin: Origin) -> Result<Caller, Problem> {
        let (guard, tally) = (&self.shared.guard, &self.shared.tally);
        let (token, visit) = (given.token.clone(), given.visit.clone());
        let from = visit.as_ref().and_then(Visit::origin);
        guard.hear(self.limits(), tally, from, &token)?;
        match self.known(given, origin).await? {
            Ok((principal, caller)) => {
                if let Some(visit) = visit {
                    visit.by(principal);
                }
                guard.right(self.limits(), tally, &token)?;
                Ok(caller?)
            }
            Err(Error::BadToken) => {
                guard.wrong(self.limits(), from);
                Err(Problem::wrong_token())
            }
            Err(other) => Err(other.into()),
        }
    }

    /// The same for one whose request goes on: it counts no further time.
    pub(super) async fn still(&self, given: Credentials, origin: Origin) -> Result<Caller, Problem> {
        let (_, caller) = self.known(given, origin).await??;
        Ok(caller?)
    }

    /// Whose token it is, and the caller in the space, where they may enter that.
    async fn known(&self, given: Credentials, origin: Origin) -> Result<Known, Problem> {
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

type Known = Result<(PrincipalId, Result<Caller, Error>), Error>;
