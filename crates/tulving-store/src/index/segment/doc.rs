//! A doc: a chunk of a memory in a segment, without its terms and vectors, and the order of docs.
//!
//! The docs of a space are contiguous. Within a space, the docs of a session are contiguous, in the order of the
//! conversation. Every segment has this order, so that merging preserves it and a session is one run of docs in each
//! segment.

use std::cmp::Ordering;

use tulving_core::model::memory::{Memory, MemoryTimes};
use tulving_core::model::search::TextProperties;
use tulving_core::model::vocabulary::{Author, Boundary, ContentType, Kind, MemoryType, Stability, State};

/// The value for "never" and for "always" in times, and the position of a doc that has no position.
pub(crate) const NEVER: i64 = i64::MAX;
/// The value for "from the beginning" in times.
pub(crate) const EVER: i64 = i64::MIN;
/// The value for "none" in ordinals.
pub(crate) const NONE: u32 = u32::MAX;

/// A chunk of a memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentDoc<'a> {
    pub(crate) id: [u8; 16],
    pub(crate) chunk: u32,
    pub(crate) space: [u8; 16],
    pub(crate) owner: [u8; 16],
    pub(crate) facets: Facets,
    pub(crate) speaker: Option<&'a str>,
    pub(crate) session: Option<SessionKey<'a>>,
    /// The doc's position in its conversation, or [`NEVER`].
    pub(crate) place: i64,
    pub(crate) at: i64,
    pub(crate) created: i64,
    pub(crate) times: ValidityTimes,
    pub(crate) importance: f64,
    pub(crate) properties: TextProperties,
}

impl SegmentDoc<'_> {
    /// The order of docs in a segment.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        (self.space, self.session, self.place, self.at, self.id, self.chunk).cmp(&(
            other.space,
            other.session,
            other.place,
            other.at,
            other.id,
            other.chunk,
        ))
    }
}

/// The values that a search reads only for few docs.
pub(crate) type DocDetail = [u64; 6];

impl SegmentDoc<'_> {
    /// The detail as it is written, for a doc in the session with this ordinal.
    pub(super) fn detail(&self, session: u32) -> DocDetail {
        let said = &self.properties;
        let flags = [said.ends_with_question, said.time_word, said.first_person, said.reacts];
        let flags = flags.iter().rev().fold(0, |bits, flag| bits << 1 | u32::from(*flag));
        let counts = u32::from(said.own_acts) << 8 | u32::from(said.distinct) << 16;
        [
            self.at.cast_unsigned(),
            self.place.cast_unsigned(),
            self.importance.to_bits(),
            u64::from(session) << 32 | u64::from(self.chunk),
            u64::from(flags | counts) << 32 | u64::from(said.questions.to_bits()),
            said.names.iter().rev().fold(0, |word, name| word << 16 | u64::from(*name)),
        ]
    }
}

/// Reads the fields of a [`DocDetail`].
pub(crate) trait DocDetailFields {
    fn at(&self) -> i64;
    fn place(&self) -> i64;
    fn importance(&self) -> f64;
    /// The ordinal of the session, or [`NONE`].
    fn session(&self) -> u32;
    fn chunk(&self) -> u32;
    /// Features of the doc's text. The length is an argument because it is stored elsewhere.
    fn properties(&self, length: u32) -> TextProperties;
}

#[expect(clippy::cast_possible_truncation, reason = "a word is split into its two halves")]
impl DocDetailFields for DocDetail {
    fn at(&self) -> i64 {
        self[0].cast_signed()
    }

    fn place(&self) -> i64 {
        self[1].cast_signed()
    }

    fn importance(&self) -> f64 {
        f64::from_bits(self[2])
    }

    fn session(&self) -> u32 {
        (self[3] >> 32) as u32
    }

    fn chunk(&self) -> u32 {
        self[3] as u32
    }

    fn properties(&self, length: u32) -> TextProperties {
        let flags = (self[4] >> 32) as u32;
        TextProperties {
            length,
            questions: f32::from_bits(self[4] as u32),
            ends_with_question: flags & 1 != 0,
            time_word: flags & 2 != 0,
            first_person: flags & 4 != 0,
            reacts: flags & 8 != 0,
            own_acts: (flags >> 8) as u8,
            distinct: (flags >> 16) as u8,
            names: [0, 16, 32, 48].map(|shift| (self[5] >> shift) as u16),
        }
    }
}

