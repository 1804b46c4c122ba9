//! Reads `crates/tulving/tests/seeds.md` and `docs/invariants.md` and looks up the tests that they name.
//!
//! Each row of `seeds.md` is one statement of a seed. Its last cell names the tests that prove the statement, as
//! `crate::module::test_name` in backticks; the cell is empty if these tests do not exist yet. Findings are: a name
//! without a test, a number used twice, and a row without four cells. `invariants.md` names tests, or modules of tests.

use std::collections::BTreeMap;

use anyhow::Result;

use crate::finding::CheckFinding;
use crate::markdown::spans;
use crate::repository::{Repository, SourceFile};
use crate::source::{code_only, has_test};

/// The statements of the seeds, next to the tests that prove them.
pub(crate) const TABLE: &str = "crates/tulving/tests/seeds.md";
/// Names a test, or a whole module of tests, next to each invariant.
const GUARDS: &str = "docs/invariants.md";

/// Returns the mistakes in the table of the seeds.
pub(crate) fn check(repository: &Repository) -> Result<Vec<CheckFinding>> {
    let mut sources = Vec::new();
    for folder in repository.names_in("crates")? {
        sources.extend(repository.rust_files(&format!("crates/{folder}"))?);
    }
    sources.extend(repository.rust_files("xtask")?);
    let codes: CodeByPath =
        sources.into_iter().map(|source| (source.file, code_only(&source.text))).collect();
    let mut findings = check_table(&repository.read(TABLE)?, &codes);
    findings.extend(check_guards(&repository.read(GUARDS)?, &codes));
    Ok(findings)
}

/// Returns every named guard that is neither a test nor a module of tests.
fn check_guards(document: &SourceFile, codes: &CodeByPath) -> Vec<CheckFinding> {
    let guards = spans(&document.text).filter(|(_, span)| {
        let package = span.split_once("::").map(|(package, _)| package);
        package.is_some_and(|package| package.starts_with("tulving") || package == "xtask")
    });
    guards
        .filter(|(_, name)| !exists(name, codes) && !has_tests(name, codes))
        .map(|(line, name)| {
            CheckFinding::at(&document.file, line, format!("there is no test or module of tests `{name}`"))
        })
        .collect()
}

/// Returns true if a path leads to a module with tests in it.
fn has_tests(name: &str, codes: &CodeByPath) -> bool {
    let Some((package, module)) = name.split_once("::") else { return false };
    let files = files(&folder(package), &module.replace("::", "/"));
    files.iter().filter_map(|file| codes.get(file)).any(|code| code.contains("#[test]"))
}

/// The code of each file of the workspace, by its path.
type CodeByPath = BTreeMap<String, String>;

/// The number of a row and the cell that names its tests.
struct TestTableRow<'a> {
    line: usize,
    number: &'a str,
    proof: &'a str,
}

fn check_table(table: &SourceFile, codes: &CodeByPath) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows(&table.text) {
        let TestTableRow { line, number, proof } = match row {
            Ok(row) => row,
            Err(line) => {
                findings.push(CheckFinding::at(
                    &table.file,
                    line,
                    "a row has four cells: `|` inside one is written `\\|`",
                ));
                continue;
            }
        };
        if let Some(first) = seen.insert(number, line) {
            findings.push(CheckFinding::at(
                &table.file,
                line,
                format!("the number {number} is taken by line {first}"),
            ));
        }
        let between = proof.split('`').step_by(2);
        if between.flat_map(str::chars).any(|c| c != ',' && !c.is_whitespace()) {
            findings.push(CheckFinding::at(
                &table.file,
                line,
                "the last cell holds test names in backticks, nothing else",
            ));
        }
        for (_, name) in spans(proof) {
            if !exists(name, codes) {
                findings.push(CheckFinding::at(&table.file, line, format!("there is no test `{name}`")));
            }
        }
    }
    findings
}

/// The rows of all tables in the text, without their heads. A line without four cells is returned as its number.
fn rows(text: &str) -> impl Iterator<Item = Result<TestTableRow<'_>, usize>> {
    text.lines().enumerate().filter(|(_, line)| line.starts_with('|')).filter_map(|(at, line)| {
        let cells = cells(line);
        let [number, _, _, proof] = cells[..] else {
            return Some(Err(at + 1));
        };
        let is_head = number == "#" || number.starts_with("--") || number.starts_with(":-");
        (!is_head).then_some(Ok(TestTableRow { line: at + 1, number, proof }))
    })
}

/// The cells of a row, trimmed. `\|` does not end a cell.
fn cells(line: &str) -> Vec<&str> {
    let row = line.trim().trim_start_matches('|');
    let mut cells = Vec::new();
    let mut start = 0;
    for (at, _) in row.match_indices('|') {
        if !row[..at].ends_with('\\') {
            cells.push(row[start..at].trim());
            start = at + 1;
        }
    }
    cells
}

