//! The growth of the tail: the old docs of a changed memory die, and its new ones form a small segment.
//!
//! Small segments are merged as they accumulate, so that there are always few and each doc is rewritten only a few
//! times.

use tulving_core::model::search::Entry;

use super::segment::{MergedSegmentContent, NewSegmentContent, held};
use super::snapshot::{IndexSnapshot, SnapshotPart, views};
use super::trouble::DamagedIndexFile;

/// Number of segments of one size that are merged.
const FAN: usize = 8;
/// Larger segments in memory are not merged. Folding writes them to files.
const LARGE: usize = 32 * 1024;

impl IndexSnapshot {
    /// Adds memories in their present state. Their old docs are dead already.
    pub(super) fn absorb(&mut self, entries: &[Entry], model: Option<&str>) -> Result<(), DamagedIndexFile> {
        let segment = held(&NewSegmentContent::of(entries, model))?;
        if segment.docs() > 0 {
            self.tail.push(SnapshotPart::new(segment));
        }
        self.tail.retain(|part| part.living() > 0);
        while let Some(size) = self.crowded() {
            let (alike, others): (Vec<SnapshotPart>, Vec<SnapshotPart>) =
                self.tail.drain(..).partition(|part| size_of_part(part) == size);
            self.tail = others;
            self.tail.push(merged(&alike, model)?);
        }
        Ok(())
    }

    /// A size class with too many segments of the tail.
    fn crowded(&self) -> Option<u32> {
        let small = || self.tail.iter().filter(|part| part.living() < LARGE).map(size_of_part);
        small().find(|size| small().filter(|other| other == size).count() >= FAN)
    }

    /// Number of living docs of the tail.
    pub(super) fn tail_items(&self) -> usize {
        self.tail.iter().map(SnapshotPart::living).sum()
    }
}

/// The size class. Segments of one class are within a factor of eight.
fn size_of_part(part: &SnapshotPart) -> u32 {
    match part.living() {
        large if large >= LARGE => u32::MAX,
        living => living.max(1).ilog2() / 3,
    }
}

/// Merges several parts into one in memory. Vectors of other models than `model` are dropped.
fn merged(parts: &[SnapshotPart], model: Option<&str>) -> Result<SnapshotPart, DamagedIndexFile> {
    Ok(SnapshotPart::new(held(&MergedSegmentContent::of(&views(parts)?, model)?)?))
}
