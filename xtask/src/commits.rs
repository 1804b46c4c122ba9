//! `cargo xtask commits`: checks the subjects of new commits.
//!
//! A subject has 1 to 72 characters, no full stop at its end, and is in the imperative. A program cannot recognise the imperative,
//! so only frequent wrong forms are found. Merges are not checked, and neither is a copy without the history.

use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::finding::CheckFinding;
use crate::repository::Repository;

/// Commits after this one are checked. It is older than the check: 208 of the 523 subjects up to it are too long, and history is
/// not rewritten.
const BASE: &str = "df9580f837c9cc15abe76dd323ddd2116d73af54";

/// The limit in `CONTRIBUTING.md`. With the four columns that `git log` puts before it, a subject fits a line of 80.
const MAX_CHARACTERS: usize = 72;

/// Forms of frequent verbs that are not the imperative.
const WRONG_FORMS: [[&str; 3]; 17] = [
    ["added", "adds", "adding"],
    ["allowed", "allows", "allowing"],
    ["changed", "changes", "changing"],
    ["corrected", "corrects", "correcting"],
    ["created", "creates", "creating"],
    ["deleted", "deletes", "deleting"],
    ["dropped", "drops", "dropping"],
    ["fixed", "fixes", "fixing"],
    ["implemented", "implements", "implementing"],
    ["improved", "improves", "improving"],
    ["introduced", "introduces", "introducing"],
    ["made", "makes", "making"],
    ["moved", "moves", "moving"],
    ["removed", "removes", "removing"],
    ["renamed", "renames", "renaming"],
    ["replaced", "replaces", "replacing"],
    ["updated", "updates", "updating"],
];

/// Returns every new commit with a wrong subject. If the new commits cannot be distinguished from the others, prints the
/// reason and returns nothing.
pub(crate) fn check(repository: &Repository) -> Result<Vec<CheckFinding>> {
    let git = |arguments: &[&str]| git(repository, arguments);
    let Ok(shallow) = git(&["rev-parse", "--is-shallow-repository"]) else {
        println!("commits are not checked: this is not a git repository, or git is not installed");
        return Ok(Vec::new());
    };
    if git(&["merge-base", "--is-ancestor", BASE, "HEAD"]).is_err() {
        let reason = if shallow.trim() == "true" { "the clone is shallow" } else { "it is another history" };
        println!("commits are not checked: the base {} is not among them ({reason})", &BASE[..8]);
        return Ok(Vec::new());
    }
    let log = git(&["log", "--no-merges", "--format=%h %s", &format!("{BASE}..HEAD")])?;
    Ok(log.lines().flat_map(check_line).collect())
}

fn git(repository: &Repository, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(repository.path(""))
        .output()
        .context("git could not be started")?;
    if !output.status.success() {
        bail!("git {} failed: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Checks a line of the log: the short id of a commit and its subject.
fn check_line(line: &str) -> Vec<CheckFinding> {
    let (id, subject) = line.split_once(' ').unwrap_or((line, ""));
    let about = |text| CheckFinding::about(&format!("commit {id}"), text);
    objections(subject).into_iter().map(about).collect()
}

fn objections(subject: &str) -> Vec<String> {
    let mut objections = Vec::new();
    if subject.trim().is_empty() {
        objections.push("the subject is empty".to_owned());
    }
    let length = subject.chars().count();
    if length > MAX_CHARACTERS {
        objections.push(format!("the subject has {length} characters; at most {MAX_CHARACTERS} are allowed"));
    }
    if subject.ends_with('.') {
        objections.push("the subject ends with a full stop; remove it".to_owned());
    }
    if let Some(wrong) = wrong_form(subject) {
        objections
            .push(format!("the subject begins with `{wrong}`; use the imperative, such as `Add` or `Fix`"));
    }
    objections
}

/// The first word of the subject, or of the part after `area: `, if it is a wrong form of a verb. An area has at most two words, so
/// that a colon in a sentence does not make one.
fn wrong_form(subject: &str) -> Option<&str> {
    let is_area = |text: &str| text.split_whitespace().count() <= 2;
    let after_area = subject.split_once(": ").filter(|(area, _)| is_area(area)).map(|(_, rest)| rest);
    [Some(subject), after_area]
        .into_iter()
        .flatten()
        .filter_map(|text| text.split(|c: char| !c.is_alphabetic()).next())
        .find(|word| WRONG_FORMS.as_flattened().contains(&word.to_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_good_subject_is_fine() {
        for subject in [
            "Add the command `undo`",
            "recall: rank the newer of two competing values first",
            "docs: describe additions, changes and fixes",
            "Address warnings of clippy",
            "Say what a receipt has: changes and their reasons",
        ] {
            assert_eq!(objections(subject), [""; 0], "{subject}");
        }
        assert_eq!(objections(&"ä".repeat(72)), [""; 0]);
    }

    #[test]
    fn a_long_subject_is_named_with_its_commit() {
        let told: Vec<String> =
            check_line(&format!("abc1234 {}", "x".repeat(73))).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["commit abc1234: the subject has 73 characters; at most 72 are allowed"]);
    }

    #[test]
    fn an_empty_subject_is_found() {
        for line in ["abc1234 ", "abc1234"] {
            assert_eq!(check_line(line)[0].text, "the subject is empty");
        }
    }

    #[test]
    fn a_full_stop_at_the_end_is_found() {
        assert_eq!(objections("Read .gitignore.").len(), 1);
        assert_eq!(objections("Read .gitignore"), [""; 0]);
    }

    #[test]
    fn frequent_wrong_forms_are_found_also_after_an_area() {
        for (subject, wrong) in [
            ("Added a test", "Added"),
            ("Fixes, and a test", "Fixes"),
            ("recall: adding a test", "adding"),
            ("docs/http.md: Updated the list", "Updated"),
        ] {
            assert!(objections(subject)[0].contains(&format!("`{wrong}`")), "{subject}");
        }
    }
}
