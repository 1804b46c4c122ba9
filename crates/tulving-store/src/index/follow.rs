//! Keeps the index up to date with the store: opens the base, and applies the later changes from the log.
//!
//! A search does not wait for long work. If a large store has no base, or one that is far behind, only the latest
//! changes are read and the answer is marked as partial. Maintenance of the index reads the rest.

use std::collections::HashMap;

use tulving_core::model::change::Change;
use tulving_core::model::id::{MemoryId, Seq};
use tulving_core::model::vocabulary::ChangeKind;

use super::build::{ENTRIES, SPILL};
use super::errors::IndexStepError;
use super::folder::{IndexFolder, IndexFolderLock, ManifestStamp};
use super::snapshot::IndexSnapshot;
use super::{IndexState, SearchIndex};

/// Number of entries of the log that are read at once.
const CHANGES: usize = 4_096;
/// Number of memories or changes that are read before answering, which takes about half a second. Maintenance of the
/// index reads the rest.
pub(super) const SOON: u64 = 5_000;

/// The data that a snapshot was made from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SnapshotBasis {
    pub(super) epoch: [u8; 16],
    /// The model that made the vectors of the base.
    pub(super) base_model: Option<String>,
    /// The model whose vectors the store currently uses for searches.
    pub(super) model: Option<String>,
    /// The number of the manifest; 0 if there is no manifest.
    pub(super) generation: u64,
    /// The stamp of the last manifest that was read.
    pub(super) stamp: Option<ManifestStamp>,
    /// The last entry of the log that was applied.
    pub(super) seq: Seq,
    /// The last entry of the log that the base contains.
    pub(super) watermark: Seq,
    /// Number of changes in the tail.
    pub(super) pending: usize,
}

impl SnapshotBasis {
    /// A basis without a manifest, which follows the log after the entry `seq`, with vectors of this model.
    pub(super) fn at(epoch: [u8; 16], model: Option<String>, stamp: Option<ManifestStamp>, seq: Seq) -> Self {
        Self {
            epoch,
            base_model: model.clone(),
            model,
            generation: 0,
            stamp,
            seq,
            watermark: seq,
            pending: 0,
        }
    }

    /// Number of applied entries of the log that the base does not contain.
    pub(super) fn behind(&self) -> u64 {
        self.seq.0.saturating_sub(self.watermark.0)
    }

    /// Returns true if the base has vectors of a model that is not the store's current one.
    pub(super) fn is_outdated(&self) -> bool {
        self.base_model != self.model
    }
}

impl SearchIndex {
    /// Applies the changes of the store to the snapshot. A caller that has the lock passes it as an argument.
    pub(super) fn follow(
        &self,
        state: &mut IndexState,
        lock: Option<&IndexFolderLock>,
    ) -> Result<(), IndexStepError> {
        let (epoch, model) = (self.source.epoch()?, self.source.model()?);
        let stamp = self.folder.as_ref().and_then(IndexFolder::stamp);
        let known = state.basis.as_ref().is_some_and(|basis| basis.epoch == epoch && basis.stamp == stamp);
        if !known && !self.opened(state, epoch)? {
            self.renew(state, lock)?;
        }
        if let Some(basis) = &mut state.basis {
            basis.model = model;
            if basis.is_outdated() && !state.snapshot.partial && state.snapshot.items() <= SOON {
                self.build(state, lock)?;
            }
        }
        if !self.catch_up(state, lock)? {
            self.renew(state, lock)?;
            self.catch_up(state, lock)?;
        }
        Ok(())
    }

    /// Rebuilds the index. If the store is large and the caller only searches, only the latest changes are read.
    pub(super) fn renew(
        &self,
        state: &mut IndexState,
        lock: Option<&IndexFolderLock>,
    ) -> Result<(), IndexStepError> {
        // Each memory has an entry in the log, so a short log means few memories, and they need not be counted.
        let large = self.source.head()?.0 > SOON && self.source.size()? > SOON;
        if !large || !self.is_hurried(lock)? {
            return self.build(state, lock);
        }
        if state.damaged {
            self.void_base()?;
        }
        let (epoch, model) = (self.source.epoch()?, self.source.model()?);
        let stamp = self.folder.as_ref().and_then(IndexFolder::stamp);
        let Seq(head) = self.source.head()?;
        let first = self.source.changes(Seq(head.saturating_sub(SOON)), 1)?;
        let seq = Seq(first.first().map_or(head, |change| change.seq.0 - 1));
        state.snapshot = IndexSnapshot { partial: true, ..IndexSnapshot::default() };
        state.basis = Some(SnapshotBasis::at(epoch, model, stamp, seq));
        Ok(())
    }

    /// Removes the manifest so that nobody opens the damaged base again. The next maintenance might not notice the
    /// damage itself.
    fn void_base(&self) -> Result<(), IndexStepError> {
        if let Some(folder) = &self.folder
            && let Some(lock) = self.unless_unwritable(folder.lock())?.flatten()
        {
            self.unless_unwritable(folder.forget_manifest(&lock))?;
        }
        Ok(())
    }

