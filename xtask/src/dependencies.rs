//! `cargo xtask dependencies`: checks the licences and the duplicate versions of the crates that we depend on.
//!
//! The licence of every crate counts, also of those for tests and for other platforms. Duplicate versions count only among the
//! crates that the binary `tulving` on Linux is built from. Both lists of exceptions fail when an entry is out of date.

mod licence;

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::finding::CheckFinding;
use crate::repository::Repository;

/// The licences of dependencies that code under `Apache-2.0 OR MIT` can be shipped with. Each of them asks for at most a notice.
/// A licence with conditions on the source (MPL, LGPL) or on the whole program (GPL) does not belong here.
const LICENCES: [&str; 7] = ["Apache-2.0", "BSD-3-Clause", "BSL-1.0", "ISC", "MIT", "Unicode-3.0", "Zlib"];

/// A crate that we take in spite of its licence.
struct LicenceException {
    name: &'static str,
    /// Its licence when the exception was made. The exception ends when the licence changes.
    licence: &'static str,
    reason: &'static str,
}

const LICENCE_EXCEPTIONS: [LicenceException; 1] = [LicenceException {
    name: "webpki-roots",
    licence: "CDLA-Permissive-2.0",
    reason: "it is data, the root certificates of Mozilla, and the licence asks only to pass on its text with the data",
}];

/// A crate that the binary has in several versions.
struct Duplicate {
    name: &'static str,
    /// The incompatible versions: `0.10` stands for all of 0.10.x, `2` for all of 2.x.
    versions: &'static [&'static str],
    reason: &'static str,
}

const DUPLICATES: [Duplicate; 5] = [
    Duplicate {
        name: "crypto-common",
        versions: &["0.1", "0.2"],
        reason: "each version of digest brings its own",
    },
    Duplicate {
        name: "digest",
        versions: &["0.10", "0.11"],
        reason: "crc-fast 1.10, which object_store uses, is still on 0.10; sha2 and md-5 are on 0.11",
    },
    Duplicate {
        name: "getrandom",
        versions: &["0.2", "0.4"],
        reason: "ring 0.17, which TLS uses, is still on 0.2; all others are on 0.4",
    },
    Duplicate {
        name: "spin",
        versions: &["0.9", "0.10"],
        reason: "multer 3.1 is still on 0.9; crc-fast, which object_store uses, is on 0.10",
    },
    Duplicate {
        name: "syn",
        versions: &["2", "3"],
        reason: "phf_macros (of hayro-font) and tracing-attributes are still on 2; it runs only while building",
    },
];

/// This file, for findings about its lists.
const LISTS: &str = "xtask/src/dependencies.rs";

/// Lists every crate in `Cargo.lock`, with its licence.
const METADATA: [&str; 4] = ["metadata", "--format-version", "1", "--locked"];

/// Lists the crates that the binary is built from. `cargo metadata` cannot say that: it also has optional crates that no
/// feature turns on.
const TREE: [&str; 12] = [
    "tree",
    "--locked",
    "--package",
    "tulving",
    "--edges",
    "normal,build",
    "--target",
    "x86_64-unknown-linux-gnu",
    "--prefix",
    "none",
    "--format",
    "{p}",
];

/// A crate that we depend on.
struct Dependency {
    name: String,
    version: String,
    licence: Option<String>,
}

/// Returns every crate with an incompatible licence, every unexpected duplicate, and every entry of the lists that is out of date.
pub(crate) fn check(repository: &Repository) -> Result<Vec<CheckFinding>> {
    let all = read_metadata(&output(&mut repository.cargo(&METADATA))?)?;
    let tree = output(&mut repository.cargo(&TREE))?;
    let mut findings = check_licences(&all, &LICENCE_EXCEPTIONS);
    findings.extend(check_duplicates(&read_tree(&tree), &DUPLICATES));
    Ok(findings)
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output().context("cargo could not be started")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo could not list the dependencies: {}", errors.trim());
    String::from_utf8(output.stdout).context("cargo printed something that is not UTF-8")
}

/// Reads what `cargo metadata` printed.
fn read_metadata(text: &str) -> Result<Vec<Dependency>> {
    let metadata: Value = serde_json::from_str(text).context("reading the output of cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    let read = |package: &Value| {
        let field = |name: &str| package[name].as_str().map(str::to_owned);
        Some(Dependency { name: field("name")?, version: field("version")?, licence: field("license") })
    };
    packages.iter().map(|package| read(package).context("a package without name or version")).collect()
}

