//! The whole index at one moment: segments of the base, segments of the tail, and the dead docs of each.
//!
//! A search uses one snapshot from start to end. Following the log or folding creates a new snapshot.

use std::sync::Arc;

use super::dead::DeadDocs;
use super::errors::DamagedIndexFile;
use super::segment::{Segment, SegmentView};

/// A segment and its dead docs.
#[derive(Clone)]
pub(super) struct SnapshotPart {
    pub(super) segment: Arc<Segment>,
    pub(super) dead: Arc<DeadDocs>,
    /// True if some of its dead docs belong to erased memories, whose text must not stay in a file.
    pub(super) erased: bool,
}

impl SnapshotPart {
    pub(super) fn new(segment: Segment) -> Self {
        Self { segment: Arc::new(segment), dead: Arc::default(), erased: false }
    }

    /// Number of living docs.
    pub(super) fn living(&self) -> usize {
        self.segment.docs() as usize - self.dead.docs().len()
    }
}

/// The whole index at one moment.
#[derive(Clone, Default)]
pub(super) struct IndexSnapshot {
    /// The parts in files.
    pub(super) base: Vec<SnapshotPart>,
    /// The parts in memory.
    pub(super) tail: Vec<SnapshotPart>,
    /// True if memories are missing because reading them would delay the answer too much. The memories in the snapshot
    /// are up to date.
    pub(super) partial: bool,
}

impl IndexSnapshot {
    pub(super) fn parts(&self) -> impl Iterator<Item = &SnapshotPart> {
        self.base.iter().chain(&self.tail)
    }

    /// The columns of each part, with its dead docs.
    pub(super) fn views(&self) -> Result<Vec<(SegmentView<'_>, &DeadDocs)>, DamagedIndexFile> {
        views(self.parts())
    }

    /// Number of living docs.
    pub(super) fn items(&self) -> u64 {
        self.parts().map(|part| part.living() as u64).sum()
    }

    /// Marks a memory as dead in every part, because it changed or was erased.
    pub(super) fn kill(&mut self, id: &[u8; 16], erased: bool) -> Result<(), DamagedIndexFile> {
        for part in self.base.iter_mut().chain(&mut self.tail) {
            let view = part.segment.view()?;
            let docs = view.docs_of(id)?;
            if docs.is_empty() {
                continue;
            }
            part.erased |= erased;
            if !part.dead.has(docs.start) {
                Arc::make_mut(&mut part.dead).kill(&view, docs);
            }
        }
        Ok(())
    }
}

/// The columns of these parts, with the dead docs of each.
pub(super) fn views<'a>(
    parts: impl IntoIterator<Item = &'a SnapshotPart>,
) -> Result<Vec<(SegmentView<'a>, &'a DeadDocs)>, DamagedIndexFile> {
    parts.into_iter().map(|part| Ok((part.segment.view()?, &*part.dead))).collect()
}
