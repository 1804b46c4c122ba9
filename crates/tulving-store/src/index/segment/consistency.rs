//! Checks that the columns of a segment are consistent: every reference leads to an existing entry.
//!
//! A checksum detects a damaged file, but not a file that was forged with correct checksums. This check runs once,
//! when the columns of a file are first read. Later reads may then trust the references. Within these bounds, the
//! content of a file is trusted.

use std::ops::Range;

use super::doc::{DocDetailFields as _, Facets, NONE};
use super::layout::SegmentSection;
use super::view::SegmentView;

impl SegmentView<'_> {
    /// Returns true if all columns are consistent. The caller has already checked the lengths of the columns with one
    /// entry for each doc.
    pub(super) fn is_sound(&self) -> bool {
        self.classes_are_sound()
            && self.sessions_are_sound()
            && self.terms_are_sound()
            && self.rows_are_sound()
    }

    fn classes_are_sound(&self) -> bool {
        let (docs, classes) = (self.ids.len(), self.class_table.len());
        let within = |range: &Range<u32>, all: usize| range.start <= range.end && range.end as usize <= all;
        let mut last = 0;
        let spaces = self.spaces().all(|space| {
            let follows = space.docs.start >= last;
            last = space.docs.end;
            follows && within(&space.docs, docs) && within(&space.classes, classes)
        });
        let rows = self.class_table.iter().all(|&[space, owner, facets, speaker, ..]| {
            (space as usize) < self.spaces.len()
                && (owner as usize) < self.owners.len()
                && Facets(facets).are_known()
                && (speaker == NONE || (speaker as usize) < self.speaker_ends.len())
        });
        spaces
            && rows
            && ascend_to(self.speaker_ends.iter().map(|end| u64::from(*end)), self.speakers.len())
            && self.classes.iter().all(|class| (*class as usize) < classes)
            && self.timed.len() == self.times.len()
    }

    fn sessions_are_sound(&self) -> bool {
        let known = |session: u32| session == NONE || (session as usize) < self.sessions.len();
        let half = |word: u64| (word >> 32, word & u64::from(u32::MAX));
        let rows = self.sessions.iter().all(|&[_, docs, name, about]| {
            let ((first, count), (start, length)) = (half(docs), half(name));
            first + count <= self.ids.len() as u64
                && start + length <= self.session_names.len() as u64
                && about >> 1 < self.spaces.len() as u64
        });
        rows && self.details.iter().all(|detail| known(detail.session()))
    }

    fn terms_are_sound(&self) -> bool {
        // A zero byte follows every term, so two terms cannot end at the same position.
        self.term_offsets.is_sorted_by(|one, next| one < next)
            && self.term_offsets.first() == Some(&0)
            && self.term_offsets.last().is_some_and(|end| *end as usize == self.term_bytes.len())
            && self.posting_offsets.len() == self.term_offsets.len()
            && self.posting_offsets.is_sorted()
    }

    fn rows_are_sound(&self) -> bool {
        let (rows, docs) = (self.scales.len(), self.ids.len());
        let placed = match self.row_docs.last() {
            None => rows == 0 || rows == docs,
            Some(last) => {
                self.row_docs.len() == rows
                    && (*last as usize) < docs
                    && self.row_docs.is_sorted_by(|one, next| one < next)
            }
        };
        let (stride, vectors) =
            (self.segment.stride() as u64, rows as u64 + self.sentence_scales.len() as u64);
        self.segment.rows() == rows as u64
            && placed
            && self.segment.dimensions().checked_next_multiple_of(64) == Some(stride)
            && stride.checked_mul(vectors) == Some(self.segment.length_of(SegmentSection::Vectors))
            && stride.checked_mul(rows as u64).map(|bits| bits / 8)
                == Some(self.segment.length_of(SegmentSection::Signs))
            && self.sentence_offsets.len() == rows + 1
            && self.sentence_offsets.first() == Some(&0)
            && ascend_to(self.sentence_offsets.iter().map(|end| u64::from(*end)), self.sentence_scales.len())
    }
}

