//! One piece of knowledge, and the parts it is made of.
//!
//! The parts follow what may change together: an [`Edition`] is what an edit replaces and history keeps, a
//! [`Standing`] moves without a new version, a [`Provenance`] never changes, [`Usage`] is counted on the side.
//! In JSON they lie flat beside each other.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Field, Invalid};
use crate::id::{MemoryId, MemoryRef, Number, PassId, PrincipalId, SpaceId, Version};
use crate::score::Importance;
use crate::time::Timestamp;
use crate::vocabulary::{
    Author, Boundary, CommandKind, ContentType, Derivable, Kind, MemoryType, Origin, Stability, State, Trust,
    VersionAct,
};

/// One memory as a reader sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its name everywhere.
    pub id: MemoryId,
    /// Its number in its space. A mirror has none.
    pub number: Option<Number>,
    /// Where it lives.
    pub space: SpaceId,
    /// Who saved it first.
    pub owner: PrincipalId,
    /// The version of its edition.
    pub version: Version,
    /// What an edit replaces.
    #[serde(flatten)]
    pub edition: Edition,
    /// What moves without a new version.
    #[serde(flatten)]
    pub standing: Standing,
    /// Where it came from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The conversation it came from.
    #[serde(flatten)]
    pub place: Place,
    /// When it was saved, changed and used.
    #[serde(flatten)]
    pub usage: Usage,
    /// The newest memory, among those the reader may see, that a caller said updates this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// The backend that gave it, where that is not the built-in one.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// How its texts try to command whoever reads them. It is data all the same: a mark for readers, made when it is read.
    #[serde(skip_deserializing, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<CommandKind>,
}

impl Memory {
    /// When what it says began to hold: as was said, else when it happened, else when it was saved.
    pub fn began_at(&self) -> Timestamp {
        let span = &self.edition.span;
        span.valid_from.or(span.occurred_at).unwrap_or(self.usage.created_at)
    }

    /// Whether what it says held at an instant.
    pub fn held_at(&self, at: Timestamp) -> bool {
        self.began_at() <= at && self.edition.span.valid_until.is_none_or(|until| until > at)
    }

    /// Where it stands at an instant: what has expired by then is archived, whatever was set.
    pub fn state_at(&self, at: Timestamp) -> State {
        if self.edition.span.has_expired(at) { State::Archived } else { self.standing.state }
    }

    /// Where it stood at an instant gone by: what a rule has archived since was there.
    pub fn stood_at(&self, at: Timestamp) -> State {
        let ruled_since = self.standing.ruled_at.is_some_and(|then| then > at);
        match self.standing.state {
            State::Archived if ruled_since && !self.edition.span.has_expired(at) => State::Active,
            _ => self.state_at(at),
        }
    }

    /// Whether somebody archived it, or its time is over at an instant. What a rule has archived for its age is as true as before.
    pub fn was_put_away(&self, at: Timestamp) -> bool {
        self.edition.span.has_expired(at)
            || (self.standing.state == State::Archived && self.standing.ruled_at.is_none())
    }

    /// Whether it is a todo or a goal that is not done yet.
    pub fn is_open(&self) -> bool {
        self.edition.class.memory_type.can_be_done() && self.standing.done_at.is_none()
    }

    /// Whether all it says is the name of the file that it describes.
    pub fn is_unread(&self) -> bool {
        let name = self.provenance.attachment.as_ref().and_then(|attachment| attachment.name.as_deref());
        name.is_some_and(|name| self.edition.text.content == name.trim())
    }

    /// How far its source is trusted by a reader: what somebody else wrote in their own name is only shared.
    pub fn trust_of(&self, reader: PrincipalId, writer: PrincipalId) -> Trust {
        match self.provenance.trust {
            Trust::Own if self.owner != reader || writer != reader => Trust::Shared,
            trust => trust,
        }
    }

    /// Its number where it has one, else its id: what a person calls it.
    pub fn reference(&self) -> MemoryRef {
        MemoryRef::of(self.number, self.id)
    }

    /// Where the entry stands that it mirrors, such as `memory/2026-05-27.md:3`; `None` for a record.
    pub fn place_in_file(&self) -> Option<String> {
        let (path, mirror) = (self.provenance.source_path.as_deref()?, self.provenance.mirror?);
        Some(format!("{path}:{}", mirror.line))
    }

