//! Merges several segments into one, without their dead docs. Reads only the segments, never the store.

use super::doc::{DocDetailFields as _, NONE, SegmentDoc};
use super::vectors::DocVectors;
use super::view::SegmentView;
use super::write::SegmentContent;
use crate::index::dead::DeadDocs;
use crate::index::errors::DamagedIndexFile;

/// The result of merging segments.
pub(crate) struct MergedSegmentContent<'a> {
    views: Vec<SegmentView<'a>>,
    /// The name and the dimensions of the model whose vectors the result contains.
    model: Option<(&'a str, usize)>,
    docs: Vec<SegmentDoc<'a>>,
    /// For each doc of the result, its segment and its doc number there.
    origins: Vec<(u32, u32)>,
    /// For each doc of each segment, its doc number in the result, or [`NONE`].
    places: Vec<Vec<u32>>,
}

impl<'a> MergedSegmentContent<'a> {
    /// Merges these segments. Drops vectors of models other than `model`.
    pub(crate) fn of(
        parts: &[(SegmentView<'a>, &DeadDocs)],
        model: Option<&str>,
    ) -> Result<Self, DamagedIndexFile> {
        let mut all: Vec<(SegmentDoc<'a>, u32, u32)> = Vec::new();
        for (n, (view, dead)) in (0_u32..).zip(parts) {
            let created = view.created()?;
            let live = (0..view.segment.docs()).filter(|&doc| !dead.has(doc));
            all.extend(live.map(|doc| (view.doc(doc, created[doc as usize]), n, doc)));
        }
        // Each segment is already sorted, so this sort only merges sorted runs.
        all.sort_by(|one, other| one.0.order(&other.0));
        let mut places: Vec<Vec<u32>> =
            parts.iter().map(|(view, _)| vec![NONE; view.segment.docs() as usize]).collect();
        for (place, &(_, part, doc)) in (0_u32..).zip(&all) {
            places[part as usize][doc as usize] = place;
        }
        let mut models = parts.iter().filter_map(|(view, _)| view.segment.model());
        Ok(Self {
            views: parts.iter().map(|(view, _)| *view).collect(),
            model: models.find(|(name, _)| Some(*name) == model),
            origins: all.iter().map(|&(_, part, doc)| (part, doc)).collect(),
            docs: all.into_iter().map(|(doc, _, _)| doc).collect(),
            places,
        })
    }
}

impl SegmentContent for MergedSegmentContent<'_> {
    fn docs(&self) -> &[SegmentDoc<'_>] {
        &self.docs
    }

    fn model(&self) -> Option<(&str, usize)> {
        self.model
    }

    fn terms(&self, each: &mut dyn FnMut(&[u8], &[u64])) -> Result<(), DamagedIndexFile> {
        let mut next = vec![0; self.views.len()];
        let term_of = |next: &[usize], part: usize| {
            let view = &self.views[part];
            (next[part] < view.term_count()).then(|| view.term(next[part]))
        };
        let mut postings: Vec<u64> = Vec::new();
        while let Some(term) = (0..self.views.len()).filter_map(|part| term_of(&next, part)).min() {
            postings.clear();
            for (part, view) in self.views.iter().enumerate() {
                if term_of(&next, part) != Some(term) {
                    continue;
                }
                let found = view.postings_of(next[part])?;
                for (&doc, &count) in found.docs.iter().zip(found.counts) {
                    let place = self.places[part][doc as usize];
                    if place != NONE {
                        postings.push(u64::from(place) << 8 | u64::from(count));
                    }
                }
                next[part] += 1;
            }
            if !postings.is_empty() {
                postings.sort();
                each(term, &postings);
            }
        }
        Ok(())
    }

    fn vectors(&self, doc: usize) -> Result<Option<DocVectors<'_>>, DamagedIndexFile> {
        let (part, origin) = self.origins[doc];
        let view = &self.views[part as usize];
        match view.row_of(origin).filter(|_| view.segment.model() == self.model) {
            Some(row) => view.vectors(row).map(Some),
            None => Ok(None),
        }
    }
}

impl<'a> SegmentView<'a> {
    /// Converts a stored doc back to a [`SegmentDoc`].
    fn doc(&self, doc: u32, created: i64) -> SegmentDoc<'a> {
        let place = doc as usize;
        let (class, detail) = (self.classes[place], &self.details[place]);
        let facets = self.facets(class);
        SegmentDoc {
            id: self.ids[place],
            chunk: detail.chunk(),
            space: self.class_space(class),
            owner: self.class_owner(class),
            facets,
            speaker: self.class_speaker(class),
            session: (detail.session() != NONE).then(|| self.session_key(detail.session()).1),
            place: detail.place(),
            at: detail.at(),
            created,
            times: self.times(doc),
            importance: detail.importance(),
            properties: detail.properties(self.lengths[place]),
        }
    }
}
