//! A memory and its parts.
//!
//! Each part groups the fields that change together. An edit replaces [`VersionFields`], and history keeps the old ones.
//! [`Status`] changes without a new version. [`Provenance`] never changes, except for its source files. [`Usage`] is counted
//! separately. In JSON, all parts form one flat object.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use tulving_text::chunk::ContentForm;

use crate::model::error::{Field, Invalid};
use crate::model::id::{MemoryId, MemoryNumber, MemoryRef, PassId, PrincipalId, SpaceId, Version};
use crate::model::limits;
use crate::model::score::Importance;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{
    Author, Boundary, CommandKind, ContentType, Derivable, Kind, MemoryType, Origin, Stability, State, Trust,
    VersionAct,
};

/// A memory as a reader sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Memory {
    /// Its global id.
    pub id: MemoryId,
    /// Its number in its space. A mirror has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<MemoryNumber>,
    /// Its space.
    #[serde(rename = "hub_id", alias = "space")]
    pub space: SpaceId,
    /// The name of its space, computed at read time.
    #[serde(rename = "hub_name", skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub space_name: Option<String>,
    /// The principal who first saved it.
    #[serde(rename = "owner_id", alias = "owner")]
    pub owner: PrincipalId,
    /// Its version.
    pub version: Version,
    /// The part that an edit replaces.
    #[serde(flatten)]
    pub fields: VersionFields,
    /// The part that changes without a new version.
    #[serde(flatten)]
    pub status: Status,
    /// Its origin.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The conversation it came from.
    #[serde(flatten)]
    pub place: ConversationPlace,
    /// The times at which it was saved, changed and used.
    #[serde(flatten)]
    pub usage: Usage,
    /// The newest memory visible to the reader that updates this one, as stated by a caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// Its importance at read time: lowered by age, raised by use.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub importance_now: Option<f64>,
    /// The backend that it comes from, if not the built-in one.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// The ways in which its texts try to give commands to their reader. The texts are not changed; the mark only warns
    /// readers. Computed at read time.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandKind>,
}

impl Memory {
    /// Returns the start of the memory's validity: the stated start, or else the time at which it happened, or else the time
    /// of the save.
    pub fn began_at(&self) -> Timestamp {
        let span = &self.fields.span;
        span.valid_from.or(span.occurred_at).unwrap_or(self.usage.created_at)
    }

    /// Returns the time at which the memory happened, or else was saved.
    pub fn happened_at(&self) -> Timestamp {
        self.fields.span.occurred_at.unwrap_or(self.usage.created_at)
    }

    /// Returns the due time of a todo or a goal: the end of its validity, or else its expiry, or else the time at which it
    /// happens if that is after the save.
    pub fn due_at(&self) -> Option<Timestamp> {
        let span = &self.fields.span;
        let ahead = span.occurred_at.filter(|at| *at > self.usage.created_at);
        span.valid_until.or(span.expires_at).or(ahead).filter(|_| self.fields.class.memory_type.can_be_done())
    }

    /// Returns true if the memory was valid at an instant.
    pub fn held_at(&self, at: Timestamp) -> bool {
        self.began_at() <= at && self.fields.span.valid_until.is_none_or(|until| until > at)
    }

    /// Returns the state of the memory at an instant. If the memory has expired by then, the state is archived, whatever
    /// state is stored.
    pub fn state_at(&self, at: Timestamp) -> State {
        if self.fields.span.has_expired(at) { State::Archived } else { self.status.state }
    }

    /// Returns the state of the memory at a past instant. If a rule archived the memory after that instant, the state is
    /// active.
    pub fn stood_at(&self, at: Timestamp) -> State {
        let ruled_since = self.status.ruled_at.is_some_and(|then| then > at);
        match self.status.state {
            State::Archived if ruled_since && !self.fields.span.has_expired(at) => State::Active,
            _ => self.state_at(at),
        }
    }

