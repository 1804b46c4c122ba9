//! The whole index at one moment: segments of the base, segments of the tail, and what is dead in each.
//!
//! A search works on one snapshot from beginning to end; whoever follows the log or folds makes a new one.

use std::sync::Arc;

use super::dead::Dead;
use super::segment::{Segment, View};
use super::trouble::Damaged;

/// A segment and what is dead in it.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) segment: Arc<Segment>,
    pub(super) dead: Arc<Dead>,
    /// Whether something that is dead in it was erased, and shall not stay in a file.
    pub(super) erased: bool,
}

impl Part {
    pub(super) fn new(segment: Segment) -> Self {
        Self { segment: Arc::new(segment), dead: Arc::default(), erased: false }
    }

    /// How many docs live.
    pub(super) fn living(&self) -> usize {
        self.segment.docs() as usize - self.dead.docs().len()
    }
}

/// All parts.
#[derive(Clone, Default)]
pub(super) struct Snapshot {
    /// Those in files.
    pub(super) base: Vec<Part>,
    /// Those in memory.
    pub(super) tail: Vec<Part>,
    /// Whether memories are missing that it would have taken too long to read before answering. What is there is
    /// there as it is now.
    pub(super) partial: bool,
}

impl Snapshot {
    pub(super) fn parts(&self) -> impl Iterator<Item = &Part> {
        self.base.iter().chain(&self.tail)
    }

    /// The columns of each part, with what is dead.
    pub(super) fn views(&self) -> Result<Vec<(View<'_>, &Dead)>, Damaged> {
        views(self.parts())
    }

    /// How many docs live.
    pub(super) fn items(&self) -> u64 {
        self.parts().map(|part| part.living() as u64).sum()
    }

    /// Lets a memory die in every part, because it changed or because it was erased.
    pub(super) fn kill(&mut self, id: &[u8; 16], erased: bool) -> Result<(), Damaged> {
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

/// The columns of these parts, with what is dead in each.
pub(super) fn views<'a>(
    parts: impl IntoIterator<Item = &'a Part>,
) -> Result<Vec<(View<'a>, &'a Dead)>, Damaged> {
    parts.into_iter().map(|part| Ok((part.segment.view()?, &*part.dead))).collect()
}
