//! What the index is asked, and what it gives back for ranking.
//!
//! An [`Item`] is a chunk of a memory. Items that were said one after the other, or that are parts of one document,
//! form a [`Session`]; within it an item has neighbours.

use std::collections::HashMap;
use std::ops::Range;

use crate::id::{MemoryId, PrincipalId, SpaceId};
use crate::memory::{Chunk, Memory};
use crate::request::Filter;
use crate::score::Importance;
use crate::time::Timestamp;
use crate::vocabulary::{Boundary, Stability, State};

/// Where a principal sees what, as far as memberships decide it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sight {
    /// Who looks.
    pub principal: PrincipalId,
    /// For each space that the token reaches: the narrowest boundary that others' memories may have there and still be
    /// seen. [`Boundary::Private`] means that nothing of others is seen there, only what is one's own and private.
    pub spaces: HashMap<SpaceId, Boundary>,
}

impl Sight {
    /// Whether a memory of this space, owner and boundary may be seen.
    pub fn sees(&self, space: SpaceId, owner: PrincipalId, boundary: Boundary) -> bool {
        match (self.spaces.get(&space), boundary) {
            (None, _) => false,
            (Some(_), Boundary::Private) => owner == self.principal,
            (Some(Boundary::Private), _) => false,
            (Some(narrowest), boundary) => boundary >= *narrowest,
        }
    }
}

/// Among which memories a question is asked. Nothing outside changes the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Scope {
    /// What the caller may see.
    pub sight: Sight,
    /// What the caller asks for. The index heeds the fields that [`Filter::is_plain`] names; the others are settled
    /// beforehand, in `among`.
    pub filter: Filter,
    /// Only these memories, where the filter asks for more than the index knows.
    pub among: Option<Vec<MemoryId>>,
}

/// A question, made ready.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Question {
    /// The terms to look for; see [`text::terms`](crate::text::terms).
    pub terms: Vec<String>,
    /// Whether only the terms themselves count. Else one that nothing within the scope has stands for those that begin with
    /// it or hold it, for less.
    pub exact: bool,
    /// What it means, where a model could say so.
    pub meaning: Option<Meaning>,
    /// How many candidates each lane gives at the most.
    pub depth: usize,
    /// Of these times everything is a candidate, the newest first and as many as a lane gives: each from its first instant
    /// up to, and without, its end.
    pub times: Vec<Range<Timestamp>>,
}

/// A vector and the model that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct Meaning {
    /// The model's id. Vectors of another are not compared with it.
    pub model: String,
    /// The normalised vector.
    pub vector: Vec<f32>,
}

/// What was found: the candidates of each lane and their neighbours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// Candidates, and up to two items on each side of them in their session. Those of a session follow one another in
    /// its order, and so do those of a memory.
    pub items: Vec<Item>,
    /// The names of those who said them.
    pub speakers: Vec<String>,
    /// The sessions that items belong to.
    pub sessions: Vec<Session>,
    /// How many visible memories have any of the terms.
    pub with_terms: u64,
    /// How many visible memories were compared by meaning.
    pub with_meaning: u64,
    /// How many visible memories have an item without a vector of the question's model.
    pub unembedded: u64,
    /// How many items there are within the scope.
    pub within: u64,
    /// Whether only some of the memories were looked at, because the index is being made anew. Those are as they are now.
    pub partial: bool,
    /// The inverse document frequency of each term asked for among what is within the scope, in the order of the
    /// question; 0 for one that is nowhere.
    pub rarities: Vec<f32>,
}

/// A chunk of a memory, as ranking sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    /// The memory.
    pub memory: MemoryId,
    /// Which of its chunks, from 0.
    pub chunk: u32,
    /// Whether a lane found it; others are only neighbours.
    pub candidate: bool,
    /// BM25 of the question's terms.
    pub lexical: f32,
    /// The share of the terms' rarity that it has: 1 where it has all of them. A term that is nowhere is as rare as can
    /// be, and nothing has it.
    pub coverage: f32,
    /// Cosine of the question and the whole item; `None` where it has no vector of the question's model.
    pub whole: Option<f32>,
    /// Best cosine of the question and one of its sentences.
    pub sentence: Option<f32>,
    /// Where in [`Found::sessions`] its session is.
    pub session: Option<u32>,
    /// Its place in its session, from 0, counting only what is within the scope.
    pub order: u32,
    /// Who said it: where in [`Found::speakers`] the name is.
    pub speaker: Option<u32>,
    /// When it happened, or else was saved.
    pub at: Timestamp,
    /// What its text is like.
    pub cast: Cast,
    /// What ranking weighs beside the match.
    pub weights: Weights,
}

/// What the text of an item is like.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cast {
    /// How many terms it has.
    pub length: u32,
    /// The share of its sentences that are questions.
    pub questions: f32,
    /// Whether it ends with a question.
    pub ends_with_question: bool,
    /// Whether it names a time.
    pub time_word: bool,
}

/// What ranking weighs beside the match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// How soon it goes stale.
    pub stability: Stability,
    /// Where it stands.
    pub state: State,
    /// How much it was said to matter.
    pub importance: Importance,
}

/// Items that were said one after the other, or the chunks of one document.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Session {
    /// Whether it is the chunks of one memory, rather than what was said in a conversation.
    pub document: bool,
    /// How many items it has within the scope.
    pub items: u32,
    /// How many different speakers they have; items without one count as one more.
    pub speakers: u32,
    /// BM25 of the question's terms in all of it, with the rarities of items.
    pub lexical: f32,
    /// The best [closeness](Item::closeness) of its items that were compared.
    pub closeness: f32,
}

impl Item {
    /// How near it is by meaning; see [`closeness`].
    pub fn closeness(&self) -> f32 {
        closeness(self.whole, self.sentence)
    }
}

/// How near an item is by meaning: half by the whole, half by its best sentence, never below nought.
pub fn closeness(whole: Option<f32>, sentence: Option<f32>) -> f32 {
    match (whole, sentence) {
        (None, None) => 0.0,
        (Some(one), None) | (None, Some(one)) => one.max(0.0),
        (Some(whole), Some(sentence)) => (0.5 * whole + 0.5 * sentence).max(0.0),
    }
}

/// A memory as the index takes it in.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The memory; how often it was used is not read.
    pub memory: Memory,
    /// Its chunks, each with its vectors of the model asked for, where it has them.
    pub chunks: Vec<Chunk>,
}

/// A chunk of a memory, as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Where in the content.
    pub range: Range<usize>,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
}
