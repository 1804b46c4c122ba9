//! `cargo xtask test`: the suites that CI runs, their budgets and their verdict.
//!
//! Every suite runs even when an earlier one failed, so that one run tells all that is wrong. What a
//! suite prints goes to `target/xtask/<suite>.log` and is shown only on failure. The last line
//! of the whole run is `N passed, N failed`.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::finding::Finding;
use crate::repository::Repository;
use crate::tally::{self, Tally};
use crate::{clients, docs, layers, tools};

/// One suite and the minutes it may take on two cores from a cold start.
pub(crate) struct Suite {
    name: &'static str,
    minutes: f64,
    work: Work,
}

enum Work {
    /// Cargo with these arguments and variables; it counts as one test.
    Cargo(&'static str, &'static [(&'static str, &'static str)]),
    /// All tests: by nextest where it is installed, else by cargo.
    Tests,
    /// The binary in the hands of real clients and of the conformance suite.
    Clients,
    /// The examples in the documentation, which nextest leaves out.
    Doctests,
    /// A check of our own; it counts as one test.
    Check(fn(&Repository) -> Result<Vec<Finding>>),
}

impl Suite {
    const fn new(name: &'static str, minutes: f64, work: Work) -> Self {
        Self { name, minutes, work }
    }
}

/// In the order in which they run: what answers fast and what is broken most often comes first.
static SUITES: [Suite; 8] = [
    Suite::new("format", 1.0, Work::Cargo("fmt --all --check", &[])),
    Suite::new("clippy", 8.0, Work::Cargo(CLIPPY, &[])),
    Suite::new("layers", 0.5, Work::Check(layers::check)),
    Suite::new("docs", 0.5, Work::Check(docs::check)),
    Suite::new("tests", 24.0, Work::Tests),
    Suite::new("clients", 4.9, Work::Clients),
    Suite::new("doctests", 3.0, Work::Doctests),
    Suite::new("rustdoc", 3.0, Work::Cargo(RUSTDOC, &[("RUSTDOCFLAGS", "-D warnings")])),
];

const CLIPPY: &str = "clippy --workspace --all-targets --locked -- -D warnings";
const RUSTDOC: &str = "doc --workspace --no-deps --document-private-items --locked";
const NEXTEST: &str =
    "nextest run --workspace --locked --no-fail-fast --status-level slow --failure-output final";
/// Not `--all-targets`: that would run the benchmarks as tests.
const TESTS: &str = "test --workspace --tests --locked --no-fail-fast";
const DOCTESTS: &str = "test --workspace --doc --locked --no-fail-fast";

/// Shared machines are noisy: beyond the budget is said aloud, beyond this many times it is a failure.
const PATIENCE: f64 = 3.0;

/// How much of a log is shown when its suite failed.
const SHOWN_LINES: usize = 200;

/// The names of all suites, for a message.
pub(crate) fn names() -> String {
    SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ")
}

/// The suites of these names in their own order, all when there is no name; else what is wrong.
pub(crate) fn select(wanted: &[String]) -> Result<Vec<&'static Suite>, String> {
    if let Some(unknown) = wanted.iter().find(|name| SUITES.iter().all(|suite| suite.name != **name)) {
        return Err(format!("there is no suite `{unknown}`; the suites are {}", names()));
    }
    let chosen = |suite: &&Suite| wanted.is_empty() || wanted.iter().any(|name| name == suite.name);
    Ok(SUITES.iter().filter(chosen).collect())
}

