//! What all programs that are started as children have in common: they are given little of the environment, end with everything
//! that they started, and what they complain of is kept, but not all of it.

use std::ffi::OsString;
use std::io;
use std::process::Child;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tulving_core::preview;

/// So much of what a program complained of is kept.
const COMPLAINT_BYTES: usize = 4_096;
/// So many characters of that are told.
const COMPLAINT: usize = 200;

/// Those of these variables that are set. A child is told nothing else of the environment, least of all a token.
pub(crate) fn environment<'n>(names: &'n [&'n str]) -> impl Iterator<Item = (&'n str, OsString)> {
    names.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)))
}

/// A child that leads a group of its own, with all that it started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group(Pid);

impl Group {
    /// The group that this child leads.
    pub(crate) fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// The number of the child, which is that of the group.
    pub(crate) fn id(self) -> Pid {
        self.0
    }

    /// Kills all of it. Only before the child was waited for: after that its number may belong to another.
    pub(crate) fn kill(self) {
        // It may have ended by itself this moment.
        let _ = rustix::process::kill_process_group(self.0, Signal::KILL);
    }

    /// Waits until the child has ended, and leaves it to be waited for, so that its number stays its own.
    pub(crate) fn wait(self) -> io::Result<()> {
        self.look(WaitIdOptions::empty()).map(drop)
    }

    /// Whether the child has ended; it is left to be waited for.
    pub(crate) fn has_ended(self) -> io::Result<bool> {
        self.look(WaitIdOptions::NOHANG)
    }

    fn look(self, how: WaitIdOptions) -> io::Result<bool> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | how;
        loop {
            match rustix::process::waitid(WaitId::Pid(self.0), options) {
                Ok(found) => return Ok(found.is_some()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The last that a program complained of.
#[derive(Debug, Default)]
pub(crate) struct Complaint(Vec<u8>);

impl Complaint {
    /// Adds what came, and lets go of the oldest.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        let extra = self.0.len().saturating_sub(COMPLAINT_BYTES);
        self.0.drain(..extra);
    }

    /// All that is kept.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// The last line that says something; empty where none does.
    pub(crate) fn last_line(&self) -> String {
        let text = self.text();
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        preview::cut(last, COMPLAINT)
    }

    /// How something ended, with the last line.
    pub(crate) fn after(&self, how: &str) -> String {
        match self.last_line() {
            last if last.is_empty() => how.to_owned(),
            last => format!("{how}; it said: {last}"),
        }
    }
}
