//! Folding: the tail becomes a segment of the base, segments of a similar size are merged, and dead docs are dropped.
//!
//! The process with the lock folds for all processes. It never changes a file that readers use: new files get new
//! names, and a new manifest makes them valid. A crash before that leaves the old base with a longer tail.

use std::thread;
use std::time::Duration;

use tulving_core::model::id::Seq;

use super::errors::IndexStepError;
use super::folder::{IndexFolder, IndexFolderLock};
use super::follow::{SOON, SnapshotBasis};
use super::manifest::IndexManifest;
use super::segment::MergedSegmentContent;
use super::snapshot::{IndexSnapshot, SnapshotPart, views};
use super::{IndexState, SearchIndex};

/// Minimum number of changes in a tail for which folding is worth it. A starting process reads this many changes in
/// about 20 ms.
pub(super) const LONG_TAIL: usize = 500;
/// Minimum number of items in a tail for which folding is worth it, even if the items are sections of few memories.
pub(super) const MANY_ITEMS: usize = 2_000;
/// Number of segments of a similar size that are merged into one.
const TIER: usize = 4;
/// Maximum number of docs of a merged segment, so that merging never takes long.
const LARGEST: usize = 256 * 1024;
/// A segment is rewritten if more than one in this many of its docs is dead.
const DEAD_SHARE: usize = 4;
/// Number of the newest entries of the change log that stay although the base contains them, because other processes
/// may still follow them. This is more than a search reads without a base.
const KEPT: u64 = 10_000;
/// Maximum number of entries that one fold removes from the log. Writers wait for about ten milliseconds meanwhile.
const TRIMMED: usize = 5_000;

/// The effort of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoldEffort {
    /// Folds as much as is needed to keep searches fast.
    Usual,
    /// Folds as much as [`Usual`](Self::Usual), however short the tail is.
    Now,
    /// Also removes erased text from every file.
    Thorough,
}

/// The pending work for the maintenance of the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingIndexWork {
    /// There is no work, or another process is doing it.
    None,
    /// The work takes a fraction of a second.
    Short,
    /// The work takes about ten seconds for 100,000 memories.
    Long,
}

/// The result of an attempt to fold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FoldOutcome {
    /// Folding was not needed.
    NoNeed,
    /// Another process is folding.
    Busy,
    /// The fold is complete.
    Done {
        /// Number of segments of the base.
        segments: usize,
        /// Number of obsolete files that a process still reads. The next fold removes them.
        left: usize,
    },
    /// The folder cannot be written, for this reason. The tail stays in memory.
    Unwritable(String),
}

/// Segments that will be merged, or a single segment that stays unchanged.
struct MergeGroup {
    parts: Vec<SnapshotPart>,
    stays: bool,
}

impl MergeGroup {
    fn living(&self) -> usize {
        self.parts.iter().map(SnapshotPart::living).sum()
    }

    /// The tier of the group. Above the lowest tier, the sizes within a tier differ by less than a factor of four.
    fn tier(&self) -> u32 {
        (self.living() / LONG_TAIL).max(1).ilog2() / 2
    }
}

/// Plans the segments of the new base.
fn plan(snapshot: &IndexSnapshot, care: FoldEffort) -> Vec<MergeGroup> {
    let mut units: Vec<MergeGroup> = Vec::new();
    for part in snapshot.base.iter().filter(|part| part.living() > 0) {
        let rotten = part.dead.docs().len() * DEAD_SHARE > part.segment.docs() as usize;
        let goes = care == FoldEffort::Thorough && part.erased;
        let stays = !rotten && !goes;
        units.push(MergeGroup { parts: vec![part.clone()], stays });
    }
    if snapshot.tail_items() > 0 {
        let parts = snapshot.tail.iter().filter(|part| part.living() > 0).cloned().collect();
        units.push(MergeGroup { parts, stays: false });
    }
    while let Some(tier) = crowded(&units) {
        let (alike, others): (Vec<MergeGroup>, Vec<MergeGroup>) =
            units.into_iter().partition(|unit| unit.tier() == tier);
        units = others;
        units.push(MergeGroup {
            parts: alike.into_iter().flat_map(|unit| unit.parts).collect(),
            stays: false,
        });
    }
    units
}

