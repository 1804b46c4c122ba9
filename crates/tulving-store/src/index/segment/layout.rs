//! The file layout of a segment: the sections one after the other, then a head with their positions, then a trailer.
//!
//! Every section begins at a multiple of [`ALIGNMENT`] and is divided into blocks of [`BLOCK`] bytes. The head contains
//! a checksum of every block, and the trailer contains a checksum of the head. So the trailer's checksum identifies the
//! whole file. Numbers are in the byte order of this machine, because the index is never moved to another machine.

use bytemuck::{Pod, pod_read_unaligned};

/// The first bytes of the trailer, which change with every change of the layout. The fingerprint in a manifest covers
/// them too, so that files of another layout count as outdated and not as damaged.
pub(crate) const MAGIC: [u8; 8] = *b"TULVSEG3";
/// The alignment of sections, so that rows of vectors begin at a cache line.
pub(super) const ALIGNMENT: usize = 64;
/// Number of bytes that are checked together when one of them is first read. Reading 2,000 rows at random checks 32 MB
/// this way, which takes a few milliseconds. The checksums take 0.03 % of the file.
pub(super) const BLOCK: usize = 16 * 1024;
/// Length of the trailer, in bytes.
pub(super) const TRAILER: usize = 32;

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// A part of the file with one kind of content.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum SegmentSection { $($(#[$doc])* $name),+ }

        impl SegmentSection {
            /// All sections, in the order of the file.
            pub(super) const ALL: &'static [Self] = &[$(Self::$name),+];
        }
    };
}

sections! {
    /// The id of each doc's memory, 16 bytes each.
    Ids,
    /// The first doc of each memory, sorted by the memory's id.
    ById,
    /// A bit for each doc, set if the doc before it belongs to the same memory. Empty if no bit is set.
    Continued,
    /// The class of each doc, as an index into `CLASS_TABLE`.
    Classes,
    /// Number of terms of each doc.
    Lengths,
    /// The time when each doc's memory was saved.
    Created,
    /// Values that a search reads only for candidates; see [`DocDetail`](super::doc::DocDetail).
    Details,
    /// The docs that expire or are valid for a limited time, in ascending order.
    Timed,
    /// For each doc of `Timed`: its expiry, and the start and end of its validity.
    Times,
    /// The classes; see [`ClassRow`](super::view::ClassRow).
    ClassTable,
    /// The spaces in ascending order: id, docs, classes.
    Spaces,
    /// The owners, 16 bytes each.
    Owners,
    /// The end of each speaker's name in `Speakers`.
    SpeakerEnds,
    /// The speakers' names.
    Speakers,
    /// The sessions, in the order of their docs; see [`SessionRow`](super::view::SessionRow).
    Sessions,
    /// The names of the sessions.
    SessionNames,
    /// The start of each term in `Terms`, and the end of the last term.
    TermOffsets,
    /// The terms in ascending order, each followed by a zero byte.
    Terms,
    /// The start of each term's postings, and the end of the last postings.
    PostingOffsets,
    /// The docs of each term, in ascending order.
    PostingDocs,
    /// The count of the term in each doc of its postings.
    PostingCounts,
    /// The doc of each row of vectors, in ascending order. Empty if every doc has a row.
    RowDocs,
    /// The signs of each row, one bit for each dimension.
    Signs,
    /// The scale of each row: the value of one unit.
    Scales,
    /// The number of sentences before those of each row, and the total number of sentences.
    SentenceOffsets,
    /// The scale of each sentence: the value of one unit.
    SentenceScales,
    /// The rows, each followed by its sentences, because vectors that are compared together are then read together.
    Vectors,
}

/// Number of sections.
pub(super) const SECTIONS: usize = SegmentSection::ALL.len();

/// The head of the file: its counts, and the positions of its sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentHead {
    /// Number of docs.
    pub(super) docs: u64,
    /// Number of memories that the docs belong to.
    pub(super) memories: u64,
    /// Number of rows of vectors.
    pub(super) rows: u64,
    /// Number of bytes of a row: the dimensions, rounded up to a multiple of 64.
    pub(super) stride: u64,
    /// Number of dimensions of the model.
    pub(super) dimensions: u64,
    /// The model that made the vectors; empty if there are none.
    pub(super) model: String,
    /// The offset and the length of each section.
    pub(super) sections: Vec<(u64, u64)>,
    /// A checksum of each block, section by section. Empty for a segment that was never a file.
    pub(super) checksums: Vec<u32>,
}

