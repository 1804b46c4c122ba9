//! What callers ask. Requests hold what was said; the paths check it once and decide.

use serde::{Deserialize, Serialize};

use crate::answer::{Cursor, Lane, Strength};
use crate::id::{MemoryId, MemoryRef, PassId, SpaceId, Version};
use crate::memory::{Attachment, Memory};
use crate::space::Viewer;
use crate::time::Timestamp;
use crate::vocabulary::{
    Author, Boundary, ContentType, FindingKind, Kind, MemoryType, Origin, PrincipalKind, Relation, Role,
    Stability, State, Trust, TurnRole,
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

/// Which memories are meant. Empty means all that the viewer may see and that are neither forgotten nor quarantined.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// In this space; `None` is every visible one.
    pub space: Option<SpaceId>,
    /// Of one of these types.
    pub types: Vec<MemoryType>,
    /// Of one of these kinds.
    pub kinds: Vec<Kind>,
    /// Of one of these stabilities.
    pub stabilities: Vec<Stability>,
    /// In one of these states, as they are judged at [`states_at`](Self::states_at).
    pub states: Vec<State>,
    /// Of one of these forms.
    pub content_types: Vec<ContentType>,
    /// With all of these tags.
    pub tags: Vec<String>,
    /// With exactly this key.
    pub key: Option<String>,
    /// From this file.
    pub source_path: Option<String>,
    /// From this channel.
    pub conversation: Option<String>,
    /// By this author.
    pub author: Option<Author>,
    /// Saved by this agent.
    pub source_agent: Option<String>,
    /// Pinned, or not.
    pub pinned: Option<bool>,
    /// Saved at or after this.
    pub since: Option<Timestamp>,
    /// Saved before this.
    pub until: Option<Timestamp>,
    /// Whose content, title or key holds this text, as it is, in any case.
    pub substring: Option<String>,
    /// Whether that text is looked for in the content alone.
    pub content_only: bool,
    /// Whether forgotten ones are meant.
    pub forgotten: Forgotten,
    /// Whether those that were put aside for review are meant.
    pub quarantined: Quarantined,
    /// Whether mirrors of files are left out.
    pub records_only: bool,
    /// When states are judged: what has expired by then counts as archived. The verbs say now where this is not said; a
    /// store that is not told goes by what was set alone.
    pub states_at: Option<Timestamp>,
    /// Only what [held](Memory::held_at) at this instant.
    pub valid_at: Option<Timestamp>,
}

impl Filter {
    /// Whether a memory that is neither forgotten nor quarantined is meant, as far as it can be told from the memory
    /// alone: everything but the substring.
    pub fn admits(&self, memory: &Memory) -> bool {
        let (edition, provenance) = (&memory.edition, &memory.provenance);
        let (text, class) = (&edition.text, &edition.class);
        let created = memory.usage.created_at;
        among(&self.types, class.memory_type)
            && among(&self.kinds, class.kind)
            && among(&self.stabilities, class.stability)
            && among(&self.states, self.states_at.map_or(memory.standing.state, |at| memory.state_at(at)))
            && among(&self.content_types, text.content_type)
            && self.space.is_none_or(|space| space == memory.space)
            && self.tags.iter().all(|tag| text.tags.contains(tag))
            && same(self.key.as_ref(), edition.key.as_ref())
            && same(self.source_path.as_ref(), provenance.source_path.as_ref())
            && same(self.conversation.as_ref(), memory.place.conversation.as_ref())
            && same(self.source_agent.as_ref(), provenance.source_agent.as_ref())
            && self.author.is_none_or(|author| author == provenance.author)
            && self.pinned.is_none_or(|pinned| pinned == memory.standing.pinned)
            && self.since.is_none_or(|since| created >= since)
            && self.until.is_none_or(|until| created < until)
            && !(self.records_only && provenance.mirror.is_some())
            && self.valid_at.is_none_or(|at| memory.held_at(at))
    }

    /// The same for who looks through memories without saying what they say: what files say is in their files, and left out
    /// unless a file is named.
    #[must_use]
    pub(crate) fn of_records(mut self) -> Self {
        self.records_only |= self.source_path.is_none();
        self
    }

    /// Whether it names nothing that a memory has to be like. Where, when and how it looks is no such thing, and neither is
    /// every state that there is.
    pub fn is_empty(&self) -> bool {
        let mut bare = Self {
            space: self.space,
            content_only: self.content_only,
            forgotten: self.forgotten,
            records_only: self.records_only,
            states_at: self.states_at,
            ..Self::default()
        };
        if State::ALL.iter().all(|state| self.states.contains(state)) {
            bare.states.clone_from(&self.states);
        }
        *self == bare
    }

    /// Whether it asks for nothing but what the index knows of a memory: space, type, kind, stability, state, form,
    /// author, pin, times, and whether it is a record.
    pub fn is_plain(&self) -> bool {
        self.tags.is_empty()
            && self.key.is_none()
            && self.source_path.is_none()
            && self.conversation.is_none()
            && self.source_agent.is_none()
            && self.substring.is_none()
            && self.forgotten == Forgotten::Without
            && self.quarantined == Quarantined::Without
    }
}

fn among<T: PartialEq + Copy>(wanted: &[T], value: T) -> bool {
    wanted.is_empty() || wanted.contains(&value)
}

fn same(wanted: Option<&String>, value: Option<&String>) -> bool {
    wanted.is_none() || wanted == value
}

/// Whether forgotten memories are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Forgotten {
    /// Leave them out.
    #[default]
    Without,
    /// Only them, and only the viewer's own.
    Only,
}

/// Whether memories that were put aside for review are meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quarantined {
    /// Leave them out.
    #[default]
    Without,
    /// Only them.
    Only,
    /// Them too.
    Either,
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
    /// Row, versions, chunks and vectors go.
    Hard,
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
