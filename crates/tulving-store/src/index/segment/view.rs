//! The columns of a segment, and the tables that they refer to.

use std::ops::Range;

use super::doc::{DocDetail, Facets, NONE, SessionKey, SessionKind, ValidityTimes};
use super::layout::SegmentSection;
use super::read::Segment;
use crate::index::errors::DamagedIndexFile;

/// The common values of the docs of one class: space, owner, facets and speaker. Then the counts of these docs; their
/// total length takes two elements.
pub(crate) type ClassRow = [u32; 11];

/// Numbers of docs and memories in a class or another group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DocCounts {
    /// Number of docs.
    pub(crate) items: u32,
    /// Number of memories.
    pub(crate) memories: u32,
    /// Number of docs with a vector.
    pub(crate) vectored_items: u32,
    /// Number of memories with at least one doc that has a vector.
    pub(crate) vectored_memories: u32,
    /// Number of memories with at least one doc that has no vector.
    pub(crate) bare_memories: u32,
    /// Total number of terms of the docs.
    pub(crate) length: u64,
}

// The counts in a file may be wrong although its checksums are correct. Saturating sums prevent an overflow.
impl DocCounts {
    pub(crate) fn add(&mut self, other: Self) {
        let more = |one: &mut u32, other: u32| *one = one.saturating_add(other);
        more(&mut self.items, other.items);
        more(&mut self.memories, other.memories);
        more(&mut self.vectored_items, other.vectored_items);
        more(&mut self.vectored_memories, other.vectored_memories);
        more(&mut self.bare_memories, other.bare_memories);
        self.length = self.length.saturating_add(other.length);
    }

    pub(crate) fn less(self, other: Self) -> Self {
        Self {
            items: self.items.saturating_sub(other.items),
            memories: self.memories.saturating_sub(other.memories),
            vectored_items: self.vectored_items.saturating_sub(other.vectored_items),
            vectored_memories: self.vectored_memories.saturating_sub(other.vectored_memories),
            bare_memories: self.bare_memories.saturating_sub(other.bare_memories),
            length: self.length.saturating_sub(other.length),
        }
    }
}

/// The hash of the name; the first doc and the number of docs; the position of the name; the space and the kind.
pub(crate) type SessionRow = [u64; 4];

/// A space: the ranges of its docs and classes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SpaceRow {
    pub(crate) id: [u8; 16],
    pub(crate) docs: Range<u32>,
    pub(crate) classes: Range<u32>,
}

/// The columns of a segment, checked.
#[derive(Clone, Copy)]
pub(crate) struct SegmentView<'a> {
    pub(crate) segment: &'a Segment,
    pub(crate) ids: &'a [[u8; 16]],
    pub(crate) classes: &'a [u32],
    pub(crate) lengths: &'a [u32],
    pub(crate) details: &'a [DocDetail],
    /// Empty if no doc belongs to the same memory as the doc before it.
    pub(crate) continued: &'a [u64],
    pub(super) timed: &'a [u32],
    pub(super) times: &'a [[i64; 3]],
    pub(super) class_table: &'a [ClassRow],
    pub(super) spaces: &'a [[u32; 8]],
    pub(super) owners: &'a [[u8; 16]],
    pub(super) speaker_ends: &'a [u32],
    pub(super) speakers: &'a [u8],
    pub(super) sessions: &'a [SessionRow],
    pub(super) session_names: &'a [u8],
    pub(super) term_offsets: &'a [u32],
    pub(super) term_bytes: &'a [u8],
    pub(super) posting_offsets: &'a [u64],
    pub(super) row_docs: &'a [u32],
    pub(super) scales: &'a [f32],
    pub(super) sentence_offsets: &'a [u32],
    pub(super) sentence_scales: &'a [f32],
}

