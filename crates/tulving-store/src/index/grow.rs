//! The growth of the tail: the old docs of a changed memory become dead, and its new docs form a small segment.
//!
//! Small segments are merged when there are many of them. So the tail always has few segments, and each doc is
//! rewritten only a few times.

use tulving_core::model::search::IndexEntry;

use super::errors::DamagedIndexFile;
use super::segment::{MergedSegmentContent, NewSegmentContent, held};
use super::snapshot::{IndexSnapshot, SnapshotPart, views};

/// Number of segments of a similar size that are merged into one.
const FAN: usize = 8;
/// Number of docs from which a segment in memory is no longer merged. Folding writes such segments to files.
const LARGE: usize = 32 * 1024;

impl IndexSnapshot {
    /// Adds memories in their present state. The caller has already marked their old docs as dead.
    pub(super) fn absorb(
        &mut self,
        entries: &[IndexEntry],
        model: Option<&str>,
    ) -> Result<(), DamagedIndexFile> {
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

    /// Returns a size class in which the tail has too many segments.
    fn crowded(&self) -> Option<u32> {
        let small = || self.tail.iter().filter(|part| part.living() < LARGE).map(size_of_part);
        small().find(|size| small().filter(|other| other == size).count() >= FAN)
    }

    /// Number of living docs of the tail.
    pub(super) fn tail_items(&self) -> usize {
        self.tail.iter().map(SnapshotPart::living).sum()
    }
}

/// The size class of a part. Sizes in one class differ by less than a factor of eight. The class of the largest parts,
/// which are not merged, has no upper limit.
fn size_of_part(part: &SnapshotPart) -> u32 {
    match part.living() {
        large if large >= LARGE => u32::MAX,
        living => living.max(1).ilog2() / 3,
    }
}

/// Merges several parts into one part in memory. Drops vectors of models other than `model`.
fn merged(parts: &[SnapshotPart], model: Option<&str>) -> Result<SnapshotPart, DamagedIndexFile> {
    Ok(SnapshotPart::new(held(&MergedSegmentContent::of(&views(parts)?, model)?)?))
}
