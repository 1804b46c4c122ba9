//! The process that reads one file: it limits itself, reads the file from standard input, writes the text to standard
//! output and ends.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::Access;
use tulving_core::model::error::ExtractError;

use super::limits::ExtractLimits;
use super::read::{self, DocumentReadOutcome};
use super::wire::ExtractReplyHeader;

/// The task of a process that reads one file.
#[derive(Clone, Debug)]
pub struct ChildTask {
    /// The media type of the file.
    pub media_type: String,
    /// The limits for reading it.
    pub limits: ExtractLimits,
    /// The languages of the text in images, named as in tesseract.
    pub languages: Option<String>,
    /// The id of the process that waits for the answer. If that process ends, the child ends too.
    pub parent: Option<u32>,
}

/// Reads the file on standard input and writes its text to standard output.
///
/// Call this only in a separate process: the call limits the process permanently. It may never return, because another
/// program may replace the process. An error means that the output could not be written; problems with the file are
/// part of the output.
pub fn run_child(task: &ChildTask) -> io::Result<()> {
    task.limits.impose()?;
    follow(task.parent)?;
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    match read::read(&task.media_type, bytes, &task.limits) {
        Ok(DocumentReadOutcome::Read(read)) => {
            let (head, text) = read.into_parts();
            say(&[&head.line(), text.as_bytes()])
        }
        Ok(DocumentReadOutcome::Image) => match tesseract() {
            Ok(program) => recognise(&program, task, &mut input),
            Err(error) => say(&[&ExtractReplyHeader::from(error).line()]),
        },
        Err(error) => say(&[&ExtractReplyHeader::from(error).line()]),
    }
}

/// Makes this process end with its parent process. Returns an error if the parent has already ended.
fn follow(parent: Option<u32>) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    match parent {
        Some(parent) if std::os::unix::process::parent_id() != parent => {
            Err(io::Error::other("the process that asked has ended"))
        }
        _ => Ok(()),
    }
}

fn say(parts: &[&[u8]]) -> io::Result<()> {
    let mut output = io::stdout().lock();
    for part in parts {
        output.write_all(part)?;
    }
    output.flush()
}

/// The name of the program that recognises text in images.
pub(super) const TESSERACT: &str = "tesseract";

/// Returns the path of tesseract.
pub(super) fn tesseract() -> Result<PathBuf, ExtractError> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let is_program = |path: &PathBuf| path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok();
    std::env::split_paths(&paths)
        .map(|folder| folder.join(TESSERACT))
        .find(is_program)
        .ok_or_else(|| ExtractError::NotInstalled { program: TESSERACT.to_owned() })
}

/// Replaces this process with tesseract, so that there is only one process to limit and to end.
fn recognise(program: &Path, task: &ChildTask, image: &mut File) -> io::Result<()> {
    image.seek(SeekFrom::Start(0))?;
    let by = "ocr".to_owned();
    say(&[&ExtractReplyHeader::Read { by, title: None, pages: None, cut: false, bytes: None }.line()])?;
    let mut command = Command::new(program);
    command.args(["stdin", "stdout"]);
    if let Some(languages) = &task.languages {
        command.args(["-l", languages]);
    }
    // Each thread counts as a process, and only one process is allowed.
    Err(command.env("OMP_THREAD_LIMIT", "1").exec())
}
