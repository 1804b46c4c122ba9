//! Common parts of all child processes: they get little of the environment, end with everything that they started, and only the
//! last part of their error output is kept.
//!
//! A child leads a process group, which is killed with it. Processes that have left the group (`setsid`, a daemon) are found by
//! [`ProcessDescendants`].

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

/// Number of bytes of a program's error output that are kept.
const COMPLAINT_BYTES: usize = 4_096;
/// Number of characters of it that are shown.
const COMPLAINT: usize = 200;

/// Those of these variables that are set. A child gets nothing else of the environment, least of all a token.
pub(crate) fn environment<'n>(names: &'n [&'n str]) -> impl Iterator<Item = (&'n str, OsString)> {
    names.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)))
}

/// A child that leads its own process group, with everything that it started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProcessGroup(Pid);

impl ProcessGroup {
    /// The group that this child leads.
    pub(crate) fn of(child: &Child) -> Self {
        Self(Pid::from_child(child))
    }

    /// The process id of the child, which is that of the group.
    pub(crate) fn id(self) -> Pid {
        self.0
    }

    /// Kills all of it. Only before the child was waited for: after that its process id may belong to another process.
    pub(crate) fn kill(self) {
        // It may have ended by itself just now.
        let _ = rustix::process::kill_process_group(self.0, Signal::KILL);
    }

    /// Waits until the child has ended, and does not reap it, so that its process id stays valid.
    pub(crate) fn wait(self) -> io::Result<()> {
        self.look(WaitIdOptions::empty()).map(drop)
    }

    /// Returns true if the child has ended. It is not reaped.
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

/// The variable that a child and its descendants inherit. It does not begin like our settings: a child may run this program.
const MARK: &str = "_TULVING_CHILD";
#[cfg(target_os = "linux")]
/// The most searches for processes of a child, if each search finds some: one that starts others while it is being killed must
/// not keep us forever.
const LOOKS: usize = 10;

/// The processes that a child has started, wherever they are: those with its mark, and the descendants of it and of them. One
/// that has cleared its environment *and* left its parents behind is not found. Linux only; elsewhere none is found.
#[derive(Clone, Debug)]
pub(crate) struct ProcessDescendants {
    mark: String,
}

impl ProcessDescendants {
    /// A mark that no other child has.
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let random = RandomState::new().hash_one(count);
        Self { mark: format!("{}-{count}-{random:016x}", std::process::id()) }
    }

    /// The variable that marks a child.
    pub(crate) fn variable(&self) -> (&'static str, &str) {
        (MARK, &self.mark)
    }

    /// Kills the group of a child and all its descendants. Only before the child was waited for.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn kill(&self, group: ProcessGroup) {
        group.kill();
    }

    /// Kills the group of a child and all its descendants. Only before the child was waited for.
    #[cfg(target_os = "linux")]
    pub(crate) fn kill(&self, group: ProcessGroup) {
        // Those without a mark are found only while their parents live.
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

    /// Handles of the processes. A handle stays with its process, even if its id is reused.
    #[cfg(target_os = "linux")]
    fn find(&self, child: Option<Pid>) -> Vec<OwnedFd> {
        let all: Vec<ProcessEntry> = ProcessEntry::all().collect();
        let wanted = format!("{MARK}={}", self.mark);
        let mut kin: HashSet<i32> =
            all.iter().filter(|seen| seen.carries(&wanted)).map(|seen| seen.id).collect();
        kin.extend(child.map(|child| child.as_raw_nonzero().get()));
        // Each round finds the children of those before.
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

/// A process as `/proc` shows it.
#[cfg(target_os = "linux")]
struct ProcessEntry {
    id: i32,
    parent: i32,
    /// Its start time, which distinguishes it from a later process with the same id.
    begun: u64,
    /// True if it is a zombie.
    ended: bool,
}

#[cfg(target_os = "linux")]
impl ProcessEntry {
    /// Every process except this one.
    fn all() -> impl Iterator<Item = Self> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(move |id| *id != own).filter_map(Self::of)
    }

    fn of(id: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name may contain anything, but ends at the last bracket.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let (state, parent, begun) = (fields.first()?, fields.get(1)?, fields.get(19)?);
        Some(Self { id, parent: parent.parse().ok()?, begun: begun.parse().ok()?, ended: *state == "Z" })
    }

    fn carries(&self, variable: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|carried| carried == variable.as_bytes())
    }

    /// A handle of it, if it is still the same process.
    fn handle(&self) -> Option<OwnedFd> {
        let handle = rustix::process::pidfd_open(Pid::from_raw(self.id)?, PidfdFlags::empty()).ok()?;
        Self::of(self.id).filter(|now| now.begun == self.begun).map(|_| handle)
    }
}

/// The last part of a program's error output.
#[derive(Debug, Default)]
pub(crate) struct ErrorOutputTail(Vec<u8>);

impl ErrorOutputTail {
    /// Adds bytes, and drops the oldest.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        let extra = self.0.len().saturating_sub(COMPLAINT_BYTES);
        self.0.drain(..extra);
    }

    /// The whole text that is kept.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// The last line with text; empty if there is none.
    pub(crate) fn last_line(&self) -> String {
        let text = self.text();
        let last = text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        preview::cut(last, COMPLAINT)
    }

    /// The reason of an end, with the last line.
    pub(crate) fn after(&self, how: &str) -> String {
        match self.last_line() {
            last if last.is_empty() => how.to_owned(),
            last => format!("{how}; it said: {last}"),
        }
    }
}
