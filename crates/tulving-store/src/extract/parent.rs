//! The parent process: starts a child process for each file, waits for its answer and makes sure that it ends.

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
use tulving_core::model::error::ExtractError;
use tulving_core::ports::{ExtractedText, Extractor};

use super::child::{self, TESSERACT};
use super::limits::ExtractLimits;
use super::read::{self, DocumentFormat};
use super::wire::{self, ExtractReply, LONGEST_HEAD};
use crate::process::{self, ErrorOutputTail, ProcessGroup};

/// The environment variables that the child gets: the path of programs, the language, and the folder of tesseract's
/// languages.
const ENVIRONMENT: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TESSDATA_PREFIX"];
/// The interval of the checks whether the child has ended. The checks are needed because another process may keep the
/// output open.
const TICK: Duration = Duration::from_millis(50);

/// Reads each file in a separate process.
#[derive(Clone, Debug)]
pub struct ChildExtractor {
    program: PathBuf,
    limits: ExtractLimits,
    languages: Option<String>,
}

impl ChildExtractor {
    /// Starts the program at this path, with the arguments `extract-text …`, for each file. The program must call
    /// [`run_child`](super::run_child).
    pub fn new(program: impl Into<PathBuf>, limits: ExtractLimits) -> Self {
        Self { program: program.into(), limits, languages: None }
    }

    /// Starts the running program, even if its file has been replaced since the start.
    pub fn of_this_program(limits: ExtractLimits) -> io::Result<Self> {
        let itself = PathBuf::from("/proc/self/exe");
        Ok(Self::new(if itself.exists() { itself } else { std::env::current_exe()? }, limits))
    }

    /// Sets the languages in which text in images is recognised, named as in tesseract: `eng`, `deu+eng`.
    #[must_use]
    pub fn with_languages(mut self, languages: impl Into<String>) -> Self {
        self.languages = Some(languages.into());
        self
    }

    fn arguments(&self, media_type: &str) -> Vec<OsString> {
        let ExtractLimits { cpu, memory, text, pixels, wall: _ } = &self.limits;
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

    fn start(&self, media_type: &str, bytes: &[u8]) -> io::Result<ExtractProcess> {
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
        Ok(ExtractProcess { group: ProcessGroup::of(&child), child, has_been_waited_for: false })
    }

    /// Returns the error for a child that gave no usable answer.
    fn failure(&self, ended: &ExtractProcessOutput) -> ExtractError {
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
    fn extract(&self, media_type: &str, bytes: &[u8]) -> Result<ExtractedText, ExtractError> {
        // If no reader supports the type, no process is started.
        if DocumentFormat::of(media_type).is_none() {
            return Err(read::unsupported(media_type));
        }
        let not_started = |error: io::Error| ExtractError::NotStarted { why: error.to_string() };
        let running = self.start(media_type, bytes).map_err(not_started)?;
        let most = LONGEST_HEAD.saturating_add(self.limits.text);
        let ended = running.watch(self.limits.wall, most).map_err(not_started)?;
        match wire::said(&ended.output) {
            ExtractReply::Whole(extracted) => Ok(extracted),
            ExtractReply::Failed(error) => Err(error),
            ExtractReply::Open(extracted)
                if ended.status.success() || ended.how == ExtractStopReason::Flooded =>
            {
                Ok(tidied(extracted, self.limits.text, ended.how == ExtractStopReason::Flooded))
            }
            _ if ended.how == ExtractStopReason::Late => Err(ExtractError::Late { after: self.limits.wall }),
            ExtractReply::Open(_) if ended.status.code().is_some() => match self.failure(&ended) {
                ExtractError::Crashed { .. } => Err(ExtractError::Damaged {
                    why: format!("{TESSERACT}: {}", ended.complaint.last_line()),
                }),
                error => Err(error),
            },
            ExtractReply::Open(_) | ExtractReply::Nothing => Err(self.failure(&ended)),
        }
    }

    fn missing(&self) -> Vec<String> {
        match child::tesseract() {
            Ok(_) => Vec::new(),
            Err(_) => vec![format!(
                "`{TESSERACT}` is not installed, so the text in images is not read; the package is tesseract-ocr on Debian \
                 and Ubuntu, tesseract elsewhere; once it is there, `tulving jobs retry` and `tulving jobs run` read the remaining files"
            )],
        }
    }
}

/// Cleans up a text that another program made: puts a blank line between pages, removes white space at both ends, and
/// cuts the text to the limit.
fn tidied(mut extracted: ExtractedText, most: usize, cut: bool) -> ExtractedText {
    let mut text = extracted.text.replace('\u{c}', "\n\n").trim().to_owned();
    extracted.cut = cut || text.len() > most;
    text.truncate(text.floor_char_boundary(most));
    extracted.text = text.trim_end().to_owned();
    extracted
}

/// Creates an anonymous file with these bytes for the child. A pipe would have to be filled while the answer is read,
/// and it could not be read twice.
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

/// A child process. It is killed when this value is dropped.
struct ExtractProcess {
    group: ProcessGroup,
    child: Child,
    /// True after the process was reaped. From then on, another process may have its process id.
    has_been_waited_for: bool,
}

impl ExtractProcess {
    /// Kills the child and its process group, and returns the exit status of the child.
    fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.has_been_waited_for {
            self.group.kill();
        }
        self.has_been_waited_for = true;
        self.child.wait()
    }
}

impl Drop for ExtractProcess {
    fn drop(&mut self) {
        // The exit status is not needed any more.
        let _ = self.end();
    }
}

/// The reason why [`watch`](ExtractProcess::watch) ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExtractStopReason {
    /// The process ended.
    Ended,
    /// The time limit was reached.
    Late,
    /// The output was longer than its limit.
    Flooded,
}