impl Segment {
    /// The columns of the segment.
    pub(crate) fn view(&self) -> Result<SegmentView<'_>, DamagedIndexFile> {
        let view = SegmentView {
            segment: self,
            ids: self.column(SegmentSection::Ids)?,
            classes: self.column(SegmentSection::Classes)?,
            lengths: self.column(SegmentSection::Lengths)?,
            details: self.column(SegmentSection::Details)?,
            continued: self.column(SegmentSection::Continued)?,
            timed: self.column(SegmentSection::Timed)?,
            times: self.column(SegmentSection::Times)?,
            class_table: self.column(SegmentSection::ClassTable)?,
            spaces: self.column(SegmentSection::Spaces)?,
            owners: self.column(SegmentSection::Owners)?,
            speaker_ends: self.column(SegmentSection::SpeakerEnds)?,
            speakers: self.column(SegmentSection::Speakers)?,
            sessions: self.column(SegmentSection::Sessions)?,
            session_names: self.column(SegmentSection::SessionNames)?,
            term_offsets: self.column(SegmentSection::TermOffsets)?,
            term_bytes: self.column(SegmentSection::Terms)?,
            posting_offsets: self.column(SegmentSection::PostingOffsets)?,
            row_docs: self.column(SegmentSection::RowDocs)?,
            scales: self.column(SegmentSection::Scales)?,
            sentence_offsets: self.column(SegmentSection::SentenceOffsets)?,
            sentence_scales: self.column(SegmentSection::SentenceScales)?,
        };
        let docs = self.docs() as usize;
        let alike = [view.ids.len(), view.classes.len(), view.lengths.len(), view.details.len()]
            .into_iter()
            .all(|length| length == docs);
        if !alike {
            return Err(self.damaged("its columns differ in length"));
        }
        self.found_sound(|| view.is_sound())?;
        Ok(view)
    }
}

