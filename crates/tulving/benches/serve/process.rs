//! A server in its own process, and its costs.

use std::fs;
use std::net::SocketAddr;
use std::process::Child;

use anyhow::{Context as _, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::driver::Traffic;

/// A server that listens, and the requests to it.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) address: SocketAddr,
    pub(crate) traffic: Box<dyn Traffic>,
}

/// A process that is killed if it was not stopped.
pub(crate) struct Process(pub(crate) Child);

impl Process {
    pub(crate) fn cost(&self) -> anyhow::Result<Cost> {
        Cost::of(&self.0.id().to_string())
    }

    pub(crate) fn has_ended(&mut self) -> anyhow::Result<bool> {
        Ok(self.0.try_wait()?.is_some())
    }

    /// Stops it as a service manager does.
    pub(crate) fn stop(mut self) -> anyhow::Result<()> {
        kill_process(Pid::from_child(&self.0), Signal::TERM)?;
        self.0.wait()?;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The cost of a process so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// Seconds of processor time.
    pub(crate) seconds: f64,
    /// Private memory in megabytes.
    pub(crate) own: u64,
    /// Cached pages of files in megabytes, which the system may reclaim.
    pub(crate) files: u64,
}

impl Cost {
    pub(crate) fn of_this_process() -> anyhow::Result<Self> {
        Self::of("self")
    }

    fn of(process: &str) -> anyhow::Result<Self> {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).context("this needs Linux")?;
        // The name of the program is in brackets and may contain any character.
        let (_, numbers) = stat.rsplit_once(") ").context("a stat without a name")?;
        let numbers: Vec<&str> = numbers.split(' ').collect();
        ensure!(numbers.len() > 12, "a short stat");
        let ticks = numbers[11].parse::<u64>()? + numbers[12].parse::<u64>()?;
        let status = fs::read_to_string(format!("/proc/{process}/status"))?;
        let field = |name: &str| {
            let line =
                status.lines().find_map(|line| line.strip_prefix(name)).context("a field is missing")?;
            anyhow::Ok(line.split_whitespace().next().unwrap_or_default().parse::<u64>()? / 1_024)
        };
        Ok(Self {
            seconds: ticks as f64 / rustix::param::clock_ticks_per_second() as f64,
            own: field("RssAnon:")?,
            files: field("RssFile:")?,
        })
    }
}