/// Runs the suites one after the other and prints a line for each, then the count.
pub(crate) fn run(repository: &Repository, suites: &[&Suite]) -> Result<ExitCode> {
    let logs = repository.target().join("xtask");
    fs::create_dir_all(&logs).with_context(|| format!("creating {}", logs.display()))?;
    let mut total = Tally::default();
    let mut all_well = true;
    for suite in suites {
        let log = logs.join(format!("{}.log", suite.name));
        let started = Instant::now();
        let outcome = suite.work.run(repository, &log);
        let verdict = Verdict::of(outcome, started.elapsed().as_secs_f64() / 60.0, suite.minutes);
        println!("{:<9} {}", suite.name, verdict.line);
        if !verdict.well {
            print_tail(&log);
        }
        total += verdict.tally;
        all_well &= verdict.well;
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// How the work of a suite ended: whether it succeeded, and its tests as far as they could be counted.
pub(crate) struct Outcome {
    pub(crate) succeeded: bool,
    pub(crate) counted: Option<Tally>,
}

impl Work {
    fn run(&self, repository: &Repository, log: &Path) -> Result<Outcome> {
        match self {
            Self::Cargo(arguments, variables) => {
                Ok(Outcome::single(run_cargo(repository, arguments, variables, log)?))
            }
            Self::Check(check) => {
                let findings = check(repository).inspect_err(|error| note(log, &format!("{error:#}")))?;
                let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
                note(log, &lines.join("\n"));
                Ok(Outcome::single(findings.is_empty()))
            }
            Self::Tests => {
                let variables = if tools::has_tesseract() { &[tools::WITH_TESSERACT][..] } else { &[] };
                if variables.is_empty() {
                    println!("tests     tesseract is not there and cannot be installed: images are not read");
                }
                match has_nextest(repository) {
                    true => counted(repository, NEXTEST, variables, log, tally::of_nextest),
                    false => counted(repository, TESTS, variables, log, tally::of_libtest),
                }
            }
            Self::Clients => clients::run(repository, log),
            Self::Doctests => counted(repository, DOCTESTS, &[], log, tally::of_libtest),
        }
    }
}

impl Outcome {
    fn single(succeeded: bool) -> Self {
        let tally = if succeeded { Tally::PASSED } else { Tally::FAILED };
        Self { succeeded, counted: Some(tally) }
    }
}

/// Runs a test runner and reads its count from what it printed.
fn counted(
    repository: &Repository,
    arguments: &str,
    variables: &[(&str, &str)],
    log: &Path,
    count: fn(&str) -> Option<Tally>,
) -> Result<Outcome> {
    let succeeded = run_cargo(repository, arguments, variables, log)?;
    Ok(Outcome { succeeded, counted: count(&read(log)?) })
}

/// What is said about a suite that has ended.
struct Verdict {
    well: bool,
    tally: Tally,
    line: String,
}

impl Verdict {
    fn of(outcome: Result<Outcome>, minutes: f64, budget: f64) -> Self {
        let mut remarks = String::new();
        let (mut well, mut tally) = match outcome {
            Ok(Outcome { succeeded, counted: Some(tally) }) => (succeeded && tally.failed == 0, tally),
            Ok(Outcome { counted: None, .. }) => {
                remarks.push_str(", no count of tests was printed");
                (false, Tally::default())
            }
            Err(error) => {
                _ = write!(remarks, ", {error:#}");
                (false, Tally::default())
            }
        };
        if minutes > budget {
            _ = write!(remarks, ", OVER BUDGET ({:.1} times)", minutes / budget);
            well &= minutes <= budget * PATIENCE;
        }
        // A suite can fail with no failing test (it did not compile, it took far too long); the
        // count has to tell of that as well.
        if !well && tally.failed == 0 {
            tally += Tally::FAILED;
        }
        let word = if well { "ok" } else { "FAILED" };
        let line = format!("{word:<6} {minutes:>5.1} min of {budget}{remarks}");
        Self { well, tally, line }
    }
}

fn has_nextest(repository: &Repository) -> bool {
    let mut ask = repository.cargo(&["nextest", "--version"]);
    ask.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

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

/// Keeps the findings of a check beside the other logs. Losing them would hide why it failed, so a
/// log that cannot be written is said.
fn note(log: &Path, text: &str) {
    if let Err(error) = fs::write(log, text) {
        eprintln!("{text}\nthe log {} was not written: {error}", log.display());
    }
}

/// The text of a log. Tests may print bytes that are no UTF-8.
pub(crate) fn read(log: &Path) -> Result<String> {
    let bytes = fs::read(log).with_context(|| format!("reading {}", log.display()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn print_tail(log: &Path) {
    let Ok(text) = read(log) else { return };
    let lines: Vec<&str> = text.lines().collect();
    let hidden = lines.len().saturating_sub(SHOWN_LINES);
    if hidden > 0 {
        println!("    … {hidden} lines more in the log");
    }
    for line in &lines[hidden..] {
        println!("    {line}");
    }
    println!("    the whole log: {}", log.display());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(succeeded: bool, passed: usize, failed: usize) -> Result<Outcome> {
        Ok(Outcome { succeeded, counted: Some(Tally { passed, failed }) })
    }

    #[test]
    fn the_budgets_stay_within_45_minutes() {
        assert!(SUITES.iter().map(|suite| suite.minutes).sum::<f64>() < 45.0);
    }

    #[test]
    fn suites_run_in_their_own_order() {
        let chosen = select(&["tests".to_owned(), "format".to_owned()]).unwrap();
        assert_eq!(chosen.iter().map(|suite| suite.name).collect::<Vec<_>>(), ["format", "tests"]);
        assert_eq!(select(&[]).unwrap().len(), SUITES.len());
    }

    #[test]
    fn an_unknown_suite_is_named() {
        let told = select(&["lint".to_owned()]).err().unwrap();
        assert!(told.contains("`lint`") && told.contains("clippy"), "{told}");
    }

    #[test]
    fn within_budget_is_well() {
        let verdict = Verdict::of(ended(true, 9, 0), 1.0, 2.0);
        assert!(verdict.well);
        assert_eq!(verdict.line, "ok       1.0 min of 2");
        assert_eq!(verdict.tally, Tally { passed: 9, failed: 0 });
    }

    #[test]
    fn over_budget_is_said_and_far_over_fails() {
        let slow = Verdict::of(ended(true, 9, 0), 5.0, 2.0);
        assert!(slow.well && slow.line.contains("OVER BUDGET (2.5 times)"), "{}", slow.line);
        let stuck = Verdict::of(ended(true, 9, 0), 6.1, 2.0);
        assert!(!stuck.well);
        assert_eq!(stuck.tally, Tally { passed: 9, failed: 1 });
    }

    #[test]
    fn a_suite_that_did_not_compile_counts_as_one_failure() {
        let verdict = Verdict::of(Ok(Outcome { succeeded: false, counted: None }), 1.0, 2.0);
        assert!(!verdict.well);
        assert_eq!(verdict.tally, Tally::FAILED);
    }

    #[test]
    fn failing_tests_are_not_counted_twice() {
        assert_eq!(Verdict::of(ended(false, 7, 2), 1.0, 2.0).tally, Tally { passed: 7, failed: 2 });
    }

    #[test]
    fn success_without_a_count_is_not_believed() {
        assert!(!Verdict::of(Ok(Outcome { succeeded: true, counted: None }), 1.0, 2.0).well);
    }
}
