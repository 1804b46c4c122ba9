//! The vector lane: cosines with the question, exact among few and by way of sign bits among many.

use tulving_core::search::{self, Meaning};

use super::quantise::Probe;
use super::segment::{Details as _, Vectors, View, stride};
use super::top::{Hit, Top};
use super::trouble::Damaged;
use super::visible::Visible;

/// Up to so many items are compared exactly, sentences and all, which takes about 1 ms with two sentences each. Beyond,
/// the signs choose whom to compare: 0.6 ms at 20,000.
const EXACT: u64 = 10_000;
/// The signs choose at least so many.
const SURVIVORS: usize = 2_000;
/// How many rows of signs are compared before looking at the outcome.
const ROWS: usize = 1_024;
/// How many survivors ahead vectors are asked for from memory.
const AHEAD: usize = 3;

/// How near a doc is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Near {
    pub(super) doc: u32,
    pub(super) whole: f32,
    pub(super) sentence: Option<f32>,
}

impl Near {
    pub(super) fn closeness(&self) -> f32 {
        search::closeness(Some(self.whole), self.sentence)
    }
}

/// What was compared.
#[derive(Default)]
pub(super) struct Compared {
    probe: Option<Probe>,
    /// Whether a part has vectors of the question's model.
    fits: Vec<bool>,
    /// Part by part, by doc.
    near: Vec<Vec<Near>>,
    /// The best.
    pub(super) best: Vec<Hit>,
}

