//! Common parts of all child processes. A child gets only a small part of the environment, it is killed together with
//! all processes that it started, and only the end of its error output is stored.
//!
//! A child leads a process group, and the group is killed with it. [`ProcessDescendants`] finds the processes that have
//! left the group (`setsid`, a daemon).

#[cfg(target_os = "linux")]
use std::collections::HashSet;
use std::ffi::OsString;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
#[cfg(target_os = "linux")]
use rustix::process::PidfdFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tulving_core::model::preview;

/// Number of bytes from the end of a program's error output that are stored.
const COMPLAINT_BYTES: usize = 4_096;
/// Maximum number of characters of the error output that are shown.
const COMPLAINT: usize = 200;

/// Returns those of the named variables that are set. A child gets no other variables of the environment, and never a
/// token.
pub(crate) fn environment<'n>(names: &'n [&'n str]) -> impl Iterator<Item = (&'n str, OsString)> {
    names.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)))
}

/// The process group that a child leads. It contains the processes that the child started, except those that left the group.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessGroup(Pid);

impl ProcessGroup {
    /// The group that this child leads.
    pub(crate) fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// The process id of the child, which is also the id of the group.
    pub(crate) fn id(self) -> Pid {
        self.0
    }

    /// Kills all processes of the group. Call it only before the child was reaped: after that, another process may have
    /// its process id.
    pub(crate) fn kill(self) {
        // The child may already have ended by itself, so an error does not matter.
        let _ = rustix::process::kill_process_group(self.0, Signal::KILL);
    }

    /// Waits until the child has ended. Does not reap the child, so that its process id stays valid.
    pub(crate) fn wait(self) -> io::Result<()> {
        self.look(WaitIdOptions::empty()).map(drop)
    }

    /// Returns true if the child has ended. Does not reap the child.
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

/// The variable that a child and its descendants inherit. It does not have the prefix of Tulving's settings, because a
/// child may itself run this program.
const MARK: &str = "_TULVING_CHILD";
#[cfg(target_os = "linux")]
/// Maximum number of searches for descendants of a child that are still running. A child that starts new processes
/// while it is being killed must not block the caller forever.
const LOOKS: usize = 10;

/// Finds the processes that a child has started, in any process group: those with its mark, their descendants, and the
/// descendants of the child. A process that has cleared its environment *and* lost its parents is not found. Works only
/// on Linux; on other systems no process is found.
#[derive(Clone, Debug)]
pub(crate) struct ProcessDescendants {
    mark: String,
}

impl ProcessDescendants {
    /// Creates a mark that no other child has.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let random = RandomState::new().hash_one(count);
        Self { mark: format!("{}-{count}-{random:016x}", std::process::id()) }
    }

    /// Returns the environment variable that marks a child.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// Kills the group of a child and all its descendants. Call it only before the child was reaped.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn kill(&self, group: ProcessGroup) {
        group.kill();
    }

    /// Kills the group of a child and all its descendants. Call it only before the child was reaped.
    #[cfg(target_os = "linux")]
    pub(crate) fn kill(&self, group: ProcessGroup) {
        // Processes without a mark can be found only while their parents live.
        let mut found = self.find(Some(group.id()));
        group.kill();
        for _ in 0..LOOKS {
            if found.is_empty() {
                return;
            }
            for handle in &found {
                let _ = rustix::process::pidfd_send_signal(handle, Signal::KILL);
            }
            found = self.find(None);
        }
    }

    /// Returns handles of the descendants of a child. A handle stays with its process, even if the process id is
    /// reused.
    #[cfg(target_os = "linux")]
    fn find(&self, child: Option<Pid>) -> Vec<OwnedFd> {
        let all: Vec<ProcessEntry> = ProcessEntry::all().collect();
        let wanted = format!("{MARK}={}", self.mark);
        let mut kin: HashSet<i32> =
            all.iter().filter(|seen| seen.carries(&wanted)).map(|seen| seen.id).collect();
        kin.extend(child.map(|child| child.as_raw_nonzero().get()));
        // Each round finds the children of the processes that the previous round found.
        loop {
            let before = kin.len();
            kin.extend(
                all.iter().filter(|seen| kin.contains(&seen.parent)).map(|seen| seen.id).collect::<Vec<_>>(),
            );
            if kin.len() == before {
                break;
            }
        }
        let others = all.iter().filter(|seen| kin.contains(&seen.id) && !seen.ended);
        // The child itself is killed with its group.
        let others = others.filter(|seen| child.is_none_or(|child| child.as_raw_nonzero().get() != seen.id));
        others.filter_map(ProcessEntry::handle).collect()
    }
}

/// A process as `/proc` describes it.
#[cfg(target_os = "linux")]
struct ProcessEntry {
    id: i32,
    parent: i32,
    /// The start time of the process, which distinguishes it from a later process with the same id.
    begun: u64,
    /// True if the process is a zombie.
    ended: bool,
}

#[cfg(target_os = "linux")]
impl ProcessEntry {
    /// Returns all processes except the current one.
    fn all() -> impl Iterator<Item = Self> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(move |id| *id != own).filter_map(Self::of)
    }

    fn of(id: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name of a process may contain any character, so it ends at the last bracket.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let (state, parent, begun) = (fields.first()?, fields.get(1)?, fields.get(19)?);
        Some(Self { id, parent: parent.parse().ok()?, begun: begun.parse().ok()?, ended: *state == "Z" })
    }

    fn carries(&self, variable: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|carried| carried == variable.as_bytes())
    }

    /// Returns a handle of the process, if the process id still belongs to it.
    fn handle(&self) -> Option<OwnedFd> {
        let handle = rustix::process::pidfd_open(Pid::from_raw(self.id)?, PidfdFlags::empty()).ok()?;
        Self::of(self.id).filter(|now| now.begun == self.begun).map(|_| handle)
    }
}

/// The end of a program's error output.
#[derive(Debug, Default)]
pub(crate) struct ErrorOutputTail(Vec<u8>);

impl ErrorOutputTail {
    /// Adds bytes, and drops the oldest bytes.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        let extra = self.0.len().saturating_sub(COMPLAINT_BYTES);
        self.0.drain(..extra);
    }

    /// Returns all stored error output as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// Returns the last line that is not blank; an empty text if there is none.
    pub(crate) fn last_line(&self) -> String {
        let text = self.text();
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        preview::cut(last, COMPLAINT)
    }

    /// Returns a message with the reason why the program ended and the last line of its error output.
    pub(crate) fn after(&self, how: &str) -> String {
        match self.last_line() {
            last if last.is_empty() => how.to_owned(),
            last => format!("{how}; it said: {last}"),
        }
    }
}