    /// Returns true if long work should be left to maintenance. If the result of maintenance could not be written, the
    /// work must be done now.
    fn is_hurried(&self, lock: Option<&IndexFolderLock>) -> Result<bool, IndexStepError> {
        match &self.folder {
            Some(folder) if lock.is_none() => Ok(self.unless_unwritable(folder.lock())?.is_some()),
            _ => Ok(false),
        }
    }

    /// Opens the base. Returns true if a base exists that matches the store and is not damaged.
    fn opened(&self, state: &mut IndexState, epoch: [u8; 16]) -> Result<bool, IndexStepError> {
        match self.load(state, epoch) {
            Err(IndexStepError::Damaged(damaged)) => {
                self.notice(state, &damaged);
                Ok(false)
            }
            done => Ok(self.unless_unwritable(done)?.unwrap_or(false)),
        }
    }

    /// Opens the base that the manifest describes. Returns true if a base exists that matches the store.
    pub(super) fn load(&self, state: &mut IndexState, epoch: [u8; 16]) -> Result<bool, IndexStepError> {
        let Some(folder) = &self.folder else {
            return Ok(false);
        };
        loop {
            let stamp = folder.stamp();
            let Some(manifest) = folder.manifest()? else {
                return Ok(false);
            };
            if !manifest.fits(&epoch) {
                return Ok(false);
            }
            match folder.parts(&manifest) {
                Ok(base) => {
                    state.damaged = false;
                    state.snapshot = IndexSnapshot { base, ..IndexSnapshot::default() };
                    state.basis = Some(SnapshotBasis {
                        generation: manifest.generation,
                        ..SnapshotBasis::at(epoch, manifest.model, stamp, Seq(manifest.watermark))
                    });
                    return Ok(true);
                }
                // Another process may have folded since the stamp was read. Then there is a newer manifest to open.
                Err(_) if folder.stamp() != stamp => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Applies the new entries of the log. Returns false if the log cannot be used, because entries are missing.
    fn catch_up(
        &self,
        state: &mut IndexState,
        lock: Option<&IndexFolderLock>,
    ) -> Result<bool, IndexStepError> {
        loop {
            let Some(SnapshotBasis { seq, model, .. }) = state.basis.clone() else {
                return Ok(false);
            };
            let page = self.source.changes(seq, CHANGES)?;
            let Some(last) = page.last() else {
                // A log that ends before the entry that we applied last is a different log. If the log has only grown
                // since the page was read, it is the same log, and its new entries are read when the store's counter
                // changes next.
                return Ok(self.source.head()? >= seq);
            };
            if page[0].seq.0 != seq.0 + 1 {
                return Ok(false);
            }
            let mut changed: HashMap<MemoryId, bool> = HashMap::new();
            for (at, change) in page.iter().enumerate() {
                if !matches!(change.kind, ChangeKind::Linked | ChangeKind::Unlinked) {
                    *changed.entry(change.memory).or_default() |= is_erased(change, page.get(at + 1));
                }
            }
            if page.len() == CHANGES && last.seq.0 + SOON <= self.source.head()?.0 && self.is_hurried(lock)? {
                // Maintenance reads the new content of these memories later. Their old content must not be found until
                // then.
                state.snapshot.partial = true;
                for (id, erased) in &changed {
                    state.snapshot.kill(id.as_bytes(), *erased)?;
                }
            } else {
                self.take_in(&mut state.snapshot, &changed, model.as_deref())?;
            }
            if let Some(basis) = &mut state.basis {
                basis.seq = last.seq;
                basis.pending += changed.len();
            }
            if state.snapshot.tail_items() >= SPILL {
                self.spill(state, lock)?;
            }
            if page.len() < CHANGES {
                return Ok(true);
            }
        }
    }

    /// Applies changed memories. The boolean of each memory is true if the memory was erased.
    fn take_in(
        &self,
        snapshot: &mut IndexSnapshot,
        changed: &HashMap<MemoryId, bool>,
        model: Option<&str>,
    ) -> Result<(), IndexStepError> {
        let mut ids: Vec<MemoryId> = changed.keys().copied().collect();
        ids.sort_unstable();
        for some in ids.chunks(ENTRIES) {
            let entries = self.source.entries(some, model)?;
            for id in some {
                snapshot.kill(id.as_bytes(), changed[id])?;
            }
            snapshot.absorb(&entries, model)?;
        }
        Ok(())
    }
}

/// Returns true if a memory was erased permanently. If it only became invisible to some principals, the next entry
/// gives its present state, and its text may stay in the files.
fn is_erased(change: &Change, next: Option<&Change>) -> bool {
    let goes_on = next.is_some_and(|next| {
        next.memory == change.memory
            && match next.kind {
                ChangeKind::Revised => true,
                // In another space, the memory was moved. In the same space, it was erased and then loaded again.
                ChangeKind::Saved => next.space != change.space,
                _ => false,
            }
    });
    change.kind == ChangeKind::Erased && !goes_on
}
