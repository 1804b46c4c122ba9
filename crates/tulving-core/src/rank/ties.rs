//! Memories that state the same thing with another value, and which of them is newer.
//!
//! [`competing`](tulving_text::classify::competing) decides what one of them says about the other; this module decides which memories
//! are compared at all.

use tulving_text::classify::competing::{ConflictingValues, ParsedClaims};

use crate::model::id::MemoryId;
use crate::model::memory::Memory;
use crate::model::time::Timestamp;
use crate::model::vocabulary::ContentType;

/// Maximum deficit with which a newer memory with another value still comes before an older one. Two that say nearly the same
/// score nearly the same, unless the question names the value of one of them: that made 0.26 with the built-in model.
pub(crate) const CLOSE: f64 = 0.3;
/// The margin by which a newer memory is put above the older.
pub(crate) const ABOVE: f64 = 1e-6;

/// A memory that may compete with others.
#[derive(Debug)]
pub(crate) struct ConflictCandidate<'a> {
    /// The memory.
    pub(crate) memory: &'a Memory,
    claims: ParsedClaims,
    keys: Vec<u64>,
}

impl<'a> ConflictCandidate<'a> {
    /// Creates a contender; `None` if the memory cannot be one. A turn of a conversation belongs to its place there, and the
    /// text of a file belongs to the file.
    pub(crate) fn of(memory: &'a Memory) -> Option<Self> {
        Self::saying(memory, &memory.fields.text.content)
    }

    /// Creates a contender for a memory whose text, or its beginning, was read separately.
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

    /// Returns keys; two memories that compete share at least one.
    pub(crate) fn keys(&self) -> &[u64] {
        &self.keys
    }

    /// Returns true if it differs from another one only by numbers that name something.
    pub(crate) fn differs_by_label(&self, other: &Self) -> bool {
        self.claims.differs_by_label(&other.claims)
    }

    /// Returns the values that differ, if the two compete.
    pub(crate) fn rivalry(&self, other: &Self) -> Option<ConflictingValues> {
        let (one, two) = (self.memory, other.memory);
        let apart = one.id == two.id
            || one.space != two.space
            || !self.keys.iter().any(|key| other.keys.contains(key));
        // A key, a title and a speaker each name the subject of a text.
        let named = one.fields.key.is_some() && two.fields.key.is_some();
        let titles = one.fields.given_title() != two.fields.given_title();
        let speakers = one.place.speaker != two.place.speaker;
        if apart || named || titles || speakers || (self.claims.is_personal() && one.owner != two.owner) {
            return None;
        }
        self.claims.rivalry(&other.claims)
    }
}

/// Returns the time of a statement: when it happened, else when it was saved. Of two with the same time, the one saved later is
/// newer.
pub(crate) fn said_at(memory: &Memory) -> (Timestamp, Timestamp, MemoryId) {
    let saved = memory.usage.created_at;
    (memory.fields.span.occurred_at.unwrap_or(saved), saved, memory.id)
}

/// Number of the best memories that are compared with one another.
const COMPARED: usize = 60;

/// A position in an order, and the amount by which its score was raised.
pub(crate) type RaisedPosition = (usize, f64);

/// Orders memories given best first, so that each newer one comes before older ones that state the same thing with another value
/// and score about as well. `None` stands for a memory that competes with nothing.
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
