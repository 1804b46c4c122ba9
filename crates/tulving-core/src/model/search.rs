//! Queries to the index and its results for ranking.
//!
//! An [`Item`] is a chunk of a memory. Items of one conversation, or parts of one document, form a [`Session`]. Within a
//! session, an item has neighbours.

use std::collections::HashMap;
use std::ops::Range;

pub use tulving_text::properties::TextProperties;
pub use tulving_text::terms::WordBeginning;

use crate::model::id::{MemoryId, PrincipalId, SpaceId};
use crate::model::memory::{Chunk, Memory};
use crate::model::request::Filter;
use crate::model::score::Importance;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Boundary, Stability, State};

/// The memories that a principal may see according to its memberships; other rules may hide some of these memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisibilityScope {
    /// The principal.
    pub principal: PrincipalId,
    /// The narrowest visible boundary of others' memories, for each space that the token reaches. [`Boundary::Private`]
    /// means that only the principal's own private memories are visible in the space.
    pub spaces: HashMap<SpaceId, Boundary>,
}

impl VisibilityScope {
    /// Returns true if a memory of this space, owner and boundary is visible.
    pub fn sees(&self, space: SpaceId, owner: PrincipalId, boundary: Boundary) -> bool {
        match (self.spaces.get(&space), boundary) {
            (None, _) => false,
            (Some(_), Boundary::Private) => owner == self.principal,
            (Some(Boundary::Private), _) => false,
            (Some(narrowest), boundary) => boundary >= *narrowest,
        }
    }
}

/// The memories that a search covers. Memories outside the scope do not affect the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchScope {
    /// The memories that the caller may see.
    pub visibility: VisibilityScope,
    /// The caller's filter. The index uses the fields that [`Filter::is_plain`] lists; the other fields are evaluated in
    /// advance, and the result is in `among`.
    pub filter: Filter,
    /// The ids of the memories that match the filter, if the filter has fields that the index does not contain.
    pub among: Option<Vec<MemoryId>>,
}

/// A prepared question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchQuery {
    /// The terms to search for; see [`tulving_text::terms`].
    pub terms: Vec<String>,
    /// True if only the exact terms are searched. Otherwise, a term that does not occur within the scope is replaced by the
    /// terms that begin with it or contain it, with a lower weight.
    pub exact: bool,
    /// The term that is only the beginning of a word, if the last word of the question may be incomplete. The terms that
    /// begin with it match too, with a lower weight, also if `exact` is true.
    pub beginning: Option<WordBeginning>,
    /// The vector of the question, if a model could compute one.
    pub meaning: Option<QueryVector>,
    /// Maximum number of candidates from each lane.
    pub depth: usize,
    /// Intervals of time. All items within an interval are candidates, newest first, up to `depth`. An interval includes its
    /// start but not its end.
    pub times: Vec<Range<Timestamp>>,
}

/// A vector and the model that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct QueryVector {
    /// The model's id. Vectors of different models are never compared.
    pub model: String,
    /// The normalised vector.
    pub vector: Vec<f32>,
}

/// The results: the candidates of each lane and their neighbours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchResults {
    /// The candidates, and up to two neighbours before and after each candidate in its session. Items of one session are
    /// adjacent and in order, and so are items of one memory.
    pub items: Vec<Item>,
    /// The names of the speakers.
    pub speakers: Vec<String>,
    /// The sessions of the items.
    pub sessions: Vec<Session>,
    /// Number of visible memories that have any of the terms.
    pub with_terms: u64,
    /// Number of visible memories that were compared by meaning.
    pub with_meaning: u64,
    /// Number of visible memories that have an item without a vector of the question's model.
    pub unembedded: u64,
    /// Number of items within the scope.
    pub within: u64,
    /// True if only some of the memories were searched, because the index is being rebuilt. The searched memories are up to
    /// date.
    pub partial: bool,
    /// The inverse document frequency of each term of the question within the scope, in order; 0 for a term that occurs
    /// nowhere.
    pub rarities: Vec<f32>,
    /// The worth of each different term of the question, in the order of their first use: its rarity times its number
    /// of occurrences. A term that occurs nowhere counts as maximally rare.
    pub worth: Vec<f32>,
}

