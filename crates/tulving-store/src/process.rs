//! What all programs that are started as children have in common: they are given little of the environment, end with everything
//! that they started, and what they complain of is kept, but not all of it.
//!
//! A child leads a process group, which is killed with it. What has left the group (`setsid`, a daemon) is found by [`Kin`].

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

/// The variable that a child and all that it starts carry. It does not begin as our settings do: a child may run this
/// program.
const MARK: &str = "_TULVING_CHILD";
#[cfg(target_os = "linux")]
/// How often is looked for what a child has started, where each look finds something: one that starts others while it is
/// being killed must not keep us for ever.
const LOOKS: usize = 10;

/// The processes that a child has started, wherever they have gone: those that carry its mark, and those that come from
/// it or from them. One that has cleared its environment *and* left its parents behind is not found. Linux only, elsewhere
/// it is nobody.
#[derive(Clone, Debug)]
pub(crate) struct Kin {
    mark: String,
}

impl Kin {
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

    /// Kills the group of a child and everything that came from it. Only before the child was waited for.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn kill(&self, group: Group) {
        group.kill();
    }

    /// Kills the group of a child and everything that came from it. Only before the child was waited for.
    #[cfg(target_os = "linux")]
    pub(crate) fn kill(&self, group: Group) {
        // Those without a mark are known only for as long as their parents live.
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

    /// Handles of the processes. A handle stays with its process, whoever gets the number after it.
    #[cfg(target_os = "linux")]
    fn find(&self, child: Option<Pid>) -> Vec<OwnedFd> {
        let all: Vec<Seen> = Seen::all().collect();
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
        others.filter_map(Seen::handle).collect()
    }
}

/// A process as `/proc` shows it.
#[cfg(target_os = "linux")]
struct Seen {
    id: i32,
    parent: i32,
    /// When it began, which tells it from a later one of the same number.
    begun: u64,
    /// Whether it only waits to be waited for.
    ended: bool,
}

#[cfg(target_os = "linux")]
impl Seen {
    /// Every process there is but this one.
    fn all() -> impl Iterator<Item = Self> {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let entries = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
        let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        ids.filter(move |id| *id != own).filter_map(Self::of)
    }

    fn of(id: i32) -> Option<Self> {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name may have anything in it, but ends at the last bracket.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let (state, parent, begun) = (fields.first()?, fields.get(1)?, fields.get(19)?);
        Some(Self { id, parent: parent.parse().ok()?, begun: begun.parse().ok()?, ended: *state == "Z" })
    }

    fn carries(&self, variable: &str) -> bool {
        let environment = std::fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|carried| carried == variable.as_bytes())
    }

    /// A handle of it, where it is still the one that was seen.
    fn handle(&self) -> Option<OwnedFd> {
        let handle = rustix::process::pidfd_open(Pid::from_raw(self.id)?, PidfdFlags::empty()).ok()?;
        Self::of(self.id).filter(|now| now.begun == self.begun).map(|_| handle)
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
