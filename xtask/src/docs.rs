//! `cargo xtask docs`: what the documents name exists.
//!
//! Paths in backticks in the documents of the root and of `docs/` are looked up in the repository, [`links`] follows what they
//! link to, and the tests that `docs/seeds.md` and `docs/invariants.md` name are looked up by [`seeds`].

use anyhow::Result;

use crate::finding::Finding;
use crate::repository::{Repository, Source};
use crate::{links, seeds};

/// The documents of the root that have to be there and are checked.
const DOCUMENTS: [&str; 3] = ["ARCHITECTURE.md", "README.md", "CONTRIBUTING.md"];

/// What begins like this is a path of the repository.
const FOLDERS: [&str; 7] = ["crates/", "xtask/", "docs/", "benches/", "evals/", ".ci/", ".cargo/"];

/// Files of the root. Others, like `MEMORY.md`, may be those of a user's home.
const ROOT_FILES: [&str; 11] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Cargo.lock",
    "Cargo.toml",
    "clippy.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

/// Every path and every test name in the documents that leads nowhere.
pub(crate) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let guides = guides(repository, "docs")?;
    for file in DOCUMENTS.into_iter().map(str::to_owned).chain(guides) {
        if repository.exists(&file) {
            let document = repository.read(&file)?;
            findings.extend(check_paths(&document, &|path| repository.exists(path)));
            findings.extend(links::check(repository, &document)?);
        } else {
            findings.push(Finding::about(&file, "the document is missing"));
        }
    }
    findings.extend(seeds::check(repository)?);
    Ok(findings)
}

/// The pages of a folder and of those beneath it.
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

fn check_paths(document: &Source, exists: &dyn Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (line, span) in spans(&document.text) {
        let missing = paths(span).into_iter().filter(|path| !exists(path));
        findings.extend(
            missing.map(|path| Finding::at(&document.file, line, format!("`{path}` does not exist"))),
        );
    }
    findings
}

/// The lines outside of fenced blocks, with their numbers.
pub(crate) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

/// What stands between single backticks, with its line.
pub(crate) fn spans(text: &str) -> impl Iterator<Item = (usize, &str)> {
    prose(text).flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(move |span| (number, span)))
}

/// The paths of the repository that a span stands for: none when it is something else, several when
/// it has `{a,b}` in it. A `*` or `<name>` stands for anything, so only the folder above it counts.
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
        let document = Source { file: "README.md".to_owned(), text: text.to_owned() };
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
