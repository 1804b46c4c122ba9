//! Which backends there are, and which of them is written to.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::backend::BackendRole;
use crate::error::RegistryError;
use crate::limits;
use crate::ports::Backend;

/// Where a backend keeps its memories.
#[derive(Clone)]
pub enum Keeps {
    /// In the store of this home.
    BuiltIn,
    /// Elsewhere.
    Elsewhere(Arc<dyn Backend>),
}

/// A backend that is set up.
#[derive(Clone)]
pub struct BackendEntry {
    /// What it is called.
    pub name: String,
    /// Whether it is written to.
    pub role: BackendRole,
    /// How long an answer may take. The built-in one takes as long as it needs.
    pub within: Duration,
    /// Where its memories are.
    pub keeps: Keeps,
}

/// The backends that are set up: exactly one primary, and any number of secondaries.
pub struct Backends {
    primary: BackendEntry,
    secondaries: Vec<BackendEntry>,
}

impl Backends {
    /// The registry of these backends; the secondaries keep their order. Refused as [`check`](Self::check) says.
    pub fn new(entries: Vec<BackendEntry>) -> Result<Self, RegistryError> {
        Self::check(entries.iter().map(|entry| (entry.name.as_str(), entry.role)))?;
        let (primaries, secondaries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.role == BackendRole::Primary);
        let primary = primaries.into_iter().next().expect("there is exactly one, as was checked");
        Ok(Self { primary, secondaries })
    }

    /// Refuses names that are none or are given twice, and any number of primaries but one.
    pub fn check<'a>(
        entries: impl Iterator<Item = (&'a str, BackendRole)> + Clone,
    ) -> Result<(), RegistryError> {
        let mut names = HashSet::new();
        for (name, _) in entries.clone() {
            if !is_name(name) {
                let got = crate::preview::short(name);
                return Err(RegistryError::BadName { got, limit: limits::NAME_CHARS });
            }
            if !names.insert(name) {
                return Err(RegistryError::Twice { name: name.to_owned() });
            }
        }
        let owned = |(name, _): (&str, BackendRole)| name.to_owned();
        let primaries: Vec<String> =
            entries.clone().filter(|(_, role)| *role == BackendRole::Primary).map(owned).collect();
        match primaries.len() {
            1 => Ok(()),
            0 => Err(RegistryError::NoPrimary { names: entries.map(owned).collect() }),
            _ => Err(RegistryError::SeveralPrimaries { names: primaries }),
        }
    }

    /// The one that is written to.
    pub const fn primary(&self) -> &BackendEntry {
        &self.primary
    }

    /// All of them: the primary, then the secondaries in their order.
    pub fn all(&self) -> Vec<&BackendEntry> {
        std::iter::once(&self.primary).chain(&self.secondaries).collect()
    }

    /// Whether the built-in one is among them.
    pub(crate) fn has_built_in(&self) -> bool {
        self.all().iter().any(|entry| matches!(entry.keeps, Keeps::BuiltIn))
    }

    /// Whether the built-in one is all there is.
    pub(crate) fn is_plain(&self) -> bool {
        self.secondaries.is_empty() && matches!(self.primary.keeps, Keeps::BuiltIn)
    }
}

fn is_name(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (1..=limits::NAME_CHARS).contains(&name.len()) && name.chars().all(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    use BackendRole::{Primary, Secondary};

    fn check(entries: &[(&str, BackendRole)]) -> Result<(), String> {
        Backends::check(entries.iter().copied()).map_err(|error| error.to_string())
    }

    #[test]
    fn exactly_one_backend_is_primary() {
        assert_eq!(check(&[("a", Secondary), ("b", Primary), ("c", Secondary)]), Ok(()));
        let none = "no backend is primary: a, b; exactly one must be";
        assert_eq!(check(&[("a", Secondary), ("b", Secondary)]), Err(none.to_owned()));
        let two = "2 backends are primary: a, c; exactly one must be";
        assert_eq!(check(&[("a", Primary), ("b", Secondary), ("c", Primary)]), Err(two.to_owned()));
    }

    #[test]
    fn every_backend_has_a_name_of_its_own() {
        let twice = "two backends are named `a`";
        assert_eq!(check(&[("a", Primary), ("a", Secondary)]), Err(twice.to_owned()));
        let long = "x".repeat(limits::NAME_CHARS + 1);
        for wrong in ["", " ", "a b", "a\n", "ä", &long] {
            let said = check(&[(wrong, Primary)]).expect_err(wrong);
            assert!(said.starts_with("a backend is named"), "{said}");
        }
    }
}
