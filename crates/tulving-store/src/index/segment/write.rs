//! Writes a segment, section after section, in a single pass, so that the output can be a file of any size.

use std::io::{self, Write};

use super::doc::{NONE, SegmentDoc};
use super::layout::{SegmentHead, SegmentSection};
use super::sink::SectionWriter;
use super::tables::{DocClassTable, DocSessionTable, ordinal};
use super::vectors::DocVectors;
use crate::index::errors::DamagedIndexFile;

/// The content that a segment is written from.
pub(crate) trait SegmentContent {
    /// The docs, in the order of [`SegmentDoc::order`].
    fn docs(&self) -> &[SegmentDoc<'_>];

    /// The model of the vectors and its dimensions; `None` if there are no vectors.
    fn model(&self) -> Option<(&str, usize)>;

    /// Passes every term to `each` in ascending order, with its postings in ascending order. A posting has the doc in
    /// the upper bits and the count in the lowest eight bits.
    fn terms(&self, each: &mut dyn FnMut(&[u8], &[u64])) -> Result<(), DamagedIndexFile>;

    /// The vectors of a doc.
    fn vectors(&self, doc: usize) -> Result<Option<DocVectors<'_>>, DamagedIndexFile>;
}

/// The checks of a segment when it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChecksumMode {
    /// The segment is written to a file, so its blocks are checked.
    Written,
    /// The segment stays in memory, so it needs no checks.
    None,
}

/// The reason why a segment could not be written.
#[derive(Debug)]
pub(crate) enum SegmentWriteError {
    /// Writing to the output failed.
    Out(io::Error),
    /// The source is damaged.
    In(DamagedIndexFile),
}

impl From<io::Error> for SegmentWriteError {
    fn from(error: io::Error) -> Self {
        Self::Out(error)
    }
}

impl From<DamagedIndexFile> for SegmentWriteError {
    fn from(damaged: DamagedIndexFile) -> Self {
        Self::In(damaged)
    }
}

/// Number of bytes of a vector with this many dimensions.
pub(crate) const fn stride(dimensions: usize) -> usize {
    dimensions.next_multiple_of(64)
}

/// Writes a segment.
pub(crate) fn write(
    content: &dyn SegmentContent,
    out: &mut dyn Write,
    checks: ChecksumMode,
) -> Result<(), SegmentWriteError> {
    let mut sink = SectionWriter::new(out, checks);
    let docs = content.docs();
    let rows = rows(content)?;
    columns(&mut sink, docs, &rows)?;
    postings(&mut sink, content)?;
    vectors(&mut sink, content, &rows)?;
    let (model, dimensions) = content.model().unwrap_or_default();
    sink.finish(SegmentHead {
        docs: docs.len() as u64,
        memories: docs.iter().filter(|doc| doc.chunk == 0).count() as u64,
        rows: rows.len() as u64,
        stride: stride(dimensions) as u64,
        dimensions: dimensions as u64,
        model: model.to_owned(),
        ..SegmentHead::default()
    })?;
    Ok(())
}

/// The docs that have vectors.
fn rows(content: &dyn SegmentContent) -> Result<Vec<u32>, DamagedIndexFile> {
    let mut rows = Vec::new();
    for doc in 0..content.docs().len() {
        if content.vectors(doc)?.is_some() {
            rows.push(ordinal(doc));
        }
    }
    Ok(rows)
}

