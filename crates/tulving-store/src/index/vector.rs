//! The vector lane: the cosines of the question and the items. They are exact if there are few items. If there are
//! many, sign bits preselect the items to compare.

use tulving_core::model::search::{self, QueryVector};

use super::errors::DamagedIndexFile;
use super::quantise::QuantisedQuery;
use super::segment::{DocDetailFields as _, DocVectors, SegmentView, stride};
use super::top::{ScoredDoc, TopDocs};
use super::visible::VisibleDocs;

/// Maximum number of items that are all compared exactly, with all their sentences. This takes about 1 ms with two
/// sentences each. Above this number, the signs preselect the items to compare, which takes 0.6 ms for 20,000 items.
const EXACT: u64 = 10_000;
/// Minimum number of items that the signs preselect.
const SURVIVORS: usize = 2_000;
/// Number of rows of signs that are compared before their distances are evaluated.
const ROWS: usize = 1_024;
/// Number of preselected items whose vectors are prefetched into the cache ahead of the comparison.
const AHEAD: usize = 3;

/// The closeness of a doc.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DocSimilarity {
    pub(super) doc: u32,
    pub(super) whole: f32,
    pub(super) sentence: Option<f32>,
}

impl DocSimilarity {
    pub(super) fn closeness(&self) -> f32 {
        search::closeness(Some(self.whole), self.sentence)
    }
}

/// The result of comparing docs with the question.
#[derive(Default)]
pub(super) struct VectorResults {
    duplicate_query: Option<QuantisedQuery>,
    /// For each part, true if its vectors are of the question's model.
    fits: Vec<bool>,
    /// The closeness of the compared docs, part by part, sorted by doc.
    near: Vec<Vec<DocSimilarity>>,
    /// The nearest docs.
    pub(super) best: Vec<ScoredDoc>,
}