    /// Returns true if somebody archived the memory, or if it has expired at an instant. Memories that a rule archived
    /// because of their age do not count, because their content is still true.
    pub fn was_put_away(&self, at: Timestamp) -> bool {
        self.fields.span.has_expired(at)
            || (self.status.state == State::Archived && self.status.ruled_at.is_none())
    }

    /// Returns true if the memory is a todo or a goal that is not done yet.
    pub fn is_open(&self) -> bool {
        self.fields.class.memory_type.can_be_done() && self.status.done_at.is_none()
    }

    /// Returns true if the memory's content is only the name of the file that the memory describes.
    pub fn is_unread(&self) -> bool {
        let name = self.provenance.attachment.as_ref().and_then(|attachment| attachment.name.as_deref());
        name.is_some_and(|name| self.fields.text.content == name.trim())
    }

    /// Returns the trust that a reader has in the memory's source. If the trust is own but the owner or writer is another
    /// principal, the result is shared.
    pub fn trust_of(&self, reader: PrincipalId, writer: PrincipalId) -> Trust {
        match self.provenance.trust {
            Trust::Own if self.owner != reader || writer != reader => Trust::Shared,
            trust => trust,
        }
    }

    /// Returns the memory's name for people: its number, or else its id.
    pub fn reference(&self) -> MemoryRef {
        MemoryRef::of(self.number, self.id)
    }

    /// Returns the position of the file entry that the memory mirrors, such as `memory/2026-05-27.md:3`; `None` for a
    /// record.
    pub fn place_in_file(&self) -> Option<String> {
        let (path, mirror) = (self.provenance.source_path.as_deref()?, self.provenance.mirror?);
        Some(format!("{path}:{}", mirror.line))
    }

    /// Returns the name of the file that a record was read from.
    pub fn file_name(&self) -> Option<&str> {
        let provenance = &self.provenance;
        let path = provenance.source_path.as_deref().filter(|_| provenance.mirror.is_none());
        let name = path.and_then(|path| path.rsplit(['/', '\\']).next()).filter(|name| !name.is_empty());
        name.or_else(|| provenance.attachment.as_ref()?.name.as_deref())
    }

    /// Returns true if the memory was added as a document: from a file, or by a push. A plain text that was pushed without a
    /// path cannot be distinguished from a saved statement, so it counts as a document only if it is longer than the limit
    /// of a dialect's save.
    pub fn is_document(&self) -> bool {
        let (provenance, text) = (&self.provenance, &self.fields.text);
        let keyed = self.fields.key.is_some();
        provenance.source_path.is_some()
            || provenance.attachment.is_some()
            || match text.content_type {
                ContentType::Text => !keyed && text.content.len() > limits::SAVED_BYTES,
                // A transcript with a key is an archived conversation.
                ContentType::Transcript => !keyed,
                _ => true,
            }
    }

    /// Returns the label to show: the file and line of a mirror, or else the memory's [reference](Self::reference).
    pub fn label(&self) -> String {
        self.place_in_file().unwrap_or_else(|| self.reference().to_string())
    }

    /// Returns the texts outside the [versioned fields](VersionFields::texts) that a save checks for secrets, each with
    /// its field.
    pub(crate) fn texts_beside(&self) -> impl Iterator<Item = (Field, &str)> {
        let Self { provenance, place, .. } = self;
        let file = provenance.attachment.iter().filter_map(|file| Some((Field::File, file.name.as_deref()?)));
        let paths = provenance.paths().iter().map(|path| (Field::SourcePath, path.as_str()));
        let given = [
            (Field::SourceAgent, &provenance.source_agent),
            (Field::Agent, &provenance.assisted_by_agent),
            (Field::Conversation, &place.conversation),
            (Field::Speaker, &place.speaker),
        ];
        paths.chain(stated(given)).chain(file)
    }
}

