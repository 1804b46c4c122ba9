//! Requests of callers. A request contains the values that the caller gave. Each verb checks them once.

mod filter;
mod query;
mod whole_number;

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

pub use self::filter::{Filter, ForgottenFilter, MemoryFilter, Quarantined, TimeCondition, happened};
pub use self::query::{ListQuery, RecallQuery};
pub use self::whole_number::WholeNumber;
use crate::model::answer::{Cursor, Lane, Strength};
use crate::model::error::Invalid;
use crate::model::id::{MemoryId, MemoryRef, PassId, SpaceId, Version};
use crate::model::memory::Attachment;
use crate::model::space::Viewer;
use crate::model::time::{Timestamp, Zone};
use crate::model::vocabulary::{
    Author, Boundary, ContentType, FindingKind, Kind, MemoryType, Origin, PrincipalKind, Relation, Role,
    Stability, Trust, TurnRole,
};
pub use crate::model::vocabulary::{Fusion, Sort};

/// The caller, the channel of the request, and the space if the request names none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The viewer for all reads.
    pub viewer: Viewer,
    /// The maximum role of the caller: the role of the token, even if the principal has a higher role.
    pub ceiling: Role,
    /// The space of the call.
    pub space: SpaceId,
    /// The agent that acts for the principal.
    pub agent: Option<String>,
    /// The channel through which the request came.
    pub origin: Origin,
    /// The time zone in which the caller counts days.
    pub zone: Zone,
}

/// A memory to save. Everything except the content is optional.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "NewMemory")]
pub struct SaveRequest {
    /// One statement that is clear on its own, or a document.
    #[schemars(length(min = 1))]
    pub content: String,
    /// Its form (default: detected from path and content).
    pub content_type: Option<ContentType>,
    /// The language of code, such as `rust`.
    pub language: Option<String>,
    /// A name of your choice. Saving again under the same key replaces the text.
    pub key: Option<String>,
    /// The title.
    pub title: Option<String>,
    /// A summary.
    pub summary: Option<String>,
    /// The labels.
    pub tags: Option<Vec<String>>,
    /// The type (default: fact).
    #[serde(rename = "type")]
    pub memory_type: Option<MemoryType>,
    /// The kind (default: from the type).
    pub kind: Option<Kind>,
    /// The stability: how soon it goes stale (default: from the type).
    pub stability: Option<Stability>,
    /// The importance, 0 to 1 (default: from the type).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub importance: Option<f64>,
    /// The boundary: who may see it (default: from the space).
    pub boundary: Option<Boundary>,
    /// The author: `user` if somebody asked for it, else `auto` (default: user).
    pub author: Option<Author>,
    /// The project that it is about, such as the name or path of a repository.
    pub project: Option<String>,
    /// Its origin, in the caller's words.
    pub source_note: Option<String>,
    /// The surface through which it comes (default: that of the caller).
    #[serde(rename = "source", alias = "origin")]
    pub origin: Option<Origin>,
    /// The agent that saves it (default: that of the caller).
    pub source_agent: Option<String>,
    /// The agent that helped a person to write it.
    pub assisted_by_agent: Option<String>,
    /// The trust in its source (default: own).
    pub trust: Option<Trust>,
    /// The pass that writes it. Never taken from outside.
    #[serde(skip)]
    pub pass: Option<PassId>,
    /// The file that it was read from. A save with an existing path updates that memory.
    pub source_path: Option<String>,
    /// The object that it describes. Never taken from outside: naming an object would allow reading it.
    #[serde(skip)]
    pub attachment: Option<Attachment>,
    /// The conversation that it came from.
    pub conversation: Option<String>,
    /// Its position in that conversation.
    pub position: Option<i64>,
    /// The speaker's name.
    pub speaker: Option<String>,
    /// Time at which it happened.
    pub occurred_at: Option<Timestamp>,
    /// Start of its validity.
    pub valid_from: Option<Timestamp>,
    /// End of its validity.
    pub valid_until: Option<Timestamp>,
    /// Time from which recall no longer finds it.
    pub expires_at: Option<Timestamp>,
    /// Seconds until recall no longer finds it, instead of `expires_at`.
    pub ttl: Option<WholeNumber>,
    /// True if it is exempt from decay and shown first.
    pub pinned: bool,
    /// The memory that this one replaces.
    pub updates: Option<MemoryRef>,
    /// Links to existing memories.
    pub associations: Vec<AssociationRequest>,
}

impl SaveRequest {
    /// Creates a request with this content and nothing else.
    pub fn new(content: impl Into<String>) -> Self {
        Self { content: content.into(), ..Self::default() }
    }

