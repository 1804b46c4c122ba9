//! The status of the index, for its maintenance.

use std::path::Path;

use tulving_core::model::error::IndexError;
use tulving_core::model::id::Seq;

use super::errors::{DamagedIndexFile, IndexStepError};
use super::manifest::NAME;
use super::{IndexState, SearchIndex};

/// Maximum number of findings that are remembered.
const MOST_FINDINGS: usize = 20;

/// The problems found since the index was opened.
#[derive(Clone, Debug, Default)]
pub(super) struct IndexProblems {
    damage: Vec<String>,
    unwritable: Option<String>,
}

/// The status of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStatus {
    /// Number of chunks of memories that can be found.
    pub items: u64,
    /// Number of segments of the base.
    pub segments: usize,
    /// Number of changes that are only in memory and not yet in the base.
    pub tail: usize,
    /// The last entry of the change log that the base contains. Entries up to this one are not read again.
    pub watermark: Seq,
    /// The last entry of the change log that was applied in memory.
    pub followed: Seq,
    /// Total size of the files in bytes.
    pub bytes: u64,
    /// True if files still contain erased text; see [`SearchIndex::purge`].
    pub holds_erased: bool,
    /// True if the vectors of the base are of a model that is not the store's current one; see [`SearchIndex::tend`].
    pub outdated: bool,
    /// True if searches find only the latest changes, until the rest is read; see [`SearchIndex::tend`].
    pub partial: bool,
    /// Damage that was noticed and repaired since the index was opened.
    pub damage: Vec<String>,
    /// The reason why the index cannot be written to its folder, if so. The index is then only in memory.
    pub unwritable: Option<String>,
}

impl SearchIndex {
    /// Returns the status of the index, after applying the latest changes of the store.
    pub fn status(&self) -> Result<IndexStatus, IndexError> {
        let mut state = self.state();
        self.update(&mut state)?;
        let notes = self.notes();
        let basis = state.basis.clone().unwrap_or_default();
        Ok(IndexStatus {
            items: state.snapshot.items(),
            segments: state.snapshot.base.len(),
            tail: basis.pending,
            watermark: basis.watermark,
            followed: basis.seq,
            bytes: self.folder.as_ref().map_or(0, super::folder::IndexFolder::bytes),
            holds_erased: state.snapshot.base.iter().any(|part| part.erased),
            outdated: basis.is_outdated(),
            partial: state.snapshot.partial,
            damage: notes.damage,
            unwritable: notes.unwritable,
        })
    }

    /// Checks every byte of every file, and returns the damage. The damage is repaired when the index is next
    /// [tended](Self::tend), or when a search notices it.
    pub fn verify(&self) -> Result<Vec<String>, IndexError> {
        let mut state = self.state();
        self.update(&mut state)?;
        let mut found = Vec::new();
        for damaged in self.damage(state.basis.as_ref().is_some_and(|basis| basis.generation > 0))? {
            self.notice(&mut state, &damaged);
            found.push(text(&damaged));
        }
        Ok(found)
    }

    /// Returns the damage of the files on the disk; empty if no files are expected.
    fn damage(&self, expected: bool) -> Result<Vec<DamagedIndexFile>, IndexStepError> {
        let Some(folder) = self.folder.as_ref().filter(|_| expected) else {
            return Ok(Vec::new());
        };
        let opened = folder.manifest().and_then(|manifest| match manifest {
            Some(manifest) => folder.parts(&manifest),
            None => Err(DamagedIndexFile { file: NAME.to_owned(), what: "it is missing" }.into()),
        });
        match opened {
            Ok(parts) => Ok(parts.iter().filter_map(|part| part.segment.verify().err()).collect()),
            Err(IndexStepError::Damaged(damaged)) => Ok(vec![damaged]),
            Err(error) => Err(error),
        }
    }

    /// Records damage, and that the index must be rebuilt.
    pub(super) fn notice(&self, state: &mut IndexState, damaged: &DamagedIndexFile) {
        state.damaged = true;
        self.with_notes(|notes| {
            let found = text(damaged);
            if notes.damage.len() < MOST_FINDINGS && !notes.damage.contains(&found) {
                notes.damage.push(found);
            }
        });
    }

    /// Records that the folder cannot be used.
    pub(super) fn excuse(&self, path: &Path, error: &std::io::Error) {
        self.with_notes(|notes| notes.unwritable = Some(format!("{}: {error}", path.display())));
    }

    /// Returns the result. If the disk failed, records that and returns `None`.
    pub(super) fn unless_unwritable<T>(
        &self,
        done: Result<T, IndexStepError>,
    ) -> Result<Option<T>, IndexStepError> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(IndexStepError::Disk(path, error)) => {
                self.excuse(&path, &error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

fn text(damaged: &DamagedIndexFile) -> String {
    format!("{}: {}", damaged.file, damaged.what)
}