struct ExtractProcessOutput {
    how: ExtractStopReason,
    status: ExitStatus,
    output: Vec<u8>,
    complaint: ErrorOutputTail,
}

impl ExtractProcess {
    /// Collects the output of the child until it ends, at most for `time` and at most `most` bytes.
    fn watch(mut self, time: Duration, most: usize) -> io::Result<ExtractProcessOutput> {
        let deadline = Instant::now() + time;
        let (Some(output), Some(errors)) = (self.child.stdout.take(), self.child.stderr.take()) else {
            unreachable!("both were asked for");
        };
        let (mut output, mut errors) = (NonblockingOutput::new(output)?, NonblockingOutput::new(errors)?);
        let mut said = Vec::new();
        let mut complaint = ErrorOutputTail::default();
        let how = loop {
            // This is checked first, so that all output from before the end of the child can be read afterwards.
            let has_ended = self.group.has_ended()?;
            if has_ended {
                // The output of other processes that the child started does not matter.
                self.group.kill();
            }
            let is_silent = output.is_over() && errors.is_over();
            let time = match (has_ended, is_silent) {
                (true, _) => Duration::ZERO,
                // The outputs are closed, so the child is about to end.
                (false, true) => Duration::from_millis(1),
                (false, false) => TICK,
            };
            wait(&output, &errors, time)?;
            let came = output.read(|bytes| said.extend_from_slice(bytes))?
                | errors.read(|bytes| complaint.push(bytes))?;
            if said.len() > most {
                break ExtractStopReason::Flooded;
            }
            if has_ended && !came {
                break ExtractStopReason::Ended;
            }
            if Instant::now() >= deadline {
                break ExtractStopReason::Late;
            }
        };
        let status = self.end()?;
        Ok(ExtractProcessOutput { how, status, output: said, complaint })
    }
}

/// Waits until one of the outputs has data, but at most for this time.
fn wait<A: AsFd, B: AsFd>(
    output: &NonblockingOutput<A>,
    errors: &NonblockingOutput<B>,
    time: Duration,
) -> io::Result<()> {
    let mut pipes = Vec::with_capacity(2);
    pipes.extend(output.open().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    pipes.extend(errors.open().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    let time = Timespec::try_from(time).map_err(io::Error::other)?;
    match rustix::event::poll(&mut pipes, Some(&time)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// The output of a child, read without blocking.
struct NonblockingOutput<T> {
    pipe: Option<T>,
}

impl<T: AsFd> NonblockingOutput<T> {
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

impl<T: AsFd + Read> NonblockingOutput<T> {
    /// Passes the available bytes to `take`. Returns true if there were any.
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