/// The part of a memory that an edit replaces as a whole and history keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct VersionFields {
    /// Its key, unique in its space within its audience (the owner's private memories, or the shared ones).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its boundary: who may see it.
    pub boundary: Boundary,
    /// Its content and labels.
    #[serde(flatten)]
    pub text: MemoryText,
    /// Its classification.
    #[serde(flatten)]
    pub class: Classification,
    /// The times of what it says: when it happened, and when it is valid.
    #[serde(flatten)]
    pub span: MemoryTimes,
    /// The project that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Its origin, in the caller's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_note: Option<String>,
    /// The fields that were derived, not given.
    #[serde(default, skip_serializing_if = "DerivedFields::is_empty")]
    pub auto: DerivedFields,
}

impl VersionFields {
    /// Creates the fields of a memory from these arguments; all other fields are empty.
    pub fn new(text: MemoryText, class: Classification, boundary: Boundary) -> Self {
        let (span, auto) = (MemoryTimes::default(), DerivedFields::default());
        Self { key: None, boundary, text, class, span, project: None, source_note: None, auto }
    }

    /// Returns the optional single-line texts, each with its field.
    pub fn lines(&self) -> [(Field, &Option<String>); 6] {
        let text = &self.text;
        [
            (Field::Key, &self.key),
            (Field::Title, &text.title),
            (Field::Summary, &text.summary),
            (Field::Language, &text.language),
            (Field::Project, &self.project),
            (Field::SourceNote, &self.source_note),
        ]
    }

    /// Returns mutable references to the optional single-line texts, each with its field and the maximum number of
    /// characters.
    pub(crate) fn lines_mut(&mut self) -> [(Field, &mut Option<String>, usize); 6] {
        let text = &mut self.text;
        [
            (Field::Key, &mut self.key, limits::KEY_CHARS),
            (Field::Title, &mut text.title, limits::TITLE_CHARS),
            (Field::Summary, &mut text.summary, limits::SUMMARY_CHARS),
            (Field::Language, &mut text.language, limits::TAG_CHARS),
            (Field::Project, &mut self.project, limits::NOTE_CHARS),
            (Field::SourceNote, &mut self.source_note, limits::NOTE_CHARS),
        ]
    }

    /// Returns the title if somebody gave it. A derived title is left out, because it only repeats the content.
    pub fn given_title(&self) -> Option<&str> {
        self.text.title.as_deref().filter(|_| !self.auto.has(Derivable::Title))
    }

    /// Returns the title to show before the content. A derived title is left out if the content begins with that title.
    pub fn title_beside(&self) -> Option<&str> {
        let says_more = |title: &&str| {
            let bare = title.trim_end_matches('…');
            let mark = |c: char| c.is_whitespace() || matches!(c, '#' | '*' | '_' | '`' | '-' | '>');
            !self.text.content.trim_start_matches(mark).starts_with(bare)
        };
        self.text.title.as_deref().filter(|title| !self.auto.has(Derivable::Title) || says_more(title))
    }

    /// Returns the tags if somebody gave them.
    pub fn given_tags(&self) -> &[String] {
        if self.auto.has(Derivable::Tags) { &[] } else { &self.text.tags }
    }

    /// Returns true if the vectors of two versions would differ. The vectors depend on the content, the given title and the
    /// form.
    pub fn differs_in_meaning(&self, other: &Self) -> bool {
        self.text.content_hash != other.text.content_hash
            || self.given_title() != other.given_title()
            || self.text.form() != other.text.form()
    }