impl SearchResults {
    /// Returns the share of the question's terms that a set of terms has, weighted by their worth; see [`Item::terms`].
    pub fn covered(&self, terms: u64) -> f64 {
        let worth = self.worth.iter().take(64).map(|worth| f64::from(*worth));
        let has = |at: usize| at < 64 && terms & (1 << at) != 0;
        let covered: f64 = worth.enumerate().filter(|(at, _)| has(*at)).map(|(_, worth)| worth).sum();
        let total: f64 = self.worth.iter().map(|worth| f64::from(*worth)).sum();
        if total > 0.0 { covered / total } else { 0.0 }
    }
}

/// The items that contain a term.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TermUse {
    /// Number of items within the scope that contain the term.
    pub items: u64,
    /// The positions of the requested items that contain the term, in ascending order.
    pub among: Vec<u32>,
}

/// A chunk of a memory, as ranking sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// The memory.
    pub memory: MemoryId,
    /// The index of the chunk in the memory, from 0.
    pub chunk: u32,
    /// True if a lane found it; otherwise it is only a neighbour.
    pub candidate: bool,
    /// BM25 of the question's terms.
    pub lexical: f32,
    /// The share of the question's terms that the item contains, weighted by rarity: 1 if it contains all terms. A term that
    /// occurs nowhere counts as maximally rare.
    pub coverage: f32,
    /// The different terms of the question that the item contains: a bit for each of the first 64, in the order of
    /// [`SearchResults::worth`].
    pub terms: u64,
    /// Cosine of the question and the whole item; `None` if the item has no vector of the question's model.
    pub whole: Option<f32>,
    /// Maximum cosine of the question and a sentence of the item.
    pub sentence: Option<f32>,
    /// The index of its session in [`SearchResults::sessions`].
    pub session: Option<u32>,
    /// The position of the item in its session, from 0, counting only items within the scope.
    pub order: u32,
    /// The index of its speaker in [`SearchResults::speakers`].
    pub speaker: Option<u32>,
    /// Time at which the memory happened, or else was saved.
    pub at: Timestamp,
    /// The properties of its text.
    pub properties: TextProperties,
    /// The ranking weights that do not depend on the match.
    pub weights: Weights,
}

/// The ranking weights that do not depend on the match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// Its stability.
    pub stability: Stability,
    /// Its state.
    pub state: State,
    /// Its stated importance.
    pub importance: Importance,
}

/// Items said one after another, or the chunks of one document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Session {
    /// True if the session consists of the chunks of one memory, false if it is a conversation.
    pub document: bool,
    /// Number of its items within the scope.
    pub items: u32,
    /// Number of different speakers. All items without a speaker count together as one more speaker.
    pub speakers: u32,
    /// Number of different speakers with a name of their own, so without user, assistant and system.
    pub people: u32,
    /// BM25 of the question's terms in the whole session, with the term rarities of single items.
    pub lexical: f32,
    /// The best [closeness](Item::closeness) of its compared items.
    pub closeness: f32,
}

/// The names that stand for a role, not for a person.
const ROLES: [&str; 4] = ["user", "assistant", "system", "tool"];

/// Returns true if a speaker has a name of their own.
pub fn is_person(speaker: &str) -> bool {
    !ROLES.iter().any(|role| speaker.eq_ignore_ascii_case(role))
}

impl Item {
    /// Returns the similarity of meaning of the item; see [`closeness`].
    pub fn closeness(&self) -> f32 {
        closeness(self.whole, self.sentence)
    }
}

/// Returns the similarity of meaning of an item: the mean of the cosine of the whole item and the cosine of its best
/// sentence, at least zero.
pub fn closeness(whole: Option<f32>, sentence: Option<f32>) -> f32 {
    match (whole, sentence) {
        (None, None) => 0.0,
        (Some(one), None) | (None, Some(one)) => one.max(0.0),
        (Some(whole), Some(sentence)) => (0.5 * whole + 0.5 * sentence).max(0.0),
    }
}

/// A memory as the index reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexEntry {
    /// The memory. Its access counts are not loaded.
    pub memory: Memory,
    /// The chunks of the memory, each with its vectors of the requested model, if there are any.
    pub chunks: Vec<Chunk>,
}

/// A chunk of a memory, for display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Its byte range in the content.
    pub range: Range<usize>,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
}
