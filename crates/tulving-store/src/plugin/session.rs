//! One life of a plugin's process, from its start to its end.
//!
//! Four threads serve it, so that no call ever waits for a pipe: one writes, one reads, one drains its error output, one waits
//! for its end. Requests are numbered and may overlap. The end of the session ends every waiting call. Once it has ended and the
//! process was waited for, the threads stop, even if somebody keeps the other ends of the pipes open.

use std::collections::HashMap;
use std::io::{self, BufReader, PipeWriter, Read, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::WaitOptions;
use serde_json::{Value, json};
use tulving_core::model::backend::Description;
use tulving_core::model::error::BackendError;
use tulving_core::model::preview;

use super::pipe::{self, LINE_BYTES, PluginLineError, ReleasablePipe};
use super::{PluginCommand, wire};
use crate::process::{self, ErrorOutputTail, ProcessDescendants, ProcessGroup};

/// The number of the first request; the others follow.
const DESCRIBE: u64 = 0;
/// The time limit for its description. A call with less time is late, and the next one finds it ready.
const START: Duration = Duration::from_secs(20);
/// The time that it has to end after a close request.
const GRACE: Duration = Duration::from_millis(500);
/// The environment variables that it gets. Nothing of Tulving's own is among them, least of all a token.
const ENVIRONMENT: [&str; 9] =
    ["PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE"];

type PluginReply = Result<Value, BackendError>;

/// A process that runs, or did.
pub(super) struct PluginSession {
    shared: Arc<PluginProcess>,
    started: Instant,
}

/// The state that the threads share.
struct PluginProcess {
    group: ProcessGroup,
    /// The processes that it has started, including those that have left the group.
    kin: ProcessDescendants,
    state: Mutex<PluginSessionState>,
    /// Notified when it has sent its description, when it was ended, when it was waited for and when an output has ended.
    turn: Condvar,
}

#[derive(Default)]
struct PluginSessionState {
    /// The number of the last request.
    last: u64,
    /// Its description of itself.
    description: Option<Description>,
    waiting: HashMap<u64, Sender<PluginReply>>,
    /// The lines to write. `None` once it is closed or has ended.
    lines: Option<Sender<Vec<u8>>>,
    /// Open for as long as the pipes are used.
    open: Option<PipeWriter>,
    /// The reason why it gets no more requests.
    ended: Option<BackendError>,
    /// The last part of its error output.
    complaint: ErrorOutputTail,
    /// Number of its two outputs that were read to their end.
    drained: u8,
    /// True once the process was waited for. From then on its id may belong to another process.
    reaped: bool,
}

impl PluginSessionState {
    /// Releases the pipes once the plugin has ended and was waited for. A process that it started may keep them open forever.
    fn let_go(&mut self) {
        if self.reaped && self.ended.is_some() {
            self.open = None;
        }
    }
}

impl PluginProcess {
    fn state(&self) -> MutexGuard<'_, PluginSessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the session, once: every waiting call fails with this error, and the process and its children are killed.
    fn end(&self, error: BackendError) {
        let mut state = self.state();
        if state.ended.is_none() {
            for (_, caller) in state.waiting.drain() {
                // A caller that is gone needs no answer.
                let _ = caller.send(Err(error.clone()));
            }
            state.ended = Some(error);
            state.lines = None;
            self.turn.notify_all();
        }
        self.kill(&state);
        state.let_go();
    }

    /// Records that it was waited for.
    fn reap(&self, state: &mut PluginSessionState) {
        state.reaped = true;
        state.let_go();
        self.turn.notify_all();
    }

    /// Passes an answer to its caller.
    fn hand_over(&self, id: u64, said: PluginReply) -> Result<(), BackendError> {
        let wrong = |why| BackendError::Wrong { why };
        let mut state = self.state();
        if id == DESCRIBE && state.description.is_none() {
            let said = said.map_err(|error| match error {
                BackendError::NotOffered { .. } => wrong("it does not know `describe`".to_owned()),
                error => error,
            });
            state.description = Some(wire::description(said?).map_err(wrong)?);
            self.turn.notify_all();
            return Ok(());
        }
        match state.waiting.remove(&id) {
            // A caller that is gone needs no answer.
            Some(caller) => drop(caller.send(said)),
            None => return Err(wrong(format!("it answered request {id}, which nobody waits for"))),
        }
        Ok(())
    }

    fn kill(&self, state: &PluginSessionState) {
        if !state.reaped {
            self.kin.kill(self.group);
        }
    }

    /// Records that one of its outputs was read to its end.
    fn drain(&self) {
        self.state().drained += 1;
        self.turn.notify_all();
    }

    /// Waits a moment for a condition. Returns true if it is met.
    fn waits_for(&self, time: Duration, what: impl Fn(&PluginSessionState) -> bool) -> bool {
        let waited = self.turn.wait_timeout_while(self.state(), time, |state| !what(state));
        what(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Ends the session because of a pipe, unless the process has ended: then the waiting thread knows the reason better.
    fn broken(&self, how: &str) {
        if !self.waits_for(LAST_WORDS, |state| state.reaped || state.ended.is_some()) {
            let gone = self.gone(how);
            self.end(gone);
        }
    }

    /// The error for its end, with the last part of its error output.
    fn gone(&self, how: &str) -> BackendError {
        BackendError::Gone { why: self.state().complaint.after(how) }
    }
}

impl PluginSession {
    /// Starts the program and requests its description, without waiting for it.
    pub(super) fn start(how: &PluginCommand) -> Result<Self, BackendError> {
        Self::start_with(how, spawn)
    }

    fn start_with(how: &PluginCommand, spawn: SessionThreadSpawner) -> Result<Self, BackendError> {
        let not_started = |why: String| BackendError::NotStarted { why };
        let (program, arguments) =
            how.command.split_first().ok_or_else(|| not_started("its command is empty".to_owned()))?;
        let (looked_at, open) = io::pipe().map_err(|error| not_started(error.to_string()))?;
        let looked_at = Arc::new(looked_at);
        let kin = ProcessDescendants::new();
        let (mark, value) = kin.variable();
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(&how.folder)
            .env_clear()
            .envs(process::environment(&ENVIRONMENT))
            .env(mark, value)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| not_started(format!("`{}`: {error}", preview::short(program))))?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(complaints)) = pipes else {
            unreachable!("all three were asked for");
        };
        let (lines, to_write) = mpsc::channel();
        // The writer will be there, and the end of the session shows if it can write.
        let _ = lines.send(wire::request(DESCRIBE, "describe", &wire::describe()));
        let state =
            PluginSessionState { lines: Some(lines), open: Some(open), ..PluginSessionState::default() };
        let group = ProcessGroup::of(&child);
        let shared = Arc::new(PluginProcess { group, kin, state: Mutex::new(state), turn: Condvar::new() });
        let failed = |error: io::Error| {
            let error = not_started(error.to_string());
            shared.end(error.clone());
            error
        };
        if let Err(error) = spawn(&shared, "plugin-wait", Box::new(move |shared| wait(shared, child))) {
            let error = failed(error);
            // It was killed, and nobody else waits for it.
            while let Err(Errno::INTR) = rustix::process::waitpid(Some(group.id()), WaitOptions::empty()) {}
            shared.reap(&mut shared.state());
            return Err(error);
        }
        let input = ReleasablePipe::new(input, &looked_at).map_err(failed)?;
        let output = ReleasablePipe::new(output, &looked_at).map_err(failed)?;
        let complaints = ReleasablePipe::new(complaints, &looked_at).map_err(failed)?;
        let work: [(&str, SessionThreadWork); 3] = [
            ("plugin-write", Box::new(move |shared| write(shared, input, &to_write))),
            ("plugin-read", Box::new(move |shared| read(shared, output))),
            ("plugin-hear", Box::new(move |shared| hear(shared, complaints))),
        ];
        for (name, work) in work {
            spawn(&shared, name, work).map_err(failed)?;
        }
        Ok(Self { shared, started: Instant::now() })
    }

    /// Returns true if nothing is left of it. Each thread that serves it has a reference.
    pub(super) fn is_over(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }

    /// The reason why it gets no more requests, if so.
    pub(super) fn ended(&self) -> Option<BackendError> {
        self.shared.state().ended.clone()
    }

    /// Ends it.
    pub(super) fn end(&self, error: BackendError) {
        self.shared.end(error);
    }

    /// Its description of itself, until the deadline. A caller with less time than a start may take does not end it.
    pub(super) fn described(&self, deadline: Instant) -> Result<Description, BackendError> {
        let last = self.started + START;
        let time = deadline.min(last).saturating_duration_since(Instant::now());
        let is_open = |state: &mut PluginSessionState| state.description.is_none() && state.ended.is_none();
        let waited = self.shared.turn.wait_timeout_while(self.shared.state(), time, is_open);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        match (&state.ended, &state.description) {
            (Some(ended), _) => return Err(ended.clone()),
            (None, Some(description)) => return Ok(description.clone()),
            (None, None) => drop(state),
        }
        let error = BackendError::TimedOut { after: self.started.elapsed() };
        if Instant::now() >= last {
            self.end(error.clone());
        }
        Err(error)
    }

    /// Sends a request, and waits for the answer until the deadline. A late answer ends the session.
    pub(super) fn call(&self, method: &str, params: &Value, deadline: Instant) -> PluginReply {
        let asked = Instant::now();
        let (caller, answer) = mpsc::channel();
        self.send(method, params, caller)?;
        match answer.recv_timeout(deadline.saturating_duration_since(asked)) {
            Ok(said) => said,
            Err(RecvTimeoutError::Timeout) => {
                let error = BackendError::TimedOut { after: asked.elapsed() };
                self.end(error.clone());
                Err(error)
            }
            Err(RecvTimeoutError::Disconnected) => {
                Err(self.ended().unwrap_or_else(|| self.shared.gone("it ended")))
            }
        }
    }

    fn send(&self, method: &str, params: &Value, caller: Sender<PluginReply>) -> Result<(), BackendError> {
        let id = {
            let mut state = self.shared.state();
            if let Some(ended) = &state.ended {
                return Err(ended.clone());
            }
            state.last += 1;
            state.last
        };
        let line = wire::request(id, method, params);
        if line.len() > LINE_BYTES {
            let message = format!("the request has {} bytes and a message at most {LINE_BYTES}", line.len());
            return Err(BackendError::Refused { message });
        }
        let mut state = self.shared.state();
        if let Some(ended) = &state.ended {
            return Err(ended.clone());
        }
        state.waiting.insert(id, caller);
        // If nobody writes any more, the session ends, and its end reaches the caller.
        if let Some(lines) = &state.lines {
            let _ = lines.send(line);
        }
        Ok(())
    }

    /// Asks it to end, gives it a moment, and then kills it.
    pub(super) fn close(&self) {
        let (caller, _answer) = mpsc::channel();
        // If it has ended already, only its remains are waited for.
        let _ = self.send("close", &json!({}), caller);
        self.shared.state().lines = None;
        if !self.has_ended_within(GRACE) {
            self.end(BackendError::Gone { why: "it was closed".to_owned() });
            self.has_ended_within(GRACE);
        }
    }

    fn has_ended_within(&self, time: Duration) -> bool {
        self.shared.waits_for(time, |state| state.reaped)
    }
}

/// The work of a thread.
type SessionThreadWork = Box<dyn FnOnce(&PluginProcess) + Send>;
/// Starts a thread.
type SessionThreadSpawner = fn(&Arc<PluginProcess>, &str, SessionThreadWork) -> io::Result<()>;

fn spawn(shared: &Arc<PluginProcess>, name: &str, work: SessionThreadWork) -> io::Result<()> {
    let shared = shared.clone();
    thread::Builder::new().name(name.to_owned()).spawn(move || work(&shared)).map(drop)
}

/// Waits for the end of the process, kills its children, and releases its process id.
fn wait(shared: &PluginProcess, mut child: Child) {
    // Its process id stays valid until it was waited for, so the rest of its group can be killed by it.
    let has_ended = shared.group.wait().is_ok();
    let how =
        |status: io::Result<ExitStatus>| status.map_or_else(|error| error.to_string(), |it| it.to_string());
    let how = if has_ended {
        let mut state = shared.state();
        shared.kill(&state);
        let how = how(child.wait());
        shared.reap(&mut state);
        how
    } else {
        // The lock must not be held for as long as that takes.
        let how = how(child.wait());
        shared.reap(&mut shared.state());
        how
    };
    // Its last output may still be on its way, and may be an answer.
    shared.waits_for(LAST_WORDS, |state| state.drained == 2);
    let gone = shared.gone(&how);
    shared.end(gone);
}

/// The time to wait for the end of a process and the ends of its outputs, once one of them has come. A process that it has
/// started may keep an output open.
const LAST_WORDS: Duration = Duration::from_secs(1);

fn write(shared: &PluginProcess, mut input: impl Write, lines: &Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            // It reads no more.
            shared.broken("it does not read its standard input");
            return;
        }
    }
}

