//! The project's own commands: `cargo xtask test`, `layers`, `docs`, `dependencies`, `commits`, `model`, `eval`, `bench`,
//! `turns`, `plot`, `reference` and `package`.
//!
//! `test` is exactly what CI runs. Each command exits with 0 on success, 1 on failure and 2 on wrong usage.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command that people run; printing is its job"
)]

mod bench;
mod clients;
mod commits;
mod dependencies;
mod docs;
mod eval;
mod finding;
mod layers;
mod links;
mod markdown;
mod model;
mod package;
mod python;
mod repository;
mod run;
mod seeds;
mod source;
mod suites;
mod tally;
mod tools;

use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::finding::CheckFinding;
use crate::repository::{Repository, run_to_end};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test [--full] [SUITE..] run these suites, or all of them; --full also runs the slow tests
  layers                  check which crate and which module may use which
  docs                    check the paths, the links and the test names in the documents
  dependencies            check the licences and the duplicate versions of the crates that we depend on
  commits                 check the subjects of new commits
  model [--check]         make the embedding model, or compare it with what is committed
  model --reference       ask the original model what the tests compare with
  eval SET PATH [FLAGS]   measure retrieval: locomo FILE, longmemeval FILE, beir DIR, daily
  bench [NAME [-- ARGS]]  run a benchmark; without a name, list them
  turns [EVERY]           measure a language model on all labelled turns, or on every EVERY-th
  plot                    draw the plots of docs/lifecycle again
  reference               generate docs/{cli,config,routes,tools}.md again
  package TAG             build the binary of a release and pack it into target/package";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let Some((command, rest)) = arguments.split_first() else {
        return Ok(misuse("no command given"));
    };
    let repository = Repository::of_this_crate()?;
    match (command.as_str(), rest) {
        ("help" | "-h" | "--help", _) => {
            println!("{USAGE}\n\nsuites: {}", suites::names());
            Ok(ExitCode::SUCCESS)
        }
        ("test", arguments) => match suites::read_arguments(arguments) {
            Ok((chosen, extent)) => suites::run(&repository, &chosen, extent),
            Err(unknown) => Ok(misuse(&unknown)),
        },
        ("layers", []) => Ok(tell(&layers::check(&repository).context("layers")?)),
        ("docs", []) => Ok(tell(&docs::check(&repository).context("docs")?)),
        ("dependencies", []) => Ok(tell(&dependencies::check(&repository).context("dependencies")?)),
        ("commits", []) => Ok(tell(&commits::check(&repository).context("commits")?)),
        ("model", flags) => match model::read(flags) {
            Ok(wanted) => model::run(&repository, wanted),
            Err(wrong) => Ok(misuse(&wrong)),
        },
        ("eval", arguments @ [_, ..]) => eval::run(&repository, arguments),
        ("eval", _) => Ok(misuse("`eval` takes a set, and a path except for `daily`")),
        ("plot", []) => plot(&repository),
        ("turns", []) => clients::measure_turns(&repository, "1"),
        ("turns", [every]) if every.parse().is_ok_and(|every: u32| every > 0) => {
            clients::measure_turns(&repository, every)
        }
        ("turns", _) => Ok(misuse("`turns` takes a number")),
        ("reference", []) => reference(&repository),
        ("package", [tag]) => package::run(&repository, tag),
        ("package", _) => Ok(misuse("`package` takes a tag, such as v0.1.0")),
        ("bench", names) => match bench::read(names) {
            Ok(wanted) => bench::run(&repository, wanted),
            Err(wrong) => Ok(misuse(&wrong)),
        },
        ("layers" | "docs" | "dependencies" | "commits" | "plot" | "reference", _) => {
            Ok(misuse(&format!("`{command}` takes no arguments")))
        }
        _ => Ok(misuse(&format!("there is no command `{command}`"))),
    }
}

/// Runs the tests that compare the plots, and lets them rewrite the plots.
fn plot(repository: &Repository) -> Result<ExitCode> {
    let tests = ["--package", "tulving-core", "--test", "it", "--", "plots::", "life::two_years"];
    written_by(repository, &tests, "PLOTS")
}

/// Runs the test that compares the reference pages, and lets it rewrite the pages.
fn reference(repository: &Repository) -> Result<ExitCode> {
    let tests = ["--package", "tulving", "--bin", "tulving", "--test", "it", "--", "the_references"];
    written_by(repository, &tests, "REFERENCE")
}

fn written_by(repository: &Repository, tests: &[&str], variable: &str) -> Result<ExitCode> {
    let arguments = [&["test", "--quiet", "--locked"], tests].concat();
    run_to_end(repository.cargo(&arguments).env(variable, "write"))
}

fn misuse(what: &str) -> ExitCode {
    eprintln!("{what}\n\n{USAGE}");
    ExitCode::from(2)
}

fn tell(findings: &[CheckFinding]) -> ExitCode {
    for finding in findings {
        println!("{finding}");
    }
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
