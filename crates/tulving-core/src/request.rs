//! What callers ask. Requests hold what was said; the paths check it once and decide.

mod filter;

use serde::{Deserialize, Serialize};

pub use self::filter::{Filter, Forgotten, Quarantined};
use crate::answer::{Cursor, Lane, Strength};
use crate::id::{MemoryId, MemoryRef, PassId, SpaceId, Version};
use crate::memory::Attachment;
use crate::space::Viewer;
use crate::time::{Timestamp, Zone};
use crate::vocabulary::{
    Author, Boundary, ContentType, FindingKind, Kind, MemoryType, Origin, PrincipalKind, Relation, Role,
    Stability, Trust, TurnRole,
};

/// Who asks, through what, and in which space when the request names none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Through whose eyes.
    pub viewer: Viewer,
    /// The most the caller may do, whatever its principal may: a token's role.
    pub ceiling: Role,
    /// The space of the call.
    pub space: SpaceId,
    /// The agent that speaks for the principal.
    pub agent: Option<String>,
    /// What carried the request in.
    pub origin: Origin,
    /// The time zone in which the caller counts days.
    pub zone: Zone,
}

/// A memory to save. Everything but the content may be left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SaveRequest {
    /// What to remember.
    pub content: String,
    /// Its form; `text` where not given.
    pub content_type: Option<ContentType>,
    /// The language of code, such as `rust`.
    pub language: Option<String>,
    /// Saving under a key that exists updates that memory.
    pub key: Option<String>,
    /// A name for it.
    pub title: Option<String>,
    /// It, in short.
    pub summary: Option<String>,
    /// Labels.
    pub tags: Option<Vec<String>>,
    /// What it says; `fact` where not given.
    #[serde(rename = "type")]
    pub memory_type: Option<MemoryType>,
    /// What it is for; from the type where not given.
    pub kind: Option<Kind>,
    /// How soon it goes stale; from the type where not given.
    pub stability: Option<Stability>,
    /// How much it matters, 0 to 1; from the type where not given.
    pub importance: Option<f64>,
    /// Who may see it; from the space where not given.
    pub boundary: Option<Boundary>,
    /// Whether somebody asked for it; `user` where not given.
    pub author: Option<Author>,
    /// Where it came from, in the caller's words.
    pub source_note: Option<String>,
    /// The agent that helped a person to write it.
    pub assisted_by_agent: Option<String>,
    /// How far its source is trusted; `own` where not given.
    pub trust: Option<Trust>,
    /// The background act that writes it.
    pub pass: Option<PassId>,
    /// The file it was read from. Saving a path that exists updates that memory.
    pub source_path: Option<String>,
    /// The object it describes. Never taken from outside: who names an object could read it.
    #[serde(skip)]
    pub attachment: Option<Attachment>,
    /// The channel it came from.
    pub conversation: Option<String>,
    /// Its order in that channel.
    pub position: Option<i64>,
    /// Who said it.
    pub speaker: Option<String>,
    /// When it happened.
    pub occurred_at: Option<Timestamp>,
    /// From when on it holds.
    pub valid_from: Option<Timestamp>,
    /// Until when it holds.
    pub valid_until: Option<Timestamp>,
    /// From when on recall no longer finds it.
    pub expires_at: Option<Timestamp>,
    /// Whether it is pinned.
    pub pinned: bool,
    /// Links to memories that are there.
    pub associations: Vec<AssociationRequest>,
}

impl SaveRequest {
    /// A request with this content and nothing else said.
    pub fn new(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }
}

/// A link to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AssociationRequest {
    /// The memory to link to.
    pub target: MemoryRef,
    /// How; `related_to` where not given.
    #[serde(default)]
    pub relation: Option<Relation>,
    /// How strongly, 0 to 1; 0.5 where not given.
    #[serde(default)]
    pub weight: Option<f64>,
}

