//! The registry of backends and their roles.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use crate::model::backend::BackendRole;
use crate::model::error::RegistryError;
use crate::model::limits;
use crate::ports::Backend;

/// The location of a backend's memories.
#[derive(Clone)]
pub enum BackendLocation {
    /// The store of this home.
    BuiltIn,
    /// An external backend.
    Elsewhere(Arc<dyn Backend>),
}

/// A configured backend.
#[derive(Clone)]
pub struct BackendEntry {
    /// The name of the backend.
    pub name: String,
    /// The role of the backend.
    pub role: BackendRole,
    /// Timeout for an answer. The built-in backend has no timeout.
    pub within: Duration,
    /// The location of the backend's memories.
    pub keeps: BackendLocation,
}

/// The configured backends: exactly one primary, and any number of secondaries.
pub struct Backends {
    primary: BackendEntry,
    secondaries: Vec<BackendEntry>,
}

impl Backends {
    /// Creates the registry. The secondaries keep their order. Returns the errors of [`check`](Self::check).
    pub fn new(entries: Vec<BackendEntry>) -> Result<Self, RegistryError> {
        Self::check(entries.iter().map(|entry| (entry.name.as_str(), entry.role)))?;
        let (primaries, secondaries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| entry.role == BackendRole::Primary);
        let primary = primaries.into_iter().next().expect("there is exactly one, as was checked");
        Ok(Self { primary, secondaries })
    }

    /// Refuses invalid or repeated names, and a number of primaries other than one.
    pub fn check<'a>(
        entries: impl Iterator<Item = (&'a str, BackendRole)> + Clone,
    ) -> Result<(), RegistryError> {
        let mut names = HashSet::new();
        for (name, _) in entries.clone() {
            if !is_name(name) {
                let got = crate::model::preview::short(name);
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

    /// Returns the backend that receives the writes.
    pub const fn primary(&self) -> &BackendEntry {
        &self.primary
    }

    /// Returns all backends: the primary, then the secondaries in their order.
    pub fn all(&self) -> Vec<&BackendEntry> {
        std::iter::once(&self.primary).chain(&self.secondaries).collect()
    }

    /// Returns true if the built-in backend is configured.
    pub(crate) fn has_built_in(&self) -> bool {
        self.all().iter().any(|entry| matches!(entry.keeps, BackendLocation::BuiltIn))
    }

    /// Returns true if only the built-in backend is configured.
    pub(crate) fn is_plain(&self) -> bool {
        self.secondaries.is_empty() && matches!(self.primary.keeps, BackendLocation::BuiltIn)
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