    /// Replaces the short forms in a request: `ttl` by a time of expiry counted from `now`, and `updates` by an association.
    pub(crate) fn expand(mut self, now: Timestamp) -> Result<Self, Invalid> {
        if let Some(WholeNumber(seconds)) = self.ttl.take() {
            if self.expires_at.is_some() {
                return Err(Invalid::TwoExpiries);
            }
            if seconds < 0 {
                let (field, got, least, most) = (Field::Ttl, seconds, 0, i64::MAX);
                return Err(Invalid::OutsideRange { field, got, least, most });
            }
            self.expires_at = Some(now.plus_millis(seconds.saturating_mul(1_000)));
        }
        let updated = self.updates.take();
        self.associations.extend(updated.map(AssociationRequest::updating));
        Ok(self)
    }
}

/// A link to make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewAssociation")]
pub struct AssociationRequest {
    /// The memory to link to: its id, or its number.
    pub target: MemoryRef,
    /// The relation to the target (default: related_to).
    #[serde(default)]
    pub relation: Option<Relation>,
    /// The strength, 0 to 1 (default: 0.5).
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: Option<f64>,
}

impl AssociationRequest {
    /// Creates a link which says that a memory replaces the target.
    pub fn updating(target: MemoryRef) -> Self {
        Self { target, relation: Some(Relation::Updates), weight: None }
    }
}

/// Distinguishes null, which clears a field, from a missing field, which keeps it.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(input: D) -> Result<Option<Option<T>>, D::Error> {
    Option::deserialize(input).map(Some)
}

/// An edit. A field that is left out stays; `null` clears it. In code, `None` keeps a field and `Some(None)` clears it.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(rename = "MemoryEdit")]
pub struct UpdateRequest {
    /// The version that the caller saw, if an edit in between must be an error.
    pub if_version: Option<Version>,
    /// New content.
    #[schemars(length(min = 1))]
    pub content: Option<String>,
    /// New form.
    pub content_type: Option<ContentType>,
    /// New language of code.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub language: Option<Option<String>>,
    /// New key.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub key: Option<Option<String>>,
    /// New title.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub title: Option<Option<String>>,
    /// New summary.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub summary: Option<Option<String>>,
    /// New labels, replacing the old ones.
    pub tags: Option<Vec<String>>,
    /// New type.
    #[serde(rename = "type")]
    pub memory_type: Option<MemoryType>,
    /// New kind.
    pub kind: Option<Kind>,
    /// New stability.
    pub stability: Option<Stability>,
    /// New importance, 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub importance: Option<f64>,
    /// New boundary.
    pub boundary: Option<Boundary>,
    /// New project.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub project: Option<Option<String>>,
    /// New source note.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    pub source_note: Option<Option<String>>,
    /// New time at which it happened.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Timestamp>")]
    pub occurred_at: Option<Option<Timestamp>>,
    /// New start of validity.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Timestamp>")]
    pub valid_from: Option<Option<Timestamp>>,
    /// New end of validity.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Timestamp>")]
    pub valid_until: Option<Option<Timestamp>>,
    /// New time of expiry.
    #[serde(deserialize_with = "given")]
    #[schemars(with = "Option<Timestamp>")]
    pub expires_at: Option<Option<Timestamp>>,
}

/// A request for a page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListRequest {
    /// The filter.
    pub filter: Filter,
    /// The sort order.
    pub sort: Sort,
    /// Maximum number of memories, 1 to [`PAGE`](crate::model::limits::PAGE).
    pub limit: usize,
    /// The cursor at the end of the previous page.
    pub cursor: Option<Cursor>,
}

/// The way to find memories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The newest memories.
    Recent,
    /// The most important memories.
    Important,
    /// All memories of the types in the filter.
    Typed,
    /// All memories that match the filter: todos and goals as an [agenda](Sort::Agenda), other memories by the time at which
    /// they [happened](Sort::Happened). Superseded memories come last.
    Filtered(ListBounds),
    /// Memories that contain a text verbatim, ignoring case.
    Substring(String),
    /// Memories that match a question by meaning, by words or by relation.
    Hybrid(Box<RecallQuestion>),
}

/// The limits of a recall that lists all memories that match a filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListBounds {
    /// The instant whose state is reconstructed.
    pub as_of: Option<Timestamp>,
    /// Estimated maximum tokens of the contents. Memories that do not fit are left out and counted.
    pub token_budget: Option<usize>,
}

