//! A pseudo-terminal with the binary in it: what is typed there, and what a person sees.

use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use pty_process::Size;
use pty_process::blocking::{Pty, open};

/// Long enough for any machine; what is waited for comes at once.
const LIMIT: Duration = Duration::from_secs(120);

/// A prompt at the start of a line. An edited line is drawn again in the same place.
pub(super) const PROMPT: &str = "\ntulving> ";
pub(super) const TAB: &str = "\t";
pub(super) const UP: &str = "\u{1b}[A";
pub(crate) const CTRL_C: &str = "\u{3}";
pub(crate) const CTRL_D: &str = "\u{4}";

/// A terminal, and the binary that runs in it.
pub(crate) struct Terminal {
    pty: Arc<Pty>,
    child: Child,
    output: Receiver<Vec<u8>>,
    seen: Vec<u8>,
    /// So much of what is shown was looked at.
    read: usize,
}

impl Terminal {
    /// Starts a command in a terminal that is so wide.
    pub(crate) fn start(mut command: Command, columns: u16) -> Self {
        let (pty, inside) = open().expect("a pseudo-terminal");
        pty.resize(Size::new(50, columns)).expect("a size");
        command.env("TERM", "xterm-256color");
        let child = pty_process::blocking::Command::from(command).spawn(inside).expect("the binary starts");
        let pty = Arc::new(pty);
        let (sender, output) = channel();
        let reader = pty.clone();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Once nobody is left inside, reading fails.
            while let Ok(got @ 1..) = (&*reader).read(&mut bytes) {
                if sender.send(bytes[..got].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self { pty, child, output, seen: Vec::new(), read: 0 }
    }

    pub(super) fn resize(&self, columns: u16) {
        self.pty.resize(Size::new(50, columns)).expect("a size");
    }

    pub(crate) fn types(&mut self, keys: &str) -> &mut Self {
        (&*self.pty).write_all(keys.as_bytes()).expect("keys are typed");
        self
    }

    /// Types a line and waits for the prompt after what it says; gives that.
    pub(super) fn asks(&mut self, line: &str, answer: &str) -> String {
        self.types(line).types("\r");
        let said = self.sees(answer);
        said + &self.sees(PROMPT)
    }

    /// Waits until this text is shown after the text seen before; returns everything up to its end.
    pub(crate) fn sees(&mut self, text: &str) -> String {
        loop {
            let shown = self.shown();
            let rest = &shown[self.read..];
            if let Some(at) = rest.find(text) {
                let end = at + text.len();
                self.read += end;
                return rest[..end].to_owned();
            }
            match self.output.recv_timeout(LIMIT) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(why) => panic!("{text:?} is not shown: {why}\n{rest}"),
            }
        }
    }

    /// Waits for the end; gives all that was shown.
    pub(crate) fn says(mut self) -> String {
        loop {
            match self.output.recv_timeout(LIMIT) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => return self.shown(),
                Err(RecvTimeoutError::Timeout) => panic!("it does not end\n{}", self.shown()),
            }
        }
    }

    /// Waits for the end.
    pub(crate) fn ends(mut self) -> ExitStatus {
        loop {
            match self.output.recv_timeout(LIMIT) {
                Ok(bytes) => self.seen.extend(bytes),
                Err(RecvTimeoutError::Disconnected) => return self.child.wait().expect("it ended"),
                Err(RecvTimeoutError::Timeout) => panic!("it does not end\n{}", &self.shown()[self.read..]),
            }
        }
    }

    /// The output so far, without escape sequences. It only grows.
    fn shown(&self) -> String {
        let whole = match std::str::from_utf8(&self.seen) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&self.seen[..error.valid_up_to()]).expect("valid up to there"),
        };
        anstream::adapter::strip_str(whole).to_string().replace('\r', "")
    }
}

impl Drop for Terminal {
    /// A test that failed leaves nobody behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
