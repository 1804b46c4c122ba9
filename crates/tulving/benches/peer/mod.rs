//! Shared code of the benchmarks that compare with peers from PyPI: a Python environment under `target/`, and processes that
//! answer each line of input with a line of JSON.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Creates a Python environment in `folder`, unless it already has these packages. Each item is a list of arguments of
/// one `pip install`. Returns the path of its Python.
pub(crate) fn environment(folder: &Path, installs: &[&[&str]]) -> anyhow::Result<PathBuf> {
    let python = folder.join("bin/python");
    let (note, wanted) = (folder.join("installed"), format!("{installs:?}"));
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    said_by(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    for packages in installs {
        let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        said_by(Command::new(&python).args(install).args(*packages))?;
    }
    fs::write(note, wanted)?;
    Ok(python)
}

/// Runs a command, which must succeed, and returns its output.
pub(crate) fn said_by(command: &mut Command) -> anyhow::Result<String> {
    let output = command.stderr(Stdio::inherit()).output().context("it could not be started")?;
    ensure!(output.status.success(), "{} ended with {}", command.get_program().display(), output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// A process that answers each line of input with a line of JSON. It ends when this is dropped.
pub(crate) struct Answering {
    process: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Answering {
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let questions = process.stdin.take().context("its input")?;
        let answers = BufReader::new(process.stdout.take().context("its output")?);
        Ok(Self { process, questions, answers })
    }

    pub(crate) fn ask<T: DeserializeOwned>(&mut self, question: &Value) -> anyhow::Result<T> {
        writeln!(self.questions, "{question}")?;
        self.answer()
    }

    /// Returns the next line, including lines that answer no input.
    pub(crate) fn answer<T: DeserializeOwned>(&mut self) -> anyhow::Result<T> {
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        ensure!(!line.is_empty(), "it ended without an answer");
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
