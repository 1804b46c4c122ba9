//! A backend that is a separate program: a child process that speaks JSON-RPC 2.0 over its standard input and output.
//!
//! [`wire`] defines the messages, [`session`] runs the process, and [`pipe`] contains the pipes between the two
//! processes. The process is started by the first call. Every call ends within its time limit: a process that is late,
//! that answers without a request or that sends something unreadable is killed together with its process group. The
//! next call starts the process again, but only a few times per minute.

mod pipe;
mod session;
mod wire;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tulving_core::model::backend::{
    BackendDescription, BackendItem, BackendList, BackendListQuery, BackendRecallQuery, Verb,
};
use tulving_core::model::error::BackendError;
use tulving_core::model::id::{MemoryId, PrincipalId, SpaceId};
use tulving_core::model::memory::Memory;
use tulving_core::ports::Backend;

use session::PluginSession;

/// Maximum number of starts within [`RECENTLY`]. A further start is refused, because the program does not stay up.
const STARTS: usize = 5;
/// The period over which starts are counted.
const RECENTLY: Duration = Duration::from_secs(60);

/// The command that starts a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginCommand {
    /// The program and its arguments; never empty.
    pub command: Vec<String>,
    /// The working folder of the process.
    pub folder: PathBuf,
}

/// A backend that is a separate program.
pub struct Plugin {
    how: PluginCommand,
    state: Mutex<PluginState>,
}

#[derive(Default)]
struct PluginState {
    session: Option<Arc<PluginSession>>,
    /// The starts of the last minute, and earlier starts whose processes have not all ended.
    starts: Vec<PluginStart>,
}

struct PluginStart {
    at: Instant,
    /// The session of this start; `None` if the program could not be started.
    session: Option<Arc<PluginSession>>,
}

impl PluginStart {
    fn is_recent(&self, now: Instant) -> bool {
        now.duration_since(self.at) < RECENTLY
    }

    /// Returns true if the process and all threads that serve it have ended.
    fn is_over(&self) -> bool {
        self.session.as_ref().is_none_or(|session| session.is_over())
    }
}

/// Returns the reason why the program must not be started again; `None` if it may be started.
fn given_up(starts: &[PluginStart], now: Instant, ended: Option<BackendError>) -> Option<BackendError> {
    if starts.len() < STARTS {
        return None;
    }
    let last = ended.map_or_else(|| "could not be started".to_owned(), |error| error.to_string());
    let why = match starts.iter().filter(|start| !start.is_recent(now)).count() {
        0 => format!("it was started {STARTS} times within a minute, and the last time it {last}"),
        left => format!("processes are left from {left} of its starts, and the last time it {last}"),
    };
    Some(BackendError::Gone { why })
}

impl Plugin {
    /// Creates a backend for this program. The program is started by the first call.
    pub fn new(how: PluginCommand) -> Self {
        Self { how, state: Mutex::default() }
    }

    /// Returns the current session, or starts a new one.
    fn session(&self) -> Result<Arc<PluginSession>, BackendError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let ended = match &state.session {
            Some(session) => match session.ended() {
                None => return Ok(session.clone()),
                ended => ended,
            },
            None => None,
        };
        let now = Instant::now();
        state.starts.retain(|start| start.is_recent(now) || !start.is_over());
        if let Some(error) = given_up(&state.starts, now, ended) {
            return Err(error);
        }
        let started = PluginSession::start(&self.how).map(Arc::new);
        state.session = started.as_ref().ok().cloned();
        let session = state.session.clone();
        state.starts.push(PluginStart { at: now, session });
        started
    }

    /// Calls a verb that the plugin supports. Also returns the session that answered.
    fn ask(
        &self,
        verb: Verb,
        params: &Value,
        within: Duration,
    ) -> Result<(Arc<PluginSession>, Value), BackendError> {
        let deadline = Instant::now() + within;
        let late = late(within);
        let session = self.session()?;
        let description = session.described(deadline).map_err(&late)?;
        if !description.verbs.contains(&verb) {
            return Err(BackendError::NotOffered { what: verb.as_str() });
        }
        match session.call(verb.as_str(), params, deadline).map_err(&late) {
            Ok(said) => Ok((session, said)),
            Err(BackendError::NotOffered { .. }) => Err(BackendError::NotOffered { what: verb.as_str() }),
            Err(error) => Err(error),
        }
    }
}

