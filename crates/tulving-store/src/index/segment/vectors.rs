//! The vectors of a segment: one byte for each dimension, with a scale for each row.

use std::ops::Range;

use super::view::SegmentView;
use crate::index::errors::DamagedIndexFile;

/// The vectors of one doc: the vector of its whole text, and those of its sentences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DocVectors<'a> {
    pub(crate) whole: &'a [i8],
    pub(crate) scale: f32,
    /// The vectors of the sentences, one after the other; empty if the text is a single sentence.
    pub(crate) sentences: &'a [i8],
    pub(crate) sentence_scales: &'a [f32],
}

impl<'a> SegmentView<'a> {
    /// The rows of the docs in a range.
    pub(crate) fn rows(&self, docs: Range<u32>) -> Range<usize> {
        if self.row_docs.is_empty() {
            let rows = self.scales.len();
            return rows.min(docs.start as usize)..rows.min(docs.end as usize);
        }
        self.row_docs.partition_point(|&doc| doc < docs.start)
            ..self.row_docs.partition_point(|&doc| doc < docs.end)
    }

    /// The doc of a row.
    pub(crate) fn doc_of(&self, row: usize) -> u32 {
        // If every doc has a row, there are no entries, and the row number is the doc number. Doc numbers fit into 32
        // bits.
        self.row_docs.get(row).copied().unwrap_or_else(|| u32::try_from(row).unwrap_or(u32::MAX))
    }

    /// The row of a doc.
    pub(crate) fn row_of(&self, doc: u32) -> Option<usize> {
        if self.row_docs.is_empty() {
            return Some(doc as usize).filter(|row| *row < self.scales.len());
        }
        self.row_docs.binary_search(&doc).ok()
    }

    /// Requests the vectors of a row that will be read soon, unless their blocks were already read.
    pub(crate) fn fetch_vectors(&self, row: usize) {
        let (from, to) = (self.sentence_offsets[row] as usize, self.sentence_offsets[row + 1] as usize);
        self.segment.fetch_vectors(row + from..row + 1 + to);
    }

    /// The vectors of a row.
    pub(crate) fn vectors(&self, row: usize) -> Result<DocVectors<'a>, DamagedIndexFile> {
        let sentences = self.sentence_offsets[row] as usize..self.sentence_offsets[row + 1] as usize;
        let all = self.segment.vectors(row + sentences.start..row + 1 + sentences.end)?;
        let (whole, rest) = all.split_at(self.segment.stride());
        Ok(DocVectors {
            whole,
            scale: self.scales[row],
            sentences: rest,
            sentence_scales: &self.sentence_scales[sentences],
        })
    }
}