impl SegmentHead {
    /// The head as bytes.
    pub(super) fn encoded(&self) -> Vec<u8> {
        let counts = [self.docs, self.memories, self.rows, self.stride, self.dimensions];
        let places = self.sections.iter().flat_map(|&(offset, length)| [offset, length]);
        let sizes = [self.model.len() as u64, self.checksums.len() as u64];
        let mut bytes = Vec::new();
        for word in counts.into_iter().chain(places).chain(sizes) {
            bytes.extend_from_slice(&word.to_ne_bytes());
        }
        bytes.extend_from_slice(self.model.as_bytes());
        for sum in &self.checksums {
            bytes.extend_from_slice(&sum.to_ne_bytes());
        }
        bytes
    }

    /// Decodes a head from bytes whose checksum is already verified; `None` if the bytes are not a head.
    pub(super) fn decoded(mut bytes: &[u8]) -> Option<Self> {
        let mut word = || take::<u64>(&mut bytes);
        let mut head = Self {
            docs: word()?,
            memories: word()?,
            rows: word()?,
            stride: word()?,
            dimensions: word()?,
            ..Self::default()
        };
        head.sections = (0..SECTIONS).map(|_| Some((word()?, word()?))).collect::<Option<_>>()?;
        let (model, sums) = (usize::try_from(word()?).ok()?, usize::try_from(word()?).ok()?);
        let (name, mut rest) = bytes.split_at_checked(model)?;
        head.model = String::from_utf8(name.to_vec()).ok()?;
        head.checksums = (0..sums).map(|_| take(&mut rest)).collect::<Option<_>>()?;
        rest.is_empty().then_some(head)
    }

    /// The index of the first block of each section, and the total number of blocks.
    pub(super) fn first_blocks(&self) -> Vec<usize> {
        let mut firsts = vec![0];
        for &(_, length) in &self.sections {
            firsts.push(firsts.last().copied().unwrap_or(0) + blocks(length));
        }
        firsts
    }
}

/// Number of blocks for a section of this length, in bytes.
pub(super) fn blocks(length: u64) -> usize {
    length.div_ceil(BLOCK as u64) as usize
}

/// The position and the checksum of the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SegmentTrailer {
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) checksum: u32,
}

impl SegmentTrailer {
    pub(super) fn encoded(&self) -> [u8; TRAILER] {
        let mut bytes = [0; TRAILER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..16].copy_from_slice(&self.offset.to_ne_bytes());
        bytes[16..24].copy_from_slice(&self.length.to_ne_bytes());
        bytes[24..28].copy_from_slice(&self.checksum.to_ne_bytes());
        bytes
    }

    /// Decodes the trailer at the end of these bytes.
    pub(super) fn of(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.last_chunk::<TRAILER>()?.strip_prefix(&MAGIC)?;
        let found = Self { offset: take(&mut rest)?, length: take(&mut rest)?, checksum: take(&mut rest)? };
        (take::<u32>(&mut rest)? == 0).then_some(found)
    }
}

fn take<T: Pod>(bytes: &mut &[u8]) -> Option<T> {
    let (first, rest) = bytes.split_at_checked(size_of::<T>())?;
    *bytes = rest;
    Some(pod_read_unaligned(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_comes_back_as_it_was() {
        let head = SegmentHead {
            docs: 7,
            memories: 5,
            model: "minilm".to_owned(),
            sections: (0..SECTIONS as u64).map(|n| (n * 64, n)).collect(),
            checksums: vec![1, 2, u32::MAX],
            ..SegmentHead::default()
        };
        let bytes = head.encoded();
        assert_eq!(SegmentHead::decoded(&bytes), Some(head));
        for cut in 0..bytes.len() {
            assert_eq!(SegmentHead::decoded(&bytes[..cut]), None);
        }
    }

    #[test]
    fn a_trailer_is_found_at_the_end() {
        let trailer = SegmentTrailer { offset: 64, length: 1_000, checksum: 5 };
        let mut bytes = vec![1, 2, 3];
        bytes.extend(trailer.encoded());
        assert_eq!(SegmentTrailer::of(&bytes), Some(trailer));
        bytes[3] ^= 1;
        assert_eq!(SegmentTrailer::of(&bytes), None);
        assert_eq!(SegmentTrailer::of(&bytes[..20]), None);
    }
}