    /// Returns the JSON names of the fields in which two versions differ. Fields that are derived in both versions are left
    /// out.
    pub fn differences(&self, after: &Self) -> Vec<&'static str> {
        let given = |field: Derivable| !(self.auto.has(field) && after.auto.has(field));
        let fields = [
            ("content", self.text.content != after.text.content),
            ("content_type", self.text.content_type != after.text.content_type),
            ("language", self.text.language != after.text.language),
            ("title", given(Derivable::Title) && self.text.title != after.text.title),
            ("summary", given(Derivable::Summary) && self.text.summary != after.text.summary),
            ("tags", given(Derivable::Tags) && self.text.tags != after.text.tags),
            ("key", self.key != after.key),
            ("type", self.class.memory_type != after.class.memory_type),
            ("kind", given(Derivable::Kind) && self.class.kind != after.class.kind),
            ("stability", given(Derivable::Stability) && self.class.stability != after.class.stability),
            ("importance", self.class.importance != after.class.importance),
            ("boundary", self.boundary != after.boundary),
            ("project", self.project != after.project),
            ("source_note", self.source_note != after.source_note),
            ("occurred_at", self.span.occurred_at != after.span.occurred_at),
            ("valid_from", self.span.valid_from != after.span.valid_from),
            ("valid_until", self.span.valid_until != after.span.valid_until),
            ("expires_at", self.span.expires_at != after.span.expires_at),
        ];
        fields.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
    }

    /// Returns the texts that a save checks for secrets, each with its field.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (Field, &str)> {
        let text = &self.text;
        let tags = text.tags.iter().map(|tag| (Field::Tag, tag.as_str()));
        [(Field::Content, text.content.as_str())].into_iter().chain(stated(self.lines())).chain(tags)
    }
}

fn stated<const N: usize>(given: [(Field, &Option<String>); N]) -> impl Iterator<Item = (Field, &str)> {
    given.into_iter().filter_map(|(field, text)| Some((field, text.as_deref()?)))
}

/// The text of a memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryText {
    /// The content in its normal form.
    pub content: String,
    /// The form of the content.
    pub content_type: ContentType,
    /// The language of code, such as `rust`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// SHA-256 of the normalised content.
    pub content_hash: ContentHash,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A summary of a sentence or two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The labels.
    pub tags: Vec<String>,
}

impl MemoryText {
    /// Returns the form, which decides how the content is split into sections.
    pub fn form(&self) -> ContentForm<'_> {
        ContentForm { content_type: self.content_type, language: self.language.as_deref() }
    }
}

/// The set of fields of a version that the caller did not give. Rules derive these fields from the content, and derive them
/// again when the content changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DerivedFields(u8);

impl DerivedFields {
    /// The set of all derivable fields.
    pub const ALL: Self = Self((1 << Derivable::ALL.len()) - 1);

    /// Creates the set from stored bits. Unknown bits are ignored.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Returns the bits of the set.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns true if the set is empty: the caller gave all fields.
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Returns true if this field is in the set: the field is derived.
    pub const fn has(self, field: Derivable) -> bool {
        self.0 & bit(field) != 0
    }

    /// Returns the set without this field if `given` is true; otherwise the same set.
    #[must_use]
    pub const fn given(self, field: Derivable, given: bool) -> Self {
        if given { Self(self.0 & !bit(field)) } else { self }
    }
}

const fn bit(field: Derivable) -> u8 {
    1 << field as u8
}

impl Serialize for DerivedFields {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(Derivable::ALL.iter().filter(|field| self.has(**field)))
    }
}

impl<'de> Deserialize<'de> for DerivedFields {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let fields = Vec::<Derivable>::deserialize(input)?;
        Ok(fields.into_iter().fold(Self::default(), |auto, field| Self(auto.0 | bit(field))))
    }
}

/// The classification of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Classification {
    /// Its type.
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    /// Its kind: what it is for.
    pub kind: Kind,
    /// Its stability: how soon it goes stale.
    pub stability: Stability,
    /// Its importance.
    pub importance: Importance,
}

/// The time at which the content happened, and the interval in which it is valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryTimes {
    /// Time at which it happened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<Timestamp>,
    /// Start of its validity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of its validity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Time from which recall no longer finds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

impl MemoryTimes {
    /// Returns true if the memory has expired at an instant.
    pub(crate) fn has_expired(&self, at: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= at)
    }

    /// Returns an error if the validity ends before it begins.
    pub fn check(&self) -> Result<(), Invalid> {
        match (self.valid_from, self.valid_until) {
            (Some(from), Some(until)) if until < from => Err(Invalid::EndsBeforeStart { from, until }),
            _ => Ok(()),
        }
    }
}