/// Removes obsolete files, and returns the number of files that a process still reads.
fn cleared(folder: &IndexFolder, lock: &IndexFolderLock, care: FoldEffort) -> usize {
    // A running search releases its files within milliseconds.
    let rounds = if care == FoldEffort::Thorough { 50 } else { 1 };
    let mut left = folder.sweep(lock);
    for _ in 1..rounds {
        if left == 0 {
            break;
        }
        thread::sleep(Duration::from_millis(20));
        left = folder.sweep(lock);
    }
    left
}

/// Returns a tier that has too many segments and whose merged segment would not be too large.
fn crowded(units: &[MergeGroup]) -> Option<u32> {
    let of = |tier: u32| units.iter().filter(move |unit| unit.tier() == tier);
    let mut tiers = units.iter().map(MergeGroup::tier);
    tiers.find(|&tier| of(tier).count() >= TIER && of(tier).map(MergeGroup::living).sum::<usize>() <= LARGEST)
}

impl SearchIndex {
    /// Returns true if folding is worth it for this state and effort.
    pub(super) fn wants(&self, state: &IndexState, care: FoldEffort) -> bool {
        let Some(basis) = &state.basis else {
            return false;
        };
        let worth_it = match care {
            FoldEffort::Usual => {
                basis.pending >= LONG_TAIL
                    || basis.behind() >= LONG_TAIL as u64
                    || state.snapshot.tail_items() >= MANY_ITEMS
            }
            FoldEffort::Now => basis.pending > 0,
            FoldEffort::Thorough => state.snapshot.base.iter().any(|part| part.erased),
        };
        (worth_it && self.folder.is_some()) || basis.is_outdated() || state.damaged || state.snapshot.partial
    }

    /// Returns the pending work, even if this process has not searched yet.
    pub(super) fn chore_now(&self) -> Result<PendingIndexWork, IndexStepError> {
        let Some(folder) = &self.folder else {
            return Ok(PendingIndexWork::None);
        };
        let state = self.state();
        let (wanted, long) = match &state.basis {
            Some(basis) => {
                let anew = basis.is_outdated() || state.damaged || state.snapshot.partial;
                (self.wants(&state, FoldEffort::Usual), anew && self.source.size()? > SOON)
            }
            None => {
                let fitting = self.fitting(folder)?;
                let outdated = fitting.as_ref().is_some_and(|(_, outdated)| *outdated);
                let watermark = fitting.map_or(0, |(manifest, _)| manifest.watermark);
                let behind = self.source.head()?.0.saturating_sub(watermark);
                (outdated || behind >= LONG_TAIL as u64, outdated || behind > SOON)
            }
        };
        drop(state);
        Ok(match (wanted, long) {
            (false, _) => PendingIndexWork::None,
            (true, false) => PendingIndexWork::Short,
            // Work that another process is doing need not be started.
            (true, true) if self.unless_unwritable(folder.lock())?.flatten().is_none() => {
                PendingIndexWork::None
            }
            (true, true) => PendingIndexWork::Long,
        })
    }

    /// Returns the manifest of a base that matches the store, and true if its vectors are of another model. An
    /// unreadable manifest counts as missing.
    fn fitting(&self, folder: &IndexFolder) -> Result<Option<(IndexManifest, bool)>, IndexStepError> {
        let (epoch, model) = (self.source.epoch()?, self.source.model()?);
        let manifest = folder.manifest().ok().flatten().filter(|manifest| manifest.fits(&epoch));
        Ok(manifest.map(|manifest| {
            let outdated = manifest.model != model;
            (manifest, outdated)
        }))
    }