/// Replaces the time in a timeout error with the caller's limit.
fn late(within: Duration) -> impl Fn(BackendError) -> BackendError {
    move |error| match error {
        BackendError::TimedOut { .. } => BackendError::TimedOut { after: within },
        error => error,
    }
}

/// Returns an answer that could be read. If it could not be read, ends the session that sent it.
fn understood<T>(by: &PluginSession, read: Result<T, String>) -> Result<T, BackendError> {
    read.map_err(|why| {
        let error = BackendError::Wrong { why };
        by.end(error.clone());
        error
    })
}

impl Backend for Plugin {
    fn describe(&self, within: Duration) -> Result<BackendDescription, BackendError> {
        self.session()?.described(Instant::now() + within).map_err(late(within))
    }

    fn save(&self, memory: &Memory, within: Duration) -> Result<(), BackendError> {
        let (by, said) = self.ask(Verb::Save, &wire::save(memory), within)?;
        understood(&by, wire::saved(&said, memory.id))
    }

    fn recall(&self, query: &BackendRecallQuery, within: Duration) -> Result<Vec<BackendItem>, BackendError> {
        let (by, said) = self.ask(Verb::Recall, &wire::recall(query), within)?;
        understood(&by, wire::memories(said, query.limit)).map(|listed| listed.given)
    }

    fn get(
        &self,
        id: MemoryId,
        spaces: &[SpaceId],
        viewer: PrincipalId,
        within: Duration,
    ) -> Result<Option<BackendItem>, BackendError> {
        let (by, said) = self.ask(Verb::Get, &wire::get(id, spaces, viewer), within)?;
        understood(&by, wire::memory(said))
    }

    fn list(&self, query: &BackendListQuery, within: Duration) -> Result<BackendList, BackendError> {
        let (by, said) = self.ask(Verb::List, &wire::list(query), within)?;
        understood(&by, wire::memories(said, query.limit))
    }

    fn forget(
        &self,
        id: MemoryId,
        space: SpaceId,
        hard: bool,
        within: Duration,
    ) -> Result<bool, BackendError> {
        let (by, said) = self.ask(Verb::Forget, &wire::forget(id, space, hard), within)?;
        understood(&by, wire::forgotten(&said))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(script: &str) -> Plugin {
        let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        Plugin::new(PluginCommand { command, folder: std::env::temp_dir() })
    }

    #[test]
    fn an_answer_that_cannot_be_understood_ends_the_life_that_gave_it_and_no_other() {
        let plugin = plugin("cat > /dev/null");
        let first = plugin.session().expect("started");
        first.end(BackendError::Gone { why: "it was late".to_owned() });
        let second = plugin.session().expect("started");
        assert!(understood::<()>(&first, Err("nonsense".to_owned())).is_err());
        assert_eq!(second.ended(), None);
        assert!(understood::<()>(&second, Err("nonsense".to_owned())).is_err());
        assert!(second.ended().is_some());
    }

    #[test]
    fn what_is_left_of_earlier_starts_counts_however_long_ago_they_were() {
        let plugin = plugin("cat > /dev/null");
        let now = Instant::now();
        let Some(long_ago) = now.checked_sub(2 * RECENTLY) else {
            eprintln!("not tested: this machine has just been started");
            return;
        };
        let session = plugin.session().expect("started");
        let starts = |session: Option<&Arc<PluginSession>>| -> Vec<PluginStart> {
            (0..STARTS).map(|_| PluginStart { at: long_ago, session: session.cloned() }).collect()
        };
        plugin.state.lock().expect("nobody panicked").starts = starts(Some(&session));
        plugin.state.lock().expect("nobody panicked").session = None;
        let error = plugin.session().err().expect("it is given up");
        let why = "processes are left from 5 of its starts, and the last time it could not be started";
        assert_eq!(error, BackendError::Gone { why: why.to_owned() });
        plugin.state.lock().expect("nobody panicked").starts = starts(None);
        assert!(plugin.session().is_ok(), "nothing is left of them");
        session.close();
    }
}
