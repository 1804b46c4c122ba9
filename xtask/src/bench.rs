//! `cargo xtask bench`: runs one of the benchmarks of the `tulving` crate, or lists them.

use std::process::ExitCode;

use anyhow::Result;

use crate::repository::{Repository, run_to_end};

const FOLDER: &str = "crates/tulving/benches";

/// The action that the command line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BenchAction<'a> {
    List,
    /// The benchmark's name and the arguments after `--`.
    Run(&'a str, &'a [String]),
}

/// Reads `[NAME [-- ARGS]]`, or returns a message about the mistake.
pub(crate) fn read(arguments: &[String]) -> Result<BenchAction<'_>, String> {
    match arguments {
        [] => Ok(BenchAction::List),
        [name] if name != "--" => Ok(BenchAction::Run(name, &[])),
        [name, dashes, rest @ ..] if name != "--" && dashes == "--" => Ok(BenchAction::Run(name, rest)),
        _ => Err("a benchmark is run with `bench NAME [-- ARGS]`".to_owned()),
    }
}

/// Runs or lists. The benchmark prints to the terminal itself.
pub(crate) fn run(repository: &Repository, wanted: BenchAction<'_>) -> Result<ExitCode> {
    let known = list(repository)?;
    let (name, arguments) = match wanted {
        BenchAction::Run(name, arguments) if known.iter().any(|bench| bench == name) => (name, arguments),
        BenchAction::Run(name, _) => {
            eprintln!("there is no benchmark `{name}`; those in {FOLDER}: {}", known.join(", "));
            return Ok(ExitCode::from(2));
        }
        BenchAction::List => {
            for bench in known {
                println!("{bench}");
            }
            return Ok(ExitCode::SUCCESS);
        }
    };
    start(repository, name, arguments)
}

/// Runs an existing benchmark.
pub(crate) fn start(repository: &Repository, name: &str, arguments: &[String]) -> Result<ExitCode> {
    let cargo = ["bench", "--locked", "--package", "tulving", "--bench", name, "--"];
    run_to_end(repository.cargo(&cargo).args(arguments))
}

/// Lists the benchmarks. Each is a file, or a folder with a `main.rs`.
fn list(repository: &Repository) -> Result<Vec<String>> {
    let names = repository.names_in(FOLDER)?;
    let bench = |name: &String| match name.strip_suffix(".rs") {
        None if repository.exists(&format!("{FOLDER}/{name}/main.rs")) => Some(name.clone()),
        file => file.map(str::to_owned),
    };
    Ok(names.iter().filter_map(bench).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn no_name_lists() {
        assert_eq!(read(&[]), Ok(BenchAction::List));
    }

    #[test]
    fn arguments_follow_the_dashes() {
        let line = words("store -- --memories 1000");
        assert_eq!(read(&line), Ok(BenchAction::Run("store", &line[2..])));
        assert_eq!(read(&words("store")), Ok(BenchAction::Run("store", &[])));
    }

    #[test]
    fn anything_else_is_refused() {
        assert!(read(&words("store --memories 1000")).is_err());
        assert!(read(&words("-- store")).is_err());
    }
}