    /// Folds, if it is worth it and no other process is folding.
    pub(super) fn fold(&self, care: FoldEffort) -> Result<FoldOutcome, IndexStepError> {
        let _tending = self.tending();
        if care == FoldEffort::Usual && self.has_nothing()? {
            // If a full build is needed, a partial build first would be wasted.
            if self.chore_now()? == PendingIndexWork::None {
                return Ok(FoldOutcome::NoNeed);
            }
        } else {
            self.update(&mut self.state())?;
            if !self.wants(&self.state(), care) {
                return if care == FoldEffort::Thorough {
                    self.clear_stale()
                } else {
                    Ok(FoldOutcome::NoNeed)
                };
            }
        }
        let Some(folder) = &self.folder else {
            // Without a folder, the only possible work is to replace the vectors of an outdated model.
            let built = self.built(None)?;
            return self.adopt(built).map(|segments| FoldOutcome::Done { segments, left: 0 });
        };
        let lock = match folder.lock() {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(FoldOutcome::Busy),
            Err(error) => return self.unwritable(error),
        };
        match self.fold_locked(folder, &lock, care) {
            Ok(Some(segments)) => {
                let left = cleared(folder, &lock, care);
                // If the store is busy, the next fold trims the log.
                let _ = self.trim_log();
                Ok(FoldOutcome::Done { segments, left })
            }
            Ok(None) => Ok(FoldOutcome::NoNeed),
            Err(error) => self.unwritable(error),
        }
    }

    /// Removes files that an earlier fold replaced while a process still read them. They may contain text of erased
    /// memories.
    fn clear_stale(&self) -> Result<FoldOutcome, IndexStepError> {
        let Some(folder) = self.folder.as_ref().filter(|folder| !folder.stale().is_empty()) else {
            return Ok(FoldOutcome::NoNeed);
        };
        let lock = match folder.lock() {
            Ok(Some(lock)) => lock,
            Ok(None) => return Ok(FoldOutcome::Busy),
            Err(error) => return self.unwritable(error),
        };
        match cleared(folder, &lock, FoldEffort::Thorough) {
            0 => Ok(FoldOutcome::NoNeed),
            left => Ok(FoldOutcome::Done { segments: self.state().snapshot.base.len(), left }),
        }
    }

    /// Returns true if this process has not searched yet and there is no base to open.
    fn has_nothing(&self) -> Result<bool, IndexStepError> {
        let fresh = self.state().basis.is_none();
        Ok(match &self.folder {
            Some(folder) if fresh => self.fitting(folder)?.is_none(),
            _ => false,
        })
    }

    /// Folds and returns the number of segments; `None` if another process has just folded.
    fn fold_locked(
        &self,
        folder: &IndexFolder,
        lock: &IndexFolderLock,
        care: FoldEffort,
    ) -> Result<Option<usize>, IndexStepError> {
        let completed = self.completed(lock)?;
        // With the lock taken, the changes of other processes are applied first.
        let (snapshot, basis, anew) = {
            let mut state = self.state();
            match self.follow(&mut state, Some(lock)) {
                Err(IndexStepError::Damaged(damaged)) => self.notice(&mut state, &damaged),
                followed => followed?,
            }
            if !self.wants(&state, care) {
                return Ok(completed.then_some(state.snapshot.base.len()));
            }
            let Some(basis) = state.basis.clone() else {
                return Ok(None);
            };
            let anew = state.damaged || basis.is_outdated() || state.snapshot.partial;
            (state.snapshot.clone(), basis, anew)
        };
        // Other threads continue to search and to follow the log meanwhile.
        if anew {
            let built = self.built(Some(lock))?;
            return self.adopt(built).map(Some);
        }
        if let Err(trouble) = self.write(folder, lock, &snapshot, &basis, care) {
            let IndexStepError::Damaged(damaged) = trouble else {
                return Err(trouble);
            };
            self.notice(&mut self.state(), &damaged);
            return self.adopt(self.built(Some(lock))?).map(Some);
        }
        drop(snapshot);
        let mut state = self.state();
        self.update_anew(&mut state)?;
        Ok(Some(state.snapshot.base.len()))
    }

