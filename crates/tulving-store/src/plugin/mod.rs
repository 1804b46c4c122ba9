//! A backend that is a program of its own: a child process that speaks JSON-RPC 2.0 over its standard input and output.
//!
//! [`wire`] has the messages, [`session`] the process. It is started when it is first needed. Whatever it does, a call ends
//! in time: one that is late, talks out of turn or says what cannot be understood is killed with all its group, and
//! started anew by the next call, a few times a minute at the most.

mod session;
mod wire;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tulving_core::backend::{Description, Given, ListQuery, Listed, RecallQuery, Verb};
use tulving_core::error::BackendError;
use tulving_core::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::memory::Memory;
use tulving_core::ports::Backend;

use session::Session;

/// How often it may be started within [`RECENTLY`]. More means that it does not stay.
const STARTS: usize = 5;
/// The time over which starts are counted.
const RECENTLY: Duration = Duration::from_secs(60);

/// A program and how it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginCommand {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// The folder that it works in.
    pub folder: PathBuf,
}

/// A backend that is a program of its own.
pub struct Plugin {
    how: PluginCommand,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    session: Option<Arc<Session>>,
    /// When it was started lately.
    starts: VecDeque<Instant>,
}

impl Plugin {
    /// A backend over this program, which is not started before it is asked for something.
    pub fn new(how: PluginCommand) -> Self {
        Self { how, state: Mutex::default() }
    }

    /// The session that is there, or a new one.
    fn session(&self) -> Result<Arc<Session>, BackendError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = match &state.session {
            Some(session) => match session.ended() {
                None => return Ok(session.clone()),
                ended => ended,
            },
            None => None,
        };
        let now = Instant::now();
        while state.starts.front().is_some_and(|start| now.duration_since(*start) >= RECENTLY) {
            state.starts.pop_front();
        }
        if state.starts.len() >= STARTS {
            let last = ended.map_or_else(|| "it could not be started".to_owned(), |error| error.to_string());
            let why = format!("it was started {STARTS} times within a minute, and the last time it {last}");
            return Err(BackendError::Gone { why });
        }
        state.starts.push_back(now);
        let session = Arc::new(Session::start(&self.how)?);
        state.session = Some(session.clone());
        Ok(session)
    }

    /// Asks for something that it offers.
    fn ask(&self, verb: Verb, params: &Value, within: Duration) -> Result<Value, BackendError> {
        let deadline = Instant::now() + within;
        let late = |error| match error {
            BackendError::TimedOut { .. } => BackendError::TimedOut { after: within },
            error => error,
        };
        let session = self.session()?;
        let description = session.described(deadline).map_err(late)?;
        if !description.verbs.contains(&verb) {
            return Err(BackendError::NotOffered { what: verb.as_str() });
        }
        let said = session.call(verb.as_str(), params, deadline).map_err(late);
        said.map_err(|error| match error {
            BackendError::NotOffered { .. } => BackendError::NotOffered { what: verb.as_str() },
            error => error,
        })
    }

    /// Takes an answer that was understood so far, and ends the process where the rest cannot be.
    fn understood<T>(&self, read: Result<T, String>) -> Result<T, BackendError> {
        read.map_err(|why| {
            let error = BackendError::Wrong { why };
            let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(session) = &state.session {
                session.end(error.clone());
            }
            error
        })
    }
}

impl Backend for Plugin {
    fn describe(&self, within: Duration) -> Result<Description, BackendError> {
        let late = |error| match error {
            BackendError::TimedOut { .. } => BackendError::TimedOut { after: within },
            error => error,
        };
        self.session()?.described(Instant::now() + within).map_err(late)
    }

    fn save(&self, memory: &Memory, within: Duration) -> Result<(), BackendError> {
        let said = self.ask(Verb::Save, &wire::save(memory), within)?;
        self.understood(wire::saved(&said, memory.id))
    }

    fn recall(&self, query: &RecallQuery, within: Duration) -> Result<Vec<Given>, BackendError> {
        let said = self.ask(Verb::Recall, &wire::recall(query), within)?;
        self.understood(wire::memories(said)).map(|listed| listed.given)
    }

    fn get(
        &self,
        id: MemoryId,
        spaces: &[SpaceId],
        viewer: PrincipalId,
        within: Duration,
    ) -> Result<Option<Given>, BackendError> {
        let said = self.ask(Verb::Get, &wire::get(id, spaces, viewer), within)?;
        self.understood(wire::memory(said))
    }

    fn list(&self, query: &ListQuery, within: Duration) -> Result<Listed, BackendError> {
        let said = self.ask(Verb::List, &wire::list(query), within)?;
        self.understood(wire::memories(said))
    }

    fn forget(
        &self,
        id: MemoryId,
        space: SpaceId,
        hard: bool,
        within: Duration,
    ) -> Result<bool, BackendError> {
        let said = self.ask(Verb::Forget, &wire::forget(id, space, hard), within)?;
        self.understood(wire::forgotten(&said))
    }
}

impl Drop for Plugin {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = state.session.take() {
            session.close();
        }
    }
}
