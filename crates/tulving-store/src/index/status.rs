//! How the index is, for those who look after it.

use std::path::Path;

use tulving_core::error::IndexError;
use tulving_core::id::Seq;

use super::manifest::NAME;
use super::trouble::{Damaged, Trouble};
use super::{SearchIndex, State};

/// How many findings are remembered.
const MOST_FINDINGS: usize = 20;

/// What was noticed since the index was opened.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    damage: Vec<String>,
    unwritable: Option<String>,
}

/// How the index is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStatus {
    /// How many chunks of memories can be found.
    pub items: u64,
    /// How many segments the base has.
    pub segments: usize,
    /// How many changes are in memory and not in the base.
    pub tail: usize,
    /// How far the base has followed the change log. Entries up to here are not read again.
    pub watermark: Seq,
    /// How far the change log was followed in memory.
    pub followed: Seq,
    /// How many bytes the files have.
    pub bytes: u64,
    /// Whether files still hold something that was erased; see [`SearchIndex::purge`].
    pub holds_erased: bool,
    /// Whether the vectors of the base are of another model than the store answers with; see [`SearchIndex::tend`].
    pub outdated: bool,
    /// Whether only what changed last can be found, until the rest was read; see [`SearchIndex::tend`].
    pub partial: bool,
    /// Damage that was noticed since the index was opened, and made good.
    pub damage: Vec<String>,
    /// Why nothing can be written, where that is so. The index is then in memory alone.
    pub unwritable: Option<String>,
}

impl SearchIndex {
    /// How the index is, after it has caught up with the store.
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
            bytes: self.folder.as_ref().map_or(0, super::folder::Folder::bytes),
            holds_erased: state.snapshot.base.iter().any(|part| part.erased),
            outdated: basis.is_outdated(),
            partial: state.snapshot.partial,
            damage: notes.damage,
            unwritable: notes.unwritable,
        })
    }

    /// Checks every byte of every file, and says what is damaged. Damage is made good when the index is
    /// [tended](Self::tend) next, or when a search comes across it.
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

    /// What is damaged of the files as they are on the disk, where there should be any.
    fn damage(&self, expected: bool) -> Result<Vec<Damaged>, Trouble> {
        let Some(folder) = self.folder.as_ref().filter(|_| expected) else {
            return Ok(Vec::new());
        };
        let opened = folder.manifest().and_then(|manifest| match manifest {
            Some(manifest) => folder.parts(&manifest),
            None => Err(Damaged { file: NAME.to_owned(), what: "it is missing" }.into()),
        });
        match opened {
            Ok(parts) => Ok(parts.iter().filter_map(|part| part.segment.verify().err()).collect()),
            Err(Trouble::Damaged(damaged)) => Ok(vec![damaged]),
            Err(error) => Err(error),
        }
    }

    /// Remembers damage, and that the index has to be made anew.
    pub(super) fn notice(&self, state: &mut State, damaged: &Damaged) {
        state.damaged = true;
        self.with_notes(|notes| {
            let found = text(damaged);
            if notes.damage.len() < MOST_FINDINGS && !notes.damage.contains(&found) {
                notes.damage.push(found);
            }
        });
    }

    /// Remembers that the folder cannot be used.
    pub(super) fn excuse(&self, path: &Path, error: &std::io::Error) {
        self.with_notes(|notes| notes.unwritable = Some(format!("{}: {error}", path.display())));
    }

    /// What was done; `None` where the disk would not have it, which is remembered.
    pub(super) fn unless_unwritable<T>(&self, done: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
        match done {
            Ok(done) => Ok(Some(done)),
            Err(Trouble::Disk(path, error)) => {
                self.excuse(&path, &error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }
}

fn text(damaged: &Damaged) -> String {
    format!("{}: {}", damaged.file, damaged.what)
}
