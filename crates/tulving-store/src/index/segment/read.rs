//! Reads a segment.
//!
//! Every block is checked when it is first read. So a flipped bit is noticed before the block is used, and opening
//! takes the same time for any size. Small columns are checked completely when a
//! [`SegmentView`](super::view::SegmentView) is created. Postings and vectors, which are most of a file, are checked
//! block by block. Another program may have forged data with correct checksums. So the references in the data are
//! [checked](super::consistency) once; for postings, term by term.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytemuck::Pod;

use super::bytes::SegmentBytes;
use super::doc::NONE;
use super::layout::{BLOCK, SECTIONS, SegmentHead, SegmentSection, SegmentTrailer};
use super::write::ChecksumMode;
use crate::index::errors::{DamagedIndexFile, IndexStepError};

/// An immutable set of docs with their terms and vectors.
pub(crate) struct Segment {
    bytes: SegmentBytes,
    head: SegmentHead,
    /// The index of the first block of each section, and the total number of blocks.
    first_blocks: Vec<usize>,
    /// A bit for each block, set once the block's checksum was verified.
    whole_blocks: Vec<AtomicU64>,
    whole_sections: [AtomicBool; SECTIONS],
    /// True once its columns were found to be consistent.
    sound: AtomicBool,
    /// A bit for each term, set once the order of its postings was verified. Empty if no check is needed.
    sound_terms: Vec<AtomicU64>,
    name: String,
    checksum: u32,
}

