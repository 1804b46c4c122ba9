//! Finds memories that state different values for the same thing, and ranks the newer memory first.
//!
//! [`competing`](tulving_text::classify::competing) decides whether two texts compete; this module decides which memories
//! are compared.

use tulving_text::classify::competing::{ConflictingValues, ParsedClaims};

use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::model::vocabulary::ContentType;

/// Maximum score difference at which a newer memory with another value still comes before an older memory that scores
/// higher. Two memories that say nearly the same have nearly the same score, unless the question names the value of one
/// memory: such a value made a difference of 0.26 with the built-in model.
pub(crate) const CLOSE: f64 = 0.3;
/// The margin by which the score of a newer memory is raised above the score of the older memory.
pub(crate) const ABOVE: f64 = 1e-6;

/// A memory that may compete with other memories.
#[derive(Debug)]
pub(crate) struct ConflictCandidate<'a> {
    /// The memory.
    pub(crate) memory: &'a Memory,
    claims: ParsedClaims,
    keys: Vec<u64>,
}

impl<'a> ConflictCandidate<'a> {
    /// Creates a candidate; `None` if the memory cannot compete with others. A turn of a conversation cannot, because its
    /// position in the conversation matters. The text of a file cannot, because it belongs to the file.
    pub(crate) fn of(memory: &'a Memory) -> Option<Self> {
        Self::saying(memory, &memory.fields.text.content)
    }

    /// Creates a candidate for a memory whose text, or the beginning of whose text, was read separately.
    pub(crate) fn saying(memory: &'a Memory, text: &str) -> Option<Self> {
        let fields = &memory.fields;
        let apart = memory.place.conversation.is_some() || memory.provenance.mirror.is_some();
        let prose = matches!(fields.text.content_type, ContentType::Text | ContentType::Markdown);
        if apart || !prose || memory.provenance.attachment.is_some() {
            return None;
        }
        let claims = ParsedClaims::of(text)?;
        let keys = claims.keys().collect();
        Some(Self { memory, claims, keys })
    }

    /// Returns the keys of the candidate. Two memories that compete have at least one key in common.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Returns true if the texts of the two candidates differ only by numbers that name something.
    pub(crate) fn differs_by_label(&self, other: &Self) -> bool {
        self.claims.differs_by_label(&other.claims)
    }

    /// Returns the different values, if the two candidates compete.
    pub(crate) fn rivalry(&self, other: &Self) -> Option<ConflictingValues> {
        let (one, two) = (self.memory, other.memory);
        let apart = one.id == two.id
            || one.space != two.space
            || !self.keys.iter().any(|key| other.keys.contains(key));
        // Key, title and speaker name the subject of a text. Different subjects do not compete.
        let named = one.fields.key.is_some() && two.fields.key.is_some();
        let titles = one.fields.given_title() != two.fields.given_title();
        let speakers = one.place.speaker != two.place.speaker;
        if apart || named || titles || speakers || (self.claims.is_personal() && one.owner != two.owner) {
            return None;
        }
        self.claims.rivalry(&other.claims)
    }
}

/// Returns a sort key for the time of a statement: the time at which it happened, or else was saved. Of two statements with
/// the same time, the statement that was saved later is newer.
pub(crate) fn said_at(memory: &Memory) -> (Timestamp, Timestamp, MemoryId) {
    let saved = memory.usage.created_at;
    (memory.fields.span.occurred_at.unwrap_or(saved), saved, memory.id)
}

/// Maximum number of memories that are compared with one another. The best memories are used.
const COMPARED: usize = 60;

/// A position in an order, and the amount by which the score at that position was raised.
pub(crate) type RaisedPosition = (usize, f64);

/// Takes memories in the order best first, and moves each newer memory before older memories that state another value for
/// the same thing and score about as well. `None` marks a memory that does not compete with any other memory.
pub(crate) fn newest_first(ranked: &[(Option<ConflictCandidate<'_>>, f64)]) -> Vec<RaisedPosition> {
    let mut order: Vec<RaisedPosition> = (0..ranked.len()).map(|at| (at, 0.0)).collect();
    let score = |(at, raised): RaisedPosition| ranked[at].1 + raised;
    let compared = order.len().min(COMPARED);
    for at in 0..compared {
        let Some(first) = &ranked[order[at].0].0 else { continue };
        let least = score(order[at]) - CLOSE;
        let rivals = order[at + 1..compared].iter().enumerate().filter_map(|(after, place)| {
            let rival = ranked[place.0].0.as_ref()?;
            let newer = score(*place) >= least && said_at(rival.memory) > said_at(first.memory);
            (newer && first.rivalry(rival).is_some()).then(|| (said_at(rival.memory), at + 1 + after))
        });
        if let Some((_, newest)) = rivals.max() {
            let (place, raised) = order.remove(newest);
            let missing = score(order[at]) + ABOVE - ranked[place].1 - raised;
            order.insert(at, (place, raised + missing.max(0.0)));
        }
    }
    order
}
