//! The parts that all suites and the clients share: the extent of a run, cargo with its output in a log, and the
//! result.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context, Result};

use crate::repository::Repository;
use crate::tally::TestCounts;

/// The part of a suite that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SuiteExtent {
    /// The short form, for every change. With real clients, agents, browsers and databases it takes 4 minutes at most.
    Short,
    /// Everything.
    Full,
}

/// The result of a suite: true if it succeeded, and its tests as far as they could be counted.
pub(crate) struct SuiteOutcome {
    pub(crate) succeeded: bool,
    pub(crate) counted: Option<TestCounts>,
}

impl SuiteOutcome {
    /// The result of a suite that counts as one test.
    pub(crate) fn single(succeeded: bool) -> Self {
        let tally = if succeeded { TestCounts::PASSED } else { TestCounts::FAILED };
        Self { succeeded, counted: Some(tally) }
    }
}

/// Runs cargo with its output in `log`, and returns true if it succeeded.
pub(crate) fn run_cargo(
    repository: &Repository,
    arguments: &str,
    variables: &[(&str, &str)],
    log: &Path,
) -> Result<bool> {
    let out = File::create(log).with_context(|| format!("creating {}", log.display()))?;
    let also_out = out.try_clone().context("sharing the log between two outputs")?;
    let status = repository
        .cargo(&arguments.split(' ').collect::<Vec<_>>())
        .env("CARGO_TERM_COLOR", "never")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(also_out)
        .status()
        .context("cargo could not be started")?;
    Ok(status.success())
}

/// The text of a log. Tests may print bytes that are not UTF-8.
pub(crate) fn read_log(log: &Path) -> Result<String> {
    let bytes = fs::read(log).with_context(|| format!("reading {}", log.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
