//! The suite `clients`: the binary in the hands of a real client of the Model Context Protocol.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::python::Python;
use crate::repository::Repository;
use crate::suites::{Outcome, read, run_cargo};
use crate::tally;

/// What the script needs; the newest client that was tried.
const PACKAGES: [&str; 1] = ["mcp==2.3.0"];
const SCRIPT: &str = "crates/tulving/tests/clients/mcp_client.py";

/// Builds the binary and lets the script use it.
pub(crate) fn run(repository: &Repository, log: &Path) -> Result<Outcome> {
    if !run_cargo(repository, "build --package tulving --locked", &[], log)? {
        return Ok(Outcome { succeeded: false, counted: None });
    }
    let python = Python::with(&repository.target().join("clients"), &PACKAGES)?;
    let out = File::create(log).with_context(|| format!("creating {}", log.display()))?;
    let also_out = out.try_clone().context("sharing the log between two outputs")?;
    let status = Command::new(python.program())
        .arg(repository.path(SCRIPT))
        .arg(repository.target().join("debug").join("tulving"))
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(also_out)
        .status()
        .context("the client could not be started")?;
    Ok(Outcome { succeeded: status.success(), counted: tally::of_script(&read(log)?) })
}