impl VectorResults {
    /// Compares the visible docs, and finds the `depth` nearest.
    pub(super) fn of(
        meaning: Option<&QueryVector>,
        parts: &[VisibleDocs<'_>],
        views: &[SegmentView<'_>],
        depth: usize,
    ) -> Result<Self, DamagedIndexFile> {
        let mut made =
            Self { near: vec![Vec::new(); parts.len()], fits: vec![false; parts.len()], ..Self::default() };
        let Some(meaning) = meaning else {
            return Ok(made);
        };
        let wanted = Some((meaning.model.as_str(), meaning.vector.len()));
        made.fits = views.iter().map(|view| view.segment.model() == wanted).collect();
        made.duplicate_query = QuantisedQuery::new(&meaning.vector, stride(meaning.vector.len()));
        let Some(duplicate_query) = &made.duplicate_query else {
            return Ok(made);
        };
        let fitting = (0_u32..).zip(parts).filter(|(part, _)| made.fits[*part as usize]);
        let fitting: Vec<(u32, &VisibleDocs<'_>)> = fitting.collect();
        let items: u64 = fitting.iter().map(|(_, visible)| u64::from(visible.counts.vectored_items)).sum();
        if items <= EXACT {
            compare_all(duplicate_query, &fitting, &mut made.near)?;
        } else {
            let mut survivors =
                SignPreselection::new(SURVIVORS.max(depth.saturating_mul(4)), duplicate_query.width());
            for (part, visible) in fitting {
                survivors.scan(duplicate_query, part, visible)?;
            }
            compare_chosen(duplicate_query, &survivors.chosen(views), views, &mut made.near)?;
        }
        let mut top = TopDocs::new(views, depth);
        for (part, near) in (0_u32..).zip(&made.near) {
            for one in near {
                let score = one.closeness();
                if score >= top.least() {
                    top.offer(ScoredDoc { score, part, doc: one.doc });
                }
            }
        }
        made.best = top.into_hits();
        Ok(made)
    }

    /// Returns true if the vectors of a part are of the question's model.
    pub(super) fn fits(&self, part: usize) -> bool {
        self.fits[part]
    }

    /// The docs of a range that were compared.
    pub(super) fn among(&self, part: u32, docs: &std::ops::Range<u32>) -> &[DocSimilarity] {
        let near = &self.near[part as usize];
        let from = near.partition_point(|near| near.doc < docs.start);
        &near[from..from + near[from..].partition_point(|near| near.doc < docs.end)]
    }

    /// The closeness of each of these docs. Docs that were not compared before are compared now.
    pub(super) fn near(
        &self,
        docs: impl Iterator<Item = (u32, u32)>,
        views: &[SegmentView<'_>],
    ) -> Result<Vec<Option<DocSimilarity>>, DamagedIndexFile> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for (place, (part, doc)) in docs.enumerate() {
            let near = &self.near[part as usize];
            let known = near.binary_search_by_key(&doc, |near| near.doc).ok().map(|known| near[known]);
            found.push(known);
            if known.is_none() && self.fits[part as usize] {
                let view = &views[part as usize];
                if let Some(row) = view.row_of(doc) {
                    missing.push((place, doc, view.vectors(row)?));
                }
            }
        }
        if let Some(duplicate_query) = &self.duplicate_query {
            compare_each(duplicate_query, &missing, |place, near| found[place] = Some(near));
        }
        Ok(found)
    }
}

/// Compares all visible docs in these parts.
fn compare_all(
    duplicate_query: &QuantisedQuery,
    parts: &[(u32, &VisibleDocs<'_>)],
    near: &mut [Vec<DocSimilarity>],
) -> Result<(), DamagedIndexFile> {
    for &(part, visible) in parts {
        for range in &visible.ranges {
            for row in visible.view.rows(range.clone()) {
                let doc = visible.view.doc_of(row);
                if visible.sees(doc) {
                    near[part as usize].push(compared(duplicate_query, doc, &visible.view.vectors(row)?));
                }
            }
        }
    }
    Ok(())
}

/// Compares these docs, which are sorted by part and doc.
fn compare_chosen(
    duplicate_query: &QuantisedQuery,
    chosen: &[(u32, u32)],
    views: &[SegmentView<'_>],
    near: &mut [Vec<DocSimilarity>],
) -> Result<(), DamagedIndexFile> {
    // All vectors are requested before the first one is read.
    let places = chosen.iter().filter_map(|&(part, doc)| {
        let row = views[part as usize].row_of(doc)?;
        views[part as usize].fetch_vectors(row);
        Some((part, doc, row))
    });
    let mut rows = Vec::with_capacity(chosen.len());
    for (part, doc, row) in places.collect::<Vec<_>>() {
        rows.push((part, doc, views[part as usize].vectors(row)?));
    }
    compare_each(duplicate_query, &rows, |part, found| near[part as usize].push(found));
    Ok(())
}

/// Compares rows at random positions.
fn compare_each<T: Copy>(
    duplicate_query: &QuantisedQuery,
    rows: &[(T, u32, DocVectors<'_>)],
    mut each: impl FnMut(T, DocSimilarity),
) {
    for (n, (what, doc, vectors)) in rows.iter().enumerate() {
        if let Some((.., soon)) = rows.get(n + AHEAD) {
            duplicate_query.fetch(soon.whole, soon.sentences);
        }
        each(*what, compared(duplicate_query, *doc, vectors));
    }
}

fn compared(duplicate_query: &QuantisedQuery, doc: u32, vectors: &DocVectors<'_>) -> DocSimilarity {
    DocSimilarity {
        doc,
        whole: duplicate_query.cosine(vectors.whole, vectors.scale),
        sentence: duplicate_query.best_cosine(vectors.sentences, vectors.sentence_scales),
    }
}

/// The docs whose signs differ least from the question's.
struct SignPreselection {
    limit: usize,
    /// Number of docs accepted at each distance.
    taken: Vec<usize>,
    /// The largest distance that is still accepted, because enough docs are nearer.
    bound: u16,
    /// Number of docs that are nearer than the bound.
    nearer: usize,
    /// The distance, the part and the doc of each accepted doc.
    found: Vec<(u16, u32, u32)>,
    /// When this number of docs was found, the docs beyond the bound are dropped.
    full: usize,
}

impl SignPreselection {
    fn new(limit: usize, width: usize) -> Self {
        let full = limit.max(ROWS).saturating_mul(8);
        Self { limit, taken: vec![0; width + 1], bound: u16::MAX, nearer: 0, found: Vec::new(), full }
    }

    /// Adds the docs of a part.
    fn scan(
        &mut self,
        duplicate_query: &QuantisedQuery,
        part: u32,
        visible: &VisibleDocs<'_>,
    ) -> Result<(), DamagedIndexFile> {
        let mut distances = Vec::with_capacity(ROWS);
        for range in &visible.ranges {
            let rows = visible.view.rows(range.clone());
            for start in rows.clone().step_by(ROWS) {
                let end = rows.end.min(start + ROWS);
                duplicate_query.distances(visible.view.segment.signs(start..end)?, &mut distances);
                for (row, &distance) in (start..end).zip(&distances) {
                    if distance <= self.bound {
                        let doc = visible.view.doc_of(row);
                        if visible.sees(doc) {
                            self.take(distance, part, doc);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, distance: u16, part: u32, doc: u32) {
        self.found.push((distance, part, doc));
        self.taken[distance as usize] += 1;
        self.nearer += usize::from(distance < self.bound);
        if self.bound == u16::MAX && self.found.len() >= self.limit {
            let farthest = self.taken.iter().rposition(|taken| *taken > 0).unwrap_or(0);
            self.bound = u16::try_from(farthest).unwrap_or(u16::MAX);
            self.nearer = self.found.len() - self.taken[farthest];
        }
        while self.bound < u16::MAX && self.bound > 0 && self.nearer >= self.limit {
            self.bound -= 1;
            self.nearer -= self.taken[self.bound as usize];
        }
        if self.found.len() >= self.full {
            self.found.retain(|(distance, ..)| *distance <= self.bound);
            // All docs exactly at the bound stay, however many there are. `full` is raised to at least twice
            // their number, so that they are not scanned again for each new doc.
            self.full = self.full.max(self.found.len() * 2);
        }
    }

    /// The part and doc of the nearest docs, sorted by part and doc. Of the docs exactly at the bound, those with the
    /// smaller ids are chosen.
    fn chosen(mut self, views: &[SegmentView<'_>]) -> Vec<(u32, u32)> {
        self.found.retain(|(distance, ..)| *distance <= self.bound);
        if self.found.len() > self.limit {
            let key = |&(_, part, doc): &(u16, u32, u32)| {
                let (view, doc) = (&views[part as usize], doc as usize);
                (view.ids[doc], view.details[doc].chunk())
            };
            self.found.sort_unstable_by_key(|(distance, ..)| *distance == self.bound);
            let (nearer, room) = (self.nearer, self.limit - self.nearer);
            let edge = &mut self.found[nearer..];
            if room < edge.len() {
                edge.select_nth_unstable_by_key(room, key);
            }
            self.found.truncate(self.limit);
        }
        let mut chosen: Vec<(u32, u32)> = self.found.into_iter().map(|(_, part, doc)| (part, doc)).collect();
        chosen.sort_unstable();
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_one_distance_are_not_looked_through_with_each_that_comes() {
        let mut nearest = SignPreselection::new(10, 64);
        let mut looks = 0;
        for doc in 0..200_000 {
            let full = nearest.full;
            nearest.take(7, 0, doc);
            looks += usize::from(nearest.full != full);
        }
        assert_eq!((nearest.found.len(), nearest.nearer, nearest.bound), (200_000, 0, 7));
        assert!(looks < 10 && nearest.full > 200_000, "{looks} looks, full at {}", nearest.full);
    }
}