/// The status of a memory. Changes make no version; they are logged, and those that a caller asks for by name are audited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Status {
    /// Its lifecycle state.
    pub state: State,
    /// Time at which it was softly forgotten; it can be restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forgotten_at: Option<Timestamp>,
    /// Time at which it was quarantined for review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantined_at: Option<Timestamp>,
    /// True if it is exempt from decay and shown first.
    pub pinned: bool,
    /// Time from which rules count: when a rule moved it to its state, or when somebody restored it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruled_at: Option<Timestamp>,
    /// Time at which a todo or a goal was done; `None` while it is open, and for every other type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_at: Option<Timestamp>,
}

impl Status {
    /// Returns the status of a new memory.
    pub const fn new(state: State) -> Self {
        Self { state, forgotten_at: None, quarantined_at: None, pinned: false, ruled_at: None, done_at: None }
    }

    /// Returns the status with another state that was not set by a rule.
    #[must_use]
    pub fn moved(self, state: State) -> Self {
        if state == self.state { self } else { Self { state, ruled_at: None, ..self } }
    }

    /// Returns the status with another state and the time of the change. Used if a rule set the state, or if somebody made
    /// the memory active again.
    #[must_use]
    pub fn ruled(self, state: State, at: Timestamp) -> Self {
        Self { state, ruled_at: Some(at), ..self }
    }

    /// Returns the status for a memory of this type: only a todo or a goal can be done.
    #[must_use]
    pub fn of_type(self, memory_type: MemoryType) -> Self {
        Self { done_at: self.done_at.filter(|_| memory_type.can_be_done()), ..self }
    }
}

/// The origin of a memory. Set once, except for the files with the same content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// The author: on request or automatic.
    pub author: Author,
    /// The channel through which it came.
    #[serde(rename = "source", alias = "origin")]
    pub origin: Origin,
    /// The agent that saved it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_agent: Option<String>,
    /// The agent that helped a person to write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assisted_by_agent: Option<String>,
    /// The trust in its source.
    pub trust: Trust,
    /// The pass that wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass: Option<PassId>,
    /// The file that it imports or mirrors; the first one if several have the same content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_path: Option<String>,
    /// All files with the same content, if there are several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub source_paths: Vec<String>,
    /// True if it was also saved without a path, so that it stays as it is when its files change.
    #[serde(default, skip_serializing_if = "is_false")]
    pub also_without_path: bool,
    /// Set for a mirror: the file is the source of truth, and the row follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<Mirror>,
    /// The object that it describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachment: Option<Attachment>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Provenance {
    /// Returns the files that the memory imports or mirrors.
    pub fn paths(&self) -> &[String] {
        if self.source_paths.is_empty() { self.source_path.as_slice() } else { &self.source_paths }
    }

    /// Returns the sources of the memory: its files, and whether somebody saved it without a file.
    pub fn sources(&self) -> Sources {
        let paths = self.paths().to_vec();
        Sources { without_path: self.also_without_path || paths.is_empty(), paths }
    }

    /// Replaces the sources of the memory.
    pub fn set_sources(&mut self, sources: Sources) {
        let Sources { paths, without_path } = sources;
        self.also_without_path = without_path && !paths.is_empty();
        self.source_path = paths.first().cloned();
        self.source_paths = if paths.len() > 1 { paths } else { Vec::new() };
    }
}

/// The sources of a memory's content. A change of a source edits the memory in place only if the memory has no other source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sources {
    /// The files, in order.
    pub paths: Vec<String>,
    /// True if somebody saved the memory without a file. Always true if the memory has no file.
    pub without_path: bool,
}

impl Sources {
    /// Adds a source: a file, or a save without one.
    #[must_use]
    pub fn with(mut self, path: Option<&str>) -> Self {
        match path {
            None => self.without_path = true,
            Some(path) if self.paths.iter().any(|known| known == path) => {}
            Some(path) => self.paths.push(path.to_owned()),
        }
        self
    }

