//! Counts of passed and failed tests, read from what the test runners print.

use std::ops::AddAssign;

/// Numbers of passed and failed tests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TestCounts {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl TestCounts {
    pub(crate) const PASSED: Self = Self { passed: 1, failed: 0 };
    pub(crate) const FAILED: Self = Self { passed: 0, failed: 1 };
}

impl AddAssign for TestCounts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

/// Reads the last `Summary [ 1.2s] 5 tests run: 4 passed (1 slow), 1 failed, 0 skipped` of nextest, or
/// returns `None` if it did not get that far. A test that neither passed nor was skipped has failed.
pub(crate) fn of_nextest(output: &str) -> Option<TestCounts> {
    let summary = output.lines().rev().find(|line| line.trim_start().starts_with("Summary ["))?;
    let (_, counts) = summary.split_once("run:")?;
    let mut tally = TestCounts::default();
    for part in without_brackets(counts).split(',') {
        let Some((count, what)) = part.trim().split_once(' ') else {
            continue;
        };
        let count: usize = count.parse().ok()?;
        match what.trim() {
            "passed" => tally.passed += count,
            "skipped" => {}
            _ => tally.failed += count,
        }
    }
    Some(tally)
}

/// Adds up every `test result: ok. 3 passed; 0 failed; …` of the standard test harness, or returns
/// `None` if there is none.
pub(crate) fn of_libtest(output: &str) -> Option<TestCounts> {
    let mut total = None;
    for line in output.lines().filter(|line| line.starts_with("test result: ")) {
        let count = |what: &str| {
            let words: Vec<&str> = line.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
            let at = words.iter().position(|word| *word == what)?;
            words[..at].last()?.parse().ok()
        };
        *total.get_or_insert_default() += TestCounts { passed: count("passed")?, failed: count("failed")? };
    }
    total
}

/// Adds up the last lines of our scripts, such as `31 passed, 0 failed`, or returns `None` if there is
/// none.
pub(crate) fn of_scripts(output: &str) -> Option<TestCounts> {
    let count = |line: &str| {
        let (passed, failed) = line.strip_suffix(" failed")?.split_once(" passed, ")?;
        Some(TestCounts { passed: passed.parse().ok()?, failed: failed.parse().ok()? })
    };
    let mut total = None;
    for tally in output.lines().filter_map(count) {
        *total.get_or_insert_default() += tally;
    }
    total
}

fn without_brackets(text: &str) -> String {
    let mut depth = 0_usize;
    text.chars()
        .filter(|c| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_what_scripts_say_last() {
        let said = "FAILED one: why\n30 passed, 1 failed\nTotal: 5 passed, 5 failed\n7 passed, 0 failed\n";
        assert_eq!(of_scripts(said), Some(TestCounts { passed: 37, failed: 1 }));
        assert_eq!(of_scripts("it broke"), None);
    }

    #[test]
    fn reads_a_clean_nextest_summary() {
        let output =
            "   PASS [0.1s] a b\n------\n     Summary [   0.123s] 5 tests run: 5 passed, 2 skipped\n";
        assert_eq!(of_nextest(output), Some(TestCounts { passed: 5, failed: 0 }));
    }

    #[test]
    fn counts_every_way_to_fail() {
        let output = "  Summary [ 9.1s] 9/9 tests run: 5 passed (1 slow, 1 leaky), 2 failed, 1 timed out, 1 exec failed, 0 skipped";
        assert_eq!(of_nextest(output), Some(TestCounts { passed: 5, failed: 4 }));
    }

    #[test]
    fn no_summary_is_no_count() {
        assert_eq!(of_nextest("error: could not compile"), None);
        assert_eq!(of_libtest("error: could not compile"), None);
    }

    #[test]
    fn adds_up_libtest_results() {
        let output = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
                      test a ... FAILED\n\
                      test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out";
        assert_eq!(of_libtest(output), Some(TestCounts { passed: 7, failed: 2 }));
    }
}
