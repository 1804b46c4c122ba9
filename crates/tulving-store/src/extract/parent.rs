//! The process that starts another for each file, waits for its answer and makes sure of its end.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::Signal;
use tulving_core::error::ExtractError;
use tulving_core::ports::{Extracted, Extractor};

use super::child::{self, TESSERACT};
use super::limits::Limits;
use super::read::{self, Form};
use super::wire::{self, LONGEST_HEAD, Said};
use crate::process::{self, Complaint, Group};

/// What it is told of the environment: where programs are, the language, and where tesseract has its languages.
const ENVIRONMENT: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TESSDATA_PREFIX"];
/// So often it is looked whether it has ended although somebody holds its output open.
const TICK: Duration = Duration::from_millis(50);

/// Reads each file in a process of its own.
#[derive(Clone, Debug)]
pub struct ChildExtractor {
    program: PathBuf,
    limits: Limits,
    languages: Option<String>,
}

impl ChildExtractor {
    /// Starts this program with the arguments `extract-text …` for each file; it is to call
    /// [`run_child`](super::run_child).
    pub fn new(program: impl Into<PathBuf>, limits: Limits) -> Self {
        Self { program: program.into(), limits, languages: None }
    }

    /// Starts the program that is running, also where another one has been put in its place since.
    pub fn of_this_program(limits: Limits) -> io::Result<Self> {
        let itself = PathBuf::from("/proc/self/exe");
        Ok(Self::new(if itself.exists() { itself } else { std::env::current_exe()? }, limits))
    }

    /// Looks for text in images in these languages, as tesseract names them: `eng`, `deu+eng`.
    #[must_use]
    pub fn with_languages(mut self, languages: impl Into<String>) -> Self {
        self.languages = Some(languages.into());
        self
    }

    fn arguments(&self, media_type: &str) -> Vec<OsString> {
        let Limits { cpu, memory, text, pixels, wall: _ } = &self.limits;
        let numbers = [
            ("--cpu", cpu.as_secs().max(1)),
            ("--memory", *memory),
            ("--text", *text as u64),
            ("--pixels", *pixels),
            ("--parent", u64::from(std::process::id())),
        ];
        let mut arguments: Vec<OsString> =
            vec!["extract-text".into(), format!("--media-type={}", media_type.replace('\0', " ")).into()];
        arguments.extend(numbers.map(|(name, number)| format!("{name}={number}").into()));
        arguments.extend(self.languages.as_ref().map(|languages| format!("--languages={languages}").into()));
        arguments
    }

    fn start(&self, media_type: &str, bytes: &[u8]) -> io::Result<Running> {
        let child = Command::new(&self.program)
            .args(self.arguments(media_type))
            .current_dir("/")
            .env_clear()
            .envs(process::environment(&ENVIRONMENT))
            .stdin(input(bytes)?)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        Ok(Running { group: Group::of(&child), child, has_been_waited_for: false })
    }

    /// Why there is no answer that can be understood.
    fn failure(&self, ended: &Ended) -> ExtractError {
        let said = ended.complaint.text();
        let out_of_memory =
            ["memory allocation of", "bad_alloc", "alloc fail", "out of memory", "Cannot allocate memory"];
        if out_of_memory.iter().any(|words| said.contains(words)) {
            return ExtractError::TooMuchMemory { limit: self.limits.memory };
        }
        if ended.status.signal() == Some(Signal::XCPU.as_raw()) {
            return ExtractError::TookTooLong { limit: self.limits.cpu };
        }
        ExtractError::Crashed { how: ended.complaint.after(&ended.status.to_string()) }
    }
}

impl Extractor for ChildExtractor {
    fn extract(&self, media_type: &str, bytes: &[u8]) -> Result<Extracted, ExtractError> {
        // Nothing is started for what nothing reads.
        if Form::of(media_type).is_none() {
            return Err(read::unsupported(media_type));
        }
        let not_started = |error: io::Error| ExtractError::NotStarted { why: error.to_string() };
        let running = self.start(media_type, bytes).map_err(not_started)?;
        let most = LONGEST_HEAD.saturating_add(self.limits.text);
        let ended = running.watch(self.limits.wall, most).map_err(not_started)?;
        match wire::said(&ended.output) {
            Said::Whole(extracted) => Ok(extracted),
            Said::Failed(error) => Err(error),
            Said::Open(extracted) if ended.status.success() || ended.how == How::Flooded => {
                Ok(tidied(extracted, self.limits.text, ended.how == How::Flooded))
            }
            _ if ended.how == How::Late => Err(ExtractError::Late { after: self.limits.wall }),
            Said::Open(_) if ended.status.code().is_some() => match self.failure(&ended) {
                ExtractError::Crashed { .. } => Err(ExtractError::Damaged {
                    why: format!("{TESSERACT}: {}", ended.complaint.last_line()),
                }),
                error => Err(error),
            },
            Said::Open(_) | Said::Nothing => Err(self.failure(&ended)),
        }
    }

