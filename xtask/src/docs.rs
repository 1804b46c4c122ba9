//! `cargo xtask docs`: checks that the paths, links and tests named in the documents exist.
//!
//! Paths in backticks in the documents of the root, of `docs/` and next to the tests are looked up in the repository, and
//! [`links`] follows their links. Every page of `docs/` has to be in its index. [`seeds`] looks up the tests that
//! `crates/tulving/tests/seeds.md` and `docs/invariants.md` name.

use anyhow::Result;

use crate::finding::CheckFinding;
use crate::markdown::spans;
use crate::repository::{Repository, SourceFile};
use crate::{links, seeds};

/// The documents outside of `docs/` that have to be there and are checked.
const DOCUMENTS: [&str; 6] = [
    "ARCHITECTURE.md",
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "crates/tulving/tests/clients/README.md",
    seeds::TABLE,
];

/// The page that lists all pages of `docs/`.
const INDEX: &str = "docs/README.md";

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
    findings.extend(unlisted(&repository.read(INDEX)?, &guides));
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

/// Returns every page that the index does not link to.
fn unlisted(index: &SourceFile, pages: &[String]) -> Vec<CheckFinding> {
    let links_to = |page: &str| {
        let target = page.strip_prefix("docs/").unwrap_or(page);
        page == INDEX || index.text.contains(&format!("]({target})"))
    };
    let missing = pages.iter().filter(|page| !links_to(page));
    missing.map(|page| CheckFinding::about(&index.file, format!("there is no link to `{page}`"))).collect()
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
        let there = ["crates/tulving/src/main.rs", "crates/tulving/src", "docs/mcp.md", "CHANGELOG.md"];
        check_paths(&document, &|path| there.contains(&path)).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_page_that_the_index_does_not_list_is_named() {
        let text = "[a](a.md), [b](dialects/b.md)".to_owned();
        let index = SourceFile { file: INDEX.to_owned(), text };
        let pages = [INDEX, "docs/a.md", "docs/dialects/b.md", "docs/c.md"].map(str::to_owned);
        let told: Vec<String> = unlisted(&index, &pages).iter().map(ToString::to_string).collect();
        assert_eq!(told, ["docs/README.md: there is no link to `docs/c.md`"]);
    }

    #[test]
    fn paths_that_exist_are_fine() {
        assert_eq!(told("See `docs/mcp.md` and `crates/tulving/src/main.rs:12`, `CHANGELOG.md`."), [""; 0]);
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