    /// What the file is called that a record was read from.
    pub fn file_name(&self) -> Option<&str> {
        let provenance = &self.provenance;
        let path = provenance.source_path.as_deref().filter(|_| provenance.mirror.is_none());
        let name = path.and_then(|path| path.rsplit(['/', '\\']).next()).filter(|name| !name.is_empty());
        name.or_else(|| provenance.attachment.as_ref()?.name.as_deref())
    }

    /// What it is shown by: file and line of a mirror, else its [reference](Self::reference).
    pub fn label(&self) -> String {
        self.place_in_file().unwrap_or_else(|| self.reference().to_string())
    }

    /// The texts that it has beside its [editions](Edition::texts) and that a save looks through for secrets, each with what it is called.
    pub(crate) fn texts_beside(&self) -> impl Iterator<Item = (Field, &str)> {
        let Self { provenance, place, .. } = self;
        let file = provenance.attachment.iter().filter_map(|file| Some((Field::File, file.name.as_deref()?)));
        let given = [
            (Field::SourcePath, &provenance.source_path),
            (Field::Agent, &provenance.assisted_by_agent),
            (Field::Conversation, &place.conversation),
            (Field::Speaker, &place.speaker),
        ];
        stated(given).chain(file)
    }
}

/// What an edit replaces as a whole and history keeps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edition {
    /// Unique in its space among the memories of the same audience (the owner's private ones, or the shared ones).
    pub key: Option<String>,
    /// Who may see it.
    pub boundary: Boundary,
    /// What it says.
    #[serde(flatten)]
    pub text: Text,
    /// What sort of memory it is.
    #[serde(flatten)]
    pub class: Classification,
    /// When what it says happened and holds.
    #[serde(flatten)]
    pub span: Span,
    /// Where it came from, in the caller's words.
    pub source_note: Option<String>,
    /// What of it nobody gave.
    #[serde(default, skip_serializing_if = "Auto::is_empty")]
    pub auto: Auto,
}

impl Edition {
    /// The title, where somebody gave it. One that was made from the content says nothing that the content does not say.
    pub fn given_title(&self) -> Option<&str> {
        self.text.title.as_deref().filter(|_| !self.auto.has(Derivable::Title))
    }

    /// The title to put before the content: none where the content begins with it.
    pub fn title_beside(&self) -> Option<&str> {
        let says_more = |title: &&str| {
            let bare = title.trim_end_matches('…');
            let mark = |c: char| c.is_whitespace() || matches!(c, '#' | '*' | '_' | '`' | '-' | '>');
            !self.text.content.trim_start_matches(mark).starts_with(bare)
        };
        self.text.title.as_deref().filter(|title| !self.auto.has(Derivable::Title) || says_more(title))
    }

    /// The tags, where somebody gave them.
    pub fn given_tags(&self) -> &[String] {
        if self.auto.has(Derivable::Tags) { &[] } else { &self.text.tags }
    }

    /// Whether its vectors would differ from those of another: they are made of the content below the title that was given,
    /// cut by its form.
    pub fn differs_in_meaning(&self, other: &Self) -> bool {
        self.text.content_hash != other.text.content_hash
            || self.given_title() != other.given_title()
            || self.text.form() != other.text.form()
    }

    /// The fields in which two editions differ, as they are written in JSON, but for those that nobody gave.
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
            ("source_note", self.source_note != after.source_note),
            ("occurred_at", self.span.occurred_at != after.span.occurred_at),
            ("valid_from", self.span.valid_from != after.span.valid_from),
            ("valid_until", self.span.valid_until != after.span.valid_until),
            ("expires_at", self.span.expires_at != after.span.expires_at),
        ];
        fields.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
    }

    /// The texts of it that a save looks through for secrets, each with what it is called.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (Field, &str)> {
        let text = &self.text;
        let given = [
            (Field::Title, &text.title),
            (Field::Summary, &text.summary),
            (Field::Key, &self.key),
            (Field::SourceNote, &self.source_note),
            (Field::Language, &text.language),
        ];
        let tags = text.tags.iter().map(|tag| (Field::Tag, tag.as_str()));
        [(Field::Content, text.content.as_str())].into_iter().chain(stated(given)).chain(tags)
    }
}

