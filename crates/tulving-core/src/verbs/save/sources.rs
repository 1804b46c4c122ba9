//! Describes a change of the source paths of a memory, so that the audit can name it and undo can reverse it.
//!
//! A change adds one source to a memory or removes one file from it. The audit contains only the change as text, not
//! the whole list, because a memory may have thousands of paths.

use std::fmt;

use crate::model::audit::AuditEntry;
use crate::model::memory::{Memory, Sources};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::AuditAct;
use crate::verbs::status;

/// A change of the sources of a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceChange {
    /// A file with the same content was added.
    PathAdded(String),
    /// The same content was saved without a file.
    PlainAdded,
    /// A file was removed because its content changed. The second value is the previous position of its path, counted
    /// from 1; `None` if the path was the last source.
    PathRemoved(String, Option<usize>),
}

impl SourceChange {
    /// Returns the change from one list of sources to another; `None` if they are equal or differ by more than one source.
    pub(crate) fn between(from: &Sources, to: &Sources) -> Option<Self> {
        let added: Vec<&String> = to.paths.iter().filter(|path| !from.paths.contains(path)).collect();
        let removed = from.paths.iter().enumerate().filter(|(_, path)| !to.paths.contains(path));
        match (&added[..], &removed.collect::<Vec<_>>()[..]) {
            ([path], []) => Some(Self::PathAdded((*path).clone())),
            ([], [(at, path)]) => {
                let only = from.clone().without(path).is_none();
                Some(Self::PathRemoved((*path).clone(), (!only).then_some(at + 1)))
            }
            ([], []) if to.without_path && !from.without_path => Some(Self::PlainAdded),
            _ => None,
        }
    }

    /// Returns the sources before the change; `None` if the current sources are not those that the change left.
    pub(crate) fn reversed(&self, now: &Sources) -> Option<Sources> {
        let mut sources = now.clone();
        match self {
            Self::PathAdded(path) => {
                sources.paths.iter().any(|known| known == path).then_some(())?;
                Some(sources.without(path).unwrap_or(Sources::NONE))
            }
            Self::PlainAdded => {
                let plain = sources.without_path && !sources.paths.is_empty();
                plain.then_some(Sources { without_path: false, ..sources })
            }
            Self::PathRemoved(path, at) => {
                (!sources.paths.iter().any(|known| known == path)).then_some(())?;
                if at.is_none() && sources.paths.is_empty() {
                    sources.without_path = false;
                }
                let at = at.map_or(0, |at| at - 1).min(sources.paths.len());
                sources.paths.insert(at, path.clone());
                Some(sources)
            }
        }
    }

    /// Builds the audit entry of the change.
    pub(crate) fn audit(&self, caller: &Caller, at: Timestamp, memory: &Memory) -> AuditEntry {
        status::audit(caller, at, AuditAct::SourcesChanged, memory, None, Some(self.to_string()))
    }

    /// Parses the detail of an audit entry.
    pub(crate) fn parse(detail: &str) -> Option<Self> {
        if detail == PLAIN {
            return Some(Self::PlainAdded);
        }
        if let Some(path) = detail.strip_prefix(ADDED) {
            return Some(Self::PathAdded(path.to_owned()));
        }
        let rest = detail.strip_prefix(REMOVED)?;
        if let Some(path) = rest.strip_suffix(ONLY) {
            return Some(Self::PathRemoved(path.to_owned(), None));
        }
        let (path, place) = rest.strip_suffix(')')?.rsplit_once(PLACE)?;
        let at = place.parse().ok().filter(|at| *at > 0)?;
        Some(Self::PathRemoved(path.to_owned(), Some(at)))
    }
}

/// The audit reason of a change by an import.
pub(crate) const BY_IMPORT: &str = "import";

const PLAIN: &str = "saved without a path";
const ADDED: &str = "added the path ";
const REMOVED: &str = "removed the path ";
const ONLY: &str = " (the only source)";
const PLACE: &str = " (number ";

impl fmt::Display for SourceChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PathAdded(path) => write!(f, "{ADDED}{path}"),
            Self::PlainAdded => f.write_str(PLAIN),
            Self::PathRemoved(path, None) => write!(f, "{REMOVED}{path}{ONLY}"),
            Self::PathRemoved(path, Some(at)) => write!(f, "{REMOVED}{path}{PLACE}{at})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sources(paths: &[String], without_path: bool) -> Sources {
        Sources { paths: paths.to_vec(), without_path: without_path || paths.is_empty() }
    }

    proptest! {
        #[test]
        fn every_change_is_read_back_and_reversed(
            paths in prop::collection::btree_set("[a-z() /]{1,12}", 0..4), new in "[A-Z() /]{1,12}", plain: bool, at in 0_usize..4,
        ) {
            let paths: Vec<String> = paths.into_iter().collect();
            let from = sources(&paths, plain);
            let mut to = vec![from.clone().with(None), from.clone().with(Some(&new))];
            if let Some(path) = paths.get(at) {
                to.push(from.clone().without(path).unwrap_or(Sources::NONE));
            }
            for to in to.into_iter().filter(|to| *to != from) {
                let change = SourceChange::between(&from, &to).expect("one change");
                prop_assert_eq!(SourceChange::parse(&change.to_string()), Some(change.clone()));
                let mut back = change.reversed(&to).expect("it can be reversed");
                back.without_path |= back.paths.is_empty();
                prop_assert_eq!(back, from.clone());
            }
        }
    }

    #[test]
    fn a_change_is_not_reversed_where_it_is_not_there_any_more() {
        let (one, two) = (sources(&["/a".to_owned()], false), sources(&["/b".to_owned()], false));
        assert_eq!(SourceChange::between(&one, &two), None, "two changes");
        assert_eq!(SourceChange::PathAdded("/a".to_owned()).reversed(&two), None);
        assert_eq!(SourceChange::PathRemoved("/b".to_owned(), Some(1)).reversed(&two), None);
        assert_eq!(SourceChange::PlainAdded.reversed(&two), None);
    }
}