    /// Reads the memories that searches did not wait for, on a separate state, while searches continue. Returns true if
    /// there were such memories.
    fn completed(&self, lock: &IndexFolderLock) -> Result<bool, IndexStepError> {
        {
            let state = self.state();
            let whole = state.basis.is_some() && !state.snapshot.partial;
            // A damaged index is rebuilt later in any case.
            if whole || state.damaged {
                return Ok(false);
            }
        }
        let mut whole = IndexState::default();
        match self.follow(&mut whole, Some(lock)) {
            Ok(()) => self.adopt(whole).map(|_| true),
            Err(IndexStepError::Damaged(damaged)) => {
                self.notice(&mut self.state(), &damaged);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Writes the new segments and the manifest that lists them.
    fn write(
        &self,
        folder: &IndexFolder,
        lock: &IndexFolderLock,
        snapshot: &IndexSnapshot,
        basis: &SnapshotBasis,
        care: FoldEffort,
    ) -> Result<(), IndexStepError> {
        let mut base = Vec::new();
        for unit in plan(snapshot, care) {
            if unit.stays {
                base.extend(unit.parts);
                continue;
            }
            let merged = MergedSegmentContent::of(&views(&unit.parts)?, basis.model.as_deref())?;
            base.push(folder.write_segment(lock, &merged)?);
        }
        let dead = folder.write_dead(lock, &base)?;
        folder.write_manifest(lock, &self.manifest(basis, &base, dead))
    }

    /// Folds a tail that has become too large for memory, if no other process is folding.
    pub(super) fn spill(
        &self,
        state: &mut IndexState,
        lock: Option<&IndexFolderLock>,
    ) -> Result<(), IndexStepError> {
        let (Some(folder), Some(basis)) = (&self.folder, state.basis.clone()) else {
            return Ok(());
        };
        // A partial index lacks memories, so it must not become the base.
        if state.snapshot.partial {
            return Ok(());
        }
        let taken;
        let lock = match lock {
            Some(lock) => lock,
            None => match self.unless_unwritable(folder.lock())?.flatten() {
                Some(lock) => {
                    taken = lock;
                    &taken
                }
                None => return Ok(()),
            },
        };
        // If another process has folded, its base is opened next time. Our older base must not replace it.
        if folder.stamp() != basis.stamp {
            return Ok(());
        }
        let written = self.write(folder, lock, &state.snapshot, &basis, FoldEffort::Usual);
        if self.unless_unwritable(written)?.is_some() && self.load(state, basis.epoch)? {
            if let Some(opened) = &mut state.basis {
                opened.model = basis.model;
            }
            folder.sweep(lock);
        }
        Ok(())
    }

    /// Replaces the current state with one that was built separately.
    fn adopt(&self, built: IndexState) -> Result<usize, IndexStepError> {
        let mut state = self.state();
        *state = built;
        self.update_anew(&mut state)?;
        Ok(state.snapshot.base.len())
    }

    /// Removes old entries of the log that the base contains. A follower that has not read them yet finds a newer base.
    fn trim_log(&self) -> Result<(), IndexStepError> {
        let Some(Seq(watermark)) = self.state().basis.as_ref().map(|basis| basis.watermark) else {
            return Ok(());
        };
        let up_to = watermark.min(self.source.head()?.0.saturating_sub(KEPT));
        if up_to > 0 {
            self.source.trim(Seq(up_to), TRIMMED)?;
        }
        Ok(())
    }

    fn unwritable(&self, error: IndexStepError) -> Result<FoldOutcome, IndexStepError> {
        match error {
            IndexStepError::Disk(path, error) => {
                self.excuse(&path, &error);
                Ok(FoldOutcome::Unwritable(format!("{}: {error}", path.display())))
            }
            error => Err(error),
        }
    }
}
