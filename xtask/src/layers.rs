//! `cargo xtask layers`: arrows between crates and between modules point inward.
//!
//! Three rules, each in a file of its own: which crate may depend on which ([`crates`]), which module of
//! `tulving-core` may use which ([`modules`]), and what the crates without I/O may not name ([`reach`]).
//! What is marked `#[cfg(test)]` is free, as dev-dependencies are.

mod crates;
mod modules;
mod reach;

use anyhow::Result;

use crate::finding::Finding;
use crate::repository::Repository;

/// Everything in the repository that breaks one of the three rules.
pub(crate) fn check(repository: &Repository) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for folder in repository.names_in("crates")? {
        findings.extend(crates::check(&repository.read(&format!("crates/{folder}/Cargo.toml"))?)?);
    }
    for name in reach::CLOSED {
        let source = format!("crates/{name}/src");
        findings.extend(repository.rust_files(&source)?.iter().flat_map(reach::check));
    }
    findings.extend(modules::check(&repository.rust_files(modules::FOLDER)?));
    Ok(findings)
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
}