fn columns(sink: &mut SectionWriter<'_>, docs: &[SegmentDoc<'_>], rows: &[u32]) -> io::Result<()> {
    let mut firsts: Vec<u32> = (0..docs.len()).filter(|&doc| docs[doc].chunk == 0).map(ordinal).collect();
    firsts.sort_unstable_by_key(|&doc| docs[doc as usize].id);
    let mut continued = vec![0_u64; if firsts.len() < docs.len() { docs.len().div_ceil(64) } else { 0 }];
    for (doc, _) in docs.iter().enumerate().filter(|(_, doc)| doc.chunk > 0) {
        continued[doc / 64] |= 1 << (doc % 64);
    }
    let classes = DocClassTable::of(docs, rows);
    let sessions = DocSessionTable::of(docs);
    let timed: Vec<usize> = (0..docs.len()).filter(|&doc| docs[doc].facets.timed()).collect();

    sink.each(SegmentSection::Ids, docs.iter().map(|doc| doc.id))?;
    sink.each(SegmentSection::ById, firsts)?;
    sink.each(SegmentSection::Continued, continued)?;
    sink.each(SegmentSection::Classes, classes.of_doc.iter().copied())?;
    sink.each(SegmentSection::Lengths, docs.iter().map(|doc| doc.properties.length))?;
    sink.each(SegmentSection::Created, docs.iter().map(|doc| doc.created))?;
    sink.each(
        SegmentSection::Details,
        docs.iter().zip(&sessions.of_doc).map(|(doc, session)| doc.detail(*session)),
    )?;
    sink.each(SegmentSection::Timed, timed.iter().map(|&doc| ordinal(doc)))?;
    let times = timed.iter().map(|&doc| docs[doc].times);
    sink.each(SegmentSection::Times, times.map(|times| [times.expires, times.from, times.until]))?;
    sink.each(SegmentSection::ClassTable, classes.table)?;
    sink.each(SegmentSection::Spaces, classes.spaces)?;
    sink.each(SegmentSection::Owners, classes.owners)?;
    let mut end = 0;
    let ends = classes.speakers.iter().map(|name| {
        end += name.len();
        ordinal(end)
    });
    sink.each(SegmentSection::SpeakerEnds, ends)?;
    sink.each(SegmentSection::Speakers, classes.speakers.iter().flat_map(|name| name.bytes()))?;
    sink.each(SegmentSection::Sessions, sessions.table)?;
    sink.all(SegmentSection::SessionNames, &sessions.names)
}

fn postings(sink: &mut SectionWriter<'_>, content: &dyn SegmentContent) -> Result<(), SegmentWriteError> {
    let (mut term_offsets, mut terms) = (vec![0_u32], Vec::new());
    let (mut offsets, mut docs, mut counts) = (vec![0_u64], Vec::<u32>::new(), Vec::<u8>::new());
    content.terms(&mut |term, postings| {
        terms.extend_from_slice(term);
        terms.push(0);
        term_offsets.push(ordinal(terms.len()));
        docs.extend(postings.iter().map(|posting| u32::try_from(posting >> 8).unwrap_or(NONE)));
        counts.extend(postings.iter().map(|posting| posting.to_le_bytes()[0]));
        offsets.push(docs.len() as u64);
    })?;
    sink.each(SegmentSection::TermOffsets, term_offsets)?;
    sink.all(SegmentSection::Terms, &terms)?;
    sink.each(SegmentSection::PostingOffsets, offsets)?;
    sink.all(SegmentSection::PostingDocs, bytemuck::cast_slice(&docs))?;
    sink.all(SegmentSection::PostingCounts, &counts)?;
    Ok(())
}

fn vectors(
    sink: &mut SectionWriter<'_>,
    content: &dyn SegmentContent,
    rows: &[u32],
) -> Result<(), SegmentWriteError> {
    let each = || rows.iter().filter_map(|&doc| content.vectors(doc as usize).transpose());
    let every_doc = rows.len() == content.docs().len();
    sink.each(SegmentSection::RowDocs, rows.iter().copied().filter(|_| !every_doc))?;
    sink.begin(SegmentSection::Signs)?;
    for row in each() {
        sink.put(bytemuck::cast_slice(&signs(row?.whole)))?;
    }
    sink.end();
    let (mut scales, mut offsets, mut sentence_scales) = (Vec::new(), vec![0_u32], Vec::new());
    for row in each() {
        let row = row?;
        scales.push(row.scale);
        sentence_scales.extend_from_slice(row.sentence_scales);
        offsets.push(ordinal(sentence_scales.len()));
    }
    sink.each(SegmentSection::Scales, scales)?;
    sink.each(SegmentSection::SentenceOffsets, offsets)?;
    sink.each(SegmentSection::SentenceScales, sentence_scales)?;
    sink.begin(SegmentSection::Vectors)?;
    for row in each() {
        let row = row?;
        sink.put(bytemuck::cast_slice(row.whole))?;
        sink.put(bytemuck::cast_slice(row.sentences))?;
    }
    sink.end();
    Ok(())
}

/// A bit for each number, set if the number is positive.
fn signs(row: &[i8]) -> Vec<u64> {
    row.chunks(64)
        .map(|chunk| chunk.iter().enumerate().fold(0, |bits, (n, value)| bits | u64::from(*value > 0) << n))
        .collect()
}