    /// Removes a file; `None` if no source is left.
    #[must_use]
    pub fn without(mut self, path: &str) -> Option<Self> {
        self.paths.retain(|known| known != path);
        (self.without_path || !self.paths.is_empty()).then_some(self)
    }

    /// The sources of a memory without files: the content is no longer in any file.
    pub const NONE: Self = Self { paths: Vec::new(), without_path: true };
}

/// The position of a mirrored entry in its file. It is identified by path, hash and occurrence, never by the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Mirror {
    /// The line of the file where it begins, from 1.
    pub line: u32,
    /// The index among entries with the same text, from 0.
    pub occurrence: u32,
}

/// An object in storage that a memory describes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Attachment {
    /// The key of the object in storage.
    pub object_key: String,
    /// Its media type, from its bytes.
    pub media_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// SHA-256 of its bytes, hexadecimal.
    pub hash: String,
    /// The name of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The reason why its text could not be read, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl Attachment {
    /// Returns an error if a value cannot have been written by an object store.
    pub(crate) fn check(&self) -> Result<(), Invalid> {
        let beside = self.name.iter().chain(&self.trouble);
        for text in [&self.object_key, &self.media_type].into_iter().chain(beside) {
            if text.is_empty()
                || text.chars().count() > ATTACHMENT_CHARS
                || text.chars().any(char::is_control)
            {
                return Err(Invalid::Attachment { got: crate::model::preview::short(text) });
            }
        }
        let digits =
            self.hash.len() == 64 && self.hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if digits && self.size < LARGEST_OBJECT {
            Ok(())
        } else {
            Err(Invalid::Attachment { got: crate::model::preview::short(&self.hash) })
        }
    }
}

/// Maximum number of characters of each text of an attachment.
const ATTACHMENT_CHARS: usize = 1_000;
/// Exclusive upper bound for the size of an attachment. Other sizes are refused as invalid.
const LARGEST_OBJECT: u64 = 1 << 53;

/// The conversation a memory came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationPlace {
    /// The channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Its position there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<i64>,
    /// The speaker's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub speaker: Option<String>,
}

/// The times at which a memory was saved, changed and used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Usage {
    /// Time of the first save.
    pub created_at: Timestamp,
    /// Time at which its newest version was written.
    pub updated_at: Timestamp,
    /// Time of the last recall; before the first one, its creation.
    pub accessed_at: Timestamp,
    /// Number of recalls.
    pub access_count: u64,
}

/// SHA-256 of a normalised content. Prints as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&data_encoding::HEXLOWER.encode(&self.0))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let text = String::deserialize(input)?;
        data_encoding::HEXLOWER
            .decode(text.as_bytes())
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("a content hash is 64 hexadecimal digits"))
    }
}

/// A part of a memory that is embedded and indexed: a byte range of its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// Position of the first byte of the chunk in the content.
    pub start: usize,
    /// Byte after the last byte of the chunk.
    pub end: usize,
    /// The headings above the chunk, outermost first.
    pub heading_path: Vec<String>,
    /// The vector of the chunk; `None` if the chunk is not embedded yet.
    pub embedding: Option<Embedding>,
}

/// A vector and the model that computed it. Vectors of different models are never compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// The model's id.
    pub model: String,
    /// The normalised vector.
    pub vector: Vec<f32>,
    /// The vectors of the single sentences, in order; empty if the text is only one sentence. These vectors may be less
    /// precise than the vector of the full text, because a store may keep each number as a byte.
    pub sentences: Vec<Vec<f32>>,
}

/// A version of a memory, current or past.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionRecord {
    /// The version number.
    pub version: Version,
    /// The act that wrote it.
    pub act: VersionAct,
    /// Time of the write.
    pub at: Timestamp,
    /// The principal who wrote it.
    pub by: PrincipalId,
    /// The agent that was used.
    pub agent: Option<String>,
    /// The content and fields of this version.
    #[serde(rename = "edition")]
    pub fields: VersionFields,
}
