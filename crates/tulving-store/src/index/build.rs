//! Rebuilds the index from the whole store: page by page, with a limited part of the store in memory.
//!
//! If several processes need the base, one process rebuilds and writes it. The other processes wait for it. If that
//! takes too long, they build their own index in memory.

use std::time::{Duration, Instant};

use tulving_core::model::id::Seq;

use super::errors::IndexStepError;
use super::fold::{LONG_TAIL, MANY_ITEMS};
use super::folder::{IndexFolder, IndexFolderLock, named};
use super::follow::SnapshotBasis;
use super::manifest::{DeadDocsFile, IndexManifest, epoch_text, fingerprint};
use super::segment::MergedSegmentContent;
use super::snapshot::{IndexSnapshot, SnapshotPart, views};
use super::{IndexState, SearchIndex};

/// Number of memories that are read at once. The content of one memory may have megabytes.
pub(super) const ENTRIES: usize = 64;
/// Number of docs in memory that are written to a file together. They take about 200 MB.
pub(super) const SPILL: usize = 128 * 1024;
/// The time that a process waits while another process builds the base.
const PATIENCE: Duration = Duration::from_secs(60);
/// The interval between two checks whether the other process has finished.
const LOOK: Duration = Duration::from_millis(20);

/// The process that builds the base.
enum BuilderProcess {
    /// This process, with the lock.
    Us(IndexFolderLock),
    /// This process, which builds the index only in its own memory.
    UsInMemory,
    /// Another process, which has already built the base.
    Another,
}

impl SearchIndex {
    /// Rebuilds the index, whatever its state.
    pub(super) fn build(
        &self,
        state: &mut IndexState,
        lock: Option<&IndexFolderLock>,
    ) -> Result<(), IndexStepError> {
        if lock.is_some() {
            *state = self.built(lock)?;
            return Ok(());
        }
        match self.builder(state)? {
            BuilderProcess::Another => {}
            BuilderProcess::UsInMemory => *state = self.built(None)?,
            BuilderProcess::Us(lock) => {
                *state = self.built(Some(&lock))?;
                if let Some(folder) = &self.folder {
                    folder.sweep(&lock);
                }
            }
        }
        Ok(())
    }

    fn builder(&self, state: &mut IndexState) -> Result<BuilderProcess, IndexStepError> {
        let Some(folder) = &self.folder else {
            return Ok(BuilderProcess::UsInMemory);
        };
        // A store with so short a log has few memories. Reading them is faster than finding out if another process
        // builds the base.
        if folder.stamp().is_none() && self.source.head()?.0 < LONG_TAIL as u64 {
            return Ok(BuilderProcess::UsInMemory);
        }
        let began = Instant::now();
        let void = state.basis.as_ref().map_or(0, |basis| basis.generation);
        loop {
            match self.unless_unwritable(folder.lock())? {
                None => return Ok(BuilderProcess::UsInMemory),
                Some(None) if self.is_tending() || began.elapsed() > PATIENCE => {
                    return Ok(BuilderProcess::UsInMemory);
                }
                Some(None) => std::thread::sleep(LOOK),
                Some(Some(lock)) => {
                    return if self.another_did(folder, state, void)? {
                        Ok(BuilderProcess::Another)
                    } else {
                        Ok(BuilderProcess::Us(lock))
                    };
                }
            }
        }
    }

    /// Opens the index that another process has built while we waited for the lock. Skips the index that we know to be
    /// invalid.
    fn another_did(
        &self,
        folder: &IndexFolder,
        state: &mut IndexState,
        void: u64,
    ) -> Result<bool, IndexStepError> {
        let Some(theirs) = folder.manifest().ok().flatten() else {
            return Ok(false);
        };
        let (epoch, model) = (self.source.epoch()?, self.source.model()?);
        Ok(theirs.generation != void && theirs.model == model && self.load(state, epoch).unwrap_or(false))
    }

    /// Builds the index from the whole store. Writes it to the folder if the folder is writable and writing is worth
    /// it.
    ///
    /// The old manifest is valid until the new one replaces it, so a crash leaves the old state.
    pub(super) fn built(&self, lock: Option<&IndexFolderLock>) -> Result<IndexState, IndexStepError> {
        let (epoch, model, seq) = (self.source.epoch()?, self.source.model()?, self.source.head()?);
        let stamp = self.folder.as_ref().and_then(IndexFolder::stamp);
        let (mut snapshot, mut memories, mut after) = (IndexSnapshot::default(), 0, None);
        loop {
            let entries = self.source.entries_after(after, ENTRIES, model.as_deref())?;
            let Some(last) = entries.last() else {
                break;
            };
            (after, memories) = (Some(last.memory.id), memories + entries.len());
            snapshot.absorb(&entries, model.as_deref())?;
            if snapshot.tail_items() >= SPILL {
                self.move_tail(&mut snapshot, lock, model.as_deref())?;
            }
        }
        // Items that no manifest names count as a tail.
        let mut basis = SnapshotBasis { pending: memories, ..SnapshotBasis::at(epoch, model, stamp, seq) };
        if let (Some(folder), Some(lock)) = (&self.folder, lock) {
            // Writing is also worth it for a few memories with a long history: the next process need not read the log.
            let worth_it =
                seq.0 >= LONG_TAIL as u64 || !snapshot.base.is_empty() || snapshot.tail_items() >= MANY_ITEMS;
            if worth_it {
                self.move_tail(&mut snapshot, Some(lock), basis.model.as_deref())?;
            }
            let manifest = self.manifest(&basis, &snapshot.base, None);
            let written = worth_it
                && snapshot.tail.is_empty()
                && self.unless_unwritable(folder.write_manifest(lock, &manifest))?.is_some();
            if written {
                (basis.pending, basis.generation) = (0, manifest.generation);
            } else {
                // The existing index does not match the store and must not be opened again.
                self.unless_unwritable(folder.forget_manifest(lock))?;
            }
            basis.stamp = folder.stamp();
        }
        Ok(IndexState { snapshot, basis: Some(basis), damaged: false })
    }

    /// The manifest that lists these parts.
    pub(super) fn manifest(
        &self,
        basis: &SnapshotBasis,
        base: &[SnapshotPart],
        dead: Option<DeadDocsFile>,
    ) -> IndexManifest {
        let there = self.folder.as_ref().and_then(|folder| folder.manifest().ok().flatten());
        let Seq(watermark) = basis.seq;
        IndexManifest {
            fingerprint: fingerprint(),
            generation: there.map_or(0, |manifest| manifest.generation).max(basis.generation) + 1,
            epoch: epoch_text(&basis.epoch),
            watermark,
            model: basis.base_model.clone(),
            segments: base.iter().map(named).collect(),
            dead,
        }
    }

    /// Moves the tail of a snapshot into a file. If the file cannot be written, the tail stays in memory.
    fn move_tail(
        &self,
        snapshot: &mut IndexSnapshot,
        lock: Option<&IndexFolderLock>,
        model: Option<&str>,
    ) -> Result<(), IndexStepError> {
        let (Some(folder), Some(lock)) = (&self.folder, lock) else {
            return Ok(());
        };
        if snapshot.tail_items() == 0 {
            snapshot.tail.clear();
            return Ok(());
        }
        let written = {
            let merged = MergedSegmentContent::of(&views(&snapshot.tail)?, model)?;
            self.unless_unwritable(folder.write_segment(lock, &merged))?
        };
        if let Some(part) = written {
            snapshot.base.push(part);
            snapshot.tail.clear();
        }
        Ok(())
    }
}