/// A question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallQuestion {
    /// The text of the question. The text has no operators.
    pub question: String,
    /// The way in which the lanes are fused.
    pub fusion: Fusion,
    /// The lanes to use.
    pub lanes: Vec<Lane>,
    /// True if a match must contain all words of the question exactly, not only as a prefix or a part of other words.
    pub exact_words: bool,
    /// True if the last word of the question may be incomplete, as while somebody types it: then words that begin with it
    /// match too. It counts as complete if a space or a sign follows it.
    pub prefix: bool,
    /// The time of the question, to which "last week" refers; by default the current time. Statements that were made in a
    /// conversation more than a day later rank lower, because the question cannot refer to them.
    pub asked_at: Option<Timestamp>,
    /// The instant whose state is reconstructed: memories that were valid and not superseded at that instant, with their
    /// texts of that time.
    pub as_of: Option<Timestamp>,
    /// The caller's channel. Memories from this channel are preferred.
    pub channel: Option<String>,
    /// Minimum strength of the evidence. If the evidence is weaker, the answer is empty.
    pub abstain_below: Option<Strength>,
    /// Maximum length of the list that answers a question which only names a type ("what are my open todos?"); `None` ranks
    /// such a question like any other.
    pub list_limit: Option<usize>,
    /// Maximum number of hits if nothing seems to answer the question. Their relevance is then low. `None` for as many
    /// hits as otherwise, with their relevance.
    pub nearest_limit: Option<usize>,
    /// Estimated maximum tokens of the contents of all hits. Hits that do not fit are left out and counted, and do not
    /// affect the strength of the evidence.
    pub token_budget: Option<usize>,
}

impl RecallQuestion {
    /// Creates a question with defaults for the rest.
    pub fn new(question: impl Into<String>) -> Self {
        Self {
            question: question.into(),
            fusion: Fusion::default(),
            lanes: Lane::ALL.to_vec(),
            exact_words: false,
            prefix: false,
            asked_at: None,
            as_of: None,
            channel: None,
            abstain_below: None,
            list_limit: None,
            nearest_limit: None,
            token_budget: None,
        }
    }
}

/// A recall.
#[derive(Clone, Debug, PartialEq)]
pub struct RecallRequest {
    /// The way to find memories.
    pub mode: Mode,
    /// The filter. Archived memories are never found, even if the filter includes them.
    pub filter: Filter,
    /// A sort order other than the mode's own.
    pub sort: Option<Sort>,
    /// Maximum number of memories, 1 to [`RECALL`](crate::model::limits::RECALL).
    pub limit: usize,
}

/// The subject of a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimelineSubject {
    /// A memory, and the memories that it updates and is updated by.
    Memory(MemoryRef),
    /// A text.
    Text(String),
}

impl From<&str> for TimelineSubject {
    /// Parses a reference to a memory. Any other input is taken as a text.
    fn from(about: &str) -> Self {
        about.parse().map_or_else(|_| Self::Text(about.to_owned()), Self::Memory)
    }
}

/// A request for a timeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineRequest {
    /// The subject.
    pub about: TimelineSubject,
    /// The space to search for a text; `None` means every visible one.
    pub space: Option<SpaceId>,
    /// Maximum number of memories that a text finds, 1 to [`TIMELINE`](crate::model::limits::TIMELINE).
    pub limit: usize,
    /// Only statements valid at or after this.
    pub since: Option<Timestamp>,
    /// Only statements valid before this.
    pub until: Option<Timestamp>,
}

impl TimelineRequest {
    /// Creates a request with defaults for the rest.
    pub fn new(about: impl Into<TimelineSubject>) -> Self {
        Self { about: about.into(), space: None, limit: 10, since: None, until: None }
    }
}

/// The way in which a memory is forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgetRequest {
    /// Soft or hard.
    pub mode: ForgetMode,
    /// The reason, for the audit.
    pub reason: Option<String>,
}

/// Memories to forget in one transaction, by a condition instead of by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForgetWhere {
    /// The condition. It must not be empty. The condition applies only to records of the caller's space, even if the filter
    /// names another space or mirrors. Forgotten memories are never included; archived memories are included only if the
    /// filter names that state.
    pub filter: Filter,
    /// The way in which they are forgotten.
    pub request: ForgetRequest,
    /// The expected number of memories; any other number is an error.
    pub expect: Option<u64>,
}

/// The way in which a memory is forgotten: softly, or for good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ForgetMode {
    /// The row stays and can be restored.
    #[default]
    Soft,
    /// Row, versions, chunks and vectors are deleted, even of a memory that was softly forgotten before.
    Hard,
    /// Like `Hard`, but only for a memory that is not forgotten. A softly forgotten memory stays for the audit, and counts
    /// as missing.
    Delete,
}

/// A turn to log.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "NewTurn")]
pub struct TurnRequest {
    /// The channel that it belongs to.
    pub channel: Option<String>,
    /// The speaker's role.
    pub role: TurnRole,
    /// The speaker's name.
    pub speaker: Option<String>,
    /// The text.
    #[schemars(length(min = 1))]
    pub content: String,
    /// The source, such as telegram (default: unknown).
    pub source: Option<String>,
}

