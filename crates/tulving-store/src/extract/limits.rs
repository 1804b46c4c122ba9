//! What reading one file may cost.

use std::io;
use std::time::Duration;

use rustix::process::{Resource, Rlimit};

/// What reading one file may cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time of the processor; counted in whole seconds.
    pub cpu: Duration,
    /// Time from the start to the end.
    pub wall: Duration,
    /// Bytes of memory, all that is mapped of the program itself among them.
    pub memory: u64,
    /// Bytes of the text; what is more is cut.
    pub text: usize,
    /// Pixels of an image.
    pub pixels: u64,
}

impl Default for Limits {
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

/// Files that may be open at once: those of tesseract's languages and a few more.
const OPEN_FILES: u64 = 64;
/// How much later than a program is told that its time is up it is killed.
const GRACE: u64 = 2;
/// How much less than others it gets of the processor.
const NICE: i32 = 10;

impl Limits {
    /// Limits this process and all that it starts. There is no way back.
    ///
    /// It can write no file, leave no core and start nothing beside itself; only take its own place by another program. Where a limit is
    /// lower already, that one holds.
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
