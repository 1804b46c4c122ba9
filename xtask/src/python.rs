//! A Python environment under `target/`, so that nothing is installed on the machine.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// A virtual environment.
pub(crate) struct PythonEnvironment {
    program: PathBuf,
}

impl PythonEnvironment {
    /// Opens the environment in this folder with these packages, or creates it.
    pub(crate) fn with(folder: &Path, packages: &[&str]) -> Result<Self> {
        let python = Self { program: folder.join("bin").join("python") };
        if !python.program.exists() {
            let make = [OsStr::new("-m"), OsStr::new("venv"), folder.as_os_str()];
            finish(Command::new("python3").args(make)).context("making a Python environment")?;
        }
        if !packages.is_empty() {
            let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
            finish(python.command().args(install).args(packages)).context("installing packages")?;
        }
        Ok(python)
    }

    /// Downloads the files of one package into a folder, without its dependencies.
    pub(crate) fn download(&self, package: &str, folder: &Path) -> Result<()> {
        let download = ["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"];
        let into = [OsStr::new("--dest"), folder.as_os_str(), OsStr::new(package)];
        finish(self.command().args(download).args(into)).with_context(|| format!("fetching {package}"))
    }

    /// Unpacks a wheel, which is a zip file.
    pub(crate) fn unpack(&self, wheel: &Path, folder: &Path) -> Result<()> {
        let extract = [OsStr::new("-m"), OsStr::new("zipfile"), OsStr::new("-e")];
        finish(self.command().args(extract).args([wheel, folder])).context("unpacking the wheel")
    }

    /// Runs a script to its end.
    pub(crate) fn run(&self, script: &Path, arguments: &[&Path]) -> Result<()> {
        finish(self.command().arg(script).args(arguments))
            .with_context(|| format!("running {}", script.display()))
    }

    /// The interpreter.
    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    fn command(&self) -> Command {
        Command::new(&self.program)
    }
}

fn finish(command: &mut Command) -> Result<()> {
    let status = command.status().context("it could not be started")?;
    ensure!(status.success(), "it ended with {status}");
    Ok(())
}
