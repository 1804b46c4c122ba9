//! `cargo xtask eval`: measures the quality of recall on a set in its official format.

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::bench;
use crate::repository::Repository;

/// Runs the evaluation of the `tulving` crate, which prints to the terminal itself. Paths are relative to the
/// caller's folder.
pub(crate) fn run(repository: &Repository, arguments: &[String]) -> Result<ExitCode> {
    let here = std::env::current_dir().context("there is no current folder")?;
    let absolute = |argument: &String| match here.join(argument) {
        path if !argument.starts_with('-') && path.exists() => path.display().to_string(),
        _ => argument.clone(),
    };
    let arguments: Vec<String> = arguments.iter().map(absolute).collect();
    bench::start(repository, "eval", &arguments)
}