fn stated<const N: usize>(given: [(Field, &Option<String>); N]) -> impl Iterator<Item = (Field, &str)> {
    given.into_iter().filter_map(|(field, text)| Some((field, text.as_deref()?)))
}

/// What a memory says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Text {
    /// The content itself, in its normal form.
    pub content: String,
    /// What form the content has.
    pub content_type: ContentType,
    /// The language of code, such as `rust`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// SHA-256 of the normalised content; see [`hash`](crate::text::normalize::hash).
    pub content_hash: ContentHash,
    /// A name for it.
    pub title: Option<String>,
    /// It, in a sentence or two.
    pub summary: Option<String>,
    /// Labels.
    pub tags: Vec<String>,
}

impl Text {
    /// What decides how it is cut into sections.
    pub fn form(&self) -> (ContentType, Option<&str>) {
        (self.content_type, self.language.as_deref())
    }
}

/// Fields of an edition that nobody gave. They are made from the content by rules, and made anew when it changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Auto(u8);

impl Auto {
    /// Nobody gave anything.
    pub const ALL: Self = Self((1 << Derivable::ALL.len()) - 1);

    /// The fields whose bits are set, as a store keeps them. Bits that mean nothing are left out.
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Its bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether all was given.
    pub const fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// Whether nobody gave this.
    pub const fn has(self, field: Derivable) -> bool {
        self.0 & bit(field) != 0
    }

    /// The same after somebody gave this, where they did.
    #[must_use]
    pub const fn given(self, field: Derivable, given: bool) -> Self {
        if given { Self(self.0 & !bit(field)) } else { self }
    }
}

const fn bit(field: Derivable) -> u8 {
    1 << field as u8
}

impl Serialize for Auto {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(Derivable::ALL.iter().filter(|field| self.has(**field)))
    }
}

impl<'de> Deserialize<'de> for Auto {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        let fields = Vec::<Derivable>::deserialize(input)?;
        Ok(fields.into_iter().fold(Self::default(), |auto, field| Self(auto.0 | bit(field))))
    }
}

/// What sort of memory it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Classification {
    /// What it says.
    #[serde(rename = "type")]
    pub memory_type: MemoryType,
    /// What it is for.
    pub kind: Kind,
    /// How soon it goes stale.
    pub stability: Stability,
    /// How much it matters.
    pub importance: Importance,
}

/// When what a memory says happened, and from when to when it holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// When it happened.
    pub occurred_at: Option<Timestamp>,
    /// From when on it holds.
    pub valid_from: Option<Timestamp>,
    /// Until when it holds.
    pub valid_until: Option<Timestamp>,
    /// From when on recall no longer finds it.
    pub expires_at: Option<Timestamp>,
}

impl Span {
    /// Whether recall no longer finds it at an instant.
    pub(crate) fn has_expired(&self, at: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| end <= at)
    }

    /// Refuses a validity that ends before it begins.
    pub fn check(&self) -> Result<(), Invalid> {
        match (self.valid_from, self.valid_until) {
            (Some(from), Some(until)) if until < from => Err(Invalid::EndsBeforeStart { from, until }),
            _ => Ok(()),
        }
    }
}

/// Where a memory stands. Moves are logged, and those that a caller asks for by name are audited; they make no version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Standing {
    /// Its place in its life.
    pub state: State,
    /// When it was forgotten softly; it can be restored.
    pub forgotten_at: Option<Timestamp>,
    /// When it was put aside for review.
    pub quarantined_at: Option<Timestamp>,
    /// Whether it is exempt from decay and shown first.
    pub pinned: bool,
    /// From when rules count: when one moved it to where it stands, or when somebody brought it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruled_at: Option<Timestamp>,
    /// When a todo or a goal was done; `None` while it is open, and for every other type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_at: Option<Timestamp>,
}

impl Standing {
    /// How a new memory stands.
    pub const fn new(state: State) -> Self {
        Self { state, forgotten_at: None, quarantined_at: None, pinned: false, ruled_at: None, done_at: None }
    }

    /// The same in another state, to which no rule moved it.
    #[must_use]
    pub fn moved(self, state: State) -> Self {
        if state == self.state { self } else { Self { state, ruled_at: None, ..self } }
    }

