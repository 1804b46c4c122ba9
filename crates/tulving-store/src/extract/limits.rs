//! The limits for reading one file.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit};

/// The limits for reading one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtractLimits {
    /// Maximum processor time, in whole seconds.
    pub cpu: Duration,
    /// Maximum time from start to end.
    pub wall: Duration,
    /// Maximum memory in bytes, including the memory that is mapped for the program itself.
    pub memory: u64,
    /// Maximum length of the text in bytes. A longer text is cut off.
    pub text: usize,
    /// Maximum number of pixels of an image.
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

/// Number of files that may be open at once: tesseract's language files and a few more.
const OPEN_FILES: u64 = 64;
/// Number of seconds between the signal that the processor time is used up and the kill.
const GRACE: u64 = 2;
/// The value that is added to the niceness of the process, which lowers its processor priority.
const NICE: i32 = 10;

impl ExtractLimits {
    /// Limits this process and its children permanently.
    ///
    /// The process cannot write files, leave a core dump or start other processes. It can only replace itself with
    /// another program. Existing limits that are lower stay.
    pub(super) fn impose(&self) -> io::Result<()> {
        let seconds = self.cpu.as_secs().max(1);
        lower(Resource::Cpu, seconds, seconds + GRACE)?;
        lower(Resource::As, self.memory, self.memory)?;
        lower(Resource::Core, 0, 0)?;
        lower(Resource::Fsize, 0, 0)?;
        lower(Resource::Nofile, OPEN_FILES, OPEN_FILES)?;
        lower(Resource::Nproc, 0, 0)?;
        // A failure only means that the process keeps its priority, so it is ignored.
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