/// Reads what `cargo tree` printed: the versions of each crate, such as `syn v2.0.119 (proc-macro)`.
fn read_tree(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in text.lines() {
        let mut words = line.split_whitespace();
        if let (Some(name), Some(version)) = (words.next(), words.next()) {
            versions.entry(name).or_default().insert(compatible(version.trim_start_matches('v')));
        }
    }
    versions
}

/// The part of a version that compatible versions share: `2` of 2.0.119, `0.10` of 0.10.7. Cargo never takes two compatible
/// versions of a crate.
fn compatible(version: &str) -> &str {
    let parts = version.split_inclusive('.');
    let zeros = parts.take_while(|part| *part == "0.").map(str::len).sum::<usize>();
    version[zeros..].find('.').map_or(version, |end| &version[..zeros + end])
}

fn check_licences(all: &[Dependency], exceptions: &[LicenceException]) -> Vec<CheckFinding> {
    let excepted = |dependency: &Dependency, exception: &LicenceException| {
        exception.name == dependency.name && dependency.licence.as_deref() == Some(exception.licence)
    };
    let refused: Vec<(&Dependency, String)> =
        all.iter().filter_map(|dependency| Some((dependency, objection(dependency)?))).collect();
    let mut findings: Vec<CheckFinding> = refused
        .iter()
        .filter(|(dependency, _)| !exceptions.iter().any(|exception| excepted(dependency, exception)))
        .map(|(dependency, objection)| {
            let text = format!("`{} {}` {objection}", dependency.name, dependency.version);
            CheckFinding::about("Cargo.lock", text)
        })
        .collect();
    for exception in exceptions {
        if !refused.iter().any(|(dependency, _)| excepted(dependency, exception)) {
            let text = format!(
                "the exception for `{}` under `{}` is no longer needed; remove it (its reason was: {})",
                exception.name, exception.licence, exception.reason
            );
            findings.push(CheckFinding::about(LISTS, text));
        }
    }
    findings
}

/// Returns the objection to the licence of a crate, if there is one.
fn objection(dependency: &Dependency) -> Option<String> {
    let Some(expression) = &dependency.licence else {
        return Some("names no licence; read it, then except the crate or replace it".to_owned());
    };
    match licence::allows(expression, &|licence| LICENCES.contains(&licence)) {
        Some(true) => None,
        Some(false) => Some(format!(
            "has the licence `{expression}`, which {LISTS} does not allow; replace the crate, or except it with a reason"
        )),
        None => Some(format!("has the licence `{expression}`, which is no SPDX expression")),
    }
}