    /// The same in another state, to which a rule moved it at this instant, or somebody brought it back.
    #[must_use]
    pub fn ruled(self, state: State, at: Timestamp) -> Self {
        Self { state, ruled_at: Some(at), ..self }
    }

    /// The same for a memory of this type: only a todo or a goal is done.
    #[must_use]
    pub fn of_type(self, memory_type: MemoryType) -> Self {
        Self { done_at: self.done_at.filter(|_| memory_type.can_be_done()), ..self }
    }
}

/// Where a memory came from. Set once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Whether somebody asked for it.
    pub author: Author,
    /// What carried it in.
    pub origin: Origin,
    /// The agent that saved it.
    pub source_agent: Option<String>,
    /// The agent that helped a person to write it.
    pub assisted_by_agent: Option<String>,
    /// How far its source is trusted.
    pub trust: Trust,
    /// The background act that wrote it.
    pub pass: Option<PassId>,
    /// The file it is an import or a mirror of.
    pub source_path: Option<String>,
    /// Set for a mirror: its truth is the file, and the row follows.
    pub mirror: Option<Mirror>,
    /// The object it describes.
    pub attachment: Option<Attachment>,
}

/// Where in its file a mirrored entry stands. Its identity is path, hash and occurrence, never the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mirror {
    /// The line of the file where it begins, from 1.
    pub line: u32,
    /// Which of several entries with the same text it is, from 0.
    pub occurrence: u32,
}

/// An object in storage that a memory describes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// Where the object is kept.
    pub object_key: String,
    /// Its media type, from its bytes.
    pub media_type: String,
    /// Its size in bytes.
    pub size: u64,
    /// SHA-256 of its bytes, hexadecimal.
    pub hash: String,
    /// What the file was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Why its text could not be read, where that is so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trouble: Option<String>,
}

impl Attachment {
    /// Refuses what no object store would have written.
    pub(crate) fn check(&self) -> Result<(), Invalid> {
        let beside = self.name.iter().chain(&self.trouble);
        for text in [&self.object_key, &self.media_type].into_iter().chain(beside) {
            if text.is_empty()
                || text.chars().count() > ATTACHMENT_CHARS
                || text.chars().any(char::is_control)
            {
                return Err(Invalid::Attachment { got: crate::preview::short(text) });
            }
        }
        let digits =
            self.hash.len() == 64 && self.hash.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if digits && self.size < LARGEST_OBJECT {
            Ok(())
        } else {
            Err(Invalid::Attachment { got: crate::preview::short(&self.hash) })
        }
    }
}

/// Most characters of each text of an attachment.
const ATTACHMENT_CHARS: usize = 1_000;
/// A size that is not believed.
const LARGEST_OBJECT: u64 = 1 << 53;

/// The conversation a memory came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// The channel.
    pub conversation: Option<String>,
    /// Its order there.
    pub position: Option<i64>,
    /// Who said it.
    pub speaker: Option<String>,
}

/// When a memory was saved, changed and used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// When it was saved first.
    pub created_at: Timestamp,
    /// When its newest version was written.
    pub updated_at: Timestamp,
    /// When it was last recalled; its creation, before the first time.
    pub accessed_at: Timestamp,
    /// How often it was recalled.
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

/// A part of a memory that is embedded and indexed: a range of bytes of its content.
#[derive(Clone, Debug, PartialEq)]
pub struct Chunk {
    /// First byte in the content.
    pub start: usize,
    /// Byte after the last.
    pub end: usize,
    /// The headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// Its vector; `None` where it is not embedded yet.
    pub embedding: Option<Embedding>,
}

/// A vector and the model that made it. Vectors of two models are never compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Embedding {
    /// The model's id.
    pub model: String,
    /// The normalised vector.
    pub vector: Vec<f32>,
    /// The vectors of its sentences by themselves, in order; none where it is one sentence. Coarser than the whole: a
    /// store may keep each number as a byte.
    pub sentences: Vec<Vec<f32>>,
}

/// One version of a memory, current or past.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VersionRecord {
    /// Which version.
    pub version: Version,
    /// Why it was written.
    pub act: VersionAct,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: PrincipalId,
    /// With which agent.
    pub agent: Option<String>,
    /// What it said.
    pub edition: Edition,
}
