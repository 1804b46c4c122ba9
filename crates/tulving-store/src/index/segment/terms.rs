//! The dictionary of a segment and its postings.

use std::ops::Range;

use memchr::memmem::Finder;

use super::view::SegmentView;
use crate::index::errors::DamagedIndexFile;

/// The docs that contain a term, in ascending order, and the count of the term in each doc.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Postings<'a> {
    pub(crate) docs: &'a [u32],
    pub(crate) counts: &'a [u8],
}

impl Postings<'_> {
    /// Returns true if the docs ascend, all are below `docs`, and each contains the term at least once.
    fn are_in_order(&self, docs: u32) -> bool {
        self.docs.is_sorted_by(|one, next| one < next)
            && self.docs.last().is_none_or(|last| *last < docs)
            && !self.counts.contains(&0)
    }

    /// The docs of the postings within a range.
    pub(crate) fn docs_within(&self, range: &Range<u32>) -> &[u32] {
        let from = self.docs.partition_point(|&doc| doc < range.start);
        let to = from + self.docs[from..].partition_point(|&doc| doc < range.end);
        &self.docs[from..to]
    }
}

impl<'a> SegmentView<'a> {
    pub(crate) fn term_count(&self) -> usize {
        self.term_offsets.len().saturating_sub(1)
    }

    /// The term with this ordinal.
    pub(crate) fn term(&self, ordinal: usize) -> &'a [u8] {
        &self.term_bytes[self.term_offsets[ordinal] as usize..self.term_offsets[ordinal + 1] as usize - 1]
    }

    /// The position of a term, or as an error the position at which it would be inserted.
    fn place_of(&self, term: &[u8]) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.term_count());
        while low < high {
            let middle = low.midpoint(high);
            match self.term(middle).cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// The postings of a term; empty if the dictionary does not contain the term.
    pub(crate) fn postings(&self, term: &[u8]) -> Result<Postings<'a>, DamagedIndexFile> {
        match self.place_of(term) {
            Ok(ordinal) => self.postings_of(ordinal),
            Err(_) => Ok(Postings::default()),
        }
    }

    /// The postings of the term with this ordinal.
    pub(crate) fn postings_of(&self, ordinal: usize) -> Result<Postings<'a>, DamagedIndexFile> {
        let range = self.posting_offsets[ordinal] as usize..self.posting_offsets[ordinal + 1] as usize;
        let (docs, counts) = self.segment.postings_at(range)?;
        let postings = Postings { docs, counts };
        self.segment.found_in_order(ordinal, || postings.are_in_order(self.segment.docs()))?;
        Ok(postings)
    }

    /// The terms that begin with these bytes.
    pub(crate) fn beginning_with(&self, start: &[u8]) -> Range<usize> {
        let first = self.place_of(start).unwrap_or_else(|place| place);
        let mut end = first;
        while end < self.term_count() && self.term(end).starts_with(start) {
            end += 1;
        }
        first..end
    }

    /// The terms that contain these bytes.
    pub(crate) fn containing(&self, part: &[u8]) -> Vec<usize> {
        // Terms are separated by zero bytes and contain none, so no match spans two terms.
        let mut found = Vec::new();
        for place in Finder::new(part).find_iter(self.term_bytes) {
            let after = self.term_offsets.partition_point(|&offset| offset as usize <= place);
            if found.last() != Some(&(after - 1)) {
                found.push(after - 1);
            }
        }
        found
    }
}
