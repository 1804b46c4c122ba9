//! `cargo xtask docs`: checks that the paths, links and tests named in the documents exist.
//!
//! Paths in backticks in the documents of the root and of `docs/` are looked up in the repository, [`links`] follows their
//! links, and the tests that `docs/seeds.md` and `docs/invariants.md` name are looked up by [`seeds`].

use anyhow::Result;

use crate::finding::CheckFinding;
use crate::markdown::spans;
use crate::repository::{Repository, SourceFile};
use crate::{links, seeds};

/// The documents of the root that have to be there and are checked.
const DOCUMENTS: [&str; 4] = ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md", "SECURITY.md"];

/// Prefixes that mark a span as a path of the repository.
const FOLDERS: [&str; 7] = ["crates/", "xtask/", "docs/", "benches/", "evals/", ".ci/", ".cargo/"];

/// Files of the root. Others, like `MEMORY.md`, may be those of a user's home.
const ROOT_FILES: [&str; 12] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "SECURITY.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Cargo.lock",
    "Cargo.toml",
    "clippy.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

/// Returns every path and test name in the documents that does not exist.
pub(crate) fn check(repository: &Repository) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    let guides = guides(repository, "docs")?;
    for file in DOCUMENTS.into_iter().map(str::to_owned).chain(guides) {
        if repository.exists(&file) {
            let document = repository.read(&file)?;
            findings.extend(check_paths(&document, &|path| repository.exists(path)));
            findings.extend(links::check(repository, &document)?);
        } else {
            findings.push(CheckFinding::about(&file, "the document is missing"));
        }
    }
    findings.extend(seeds::check(repository)?);
    Ok(findings)
}

/// The pages of a folder and its subfolders.
fn guides(repository: &Repository, folder: &str) -> Result<Vec<String>> {
    let mut guides = Vec::new();
    for name in repository.names_in(folder)? {
        let path = format!("{folder}/{name}");
        if name.ends_with(".md") {
            guides.push(path);
        } else if !name.contains('.') {
            guides.extend(self::guides(repository, &path)?);
        }
    }
    Ok(guides)
}

fn check_paths(document: &SourceFile, exists: &dyn Fn(&str) -> bool) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    for (line, span) in spans(&document.text) {
        let missing = paths(span).into_iter().filter(|path| !exists(path));
        findings.extend(
            missing.map(|path| CheckFinding::at(&document.file, line, format!("`{path}` does not exist"))),
        );
    }
    findings
}

/// The paths of the repository that a span names: none if it is something else, several if it contains `{a,b}`. A `*` or
/// `<name>` matches anything, so only the folder above it counts.
fn paths(span: &str) -> Vec<String> {
    let is_ours = FOLDERS.iter().any(|folder| span.starts_with(folder)) || ROOT_FILES.contains(&span);
    if !is_ours || span.contains(char::is_whitespace) {
        return Vec::new();
    }
    // `file.rs:12` names a line.
    let path = span.split(':').next().unwrap_or(span);
    alternatives(path).iter().map(|path| certain_part(path).to_owned()).collect()
}

fn alternatives(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(head, rest)| Some((head, rest.split_once('}')?)));
    let Some((head, (choices, tail))) = parts else {
        return vec![path.to_owned()];
    };
    choices.split(',').flat_map(|choice| alternatives(&format!("{head}{}{tail}", choice.trim()))).collect()
}

fn certain_part(path: &str) -> &str {
    let Some(wild) = path.find(['*', '<', '…']) else {
        return path;
    };
    path[..wild].rfind('/').map_or("", |end| &path[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let document = SourceFile { file: "README.md".to_owned(), text: text.to_owned() };
        let there = ["crates/tulving/src/main.rs", "crates/tulving/src", "docs/seeds.md", "CHANGELOG.md"];
        check_paths(&document, &|path| there.contains(&path)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn paths_that_exist_are_fine() {
        assert_eq!(told("See `docs/seeds.md` and `crates/tulving/src/main.rs:12`, `CHANGELOG.md`."), [""; 0]);
    }

    #[test]
    fn a_path_that_leads_nowhere_is_named_with_its_line() {
        assert_eq!(told("first\nsee `docs/seed.md`"), ["README.md:2: `docs/seed.md` does not exist"]);
        assert_eq!(told("`Cargo.toml`"), ["README.md:1: `Cargo.toml` does not exist"]);
    }

    #[test]
    fn other_words_are_left_alone() {
        assert_eq!(told("`MEMORY.md`, `groups/{name}/`, `cargo xtask docs`, `a/b`, `docs/x y`"), [""; 0]);
        assert_eq!(told("```\n`docs/nowhere.md`\n```"), [""; 0]);
    }

    #[test]
    fn braces_are_spread_out() {
        assert_eq!(
            told("`crates/tulving/src/{main,print}.rs`"),
            ["README.md:1: `crates/tulving/src/print.rs` does not exist"]
        );
    }

    #[test]
    fn a_pattern_needs_its_folder() {
        assert_eq!(told("`crates/tulving/src/*.rs` `crates/tulving/src/<verb>.rs`"), [""; 0]);
        assert_eq!(told("`crates/gone/src/*.rs`"), ["README.md:1: `crates/gone/src` does not exist"]);
    }
}
