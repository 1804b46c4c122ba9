//! How the tail grows: what changed dies wherever it is, and comes back as it is now in a small segment of its own.
//!
//! Small segments become larger ones as they gather, so that there are few at any time and each doc is written anew
//! only a few times.

use tulving_core::search::Entry;

use super::segment::{Fresh, Merged, held};
use super::snapshot::{Part, Snapshot, views};
use super::trouble::Damaged;

/// So many segments of a size become one.
const FAN: usize = 8;
/// Segments in memory that are larger are left alone; folding puts them into files.
const LARGE: usize = 32 * 1024;

impl Snapshot {
    /// Takes in memories as they are now. What was known of them died before.
    pub(super) fn absorb(&mut self, entries: &[Entry], model: Option<&str>) -> Result<(), Damaged> {
        let segment = held(&Fresh::of(entries, model))?;
        if segment.docs() > 0 {
            self.tail.push(Part::new(segment));
        }
        self.tail.retain(|part| part.living() > 0);
        while let Some(size) = self.crowded() {
            let (alike, others): (Vec<Part>, Vec<Part>) =
                self.tail.drain(..).partition(|part| size_of_part(part) == size);
            self.tail = others;
            self.tail.push(merged(&alike, model)?);
        }
        Ok(())
    }

    /// A size that too many segments of the tail have.
    fn crowded(&self) -> Option<u32> {
        let small = || self.tail.iter().filter(|part| part.living() < LARGE).map(size_of_part);
        small().find(|size| small().filter(|other| other == size).count() >= FAN)
    }

    /// How many docs of the tail live.
    pub(super) fn tail_items(&self) -> usize {
        self.tail.iter().map(Part::living).sum()
    }
}

/// Segments of one size are within a factor of eight.
fn size_of_part(part: &Part) -> u32 {
    match part.living() {
        large if large >= LARGE => u32::MAX,
        living => living.max(1).ilog2() / 3,
    }
}

/// Several parts as one in memory. Vectors of other models than `model` go.
fn merged(parts: &[Part], model: Option<&str>) -> Result<Part, Damaged> {
    Ok(Part::new(held(&Merged::of(&views(parts)?, model)?)?))
}