fn check_duplicates(built: &BTreeMap<&str, BTreeSet<&str>>, expected: &[Duplicate]) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for (name, versions) in built {
        let listed = expected.iter().any(|duplicate| duplicate.name == *name);
        if versions.len() > 1 && !listed {
            let versions = versions.iter().copied().collect::<Vec<_>>().join(", ");
            let text = format!(
                "the binary would have `{name}` in several versions ({versions}); `cargo tree --duplicates` shows why. \
                 Choose versions that agree, or add it to the list in {LISTS} with a reason"
            );
            findings.push(CheckFinding::about("Cargo.lock", text));
        }
    }
    for duplicate in expected {
        let there = built.get(duplicate.name).cloned().unwrap_or_default();
        if there != duplicate.versions.iter().copied().collect() {
            let there = match there.len() {
                0 => "none".to_owned(),
                _ => there.into_iter().collect::<Vec<_>>().join(", "),
            };
            let text = format!(
                "`{}` is listed with the versions {}, but the binary has: {there}. Bring the list up to date (its \
                 reason was: {})",
                duplicate.name,
                duplicate.versions.join(", "),
                duplicate.reason
            );
            findings.push(CheckFinding::about(LISTS, text));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(findings: &[CheckFinding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    fn licences(crates: &[(&str, Option<&str>)], exceptions: &[LicenceException]) -> Vec<String> {
        let of = |(name, licence): &(&str, Option<&str>)| Dependency {
            name: (*name).to_owned(),
            version: "1.0.0".to_owned(),
            licence: licence.map(str::to_owned),
        };
        told(&check_licences(&crates.iter().map(of).collect::<Vec<_>>(), exceptions))
    }

    fn duplicates(tree: &str, expected: &[Duplicate]) -> Vec<String> {
        told(&check_duplicates(&read_tree(tree), expected))
    }

    const EXCEPTION: LicenceException =
        LicenceException { name: "roots", licence: "CDLA-Permissive-2.0", reason: "data" };
    const TWO_SYNS: Duplicate = Duplicate { name: "syn", versions: &["2", "3"], reason: "slow" };

    #[test]
    fn a_compatible_licence_is_fine() {
        assert_eq!(licences(&[("a", Some("MIT OR GPL-3.0-only")), ("b", Some("Apache-2.0"))], &[]), [""; 0]);
    }

    #[test]
    fn another_licence_is_named_with_its_crate() {
        let told = licences(&[("a", Some("MIT AND MPL-2.0")), ("b", None), ("c", Some("MIT OR"))], &[]);
        assert!(told[0].starts_with("Cargo.lock: `a 1.0.0` has the licence `MIT AND MPL-2.0`"), "{told:?}");
        assert!(told[1].contains("`b 1.0.0` names no licence"), "{told:?}");
        assert!(told[2].contains("`MIT OR`, which is no SPDX expression"), "{told:?}");
    }

    #[test]
    fn an_exception_is_for_one_crate_and_one_licence() {
        assert_eq!(licences(&[("roots", Some("CDLA-Permissive-2.0"))], &[EXCEPTION]), [""; 0]);
        let changed = licences(&[("roots", Some("MPL-2.0"))], &[EXCEPTION]);
        assert!(changed[0].contains("`MPL-2.0`") && changed[1].contains("no longer needed"), "{changed:?}");
        assert_eq!(
            licences(&[("other", Some("CDLA-Permissive-2.0")), ("roots", Some("MIT"))], &[EXCEPTION]).len(),
            2
        );
    }

    #[test]
    fn every_exception_has_a_reason() {
        assert!(LICENCE_EXCEPTIONS.iter().all(|exception| !exception.reason.is_empty()));
        assert!(DUPLICATES.iter().all(|duplicate| !duplicate.reason.is_empty()));
    }

    #[test]
    fn a_new_duplicate_is_named() {
        let told = duplicates("syn v2.0.1 (proc-macro)\nserde v1.0.2\nsyn v3.0.9 (*)\nsyn v3.0.9", &[]);
        assert_eq!(told.len(), 1);
        assert!(told[0].contains("`syn` in several versions (2, 3)"), "{told:?}");
    }

    #[test]
    fn a_listed_duplicate_is_fine_as_long_as_it_is_there() {
        assert_eq!(duplicates("syn v2.0.1\nsyn v3.0.9", &[TWO_SYNS]), [""; 0]);
        assert_eq!(duplicates("syn v2.7.0\nsyn v3.1.0", &[TWO_SYNS]), [""; 0]);
        assert!(
            duplicates("syn v3.0.9", &[TWO_SYNS])[0].contains("the binary has: 3. Bring the list up to date")
        );
        let gone = &duplicates("", &[TWO_SYNS])[0];
        assert!(gone.contains("has: none") && gone.contains("reason was: slow"), "{gone}");
    }

    #[test]
    fn a_third_version_is_not_covered() {
        assert!(duplicates("syn v1.0.0\nsyn v2.0.1\nsyn v3.0.9", &[TWO_SYNS])[0].contains("1, 2, 3"));
    }

    #[test]
    fn compatible_versions_are_one() {
        assert_eq!(compatible("2.0.119"), "2");
        assert_eq!(compatible("0.10.7"), "0.10");
        assert_eq!(compatible("0.0.6"), "0.0.6");
        assert_eq!(compatible("1.1.8+spec-1.1.0"), "1");
        assert_eq!(duplicates("a v1.0.0\na v1.2.0", &[]), [""; 0]);
    }

    #[test]
    fn metadata_without_packages_is_an_error() {
        assert!(read_metadata("{}").is_err() && read_metadata("").is_err());
        let text = r#"{"packages": [{"name": "a", "version": "1.0.0", "license": null}]}"#;
        assert!(read_metadata(text).unwrap()[0].licence.is_none());
    }
}
