//! Selects the best of many docs. The order of docs with equal scores never depends on the layout of the index.

use std::cmp::Ordering;

use super::segment::{DocDetailFields as _, SegmentView};

/// A doc of a part with a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ScoredDoc {
    pub(super) score: f32,
    pub(super) part: u32,
    pub(super) doc: u32,
}

/// The `limit` best docs. A higher score comes first, then a smaller memory id, then an earlier chunk.
pub(super) struct TopDocs<'a> {
    views: &'a [SegmentView<'a>],
    limit: usize,
    hits: Vec<ScoredDoc>,
    /// The worst of the `limit` best docs at the last pruning; `None` before the first one.
    bar: Option<ScoredDoc>,
}

impl<'a> TopDocs<'a> {
    pub(super) fn new(views: &'a [SegmentView<'a>], limit: usize) -> Self {
        Self { views, limit, hits: Vec::new(), bar: None }
    }

    /// The minimum score that is still accepted.
    pub(super) fn least(&self) -> f32 {
        match self.bar {
            _ if self.limit == 0 => f32::INFINITY,
            Some(bar) => bar.score,
            None => f32::NEG_INFINITY,
        }
    }

    /// Adds a doc if its score is high enough.
    pub(super) fn offer(&mut self, hit: ScoredDoc) {
        if self.limit == 0 || self.bar.is_some_and(|bar| order(self.views, &hit, &bar) != Ordering::Less) {
            return;
        }
        self.hits.push(hit);
        if self.hits.len() >= self.limit.saturating_mul(2).saturating_add(64) {
            self.prune();
        }
    }

    /// The best docs, in any order.
    pub(super) fn into_hits(mut self) -> Vec<ScoredDoc> {
        if self.hits.len() > self.limit {
            self.prune();
        }
        self.hits
    }

    fn prune(&mut self) {
        let views = self.views;
        let (_, bar, _) =
            self.hits.select_nth_unstable_by(self.limit - 1, |one, other| order(views, one, other));
        self.bar = Some(*bar);
        self.hits.truncate(self.limit);
    }
}

/// Orders the better hit first.
fn order(views: &[SegmentView<'_>], one: &ScoredDoc, other: &ScoredDoc) -> Ordering {
    let key = |hit: &ScoredDoc| {
        let (view, doc) = (&views[hit.part as usize], hit.doc as usize);
        (view.ids[doc], view.details[doc].chunk())
    };
    other.score.total_cmp(&one.score).then_with(|| key(one).cmp(&key(other)))
}