/// A filter for turns.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnFilter {
    /// Only turns of this channel.
    pub channel: Option<String>,
    /// Only turns before this position.
    pub before: Option<u64>,
    /// Maximum number of turns. The newest turns are returned, oldest first.
    pub last: usize,
}

/// A filter for audit entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The space; `None` means every space that the viewer administers.
    pub space: Option<SpaceId>,
    /// Only entries about this memory.
    pub memory: Option<MemoryId>,
    /// Maximum number of entries. The newest entries are returned, newest first.
    pub last: usize,
}

/// A token to create.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRequest {
    /// The purpose of the token.
    pub label: String,
    /// The name of the principal that the token authenticates.
    pub principal: String,
    /// The kind of the principal to introduce. If the principal does not exist, it is created with this kind. The principal
    /// gets the role in the named spaces; a new principal without named spaces gets the role in the space of the call. An
    /// existing higher role is never lowered.
    pub introduce: Option<PrincipalKind>,
    /// The spaces that the token is restricted to; empty means no restriction.
    pub spaces: Vec<SpaceId>,
    /// The maximum role of the token.
    pub role: Role,
}

/// A request for a briefing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefingRequest {
    /// The subject of the session, if known.
    pub about: Option<String>,
    /// Maximum number of tokens of the printed briefing, counted as four bytes each; from
    /// [`BRIEFING_LEAST`](crate::model::limits::BRIEFING_LEAST) to [`BRIEFING_MOST`](crate::model::limits::BRIEFING_MOST).
    pub token_budget: usize,
}

impl Default for BriefingRequest {
    fn default() -> Self {
        Self { about: None, token_budget: 2_000 }
    }
}

/// A request to find problems in the memories of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualityRequest {
    /// The kinds of findings; empty means all.
    pub kinds: Vec<FindingKind>,
    /// Days without a recall after which a memory counts as never recalled.
    pub older_than_days: u32,
    /// Maximum number of findings returned of each kind, at least 1. The counts include all findings.
    pub limit: usize,
}

impl Default for QualityRequest {
    fn default() -> Self {
        Self { kinds: Vec::new(), older_than_days: 90, limit: 20 }
    }
}

/// A named field of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// The content.
    Content,
    /// The content of a turn.
    Said,
    /// The key.
    Key,
    /// The title.
    Title,
    /// The summary.
    Summary,
    /// One tag.
    Tag,
    /// The list of tags.
    Tags,
    /// The importance.
    Importance,
    /// The weight of an association.
    Weight,
    /// The seconds until a memory expires.
    Ttl,
    /// A score.
    Score,
    /// The language of code.
    Language,
    /// The project.
    Project,
    /// The source note.
    SourceNote,
    /// The source path.
    SourcePath,
    /// The conversation or channel.
    Conversation,
    /// The speaker.
    Speaker,
    /// The agent.
    Agent,
    /// The agent that a save names as its source.
    SourceAgent,
    /// The reason for a change.
    Reason,
    /// Further details in the audit log.
    Detail,
    /// The label of a token.
    Label,
    /// The source of a turn.
    Source,
    /// The associations of a save.
    Associations,
    /// The limit.
    Limit,
    /// The depth.
    Depth,
    /// The memories that a request is about.
    Memories,
    /// The text to search for.
    Text,
    /// The question.
    Question,
    /// The token budget.
    Budget,
    /// The name of a file.
    File,
    /// A day.
    Date,
    /// A number of days.
    Days,
    /// An age in days.
    OlderThan,
    /// The idempotency key of a request.
    OnceKey,
}

impl Field {
    /// Returns the name of the field in JSON and in messages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Content | Self::Said => "content",
            Self::Key => "key",
            Self::Title => "title",
            Self::Summary => "summary",
            Self::Tag => "tag",
            Self::Tags => "tags",
            Self::Importance => "importance",
            Self::Weight => "weight",
            Self::Ttl => "ttl",
            Self::Score => "score",
            Self::Language => "language",
            Self::Project => "project",
            Self::SourceNote => "source_note",
            Self::SourcePath => "source_path",
            Self::Conversation => "conversation",
            Self::Speaker => "speaker",
            Self::Agent => "agent",
            Self::SourceAgent => "source_agent",
            Self::Reason => "reason",
            Self::Detail => "detail",
            Self::Label => "label",
            Self::Source => "source",
            Self::Associations => "associations",
            Self::Limit => "limit",
            Self::Depth => "depth",
            Self::Memories => "memories",
            Self::Text => "text",
            Self::Question => "question",
            Self::Budget => "budget",
            Self::File => "file",
            Self::Date => "date",
            Self::Days => "days",
            Self::OnceKey => "idempotency_key",
            Self::OlderThan => "older_than",
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
