//! The limits for reading one file.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit};

/// The limits for reading one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractLimits {
    /// Processor time, in whole seconds.
    pub cpu: Duration,
    /// Time from start to end.
    pub wall: Duration,
    /// Bytes of memory, including everything that is mapped for the program itself.
    pub memory: u64,
    /// Bytes of the text; the rest is cut off.
    pub text: usize,
    /// Pixels of an image.
    pub pixels: u64,
}

impl Default for ExtractLimits {
    fn default() -> Self {
        Self {
            cpu: Duration::from_secs(20),
            wall: Duration::from_secs(30),
            memory: 1 << 30,
            text: 3_000_000,
            pixels: 50_000_000,
        }
    }
}

/// Number of files that may be open at once: those of tesseract's languages and a few more.
const OPEN_FILES: u64 = 64;
/// Number of seconds between the signal that time is up and the kill.
const GRACE: u64 = 2;
/// The reduction of its processor priority.
const NICE: i32 = 10;

impl ExtractLimits {
    /// Limits this process and its children. There is no way back.
    ///
    /// It can write no file, leave no core dump and start no other process; it can only replace itself with another program. A
    /// lower existing limit stays.
    pub(super) fn impose(&self) -> io::Result<()> {
        let seconds = self.cpu.as_secs().max(1);
        lower(Resource::Cpu, seconds, seconds + GRACE)?;
        lower(Resource::As, self.memory, self.memory)?;
        lower(Resource::Core, 0, 0)?;
        lower(Resource::Fsize, 0, 0)?;
        lower(Resource::Nofile, OPEN_FILES, OPEN_FILES)?;
        lower(Resource::Nproc, 0, 0)?;
        // Not worth failing for.
        let _ = rustix::process::nice(NICE);
        Ok(())
    }
}

fn lower(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let now = rustix::process::getrlimit(resource);
    let least = |now: Option<u64>, wanted: u64| Some(now.map_or(wanted, |now| now.min(wanted)));
    let lowered = Rlimit { current: least(now.maximum, soft), maximum: least(now.maximum, hard) };
    Ok(rustix::process::setrlimit(resource, lowered)?)
}