impl Segment {
    /// Opens a segment file. Reads only the head.
    pub(crate) fn open(path: &Path) -> Result<Self, IndexStepError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let bytes = SegmentBytes::of_file(path).map_err(IndexStepError::disk(path))?;
        Ok(Self::read(bytes, name, ChecksumMode::Written)?)
    }

    /// Creates a segment from bytes that [`write`](super::write::write) has just made.
    pub(crate) fn held(bytes: &[u8]) -> Result<Self, DamagedIndexFile> {
        Self::read(SegmentBytes::held(bytes), "memory".to_owned(), ChecksumMode::None)
    }

    pub(super) fn read(
        bytes: SegmentBytes,
        name: String,
        checks: ChecksumMode,
    ) -> Result<Self, DamagedIndexFile> {
        let wrong = |what| DamagedIndexFile { file: name.clone(), what };
        let all = bytes.as_slice();
        let trailer =
            SegmentTrailer::of(all).ok_or_else(|| wrong("it does not end as an index file does"))?;
        let head = slice(all, trailer.offset, trailer.length).ok_or_else(|| wrong("it is too short"))?;
        if crc32fast::hash(head) != trailer.checksum {
            return Err(wrong("its head does not match its checksum"));
        }
        let head = SegmentHead::decoded(head).ok_or_else(|| wrong("its head has another version"))?;
        let first_blocks = head.first_blocks();
        let blocks = first_blocks.last().copied().unwrap_or(0);
        // A segment that was never a file has no checksums and needs none. A file without checksums was not made by us.
        let held = checks == ChecksumMode::None;
        let sound = head.sections.iter().all(|&(offset, length)| slice(all, offset, length).is_some())
            && head.checksums.len() == if held { 0 } else { blocks }
            && u32::try_from(head.docs).is_ok_and(|docs| docs < NONE);
        if !sound {
            return Err(wrong("its head does not match its length"));
        }
        let (offset, length) = head.sections[SegmentSection::Vectors as usize];
        bytes.scattered(offset as usize..(offset + length) as usize);
        let (_, offsets) = head.sections[SegmentSection::TermOffsets as usize];
        let terms = if held { 0 } else { (offsets as usize / size_of::<u32>()).div_ceil(64) };
        Ok(Self {
            whole_blocks: (0..blocks.div_ceil(64)).map(|_| AtomicU64::new(0)).collect(),
            whole_sections: std::array::from_fn(|_| AtomicBool::new(held)),
            sound: AtomicBool::new(held),
            sound_terms: (0..terms).map(|_| AtomicU64::new(0)).collect(),
            first_blocks,
            head,
            bytes,
            name,
            checksum: trailer.checksum,
        })
    }

    /// The name of the segment's file.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The size of the segment, in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.bytes.as_slice().len() as u64
    }

    /// The checksum that identifies the segment, even if the segment is damaged.
    pub(crate) fn checksum(&self) -> u32 {
        self.checksum
    }

    pub(crate) fn docs(&self) -> u32 {
        u32::try_from(self.head.docs).unwrap_or(NONE)
    }

    /// Number of rows of vectors.
    pub(super) fn rows(&self) -> u64 {
        self.head.rows
    }

    /// Number of dimensions of the segment's vectors.
    pub(super) fn dimensions(&self) -> u64 {
        self.head.dimensions
    }

    /// Number of bytes of a section.
    pub(super) fn length_of(&self, section: SegmentSection) -> u64 {
        self.head.sections[section as usize].1
    }

    /// The model of the segment's vectors and their number of dimensions; `None` if the segment has no vectors.
    pub(crate) fn model(&self) -> Option<(&str, usize)> {
        (self.head.rows > 0)
            .then_some((self.head.model.as_str(), usize::try_from(self.head.dimensions).unwrap_or(0)))
    }

    /// Number of bytes of a row of vectors.
    pub(crate) fn stride(&self) -> usize {
        usize::try_from(self.head.stride).unwrap_or(0)
    }

    /// Checks every block, including the blocks that were already verified.
    pub(crate) fn verify(&self) -> Result<(), DamagedIndexFile> {
        let blocks = SegmentSection::ALL.iter().flat_map(|section| self.raw(*section).chunks(BLOCK));
        let whole = self.head.checksums.iter().zip(blocks).all(|(sum, block)| *sum == crc32fast::hash(block));
        if whole { Ok(()) } else { Err(self.damaged("a part of it does not match its checksum")) }
    }

    /// A whole section, after a check.
    pub(super) fn column<T: Pod>(&self, section: SegmentSection) -> Result<&[T], DamagedIndexFile> {
        self.check_all(section)?;
        self.unchecked(section)
    }

    /// Some elements of a section, after a check.
    fn some<T: Pod>(&self, section: SegmentSection, range: Range<usize>) -> Result<&[T], DamagedIndexFile> {
        let beyond = || self.damaged("it points beyond itself");
        let place = |n: usize| n.checked_mul(size_of::<T>()).ok_or_else(beyond);
        self.check(section, place(range.start)?..place(range.end)?)?;
        self.unchecked(section)?.get(range).ok_or_else(beyond)
    }

    fn unchecked<T: Pod>(&self, section: SegmentSection) -> Result<&[T], DamagedIndexFile> {
        bytemuck::try_cast_slice(self.raw(section))
            .map_err(|_| self.damaged("a part of it has a wrong length"))
    }

    fn raw(&self, section: SegmentSection) -> &[u8] {
        let (offset, length) = self.head.sections[section as usize];
        slice(self.bytes.as_slice(), offset, length).unwrap_or_default()
    }

    fn check_all(&self, section: SegmentSection) -> Result<(), DamagedIndexFile> {
        let whole = &self.whole_sections[section as usize];
        if !whole.load(Ordering::Relaxed) {
            self.check(section, 0..self.raw(section).len())?;
            whole.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    fn check(&self, section: SegmentSection, bytes: Range<usize>) -> Result<(), DamagedIndexFile> {
        if bytes.is_empty() || self.whole_sections[section as usize].load(Ordering::Relaxed) {
            return Ok(());
        }
        let raw = self.raw(section);
        for block in bytes.start / BLOCK..bytes.end.div_ceil(BLOCK) {
            let number = self.first_blocks[section as usize] + block;
            let bit = 1 << (number % 64);
            let Some(word) = self.whole_blocks.get(number / 64) else {
                return Err(self.damaged("it points beyond itself"));
            };
            if word.load(Ordering::Relaxed) & bit != 0 {
                continue;
            }
            let content = raw.get(block * BLOCK..raw.len().min((block + 1) * BLOCK));
            let content = content.ok_or_else(|| self.damaged("it points beyond itself"))?;
            if self.head.checksums.get(number) != Some(&crc32fast::hash(content)) {
                return Err(self.damaged("a part of it does not match its checksum"));
            }
            word.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns an error if the columns are inconsistent. `look` checks them and runs only until it has succeeded once.
    pub(super) fn found_sound(&self, look: impl FnOnce() -> bool) -> Result<(), DamagedIndexFile> {
        if !self.sound.load(Ordering::Relaxed) {
            if !look() {
                return Err(self.damaged("its parts do not match each other"));
            }
            self.sound.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Returns an error if the postings of a term are not in order. They are checked only until the check has succeeded
    /// once.
    pub(super) fn found_in_order(
        &self,
        term: usize,
        look: impl FnOnce() -> bool,
    ) -> Result<(), DamagedIndexFile> {
        let bit = 1 << (term % 64);
        let Some(known) = self.sound_terms.get(term / 64) else {
            return Ok(());
        };
        if known.load(Ordering::Relaxed) & bit == 0 {
            if !look() {
                return Err(self.damaged("the docs of a term are out of order"));
            }
            known.fetch_or(bit, Ordering::Relaxed);
        }
        Ok(())
    }

    pub(crate) fn damaged(&self, what: &'static str) -> DamagedIndexFile {
        DamagedIndexFile { file: self.name.clone(), what }
    }
}

impl Segment {
    pub(super) fn postings_at(&self, range: Range<usize>) -> Result<(&[u32], &[u8]), DamagedIndexFile> {
        Ok((
            self.some(SegmentSection::PostingDocs, range.clone())?,
            self.some(SegmentSection::PostingCounts, range)?,
        ))
    }

    /// The signs of these rows.
    pub(crate) fn signs(&self, rows: Range<usize>) -> Result<&[u64], DamagedIndexFile> {
        let words = self.stride() / 64;
        self.some(SegmentSection::Signs, rows.start * words..rows.end * words)
    }

    /// Requests rows of vectors that will be read soon, unless their blocks were already read.
    pub(super) fn fetch_vectors(&self, rows: Range<usize>) {
        let (section, stride) = (SegmentSection::Vectors, self.stride());
        let first = rows.start * stride / BLOCK;
        let last = (rows.end * stride).div_ceil(BLOCK);
        if (first..last).any(|block| !self.is_whole(section, block)) {
            let (offset, length) = self.head.sections[section as usize];
            let end = (length as usize).min(last * BLOCK);
            self.bytes.fetch(offset as usize + first * BLOCK..offset as usize + end);
        }
    }

    /// Returns true if the checksum of a block was already verified.
    fn is_whole(&self, section: SegmentSection, block: usize) -> bool {
        let number = self.first_blocks[section as usize] + block;
        let known = self.whole_blocks.get(number / 64);
        self.whole_sections[section as usize].load(Ordering::Relaxed)
            || known.is_some_and(|word| word.load(Ordering::Relaxed) >> (number % 64) & 1 == 1)
    }

    /// Returns vectors by row. Chunks and sentences both have rows.
    pub(super) fn vectors(&self, rows: Range<usize>) -> Result<&[i8], DamagedIndexFile> {
        let stride = self.stride();
        self.some(SegmentSection::Vectors, rows.start * stride..rows.end * stride)
    }
}

fn slice(bytes: &[u8], offset: u64, length: u64) -> Option<&[u8]> {
    let (offset, length) = (usize::try_from(offset).ok()?, usize::try_from(length).ok()?);
    bytes.get(offset..offset.checked_add(length)?)
}
