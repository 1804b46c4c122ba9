//! The docs of a segment that are dead, because their memory was changed or removed.

use std::collections::HashMap;
use std::ops::Range;

use super::segment::{DocCounts, Postings, SegmentView};

/// The dead docs of one segment. When a memory dies, all its docs become dead together.
#[derive(Clone, Debug, Default)]
pub(super) struct DeadDocs {
    bits: Vec<u64>,
    docs: Vec<u32>,
    /// Number of dead docs of each class.
    counts_by_class: HashMap<u32, DocCounts>,
}

impl DeadDocs {
    pub(super) fn has(&self, doc: u32) -> bool {
        self.bits.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// A bit for each of the 64 docs from `64 * word` on, set if the doc is dead.
    pub(super) fn word(&self, word: usize) -> u64 {
        self.bits.get(word).copied().unwrap_or(0)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    /// The dead docs, in any order.
    pub(super) fn docs(&self) -> &[u32] {
        &self.docs
    }

    /// Number of dead docs of a class.
    pub(super) fn counts(&self, class: u32) -> DocCounts {
        self.counts_by_class.get(&class).copied().unwrap_or_default()
    }

    /// Marks the docs of one memory as dead, if they are alive.
    pub(super) fn kill(&mut self, view: &SegmentView<'_>, docs: Range<u32>) {
        if docs.is_empty() || self.has(docs.start) {
            return;
        }
        self.bits.resize(view.ids.len().div_ceil(64), 0);
        let class = view.classes[docs.start as usize];
        self.counts_by_class.entry(class).or_default().add(view.memory_counts(&docs));
        for doc in docs {
            self.bits[doc as usize / 64] |= 1 << (doc % 64);
            self.docs.push(doc);
        }
    }

    /// Number of living docs that contain a term.
    pub(super) fn living(&self, postings: Postings<'_>) -> usize {
        let all = postings.docs.len();
        // Looking up each dead doc and checking each doc of the postings give the same number. The code chooses the
        // cheaper way.
        let steps = all.checked_ilog2().unwrap_or(0) as usize + 1;
        let dead = if self.docs.len() * steps < all {
            self.docs.iter().filter(|doc| postings.docs.binary_search(doc).is_ok()).count()
        } else if self.docs.is_empty() {
            0
        } else {
            postings.docs.iter().filter(|&&doc| self.has(doc)).count()
        };
        all - dead
    }
}