/// The key of a session within its space. It is the same in every segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct SessionKey<'a> {
    pub(crate) kind: SessionKind,
    /// The hash of the name, so that a search for a session compares numbers.
    pub(crate) hash: u64,
    /// The name of the conversation, or the sixteen bytes of the memory's id.
    pub(crate) name: &'a [u8],
}

/// The items that form a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum SessionKind {
    /// The memories of a conversation.
    Conversation,
    /// The chunks of one memory.
    Memory,
}

impl<'a> SessionKey<'a> {
    pub(crate) fn new(kind: SessionKind, name: &'a [u8]) -> Self {
        // FNV-1a, because it never changes between versions of a library, and names are short.
        let hash = name.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Self { kind, hash, name }
    }

    /// The session that a memory's chunks belong to, if any.
    pub(crate) fn of(memory: &'a Memory, chunks: usize) -> Option<Self> {
        match &memory.place.conversation {
            Some(conversation) => Some(Self::new(SessionKind::Conversation, conversation.as_bytes())),
            None if chunks > 1 => Some(Self::new(SessionKind::Memory, memory.id.as_bytes())),
            None => None,
        }
    }
}

/// The times until which a memory is found and between which it is valid. Times that were not given have special
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ValidityTimes {
    pub(crate) expires: i64,
    /// The start of the validity; [`EVER`] if it was not given: then the memory is valid from the time of its event.
    pub(crate) from: i64,
    pub(crate) until: i64,
}

impl ValidityTimes {
    /// The times of a memory for which no times were given.
    pub(crate) const UNLIMITED: Self = Self { expires: NEVER, from: EVER, until: NEVER };

    pub(crate) fn of(span: &MemoryTimes) -> Self {
        Self {
            expires: span.expires_at.map_or(NEVER, |time| time.as_micros()),
            from: span.valid_from.map_or(EVER, |time| time.as_micros()),
            until: span.valid_until.map_or(NEVER, |time| time.as_micros()),
        }
    }

    /// Returns the same as [`Memory::held_at`], for a memory whose event, or else whose save, was at the time `at`.
    pub(crate) fn held(self, then: i64, at: i64) -> bool {
        let from = if self.from == EVER { at } else { self.from };
        from <= then && self.until > then
    }
}

/// The vocabulary words of a memory that a filter can select, packed into one number. Each word is stored as its
/// position in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Facets(pub(crate) u32);

/// A field of [`Facets`]: the position of its first bit, and its number of bits.
struct FacetBits(u32, u32);

impl FacetBits {
    const BOUNDARY: Self = Self(0, 2);
    const TYPE: Self = Self(2, 4);
    const KIND: Self = Self(6, 2);
    const STABILITY: Self = Self(8, 2);
    const STATE: Self = Self(10, 2);
    const CONTENT_TYPE: Self = Self(12, 3);
    const AUTHOR: Self = Self(15, 1);
    const PINNED: Self = Self(16, 1);
    const MIRROR: Self = Self(17, 1);
    const TIMED: Self = Self(18, 1);
    const DONE: Self = Self(19, 1);

    const fn put(&self, value: u32) -> u32 {
        debug_assert!(value < 1 << self.1, "the position of a word fits into the field");
        value << self.0
    }

    const fn get(&self, facets: Facets) -> usize {
        (facets.0 >> self.0 & ((1 << self.1) - 1)) as usize
    }
}

impl Facets {
    pub(crate) fn of(memory: &Memory, times: ValidityTimes) -> Self {
        let (fields, class) = (&memory.fields, &memory.fields.class);
        Self(
            FacetBits::BOUNDARY.put(fields.boundary as u32)
                | FacetBits::TYPE.put(class.memory_type as u32)
                | FacetBits::KIND.put(class.kind as u32)
                | FacetBits::STABILITY.put(class.stability as u32)
                | FacetBits::STATE.put(memory.status.state as u32)
                | FacetBits::CONTENT_TYPE.put(fields.text.content_type as u32)
                | FacetBits::AUTHOR.put(memory.provenance.author as u32)
                | FacetBits::PINNED.put(u32::from(memory.status.pinned))
                | FacetBits::MIRROR.put(u32::from(memory.provenance.mirror.is_some()))
                | FacetBits::TIMED.put(u32::from(times != ValidityTimes::UNLIMITED))
                | FacetBits::DONE.put(u32::from(memory.status.done_at.is_some())),
        )
    }