fn read(shared: &PluginProcess, output: impl Read) {
    let mut output = BufReader::with_capacity(1 << 16, output);
    loop {
        let line = match pipe::line(&mut output) {
            Ok(Some(line)) => line,
            Ok(None) | Err(PluginLineError::Closed) => {
                shared.drain();
                return shared.broken("it closed its standard output");
            }
            Err(PluginLineError::Endless) => {
                let why = format!("it wrote a line of more than {LINE_BYTES} bytes");
                return shared.end(BackendError::Wrong { why });
            }
        };
        let heard = wire::answer(&line).map_err(|why| BackendError::Wrong { why });
        if let Err(error) = heard.and_then(|(id, said)| shared.hand_over(id, said)) {
            return shared.end(error);
        }
    }
}

/// Drains its error output, and keeps the last part of it.
fn hear(shared: &PluginProcess, mut complaints: impl Read) {
    let mut buffer = [0; 4_096];
    loop {
        match complaints.read(&mut buffer) {
            Ok(0) => return shared.drain(),
            Ok(count) => shared.state().complaint.push(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return shared.drain(),
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::{AtomicI32, Ordering};

    use rustix::process::{Pid, Signal};

    use super::*;

    fn shell(folder: &Path, script: &str) -> PluginCommand {
        let command = ["/bin/sh", "-c", script].map(str::to_owned).to_vec();
        PluginCommand { command, folder: folder.to_owned() }
    }

    fn eventually(what: &str, is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// A process that has left the group of its plugin, killed at the end of the test if it is still running.
    struct Stranger(Pid);

    impl Stranger {
        fn of(folder: &Path) -> Self {
            let id = || fs::read_to_string(folder.join("stranger")).ok()?.trim().parse().ok();
            eventually("it has not begun", || id().is_some());
            Self(id().and_then(Pid::from_raw).expect("a process"))
        }
    }

    impl Drop for Stranger {
        fn drop(&mut self) {
            let _ = rustix::process::kill_process(self.0, Signal::KILL);
        }
    }

    const LEAVES_A_STRANGER: &str = "setsid sh -c 'echo $$ > new; mv new stranger; exec sleep 1000' & ";
    /// The same without the mark, and without a parent.
    const LEAVES_AN_UNMARKED_STRANGER: &str =
        "env -i /usr/bin/setsid /bin/sh -c 'echo $$ > new; mv new stranger; exec sleep 1000' & ";

    /// Returns true if a process runs. A zombie does not.
    fn runs(id: Pid) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", id.as_raw_nonzero())).unwrap_or_default();
        stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
    }

    #[test]
    fn children_that_have_left_the_session_of_a_plugin_end_when_it_is_killed() {
        for leaves in [
            LEAVES_A_STRANGER,
            LEAVES_AN_UNMARKED_STRANGER,
            "(setsid sh -c 'setsid sh -c \"echo \\$\\$ > new; mv new stranger; exec sleep 1000\" & exit' &) ; ",
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let session = PluginSession::start(&shell(folder.path(), &format!("{leaves} sleep 1000")))
                .expect("started");
            let stranger = Stranger::of(folder.path());
            assert!(runs(stranger.0), "{leaves}");
            session.end(BackendError::Gone { why: "it was late".to_owned() });
            eventually("a child that left the session lives", || !runs(stranger.0));
            eventually("threads and pipes are left", || session.is_over());
        }
    }

    #[test]
    fn children_that_have_left_the_session_of_a_plugin_end_when_it_ends_by_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!("{LEAVES_A_STRANGER} while [ ! -e stranger ]; do sleep 0.01; done");
        let other = tempfile::tempdir().expect("a folder");
        let kept = PluginSession::start(&shell(other.path(), &format!("{LEAVES_A_STRANGER} sleep 1000")))
            .expect("started");
        let of_another = Stranger::of(other.path());
        let session = PluginSession::start(&shell(folder.path(), &script)).expect("started");
        let stranger = Stranger::of(folder.path());
        eventually("a child that left the session lives", || !runs(stranger.0));
        eventually("threads and pipes are left", || session.is_over());
        assert!(runs(of_another.0), "those of another plugin are left alone");
        kept.end(BackendError::Gone { why: "the test is over".to_owned() });
    }

    #[test]
    fn nothing_stays_where_a_stranger_holds_the_pipes_of_a_plugin_that_ended() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!("{LEAVES_AN_UNMARKED_STRANGER} while [ ! -e stranger ]; do sleep 0.01; done");
        let session = PluginSession::start(&shell(folder.path(), &script)).expect("started");
        let stranger = Stranger::of(folder.path());
        eventually("it has not ended", || session.ended().is_some());
        eventually("threads and pipes are left", || session.is_over());
        assert!(rustix::process::test_kill_process(stranger.0).is_ok(), "the stranger lives");
    }

    #[test]
    fn nothing_stays_where_a_stranger_holds_the_pipes_of_a_plugin_that_was_killed() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!("{LEAVES_A_STRANGER} sleep 1000");
        let session = PluginSession::start(&shell(folder.path(), &script)).expect("started");
        let _stranger = Stranger::of(folder.path());
        // More than fits into a pipe that nobody reads.
        let (caller, _answer) = mpsc::channel();
        session.send("save", &json!({ "text": "x".repeat(1 << 20) }), caller).expect("sent");
        assert!(!session.is_over());
        session.end(BackendError::Gone { why: "it was late".to_owned() });
        eventually("threads and pipes are left", || session.is_over());
    }

    /// The process for which there was no thread.
    static UNWATCHED: AtomicI32 = AtomicI32::new(0);

    fn spawn_all_but_one(shared: &Arc<PluginProcess>, name: &str, work: SessionThreadWork) -> io::Result<()> {
        if name == "plugin-wait" {
            UNWATCHED.store(shared.group.id().as_raw_nonzero().get(), Ordering::Relaxed);
            return Err(io::ErrorKind::WouldBlock.into());
        }
        spawn(shared, name, work)
    }

    #[test]
    fn a_process_that_no_thread_can_wait_for_is_waited_for_all_the_same() {
        let folder = tempfile::tempdir().expect("a folder");
        let error = PluginSession::start_with(&shell(folder.path(), "sleep 1000"), spawn_all_but_one).err();
        assert!(matches!(error, Some(BackendError::NotStarted { .. })), "{error:?}");
        let id = UNWATCHED.load(Ordering::Relaxed).to_string();
        assert!(id != "0" && !Path::new("/proc").join(&id).exists(), "{id} is left");
    }
}
