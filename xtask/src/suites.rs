//! `cargo xtask test`: the suites that CI runs, their budgets and their verdict.
//!
//! Every suite runs even when an earlier one failed, so that one run shows every failure. The output of a suite goes to
//! `target/xtask/<suite>.log` and is shown only on failure. The last line of the whole run is `N passed, N failed`. With
//! `--full`, suites that have a short form run in full.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result};

use crate::finding::CheckFinding;
use crate::repository::Repository;
use crate::run::{SuiteExtent, SuiteOutcome, read_log, run_cargo};
use crate::tally::{self, TestCounts};
use crate::{clients, commits, dependencies, docs, layers, tools};

/// One suite and the minutes it may take on two cores from a cold start.
pub(crate) struct Suite {
    name: &'static str,
    minutes: f64,
    /// The minutes of the full suite, if `minutes` is for its short form.
    full_minutes: Option<f64>,
    work: SuiteWork,
}

enum SuiteWork {
    /// Cargo with these arguments and variables. It counts as one test.
    Cargo(&'static str, &'static [(&'static str, &'static str)]),
    /// All tests: run by nextest if it is installed, else by cargo.
    Tests,
    /// The binary with real clients and the conformance suite.
    Clients,
    /// The examples in the documentation, which nextest leaves out.
    Doctests,
    /// A check of our own. It counts as one test.
    Check(fn(&Repository) -> Result<Vec<CheckFinding>>),
}

impl Suite {
    const fn new(name: &'static str, minutes: f64, work: SuiteWork) -> Self {
        Self { name, minutes, full_minutes: None, work }
    }

    /// The same suite, marked as the short form of one that takes this many minutes.
    const fn short_for(self, minutes: f64) -> Self {
        Self { full_minutes: Some(minutes), ..self }
    }

    fn budget(&self, extent: SuiteExtent) -> f64 {
        match extent {
            SuiteExtent::Short => self.minutes,
            SuiteExtent::Full => self.full_minutes.unwrap_or(self.minutes),
        }
    }
}

/// The suites in the order they run: the fast ones and those that fail most often come first.
static SUITES: [Suite; 10] = [
    Suite::new("format", 1.0, SuiteWork::Cargo("fmt --all --check", &[])),
    Suite::new("clippy", 8.0, SuiteWork::Cargo(CLIPPY, &[])),
    Suite::new("layers", 0.5, SuiteWork::Check(layers::check)),
    Suite::new("docs", 0.5, SuiteWork::Check(docs::check)),
    Suite::new("dependencies", 0.5, SuiteWork::Check(dependencies::check)),
    Suite::new("commits", 0.1, SuiteWork::Check(commits::check)),
    Suite::new("tests", 24.0, SuiteWork::Tests),
    Suite::new("clients", 4.0, SuiteWork::Clients).short_for(12.0),
    Suite::new("doctests", 3.0, SuiteWork::Doctests),
    Suite::new("rustdoc", 3.0, SuiteWork::Cargo(RUSTDOC, &[("RUSTDOCFLAGS", "-D warnings")])),
];

const CLIPPY: &str = "clippy --workspace --all-targets --locked -- -D warnings";
const RUSTDOC: &str = "doc --workspace --no-deps --document-private-items --locked";
const NEXTEST: &str =
    "nextest run --workspace --locked --no-fail-fast --status-level slow --failure-output final";
/// Not `--all-targets`: that would run the benchmarks as tests.
const TESTS: &str = "test --workspace --tests --locked --no-fail-fast";
const DOCTESTS: &str = "test --workspace --doc --locked --no-fail-fast";

/// Shared machines are noisy: a suite over its budget gets a warning, and one over this many times its budget fails.
const PATIENCE: f64 = 3.0;

/// Number of lines of a log that are shown when its suite failed.
const SHOWN_LINES: usize = 200;

/// The names of all suites, for a message.
pub(crate) fn names() -> String {
    SUITES.iter().map(|suite| suite.name).collect::<Vec<_>>().join(", ")
}

