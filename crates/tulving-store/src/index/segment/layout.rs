//! The file layout of a segment: sections one after the other, then a head with their positions, then a trailer.
//!
//! Every section begins at a multiple of [`ALIGNMENT`] and is cut into blocks of [`BLOCK`] bytes. The head has a
//! checksum of every block and the trailer one of the head, so the trailer's checksum identifies the whole file.
//! Numbers are in this machine's byte order: the index never leaves it.

use bytemuck::{Pod, pod_read_unaligned};

/// Changes with every change of the layout. A manifest has it too, so that files of another layout count as outdated
/// and not as damaged.
pub(crate) const MAGIC: [u8; 8] = *b"TULVSEG2";
/// The alignment of sections, so that rows of vectors begin at a cache line.
pub(super) const ALIGNMENT: usize = 64;
/// Number of bytes that are checked at once when they are first read. 2,000 rows picked at random cost 32 MB of
/// checking this way, a few milliseconds, and the checksums are 0.03 % of the file.
pub(super) const BLOCK: usize = 16 * 1024;
/// Length of the trailer.
pub(super) const TRAILER: usize = 32;

macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// A part of the file with one kind of content.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum SegmentSection { $($(#[$doc])* $name),+ }

        impl SegmentSection {
            /// All of them, in the order of the file.
            pub(super) const ALL: &'static [Self] = &[$(Self::$name),+];
        }
    };
}

sections! {
    /// 16 bytes for each doc: the memory's id.
    Ids,
    /// The first doc of each memory, by the memory's id.
    ById,
    /// A bit for each doc, set if it is of the same memory as the one before. Empty if none is.
    Continued,
    /// The class of each doc; see `CLASS_TABLE`.
    Classes,
    /// Number of terms of each doc.
    Lengths,
    /// Time when each doc's memory was saved.
    Created,
    /// Values that only candidates are asked for; see [`DocDetail`](super::doc::DocDetail).
    Details,
    /// The docs that expire or are valid for a limited time, ascending.
    Timed,
    /// For each of those: its expiry, and the start and end of its validity.
    Times,
    /// The classes; see [`ClassRow`](super::view::ClassRow).
    ClassTable,
    /// The spaces, ascending: id, docs, classes.
    Spaces,
    /// 16 bytes for each owner.
    Owners,
    /// The end of each speaker's name.
    SpeakerEnds,
    /// The speakers' names.
    Speakers,
    /// The sessions, in the order of their docs; see [`SessionRow`](super::view::SessionRow).
    Sessions,
    /// The names of the sessions.
    SessionNames,
    /// The start of each term, and one more.
    TermOffsets,
    /// The terms, ascending, each followed by a zero.
    Terms,
    /// The start of each term's postings, and one more.
    PostingOffsets,
    /// The docs of each term, ascending.
    PostingDocs,
    /// The count of the term in each of them.
    PostingCounts,
    /// The doc of each row of vectors, ascending. Empty if every doc has one.
    RowDocs,
    /// The signs of each row, a bit for a dimension.
    Signs,
    /// The value of one unit in each row.
    Scales,
    /// Number of sentences before those of each row, and one more.
    SentenceOffsets,
    /// The value of one unit in each sentence.
    SentenceScales,
    /// The rows, each followed by its sentences, so that vectors that are compared together are read together.
    Vectors,
}

/// Number of sections.
pub(super) const SECTIONS: usize = SegmentSection::ALL.len();

/// The content of a file, with positions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SegmentHead {
    /// Number of docs.
    pub(super) docs: u64,
    /// Number of their memories.
    pub(super) memories: u64,
    /// Number of rows of vectors.
    pub(super) rows: u64,
    /// Number of bytes of a row: the dimensions, rounded up to a multiple of 64.
    pub(super) stride: u64,
    /// Number of dimensions of the model.
    pub(super) dimensions: u64,
    /// The model that made the vectors; empty if there are none.
    pub(super) model: String,
    /// Offset and length of each section.
    pub(super) sections: Vec<(u64, u64)>,
    /// A checksum of each block, section by section. Empty for a segment that was never a file.
    pub(super) checksums: Vec<u32>,
}

impl SegmentHead {
    /// Its bytes.
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

    /// The head in these bytes, which were checked before; `None` if they are not a head.
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

    /// The number of the first block of each section, and one more.
    pub(super) fn first_blocks(&self) -> Vec<usize> {
        let mut firsts = vec![0];
        for &(_, length) in &self.sections {
            firsts.push(firsts.last().copied().unwrap_or(0) + blocks(length));
        }
        firsts
    }
}

/// Number of blocks of this many bytes.
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

    /// The trailer at the end of these bytes.
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
