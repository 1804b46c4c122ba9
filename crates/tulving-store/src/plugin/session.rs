//! A session: one run of a plugin's process, from its start to its end.
//!
//! Four threads serve the process, so that no call ever waits for a pipe. One thread writes requests, one reads
//! answers, one reads the error output, and one waits for the end of the process. Requests are numbered and may
//! overlap. The end of the session ends every waiting call. After the process was reaped, the threads stop, even if
//! another process keeps the other ends of the pipes open.

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
use tulving_core::model::backend::BackendDescription;
use tulving_core::model::error::BackendError;
use tulving_core::model::preview;

use super::pipe::{self, LINE_BYTES, PluginLineError, ReleasablePipe};
use super::{PluginCommand, wire};
use crate::process::{self, ErrorOutputTail, ProcessDescendants, ProcessGroup};

/// The number of the first request, which asks for the description. Later requests have the following numbers.
const DESCRIBE: u64 = 0;
/// The time limit for the description of the plugin. A call with a shorter limit may fail, but the next call finds the
/// description ready.
const START: Duration = Duration::from_secs(20);
/// The time for the process to end after a close request.
const GRACE: Duration = Duration::from_millis(500);
/// The environment variables that the process gets. None of them is a variable of Tulving, and none contains a token.
const ENVIRONMENT: [&str; 9] =
    ["PATH", "HOME", "USER", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SSL_CERT_FILE"];

type PluginReply = Result<Value, BackendError>;

/// A process that is running or has ended.
pub(super) struct PluginSession {
    shared: Arc<PluginProcess>,
    started: Instant,
}

/// The state that the threads share.
struct PluginProcess {
    group: ProcessGroup,
    /// Finds the processes that the plugin has started, including those that have left the process group.
    kin: ProcessDescendants,
    state: Mutex<PluginSessionState>,
    /// Notified when the process has sent its description, when it was killed, when it was reaped, and when one of its
    /// outputs has ended.
    turn: Condvar,
}

#[derive(Default)]
struct PluginSessionState {
    /// The number of the last request.
    last: u64,
    /// The description that the plugin sent.
    description: Option<BackendDescription>,
    waiting: HashMap<u64, Sender<PluginReply>>,
    /// The channel for the lines to write; `None` after the session was closed or has ended.
    lines: Option<Sender<Vec<u8>>>,
    /// Stays open while the pipes are in use.
    open: Option<PipeWriter>,
    /// The reason why the session accepts no more requests.
    ended: Option<BackendError>,
    /// The end of the process's error output.
    complaint: ErrorOutputTail,
    /// Number of outputs that were read to their end. The process has two outputs.
    drained: u8,
    /// True after the process was reaped. From then on, another process may have its process id.
    reaped: bool,
}

impl PluginSessionState {
    /// Releases the pipes after the session has ended and the process was reaped. Without this, a process that the
    /// plugin started could keep the pipes open forever.
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

    /// Ends the session once: every waiting call fails with this error, and the process and its descendants are killed.
    fn end(&self, error: BackendError) {
        let mut state = self.state();
        if state.ended.is_none() {
            for (_, caller) in state.waiting.drain() {
                // If the caller no longer waits, the send fails, which does not matter.
                let _ = caller.send(Err(error.clone()));
            }
            state.ended = Some(error);
            state.lines = None;
            self.turn.notify_all();
        }
        self.kill(&state);
        state.let_go();
    }

    /// Records that the process was reaped.
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
            // If the caller no longer waits, the send fails, which does not matter.
            Some(caller) => drop(caller.send(said)),
            None => return Err(wrong(format!("it answered request {id}, which was not open"))),
        }
        Ok(())
    }

    fn kill(&self, state: &PluginSessionState) {
        if !state.reaped {
            self.kin.kill(self.group);
        }
    }

    /// Records that one of the outputs was read to its end.
    fn drain(&self) {
        self.state().drained += 1;
        self.turn.notify_all();
    }

    /// Waits at most for `time` until a condition is true. Returns true if it is.
    fn waits_for(&self, time: Duration, what: impl Fn(&PluginSessionState) -> bool) -> bool {
        let waited = self.turn.wait_timeout_while(self.state(), time, |state| !what(state));
        what(&waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Ends the session because of an error of a pipe, unless the process has ended: in that case, the thread that
    /// waits for the process reports the better reason.
    fn broken(&self, how: &str) {
        if !self.waits_for(LAST_WORDS, |state| state.reaped || state.ended.is_some()) {
            let gone = self.gone(how);
            self.end(gone);
        }
    }

    /// Returns the error for the end of the process, with the end of its error output.
    fn gone(&self, how: &str) -> BackendError {
        BackendError::Gone { why: self.state().complaint.after(how) }
    }
}

impl PluginSession {
    /// Starts the program and requests its description, but does not wait for the description.
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
        // The writer thread does not run yet, but receives the line later. If the line cannot be written, the session
        // ends.
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
            // The process was killed, and no other thread reaps it.
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

    /// Returns true if the process and all threads that serve it have ended. Each of these threads has a reference.
    pub(super) fn is_over(&self) -> bool {
        Arc::strong_count(&self.shared) == 1
    }

    /// Returns the reason why the session accepts no more requests; `None` if it accepts requests.
    pub(super) fn ended(&self) -> Option<BackendError> {
        self.shared.state().ended.clone()
    }

    /// Ends the session with this error.
    pub(super) fn end(&self, error: BackendError) {
        self.shared.end(error);
    }

    /// Returns the description of the plugin, and waits for it until the deadline. If a caller's time limit is shorter
    /// than the time limit of a start, its timeout does not end the session.
    pub(super) fn described(&self, deadline: Instant) -> Result<BackendDescription, BackendError> {
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

    /// Sends a request, and waits for the answer until the deadline. If the answer is late, the session ends.
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
        // If the writer thread has stopped, the session ends, and the caller gets the error of that end.
        if let Some(lines) = &state.lines {
            let _ = lines.send(line);
        }
        Ok(())
    }

    /// Asks the process to end, waits a short time, and then kills the process.
    pub(super) fn close(&self) {
        let (caller, _answer) = mpsc::channel();
        // If the session has already ended, the send fails, and the call only waits for the process.
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

/// The work of a thread that serves a session.
type SessionThreadWork = Box<dyn FnOnce(&PluginProcess) + Send>;
/// Starts a thread that serves a session.
type SessionThreadSpawner = fn(&Arc<PluginProcess>, &str, SessionThreadWork) -> io::Result<()>;

fn spawn(shared: &Arc<PluginProcess>, name: &str, work: SessionThreadWork) -> io::Result<()> {
    let shared = shared.clone();
    thread::Builder::new().name(name.to_owned()).spawn(move || work(&shared)).map(drop)
}

/// Waits for the end of the process, kills its descendants, and reaps the process.
fn wait(shared: &PluginProcess, mut child: Child) {
    // The process id stays valid until the process is reaped, so the process group can be killed by this id.
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
        // Reaping may take a while, and the lock must not block other threads meanwhile.
        let how = how(child.wait());
        shared.reap(&mut shared.state());
        how
    };
    // The last output may not have been read yet, and it may contain an answer.
    shared.waits_for(LAST_WORDS, |state| state.drained == 2);
    let gone = shared.gone(&how);
    shared.end(gone);
}

/// The time to wait for the end of the process and for the end of both outputs, after the first of them has ended.
/// Another process that the plugin has started may keep an output open.
const LAST_WORDS: Duration = Duration::from_secs(1);

fn write(shared: &PluginProcess, mut input: impl Write, lines: &Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if input.write_all(&line).and_then(|()| input.flush()).is_err() {
            // The process no longer reads its input.
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

/// Reads the error output of the process, and stores the end of it.
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

    /// A process that has left the process group of its plugin. It is killed at the end of the test if it is still
    /// running.
    struct EscapedProcess(Pid);

    impl EscapedProcess {
        fn of(folder: &Path) -> Self {
            let id = || fs::read_to_string(folder.join("stranger")).ok()?.trim().parse().ok();
            eventually("it has not begun", || id().is_some());
            Self(id().and_then(Pid::from_raw).expect("a process"))
        }
    }

    impl Drop for EscapedProcess {
        fn drop(&mut self) {
            let _ = rustix::process::kill_process(self.0, Signal::KILL);
        }
    }

    const LEAVES_A_STRANGER: &str = "setsid sh -c 'echo $$ > new; mv new stranger; exec sleep 1000' & ";
    /// A plugin that starts a process without the mark and without a parent.
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
            let stranger = EscapedProcess::of(folder.path());
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
        let of_another = EscapedProcess::of(other.path());
        let session = PluginSession::start(&shell(folder.path(), &script)).expect("started");
        let stranger = EscapedProcess::of(folder.path());
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
        let stranger = EscapedProcess::of(folder.path());
        eventually("it has not ended", || session.ended().is_some());
        eventually("threads and pipes are left", || session.is_over());
        assert!(rustix::process::test_kill_process(stranger.0).is_ok(), "the stranger lives");
    }

    #[test]
    fn nothing_stays_where_a_stranger_holds_the_pipes_of_a_plugin_that_was_killed() {
        let folder = tempfile::tempdir().expect("a folder");
        let script = format!("{LEAVES_A_STRANGER} sleep 1000");
        let session = PluginSession::start(&shell(folder.path(), &script)).expect("started");
        let _stranger = EscapedProcess::of(folder.path());
        // More bytes than fit into a pipe that the process does not read.
        let (caller, _answer) = mpsc::channel();
        session.send("save", &json!({ "text": "x".repeat(1 << 20) }), caller).expect("sent");
        assert!(!session.is_over());
        session.end(BackendError::Gone { why: "it was late".to_owned() });
        eventually("threads and pipes are left", || session.is_over());
    }

    /// The process id of a process for which no thread could be started.
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