/// Reads the arguments after `test`: names of suites, and `--full` anywhere among them.
pub(crate) fn read_arguments(arguments: &[String]) -> Result<(Vec<&'static Suite>, SuiteExtent), String> {
    let (flags, names): (Vec<String>, Vec<String>) =
        arguments.iter().cloned().partition(|argument| argument.starts_with('-'));
    if let Some(unknown) = flags.iter().find(|flag| *flag != "--full") {
        return Err(format!("there is no flag `{unknown}`; `test` takes --full"));
    }
    let extent = if flags.is_empty() { SuiteExtent::Short } else { SuiteExtent::Full };
    Ok((select(&names)?, extent))
}

/// The suites of these names in their own order, or all if there is no name. An error names the mistake.
fn select(wanted: &[String]) -> Result<Vec<&'static Suite>, String> {
    if let Some(unknown) = wanted.iter().find(|name| SUITES.iter().all(|suite| suite.name != **name)) {
        return Err(format!("there is no suite `{unknown}`; the suites are {}", names()));
    }
    let chosen = |suite: &&Suite| wanted.is_empty() || wanted.iter().any(|name| name == suite.name);
    Ok(SUITES.iter().filter(chosen).collect())
}

/// Runs the suites one after the other and prints a line for each, then the count.
pub(crate) fn run(repository: &Repository, suites: &[&Suite], extent: SuiteExtent) -> Result<ExitCode> {
    let logs = repository.target().join("xtask");
    fs::create_dir_all(&logs).with_context(|| format!("creating {}", logs.display()))?;
    let mut total = TestCounts::default();
    let mut all_well = true;
    for suite in suites {
        let log = logs.join(format!("{}.log", suite.name));
        let started = Instant::now();
        let outcome = suite.work.run(repository, &log, extent);
        let minutes = started.elapsed().as_secs_f64() / 60.0;
        let verdict = SuiteVerdict::of(outcome, minutes, suite.budget(extent));
        println!("{:<12} {}", suite.name, verdict.line);
        if !verdict.well {
            print_tail(&log);
        }
        total += verdict.tally;
        all_well &= verdict.well;
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    Ok(if all_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl SuiteWork {
    fn run(&self, repository: &Repository, log: &Path, extent: SuiteExtent) -> Result<SuiteOutcome> {
        match self {
            Self::Cargo(arguments, variables) => {
                Ok(SuiteOutcome::single(run_cargo(repository, arguments, variables, log)?))
            }
            Self::Check(check) => {
                let findings = check(repository).inspect_err(|error| note(log, &format!("{error:#}")))?;
                let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
                note(log, &lines.join("\n"));
                Ok(SuiteOutcome::single(findings.is_empty()))
            }
            Self::Tests => {
                let variables = if tools::has_tesseract() { &[tools::WITH_TESSERACT][..] } else { &[] };
                if variables.is_empty() {
                    println!(
                        "tests        tesseract is not there and cannot be installed: images are not read"
                    );
                }
                match has_nextest(repository) {
                    true => counted(repository, NEXTEST, variables, log, tally::of_nextest),
                    false => counted(repository, TESTS, variables, log, tally::of_libtest),
                }
            }
            Self::Clients => clients::run(repository, log, extent),
            Self::Doctests => counted(repository, DOCTESTS, &[], log, tally::of_libtest),
        }
    }
}

/// Runs a test runner and reads its count from what it printed.
fn counted(
    repository: &Repository,
    arguments: &str,
    variables: &[(&str, &str)],
    log: &Path,
    count: fn(&str) -> Option<TestCounts>,
) -> Result<SuiteOutcome> {
    let succeeded = run_cargo(repository, arguments, variables, log)?;
    Ok(SuiteOutcome { succeeded, counted: count(&read_log(log)?) })
}

/// The message about a suite that has ended.
struct SuiteVerdict {
    well: bool,
    tally: TestCounts,
    line: String,
}

impl SuiteVerdict {
    fn of(outcome: Result<SuiteOutcome>, minutes: f64, budget: f64) -> Self {
        let mut remarks = String::new();
        let (mut well, mut tally) = match outcome {
            Ok(SuiteOutcome { succeeded, counted: Some(tally) }) => (succeeded && tally.failed == 0, tally),
            Ok(SuiteOutcome { counted: None, .. }) => {
                remarks.push_str(", no count of tests was printed");
                (false, TestCounts::default())
            }
            Err(error) => {
                _ = write!(remarks, ", {error:#}");
                (false, TestCounts::default())
            }
        };
        if minutes > budget {
            _ = write!(remarks, ", OVER BUDGET ({:.1} times)", minutes / budget);
            well &= minutes <= budget * PATIENCE;
        }
        // A suite can fail without a failing test (it did not compile, it took far too long). The count must show that
        // as well.
        if !well && tally.failed == 0 {
            tally += TestCounts::FAILED;
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

/// Writes the findings of a check to a file next to the other logs. Losing them would hide why it failed, so a log that
/// cannot be written is reported.
fn note(log: &Path, text: &str) {
    if let Err(error) = fs::write(log, text) {
        eprintln!("{text}\nthe log {} was not written: {error}", log.display());
    }
}

fn print_tail(log: &Path) {
    let Ok(text) = read_log(log) else { return };
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

    fn ended(succeeded: bool, passed: usize, failed: usize) -> Result<SuiteOutcome> {
        Ok(SuiteOutcome { succeeded, counted: Some(TestCounts { passed, failed }) })
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
    fn suites_with_real_clients_have_a_short_form_of_four_minutes() {
        let read = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(ToString::to_string).collect();
            read_arguments(&words).map(|(chosen, extent)| (chosen[0].budget(extent), extent))
        };
        let (short, extent) = read(&["clients"]).unwrap();
        assert!(short <= 4.0 && extent == SuiteExtent::Short);
        for words in [["clients", "--full"], ["--full", "clients"]] {
            let (full, extent) = read(&words).unwrap();
            assert!(full > short && extent == SuiteExtent::Full);
        }
        let (format, _) = read(&["--full", "format"]).unwrap();
        assert!((format - 1.0).abs() < f64::EPSILON, "what has no short form has one budget");
        assert!(read(&["--fast"]).unwrap_err().contains("`--fast`"));
    }

    #[test]
    fn an_unknown_suite_is_named() {
        let told = select(&["lint".to_owned()]).err().unwrap();
        assert!(told.contains("`lint`") && told.contains("clippy"), "{told}");
    }

    #[test]
    fn within_budget_is_well() {
        let verdict = SuiteVerdict::of(ended(true, 9, 0), 1.0, 2.0);
        assert!(verdict.well);
        assert_eq!(verdict.line, "ok       1.0 min of 2");
        assert_eq!(verdict.tally, TestCounts { passed: 9, failed: 0 });
    }

    #[test]
    fn over_budget_is_said_and_far_over_fails() {
        let slow = SuiteVerdict::of(ended(true, 9, 0), 5.0, 2.0);
        assert!(slow.well && slow.line.contains("OVER BUDGET (2.5 times)"), "{}", slow.line);
        let stuck = SuiteVerdict::of(ended(true, 9, 0), 6.1, 2.0);
        assert!(!stuck.well);
        assert_eq!(stuck.tally, TestCounts { passed: 9, failed: 1 });
    }

    #[test]
    fn a_suite_that_did_not_compile_counts_as_one_failure() {
        let verdict = SuiteVerdict::of(Ok(SuiteOutcome { succeeded: false, counted: None }), 1.0, 2.0);
        assert!(!verdict.well);
        assert_eq!(verdict.tally, TestCounts::FAILED);
    }

    #[test]
    fn failing_tests_are_not_counted_twice() {
        assert_eq!(SuiteVerdict::of(ended(false, 7, 2), 1.0, 2.0).tally, TestCounts { passed: 7, failed: 2 });
    }

    #[test]
    fn success_without_a_count_is_not_believed() {
        assert!(!SuiteVerdict::of(Ok(SuiteOutcome { succeeded: true, counted: None }), 1.0, 2.0).well);
    }
}