    /// Returns true if the numbers of the boundary, kind, state, content type and author are positions of known words.
    /// The methods for the type and the stability accept any number.
    pub(super) fn are_known(self) -> bool {
        FacetBits::BOUNDARY.get(self) < Boundary::ALL.len()
            && FacetBits::KIND.get(self) < Kind::ALL.len()
            && FacetBits::STATE.get(self) < State::ALL.len()
            && FacetBits::CONTENT_TYPE.get(self) < ContentType::ALL.len()
            && FacetBits::AUTHOR.get(self) < Author::ALL.len()
    }

    pub(crate) fn boundary(self) -> Boundary {
        Boundary::ALL[FacetBits::BOUNDARY.get(self)]
    }

    /// The type; `None` for a number that [`of`](Self::of) never produces.
    pub(crate) fn memory_type(self) -> Option<MemoryType> {
        MemoryType::ALL.get(FacetBits::TYPE.get(self)).copied()
    }

    pub(crate) fn kind(self) -> Kind {
        Kind::ALL[FacetBits::KIND.get(self)]
    }

    pub(crate) fn stability(self) -> Stability {
        Stability::ALL.get(FacetBits::STABILITY.get(self)).copied().unwrap_or(Stability::Stable)
    }

    pub(crate) fn state(self) -> State {
        State::ALL[FacetBits::STATE.get(self)]
    }

    pub(crate) fn content_type(self) -> ContentType {
        ContentType::ALL[FacetBits::CONTENT_TYPE.get(self)]
    }

    pub(crate) fn author(self) -> Author {
        Author::ALL[FacetBits::AUTHOR.get(self)]
    }

    pub(crate) fn pinned(self) -> bool {
        FacetBits::PINNED.get(self) == 1
    }

    /// Returns true if the memory is a todo or a goal that is done.
    pub(crate) fn done(self) -> bool {
        FacetBits::DONE.get(self) == 1
    }

    /// Returns true if the memory is a todo or a goal that is not done.
    pub(crate) fn open(self) -> bool {
        !self.done() && self.memory_type().is_some_and(MemoryType::can_be_done)
    }

    pub(crate) fn mirror(self) -> bool {
        FacetBits::MIRROR.get(self) == 1
    }

    /// Returns true if the memory expires or is valid for a limited time.
    pub(crate) fn timed(self) -> bool {
        FacetBits::TIMED.get(self) == 1
    }
}

/// The words that facets encode, in order. An index with another list of words is invalid.
pub(crate) fn vocabulary() -> impl Iterator<Item = &'static str> {
    [
        Boundary::WORDS,
        MemoryType::WORDS,
        Kind::WORDS,
        Stability::WORDS,
        State::WORDS,
        ContentType::WORDS,
        Author::WORDS,
    ]
    .into_iter()
    .flatten()
    .copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_of_words_fits_its_field() {
        let lists = [
            (FacetBits::BOUNDARY, Boundary::ALL.len()),
            (FacetBits::TYPE, MemoryType::ALL.len()),
            (FacetBits::KIND, Kind::ALL.len()),
            (FacetBits::STABILITY, Stability::ALL.len()),
            (FacetBits::STATE, State::ALL.len()),
            (FacetBits::CONTENT_TYPE, ContentType::ALL.len()),
            (FacetBits::AUTHOR, Author::ALL.len()),
        ];
        for (bits, words) in lists {
            assert!(words <= 1 << bits.1, "{words} words in {} bits", bits.1);
        }
    }

    #[test]
    fn a_detail_comes_back_as_it_was() {
        let properties = TextProperties {
            length: 9,
            questions: 0.25,
            ends_with_question: true,
            time_word: false,
            distinct: 7,
            names: [1, 2, 0xffff, 0],
            first_person: true,
            own_acts: 3,
            reacts: false,
        };
        let doc = SegmentDoc {
            id: [1; 16],
            chunk: 3,
            space: [2; 16],
            owner: [3; 16],
            facets: Facets(0),
            speaker: None,
            session: None,
            place: -5,
            at: -7,
            created: 0,
            times: ValidityTimes::UNLIMITED,
            importance: 0.3,
            properties,
        };
        let detail = doc.detail(NONE);
        assert_eq!((detail.at(), detail.place(), detail.chunk(), detail.session()), (-7, -5, 3, NONE));
        assert_eq!((detail.importance().to_bits(), detail.properties(9)), (0.3_f64.to_bits(), properties));
    }
}