    fn missing(&self) -> Vec<String> {
        match child::tesseract() {
            Ok(_) => Vec::new(),
            Err(_) => vec![format!(
                "`{TESSERACT}` is not installed, so the text in images is not read; the package is tesseract-ocr on Debian \
                 and Ubuntu, tesseract elsewhere; once it is there, `tulving jobs retry` and `tulving jobs run` read what was left"
            )],
        }
    }
}

/// A text that another program made, as texts are here: pages apart by a blank line, no blanks at the ends, not too long.
fn tidied(mut extracted: Extracted, most: usize, cut: bool) -> Extracted {
    let mut text = extracted.text.replace('\u{c}', "\n\n").trim().to_owned();
    extracted.cut = cut || text.len() > most;
    text.truncate(text.floor_char_boundary(most));
    extracted.text = text.trim_end().to_owned();
    extracted
}

/// A file that only this process and its child know of, with these bytes. A pipe would have to be filled while the answer is
/// read, and could not be read twice.
fn input(bytes: &[u8]) -> io::Result<File> {
    #[cfg(target_os = "linux")]
    let mut file = File::from(
        rustix::fs::memfd_create("file", rustix::fs::MemfdFlags::CLOEXEC).map_err(io::Error::from)?,
    );
    #[cfg(not(target_os = "linux"))]
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// A child that is gone when this is.
struct Running {
    group: Group,
    child: Child,
    /// Since then its number may belong to another.
    has_been_waited_for: bool,
}

impl Running {
    /// Kills it with whoever is left of its group, and says how it ended.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.has_been_waited_for {
            self.group.kill();
        }
        self.has_been_waited_for = true;
        self.child.wait()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // There is nobody left to hear how it ended.
        let _ = self.end();
    }
}

/// How the watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// With the process.
    Ended,
    /// With the time.
    Late,
    /// With more output than is taken.
    Flooded,
}

struct Ended {
    how: How,
    status: ExitStatus,
    output: Vec<u8>,
    complaint: Complaint,
}

impl Running {
    /// Takes what it says until it has ended, but not for longer and not more than this.
    fn watch(mut self, time: Duration, most: usize) -> io::Result<Ended> {
        let deadline = Instant::now() + time;
        let (Some(output), Some(errors)) = (self.child.stdout.take(), self.child.stderr.take()) else {
            unreachable!("both were asked for");
        };
        let (mut output, mut errors) = (Output::new(output)?, Output::new(errors)?);
        let mut said = Vec::new();
        let mut complaint = Complaint::default();
        let how = loop {
            // Looked at first: what it said before its end is all there afterwards.
            let has_ended = self.group.has_ended()?;
            if has_ended {
                // Whom it left behind says nothing that matters.
                self.group.kill();
            }
            let is_silent = output.is_over() && errors.is_over();
            let time = match (has_ended, is_silent) {
                (true, _) => Duration::ZERO,
                // It is about to end.
                (false, true) => Duration::from_millis(1),
                (false, false) => TICK,
            };
            wait(&output, &errors, time)?;
            let came = output.read(|bytes| said.extend_from_slice(bytes))?
                | errors.read(|bytes| complaint.push(bytes))?;
            if said.len() > most {
                break How::Flooded;
            }
            if has_ended && !came {
                break How::Ended;
            }
            if Instant::now() >= deadline {
                break How::Late;
            }
        };
        let status = self.end()?;
        Ok(Ended { how, status, output: said, complaint })
    }
}

/// Waits until one of them has something, but not for longer than this.
fn wait<A: AsFd, B: AsFd>(output: &Output<A>, errors: &Output<B>, time: Duration) -> io::Result<()> {
    let mut pipes = Vec::with_capacity(2);
    pipes.extend(output.open().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    pipes.extend(errors.open().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    match rustix::event::poll(&mut pipes, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// An output that is read without waiting for it.
struct Output<T> {
    pipe: Option<T>,
}

impl<T: AsFd> Output<T> {
    fn new(pipe: T) -> io::Result<Self> {
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(Self { pipe: Some(pipe) })
    }

    fn open(&self) -> Option<&T> {
        self.pipe.as_ref()
    }

    fn is_over(&self) -> bool {
        self.pipe.is_none()
    }
}

impl<T: AsFd + Read> Output<T> {
    /// Hands over what is there, and says whether anything was.
    fn read(&mut self, mut take: impl FnMut(&[u8])) -> io::Result<bool> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(false);
        };
        let mut buffer = [0; 1 << 16];
        match pipe.read(&mut buffer) {
            Ok(0) => {
                self.pipe = None;
                Ok(false)
            }
            Ok(count) => {
                take(&buffer[..count]);
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(true),
            Err(error) => Err(error),
        }
    }
}