impl<'a> SegmentView<'a> {
    /// The spaces, in ascending order.
    pub(crate) fn spaces(&self) -> impl Iterator<Item = SpaceRow> + use<'a> {
        self.spaces.iter().map(|row| SpaceRow {
            id: space_id(row),
            docs: row[4]..row[5],
            classes: row[6]..row[7],
        })
    }

    pub(crate) fn class_count(&self) -> usize {
        self.class_table.len()
    }

    pub(super) fn class_space(&self, class: u32) -> [u8; 16] {
        space_id(&self.spaces[self.class_table[class as usize][0] as usize])
    }

    pub(crate) fn class_owner(&self, class: u32) -> [u8; 16] {
        self.owners[self.class_table[class as usize][1] as usize]
    }

    pub(crate) fn facets(&self, class: u32) -> Facets {
        Facets(self.class_table[class as usize][2])
    }

    pub(crate) fn class_speaker(&self, class: u32) -> Option<&'a str> {
        let ordinal = self.class_table[class as usize][3];
        let end = *self.speaker_ends.get(ordinal as usize)? as usize;
        let start = ordinal.checked_sub(1).map_or(0, |before| self.speaker_ends[before as usize] as usize);
        std::str::from_utf8(&self.speakers[start..end]).ok()
    }

    pub(crate) fn counts(&self, class: u32) -> DocCounts {
        let [_, _, _, _, items, memories, vectored_items, vectored_memories, bare_memories, low, high] =
            self.class_table[class as usize];
        let length = bytemuck::cast([low, high]);
        DocCounts { items, memories, vectored_items, vectored_memories, bare_memories, length }
    }

    /// The counts for the memory that has these docs.
    pub(crate) fn memory_counts(&self, docs: &Range<u32>) -> DocCounts {
        let items = docs.end - docs.start;
        let vectored_items = u32::try_from(self.rows(docs.clone()).len()).unwrap_or(items);
        let lengths = &self.lengths[docs.start as usize..docs.end as usize];
        let length = lengths.iter().map(|length| u64::from(*length)).sum();
        DocCounts::of_memory(items, vectored_items, length)
    }

    /// The times until which a doc is found and between which it is valid.
    pub(crate) fn times(&self, doc: u32) -> ValidityTimes {
        match self.timed.binary_search(&doc) {
            Ok(at) => {
                let [expires, from, until] = self.times[at];
                ValidityTimes { expires, from, until }
            }
            Err(_) => ValidityTimes::UNLIMITED,
        }
    }

    /// The time when the memory of each doc was saved. A separate method, because few questions need these times.
    pub(crate) fn created(&self) -> Result<&'a [i64], DamagedIndexFile> {
        let created: &[i64] = self.segment.column(SegmentSection::Created)?;
        match created.len() == self.ids.len() {
            true => Ok(created),
            false => Err(self.segment.damaged("its columns differ in length")),
        }
    }

    /// The docs of a memory; empty if the segment does not contain the memory.
    pub(crate) fn docs_of(&self, id: &[u8; 16]) -> Result<Range<u32>, DamagedIndexFile> {
        let by_id: &[u32] = self.segment.column(SegmentSection::ById)?;
        let id_of = |doc: &u32| self.ids.get(*doc as usize);
        // Usually, the requested id is newer than all ids in this segment.
        if by_id.last().is_none_or(|last| id_of(last) < Some(id)) {
            return Ok(0..0);
        }
        let place = by_id.partition_point(|doc| id_of(doc) < Some(id));
        let first = by_id.get(place).filter(|doc| id_of(doc) == Some(id));
        Ok(first.map_or(0..0, |&first| first..self.memory_end(first)))
    }

    /// Returns true if a doc belongs to the same memory as the doc before it.
    pub(crate) fn continues(&self, doc: u32) -> bool {
        self.continued.get(doc as usize / 64).is_some_and(|word| word >> (doc % 64) & 1 == 1)
    }

    /// The end of the docs of the memory that this doc belongs to.
    pub(crate) fn memory_end(&self, doc: u32) -> u32 {
        (doc + 1..self.segment.docs()).find(|&doc| !self.continues(doc)).unwrap_or(self.segment.docs())
    }

    /// The identity of a session: its space and its key.
    pub(crate) fn session_key(&self, session: u32) -> ([u8; 16], SessionKey<'a>) {
        let [hash, _, name, about] = self.sessions[session as usize];
        let kind = if about & 1 == 0 { SessionKind::Conversation } else { SessionKind::Memory };
        let (start, length) = ((name >> 32) as usize, (name & u64::from(u32::MAX)) as usize);
        let name = &self.session_names[start..start + length];
        (space_id(&self.spaces[(about >> 1) as usize]), SessionKey { kind, hash, name })
    }

    /// The docs of a session.
    pub(crate) fn session_docs(&self, session: u32) -> Range<u32> {
        let [_, place, _, _] = self.sessions[session as usize];
        #[expect(clippy::cast_possible_truncation, reason = "a word is split into its two halves")]
        let (first, count) = ((place >> 32) as u32, place as u32);
        first..first + count
    }

    /// The docs of the session with this key.
    pub(crate) fn find_session(&self, space: &[u8; 16], key: &SessionKey<'_>) -> Range<u32> {
        let Ok(ordinal) = self.spaces.binary_search_by(|row| space_id(row).cmp(space)) else {
            return 0..0;
        };
        let wanted = ((ordinal as u64) << 1 | key.kind as u64, key.hash);
        let place = self.sessions.partition_point(|row| (row[3], row[0]) < wanted);
        for session in place..self.sessions.len() {
            let row = self.sessions[session];
            if (row[3], row[0]) != wanted {
                break;
            }
            let session = u32::try_from(session).unwrap_or(NONE);
            if self.session_key(session).1.name == key.name {
                return self.session_docs(session);
            }
        }
        0..0
    }
}

/// The id in the row of a space.
fn space_id(row: &[u32; 8]) -> [u8; 16] {
    bytemuck::cast([row[0], row[1], row[2], row[3]])
}