/// Returns true if these positions ascend and none of them is beyond `end`.
fn ascend_to(mut places: impl Iterator<Item = u64>, end: usize) -> bool {
    let mut last = 0;
    places.all(|place| {
        let follows = place >= last && place <= end as u64;
        last = place;
        follows
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tulving_core::model::request::Filter;
    use tulving_core::model::search::{QueryVector, SearchQuery, SearchScope, VisibilityScope};
    use tulving_core::model::time::Timestamp;
    use tulving_core::model::vocabulary::{Boundary, State};
    use tulving_text::terms;

    use super::*;
    use crate::index::answer;
    use crate::index::errors::DamagedIndexFile;
    use crate::index::fake::{Fake, any_act, person, space, vector};
    use crate::index::segment::bytes::SegmentBytes;
    use crate::index::segment::layout::{BLOCK, SegmentHead, SegmentTrailer, TRAILER};
    use crate::index::segment::write::{ChecksumMode, write};
    use crate::index::segment::{MergedSegmentContent, NewSegmentContent, Segment, held};
    use crate::index::snapshot::{IndexSnapshot, SnapshotPart};

    /// A segment file in which no section is empty.
    fn written() -> Vec<u8> {
        let store = Fake::new(Some("m1"));
        let mut random = fastrand::Rng::with_seed(11);
        (0..150).for_each(|_| any_act(&store, &mut random));
        let mut bytes = Vec::new();
        let entries = store.all(Some("m1"));
        write(&NewSegmentContent::of(&entries, Some("m1")), &mut bytes, ChecksumMode::Written)
            .expect("written");
        bytes
    }

    fn head_of(bytes: &[u8]) -> (SegmentHead, usize) {
        let trailer = SegmentTrailer::of(bytes).expect("a trailer");
        let start = usize::try_from(trailer.offset).expect("small");
        (SegmentHead::decoded(&bytes[start..bytes.len() - TRAILER]).expect("a head"), start)
    }

    /// The file with this head and correct checksums.
    fn sealed(bytes: &[u8], mut head: SegmentHead) -> Vec<u8> {
        let (_, start) = head_of(bytes);
        let mut made = bytes[..start].to_vec();
        head.checksums.clear();
        for &(offset, length) in &head.sections {
            let range = usize::try_from(offset).expect("small")..;
            let section = made.get(range).and_then(|rest| rest.get(..usize::try_from(length).ok()?));
            head.checksums.extend(section.unwrap_or_default().chunks(BLOCK).map(crc32fast::hash));
        }
        let head = head.encoded();
        let checksum = crc32fast::hash(&head);
        let trailer = SegmentTrailer { offset: start as u64, length: head.len() as u64, checksum };
        made.extend(head);
        made.extend(trailer.encoded());
        made
    }

    /// The file with other bytes at a position of a section, and correct checksums.
    fn forged(bytes: &[u8], section: SegmentSection, at: usize, with: &[u8]) -> Vec<u8> {
        let (head, _) = head_of(bytes);
        let (offset, length) = head.sections[section as usize];
        let (start, end) = (offset as usize + at, (offset + length) as usize);
        let mut made = bytes.to_vec();
        let to = end.min(start + with.len());
        made[start..to].copy_from_slice(&with[..to - start]);
        sealed(&made, head)
    }

    fn scopes() -> Vec<SearchScope> {
        let spaces: HashMap<_, _> = (0..3).map(|n| (space(n), Boundary::Hub)).collect();
        let all = SearchScope {
            visibility: VisibilityScope { principal: person(0), spaces },
            filter: Filter::default(),
            among: None,
        };
        let time = Some(Timestamp::from_micros(1_700_000_100_000_000));
        let dated = Filter {
            since: time,
            states: vec![State::Active],
            states_at: time,
            valid_at: time,
            ..Filter::default()
        };
        let one = [(space(1), Boundary::Team)].into();
        vec![
            SearchScope { filter: dated, ..all.clone() },
            SearchScope { visibility: VisibilityScope { principal: person(1), spaces: one }, ..all.clone() },
            all,
        ]
    }

    /// Calls every function that reads a segment.
    fn used(bytes: &[u8]) -> Result<(), DamagedIndexFile> {
        let segment = Segment::read(SegmentBytes::held(bytes), "forged".to_owned(), ChecksumMode::Written)?;
        let mut snapshot =
            IndexSnapshot { base: vec![SnapshotPart::new(segment)], tail: Vec::new(), partial: false };
        for round in 0..2 {
            for scope in scopes() {
                answer::speakers(&snapshot, &scope)?;
                for asked in ["alpha beta gamma delta", "deploy omeg psi psi", "ploym"] {
                    let meaning = Some(QueryVector { model: "m1".to_owned(), vector: vector(asked, 96) });
                    let question = SearchQuery {
                        terms: terms::terms(asked),
                        meaning,
                        depth: 30,
                        ..SearchQuery::default()
                    };
                    answer::search(&snapshot, &scope, &question)?;
                }
            }
            if round == 0 {
                let ids: Vec<[u8; 16]> = snapshot.views()?[0].0.ids.iter().step_by(9).copied().collect();
                ids.iter().try_for_each(|id| snapshot.kill(id, false))?;
            }
        }
        let views = snapshot.views()?;
        held(&MergedSegmentContent::of(&views, Some("m1"))?)?.view()?;
        Ok(())
    }

    #[test]
    fn a_forged_file_with_right_checksums_is_damaged_or_believed_and_never_a_panic() {
        let bytes = written();
        assert_eq!(used(&bytes), Ok(()));
        let (head, _) = head_of(&bytes);
        let mut random = fastrand::Rng::with_seed(12);
        let (mut tried, mut refused) = (0, 0);
        for &section in SegmentSection::ALL {
            let length = head.sections[section as usize].1 as usize;
            for _ in 0..if length == 0 { 0 } else { 12 } {
                let word = match random.u8(..6) {
                    0 => 0,
                    1 => u64::MAX,
                    2 => u64::from(u32::MAX) << 32,
                    3 => random.u64(..300) << 32 | random.u64(..300),
                    4 => u64::from(i32::MAX.cast_unsigned()),
                    _ => random.u64(..),
                };
                let width = [1, 4, 8][random.usize(..3)];
                let at = random.usize(..length) / width * width;
                tried += 1;
                refused +=
                    usize::from(used(&forged(&bytes, section, at, &word.to_ne_bytes()[..width])).is_err());
            }
        }
        assert!(tried > 280 && refused > 60, "{refused} of {tried}");
    }

    #[test]
    fn a_forged_head_is_damaged_or_believed_and_never_a_panic() {
        let bytes = written();
        let (head, _) = head_of(&bytes);
        for wrong in [0, 1, 7, 64, 1 << 31, u64::from(u32::MAX), 1 << 61, u64::MAX] {
            let heads = [
                SegmentHead { docs: wrong, ..head.clone() },
                SegmentHead { memories: wrong, ..head.clone() },
                SegmentHead { rows: wrong, ..head.clone() },
                SegmentHead { stride: wrong, ..head.clone() },
                SegmentHead { dimensions: wrong, ..head.clone() },
            ];
            for (n, forged) in heads.into_iter().enumerate() {
                let done = used(&sealed(&bytes, forged.clone()));
                // No reader depends on the stated number of memories.
                assert!(done.is_err() || n == 1 || forged == head, "{n} is {wrong}");
            }
            for section in 0..SegmentSection::ALL.len() {
                for (offset, length) in [(wrong, head.sections[section].1), (head.sections[section].0, wrong)]
                {
                    let mut forged = head.clone();
                    forged.sections[section] = (offset, length);
                    // The forged value may be equal to the correct one, so an error is not required.
                    drop(used(&sealed(&bytes, forged)));
                }
            }
        }
    }

    #[test]
    fn a_count_of_nought_docs_out_of_order_and_an_importance_of_seven_are_damage() {
        let bytes = written();
        let docs = head_of(&bytes).0.docs as usize;
        let all = |word: &[u8], times: usize| word.repeat(times);
        let counts = head_of(&bytes).0.sections[SegmentSection::PostingCounts as usize].1 as usize;
        assert!(used(&forged(&bytes, SegmentSection::PostingCounts, 0, &all(&[0], counts))).is_err());
        assert!(used(&forged(&bytes, SegmentSection::PostingDocs, 0, &all(&[1, 0, 0, 0], counts))).is_err());
        assert!(used(&forged(&bytes, SegmentSection::PostingOffsets, 8, &u64::MAX.to_ne_bytes())).is_err());
        let (head, start) = head_of(&bytes);
        let mut made = bytes[..start].to_vec();
        let details = head.sections[SegmentSection::Details as usize].0 as usize;
        for doc in 0..docs {
            let place = details + doc * 40 + 16;
            made[place..place + 8].copy_from_slice(&7.0_f64.to_ne_bytes());
        }
        made.extend_from_slice(&bytes[start..]);
        assert!(used(&sealed(&made, head)).is_err());
    }

    #[test]
    fn a_file_without_checksums_is_refused() {
        let bytes = written();
        let (head, start) = head_of(&bytes);
        let head = SegmentHead { checksums: Vec::new(), ..head }.encoded();
        let checksum = crc32fast::hash(&head);
        let trailer = SegmentTrailer { offset: start as u64, length: head.len() as u64, checksum };
        let made = [&bytes[..start], &head, &trailer.encoded()].concat();
        assert!(used(&made).is_err());
    }
}
