//! `cargo xtask layers`: checks that crates and modules depend only on those further inside.
//!
//! Five rules, each in its own file: the allowed dependencies between crates ([`crates`]), the allowed
//! uses between modules of `tulving-core` ([`modules`]), no cycles between the modules of the other crates
//! ([`cycles`]), the names that crates without I/O may not use ([`reach`]), and unique names of types
//! ([`names`]). Tests and dev-dependencies are not checked ([`shipped`]).

mod crates;
mod cycles;
mod modules;
mod names;
mod reach;
mod shipped;
mod uses;

use anyhow::Result;

use crate::finding::CheckFinding;
use crate::repository::Repository;

/// Returns every violation of the five rules in the repository.
pub(crate) fn check(repository: &Repository) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for member in members(repository)? {
        findings.extend(crates::check(&repository.read(&format!("{member}/Cargo.toml"))?)?);
        let name = member.trim_start_matches("crates/");
        let folder = format!("{member}/src");
        let files = shipped::read(&repository.rust_files(&folder)?);
        if reach::CLOSED.contains(&name) {
            findings.extend(files.iter().flat_map(reach::check));
        }
        if folder == modules::FOLDER {
            findings.extend(modules::check(&files));
        }
        if cycles::CHECKED.contains(&name) {
            findings.extend(cycles::check(&folder, &files));
        }
        for (nested, root) in cycles::FOLDERS.iter().filter(|(nested, _)| nested.starts_with(&folder)) {
            findings.extend(cycles::check_folder(nested, root, &files));
        }
        if names::CHECKED.contains(&name) {
            findings.extend(names::check(&files));
        }
    }
    Ok(findings)
}

/// The folders of the crates in the workspace.
fn members(repository: &Repository) -> Result<Vec<String>> {
    let crates = repository.names_in("crates")?.into_iter().map(|name| format!("crates/{name}"));
    Ok(crates.chain(["xtask".to_owned()]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_keeps_its_layers() {
        let findings = check(&Repository::of_this_crate().unwrap()).unwrap();
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert!(told.is_empty(), "{}", told.join("\n"));
    }

    #[test]
    fn the_lists_name_crates_and_folders_that_exist() {
        let repository = Repository::of_this_crate().unwrap();
        for (folder, _) in cycles::FOLDERS {
            assert!(!repository.rust_files(folder).unwrap().is_empty(), "there is no code in `{folder}`");
        }
        let members = members(&repository).unwrap();
        for name in reach::CLOSED.iter().chain(cycles::CHECKED).chain(names::CHECKED) {
            assert!(
                members.iter().any(|known| known.trim_start_matches("crates/") == *name),
                "there is no crate `{name}`"
            );
        }
    }
}
