//! The checkout that the commands work on: its location and its files.
//!
//! Paths go in and out relative to the root, with `/` between the parts, so that the output is the
//! same on every machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

/// Runs a command, which prints to the terminal itself, and returns its exit code.
pub(crate) fn run_to_end(command: &mut Command) -> Result<ExitCode> {
    let program = command.get_program().to_owned();
    let status = command.status().with_context(|| format!("starting {}", program.display()))?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A file that was read: its path from the root and its text.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) file: String,
    pub(crate) text: String,
}

/// The root folder of the workspace.
#[derive(Debug)]
pub(crate) struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The workspace that contains this crate. Cargo sets the variable for `run` and for tests;
    /// reading it at run time keeps a moved checkout working.
    pub(crate) fn of_this_crate() -> Result<Self> {
        let here = std::env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask`")?;
        let root = Path::new(&here).parent().context("the xtask crate has no parent folder")?;
        Ok(Self { root: root.to_owned() })
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    pub(crate) fn exists(&self, relative: &str) -> bool {
        self.path(relative).exists()
    }

    /// The folder that cargo builds in. The logs of the suites go there as well.
    pub(crate) fn target(&self) -> PathBuf {
        std::env::var_os("CARGO_TARGET_DIR")
            .map_or_else(|| self.path("target"), |given| self.root.join(given))
    }

    /// The cargo that started this command, run in the root.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(arguments).current_dir(&self.root);
        command
    }

    pub(crate) fn read(&self, relative: &str) -> Result<SourceFile> {
        let text = fs::read_to_string(self.path(relative)).with_context(|| format!("reading {relative}"))?;
        Ok(SourceFile { file: relative.to_owned(), text })
    }

    /// The names in a folder, sorted; empty if there is no such folder.
    pub(crate) fn names_in(&self, folder: &str) -> Result<Vec<String>> {
        let path = self.path(folder);
        if !path.is_dir() {
            return Ok(Vec::new());
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&path).with_context(|| format!("listing {folder}"))? {
            let name = entry.with_context(|| format!("listing {folder}"))?.file_name();
            names.push(name.to_string_lossy().into_owned());
        }
        names.sort();
        Ok(names)
    }

    /// Every `.rs` file at any depth below a folder, in the order of their paths.
    pub(crate) fn rust_files(&self, folder: &str) -> Result<Vec<SourceFile>> {
        let mut found = Vec::new();
        for name in self.names_in(folder)? {
            let below = format!("{folder}/{name}");
            if self.path(&below).is_dir() {
                found.extend(self.rust_files(&below)?);
            } else if name.ends_with(".rs") {
                found.push(self.read(&below)?);
            }
        }
        Ok(found)
    }
}