impl Compared {
    /// Compares what is visible, and finds the `depth` nearest.
    pub(super) fn of(
        meaning: Option<&Meaning>,
        parts: &[Visible<'_>],
        views: &[View<'_>],
        depth: usize,
    ) -> Result<Self, Damaged> {
        let mut made =
            Self { near: vec![Vec::new(); parts.len()], fits: vec![false; parts.len()], ..Self::default() };
        let Some(meaning) = meaning else {
            return Ok(made);
        };
        let wanted = Some((meaning.model.as_str(), meaning.vector.len()));
        made.fits = views.iter().map(|view| view.segment.model() == wanted).collect();
        made.probe = Probe::new(&meaning.vector, stride(meaning.vector.len()));
        let Some(probe) = &made.probe else {
            return Ok(made);
        };
        let fitting = (0_u32..).zip(parts).filter(|(part, _)| made.fits[*part as usize]);
        let fitting: Vec<(u32, &Visible<'_>)> = fitting.collect();
        let items: u64 = fitting.iter().map(|(_, visible)| u64::from(visible.tally.vectored_items)).sum();
        if items <= EXACT {
            compare_all(probe, &fitting, &mut made.near)?;
        } else {
            let mut survivors = Nearest::new(SURVIVORS.max(depth.saturating_mul(4)), probe.width());
            for (part, visible) in fitting {
                survivors.scan(probe, part, visible)?;
            }
            compare_chosen(probe, &survivors.chosen(views), views, &mut made.near)?;
        }
        let mut top = Top::new(views, depth);
        for (part, near) in (0_u32..).zip(&made.near) {
            for one in near {
                let score = one.closeness();
                if score >= top.least() {
                    top.offer(Hit { score, part, doc: one.doc });
                }
            }
        }
        made.best = top.into_hits();
        Ok(made)
    }

    /// Whether a part has vectors that were compared.
    pub(super) fn fits(&self, part: usize) -> bool {
        self.fits[part]
    }

    /// The docs of a range that were compared.
    pub(super) fn among(&self, part: u32, docs: &std::ops::Range<u32>) -> &[Near] {
        let near = &self.near[part as usize];
        let from = near.partition_point(|near| near.doc < docs.start);
        &near[from..from + near[from..].partition_point(|near| near.doc < docs.end)]
    }

    /// How near each of these docs is, compared now where it was not before.
    pub(super) fn near(
        &self,
        docs: impl Iterator<Item = (u32, u32)>,
        views: &[View<'_>],
    ) -> Result<Vec<Option<Near>>, Damaged> {
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
        if let Some(probe) = &self.probe {
            compare_each(probe, &missing, |place, near| found[place] = Some(near));
        }
        Ok(found)
    }
}

/// Compares all that is visible in these parts.
fn compare_all(probe: &Probe, parts: &[(u32, &Visible<'_>)], near: &mut [Vec<Near>]) -> Result<(), Damaged> {
    for &(part, visible) in parts {
        for range in &visible.ranges {
            for row in visible.view.rows(range.clone()) {
                let doc = visible.view.doc_of(row);
                if visible.sees(doc) {
                    near[part as usize].push(compared(probe, doc, &visible.view.vectors(row)?));
                }
            }
        }
    }
    Ok(())
}

/// Compares these docs, which ascend part by part.
fn compare_chosen(
    probe: &Probe,
    chosen: &[(u32, u32)],
    views: &[View<'_>],
    near: &mut [Vec<Near>],
) -> Result<(), Damaged> {
    // All are asked for before the first is read.
    let places = chosen.iter().filter_map(|&(part, doc)| {
        let row = views[part as usize].row_of(doc)?;
        views[part as usize].fetch_vectors(row);
        Some((part, doc, row))
    });
    let mut rows = Vec::with_capacity(chosen.len());
    for (part, doc, row) in places.collect::<Vec<_>>() {
        rows.push((part, doc, views[part as usize].vectors(row)?));
    }
    compare_each(probe, &rows, |part, found| near[part as usize].push(found));
    Ok(())
}

/// Compares rows that lie here and there.
fn compare_each<T: Copy>(probe: &Probe, rows: &[(T, u32, Vectors<'_>)], mut each: impl FnMut(T, Near)) {
    for (n, (what, doc, vectors)) in rows.iter().enumerate() {
        if let Some((.., soon)) = rows.get(n + AHEAD) {
            probe.fetch(soon.whole, soon.sentences);
        }
        each(*what, compared(probe, *doc, vectors));
    }
}

fn compared(probe: &Probe, doc: u32, vectors: &Vectors<'_>) -> Near {
    Near {
        doc,
        whole: probe.cosine(vectors.whole, vectors.scale),
        sentence: probe.best_cosine(vectors.sentences, vectors.sentence_scales),
    }
}

/// Those whose signs differ least from the question's.
struct Nearest {
    limit: usize,
    /// How many were taken at each distance.
    taken: Vec<usize>,
    /// Whoever is farther is not taken: enough are nearer.
    bound: u16,
    /// How many are nearer than the bound.
    nearer: usize,
    /// Distance, part and doc.
    found: Vec<(u16, u32, u32)>,
    /// Once so many were found, those beyond the bound go.
    full: usize,
}

impl Nearest {
    fn new(limit: usize, width: usize) -> Self {
        let full = limit.max(ROWS).saturating_mul(8);
        Self { limit, taken: vec![0; width + 1], bound: u16::MAX, nearer: 0, found: Vec::new(), full }
    }

    /// Takes those of a part.
    fn scan(&mut self, probe: &Probe, part: u32, visible: &Visible<'_>) -> Result<(), Damaged> {
        let mut distances = Vec::with_capacity(ROWS);
        for range in &visible.ranges {
            let rows = visible.view.rows(range.clone());
            for start in rows.clone().step_by(ROWS) {
                let end = rows.end.min(start + ROWS);
                probe.distances(visible.view.segment.signs(start..end)?, &mut distances);
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
            // All that are as far as the bound stay, however many: they are not looked through with each that comes.
            self.full = self.full.max(self.found.len() * 2);
        }
    }

    /// Part and doc of the nearest, in that order. Among those as far as the bound, the smaller ids are chosen.
    fn chosen(mut self, views: &[View<'_>]) -> Vec<(u32, u32)> {
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
        let mut nearest = Nearest::new(10, 64);
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