/// Returns true if `crate::module::test_name` leads to a test. The `tests` module of a file, at its end or in its own file,
/// may be named or left out.
fn exists(name: &str, codes: &CodeByPath) -> bool {
    let mut parts: Vec<&str> = name.split("::").collect();
    let Some(test) = parts.pop().filter(|test| !test.is_empty()) else {
        return false;
    };
    if parts.len() > 1 && parts.last() == Some(&"tests") {
        parts.pop();
    }
    let Some((package, modules)) = parts.split_first() else {
        return false;
    };
    files(&folder(package), &modules.join("/"))
        .iter()
        .filter_map(|file| codes.get(file))
        .any(|code| has_test(code, test))
}

/// The folder of a crate.
fn folder(package: &str) -> String {
    if package == "xtask" { "xtask".to_owned() } else { format!("crates/{package}") }
}

/// The files that may contain a module.
fn files(folder: &str, module: &str) -> Vec<String> {
    if module.is_empty() {
        return ["lib", "main"].map(|root| format!("{folder}/src/{root}.rs")).to_vec();
    }
    let mut files = Vec::new();
    for root in ["src", "tests"] {
        files.extend(["", "/mod", "/main", "/tests"].map(|end| format!("{folder}/{root}/{module}{end}.rs")));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(rows: &str) -> Vec<String> {
        let text = format!("# Title\n| # | What | We chose | Proved by |\n|---|---|---|---|\n{rows}");
        let code = "#[test]\nfn one() {}\nfn helper() {}".to_owned();
        let files = [
            "crates/tulving-core/src/text/normalize.rs",
            "crates/tulving/tests/it/cli.rs",
            "xtask/src/docs.rs",
        ];
        let codes = files.map(|file| (file.to_owned(), code.clone())).into();
        let table = SourceFile { file: TABLE.to_owned(), text };
        check_table(&table, &codes).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn seeds_table_names_existing_tests() {
        let findings = check(&Repository::of_this_crate().unwrap()).unwrap();
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(told.is_empty(), "{}", told.join("\n"));
    }

    #[test]
    fn names_that_lead_to_a_test_are_fine() {
        assert_eq!(told("| M1 | a | b | `tulving-core::text::normalize::one` |"), [""; 0]);
        assert_eq!(told("| M1 | a | b | `tulving::it::cli::one`, `xtask::docs::one` |"), [""; 0]);
        assert_eq!(told("| M1 | a | b | `tulving-core::text::normalize::tests::one` |"), [""; 0]);
        assert_eq!(told("| M1 | a \\| b | | |"), [""; 0]);
    }

    #[test]
    fn a_name_that_leads_nowhere_is_told_with_file_and_line() {
        assert_eq!(
            told("| M1 | a | b | |\n| M2 | a | b | `tulving::it::cli::two` |"),
            ["crates/tulving/tests/seeds.md:5: there is no test `tulving::it::cli::two`"]
        );
        assert_eq!(told("| M1 | a | b | `tulving::it::cli::helper` |").len(), 1);
        assert_eq!(told("| M1 | a | b | `tulving::it::gone::one` |").len(), 1);
        assert_eq!(told("| M1 | a | b | `one` |").len(), 1);
    }

    #[test]
    fn prose_is_no_proof() {
        assert_eq!(
            told("| M1 | a | b | by hand |"),
            ["crates/tulving/tests/seeds.md:4: the last cell holds test names in backticks, nothing else"]
        );
    }

    #[test]
    fn a_number_is_given_once() {
        assert_eq!(
            told("| M1 | a | b | |\n| M1 | a | b | |"),
            ["crates/tulving/tests/seeds.md:5: the number M1 is taken by line 4"]
        );
    }

    #[test]
    fn a_row_of_another_width_is_told() {
        assert_eq!(
            told("| M1 | a | b | c | |"),
            ["crates/tulving/tests/seeds.md:4: a row has four cells: `|` inside one is written `\\|`"]
        );
    }

    #[test]
    fn guards_are_tests_or_modules_of_tests() {
        let code = "#[test]\nfn one() {}".to_owned();
        let codes = [("crates/tulving/tests/it/crash.rs".to_owned(), code)].into();
        let text = "`tulving::it::crash` `tulving::it::crash::one` `tulving::it::gone` `tulving::it::crash::two` `a::b`";
        let document = SourceFile { file: GUARDS.to_owned(), text: text.to_owned() };
        let told: Vec<String> = check_guards(&document, &codes).iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].contains("tulving::it::gone") && told[1].contains("tulving::it::crash::two"),
            "{told:?}"
        );
    }
}