/// An edit. What is `None` stays; `Some(None)` clears.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UpdateRequest {
    /// The version the caller saw, where an edit in between shall be an error.
    pub if_version: Option<Version>,
    /// New content.
    pub content: Option<String>,
    /// New form.
    pub content_type: Option<ContentType>,
    /// New language of code.
    pub language: Option<Option<String>>,
    /// New key.
    pub key: Option<Option<String>>,
    /// New title.
    pub title: Option<Option<String>>,
    /// New summary.
    pub summary: Option<Option<String>>,
    /// New labels, instead of the old.
    pub tags: Option<Vec<String>>,
    /// New type.
    pub memory_type: Option<MemoryType>,
    /// New kind.
    pub kind: Option<Kind>,
    /// New stability.
    pub stability: Option<Stability>,
    /// New importance, 0 to 1.
    pub importance: Option<f64>,
    /// New boundary.
    pub boundary: Option<Boundary>,
    /// New source note.
    pub source_note: Option<Option<String>>,
    /// New time of happening.
    pub occurred_at: Option<Option<Timestamp>>,
    /// New start of validity.
    pub valid_from: Option<Option<Timestamp>>,
    /// New end of validity.
    pub valid_until: Option<Option<Timestamp>>,
    /// New time of expiry.
    pub expires_at: Option<Option<Timestamp>>,
}

/// In which order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Newest creation first.
    #[default]
    Newest,
    /// Oldest creation first.
    Oldest,
    /// Newest edit first.
    Updated,
    /// Newest access first.
    Accessed,
    /// Highest importance first.
    Importance,
    /// Most often accessed first.
    MostAccessed,
}

impl Sort {
    /// Whether what is sorted by never changes, so that a page can begin where the last one ended.
    pub const fn is_fixed(self) -> bool {
        matches!(self, Self::Newest | Self::Oldest)
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRequest {
    /// Which memories.
    pub filter: Filter,
    /// In which order.
    pub sort: Sort,
    /// How many at the most, 1 to [`PAGE`](crate::limits::PAGE).
    pub limit: usize,
    /// Where the last page ended.
    pub cursor: Option<Cursor>,
}

/// How to find memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The newest.
    Recent,
    /// The most important.
    Important,
    /// All of the types in the filter.
    Typed,
    /// Those that hold a text as it is, in any case.
    Substring(String),
    /// Those that a question is about, by meaning, by word and by relation.
    Hybrid(Box<Ask>),
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// What is asked. Any text; nothing in it is an operator.
    pub question: String,
    /// How the lanes come together.
    pub fusion: Fusion,
    /// The lanes to use.
    pub lanes: Vec<Lane>,
    /// Whether its words are looked up as they are: all of them, and none of them for words that begin with it or hold it.
    pub exact_words: bool,
    /// The time of asking, which "last week" is seen from; the clock's where not given. What was said in a conversation more
    /// than a day later is not meant, and steps back.
    pub asked_at: Option<Timestamp>,
    /// As things stood at this instant: what held and was not yet superseded then, in the words that it had.
    pub as_of: Option<Timestamp>,
    /// The channel that the caller speaks in; its memories are preferred.
    pub channel: Option<String>,
    /// Answers with nothing where the evidence is weaker than this.
    pub abstain_below: Option<Strength>,
    /// Most tokens that the contents of all hits may take, by estimate. What does not fit is left out and counted, and lends
    /// no evidence to what is given.
    pub token_budget: Option<usize>,
}

impl Ask {
    /// A question with nothing else said.
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            fusion: Fusion::default(),
            lanes: Lane::ALL.to_vec(),
            exact_words: false,
            asked_at: None,
            as_of: None,
            channel: None,
            abstain_below: None,
            token_budget: None,
        }
    }
}

/// How the lanes come together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fusion {
    /// The engine's own way, chosen by measurement.
    #[default]
    Measured,
    /// Reciprocal rank fusion, with nothing weighed after it.
    Ranks,
}

/// A recall.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallRequest {
    /// How to find.
    pub mode: Mode,
    /// Among which. Archived ones are never found, whatever it says.
    pub filter: Filter,
    /// Another order than the mode's own.
    pub sort: Option<Sort>,
    /// How many at the most, 1 to [`RECALL`](crate::limits::RECALL).
    pub limit: usize,
}

/// What to tell the changes of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// A memory, and what it updates and is updated by.
    Memory(MemoryRef),
    /// What a text is about.
    Text(String),
}

impl From<&str> for About {
    /// What names a memory means that memory; anything else is a text.
    fn from(about: &str) -> Self {
        about.parse().map_or_else(|_| Self::Text(about.to_owned()), Self::Memory)
    }
}

/// How what is known about something changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineRequest {
    /// About what.
    pub about: About,
    /// A text is looked for in this space; `None` is every visible one.
    pub space: Option<SpaceId>,
    /// How many memories a text finds at the most, 1 to [`TIMELINE`](crate::limits::TIMELINE).
    pub limit: usize,
    /// Only what held at or after this.
    pub since: Option<Timestamp>,
    /// Only what held before this.
    pub until: Option<Timestamp>,
}

impl TimelineRequest {
    /// A request with nothing else said.
    pub fn new(about: impl Into<About>) -> Self {
        Self { about: about.into(), space: None, limit: 10, since: None, until: None }
    }
}

/// How a memory is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgetRequest {
    /// Softly, or for good.
    pub manner: Manner,
    /// Why, for the audit.
    pub reason: Option<String>,
}

/// Which memories are forgotten as one act, by what holds of them instead of by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgetWhere {
    /// What holds of them. It has to name something. Only records of the caller's space are meant, whatever it says of space
    /// and mirrors, none that is forgotten already, and archived ones only where it names that state.
    pub filter: Filter,
    /// How.
    pub request: ForgetRequest,
    /// How many they have to be, where another count shall be an error.
    pub expect: Option<u64>,
}

/// Softly, or for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// The row stays and can be restored.
    #[default]
    Soft,
    /// Row, versions, chunks and vectors go, also those of a memory that was softly forgotten before.
    Hard,
    /// The same, of a memory that is there. One that was softly forgotten stays for the audit, and is answered as one that
    /// does not exist.
    Delete,
}

/// A turn to log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnRequest {
    /// The channel it belongs to.
    pub channel: Option<String>,
    /// Who said it.
    pub role: TurnRole,
    /// The speaker's name.
    pub speaker: Option<String>,
    /// What was said.
    pub content: String,
    /// Where; `unknown` where not given.
    pub source: Option<String>,
}

/// Which turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnFilter {
    /// Of this channel only.
    pub channel: Option<String>,
    /// The newest so many, given oldest first.
    pub last: usize,
}

/// A page of the audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// In this space; `None` is every one the viewer administers.
    pub space: Option<SpaceId>,
    /// About this memory.
    pub memory: Option<MemoryId>,
    /// The newest so many, newest first.
    pub last: usize,
}

/// A token to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRequest {
    /// What it is for.
    pub label: String,
    /// For whom it speaks, by name.
    pub principal: String,
    /// Introduces the principal: it is made, of this kind, where there is none, and is given the role in the spaces
    /// named, or in the space of the call where it is new and none is named. Nobody's role is lowered.
    pub introduce: Option<PrincipalKind>,
    /// Confined to these spaces; empty is no confinement.
    pub spaces: Vec<SpaceId>,
    /// The most it may do.
    pub role: Role,
}

/// What to know at the start of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefingRequest {
    /// What the session is about, where that is known.
    pub about: Option<String>,
    /// Most tokens that it may take as it is printed, at four bytes each; from
    /// [`BRIEFING_LEAST`](crate::limits::BRIEFING_LEAST) to [`BRIEFING_MOST`](crate::limits::BRIEFING_MOST).
    pub token_budget: usize,
}

impl Default for BriefingRequest {
    fn default() -> Self {
        Self { about: None, token_budget: 2_000 }
    }
}

/// What to look for among the memories of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualityRequest {
    /// Findings of these kinds; empty is all.
    pub kinds: Vec<FindingKind>,
    /// After how many days without a recall a memory counts as never recalled.
    pub older_than_days: u32,
    /// How many findings of each kind are given, at least 1. All are counted.
    pub limit: usize,
}

impl Default for QualityRequest {
    fn default() -> Self {
        Self { kinds: Vec::new(), older_than_days: 90, limit: 20 }
    }
}
