//! A memory as the service shows it: memax's fields, and Tulving's own.

use schemars::JsonSchema;
use serde::Serialize;
use tulving_core::model::memory::{Attachment, Auto, Memory};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{Author, CommandKind, Derivable, MemoryType, Trust};
use tulving_core::rank::decay;

use tulving_dialects::memax::{self, MemaxMemory};
use tulving_dialects::words;

/// A memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Memory")]
pub(super) struct MemoryReply {
    #[serde(flatten)]
    fields: MemaxMemory,
    /// All files that say the same, where there are several; `source_path` is the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    source_paths: Vec<String>,
    /// Whether it was also saved without a path, so that it stays as it is when its files change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    also_without_path: bool,
    /// The language of code.
    language: Option<String>,
    /// What of title, summary, tags, kind and stability nobody gave; it was made from the content.
    #[schemars(schema_with = "words::several::<Derivable>")]
    auto: Auto,
    /// The file that it describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    attachment: Option<AttachmentReply>,
    /// Its number in its space; null for a mirror of a file.
    number: Option<u64>,
    /// Its key.
    key: Option<String>,
    /// What it says.
    #[serde(rename = "type")]
    #[schemars(schema_with = "words::word::<MemoryType>")]
    memory_type: MemoryType,
    /// How much it matters, 0 to 1.
    importance: f64,
    /// How much it matters by now: faded by idleness, strengthened by use.
    importance_now: f64,
    /// Whether somebody asked for it.
    #[schemars(schema_with = "words::word::<Author>")]
    author: Author,
    /// How far its source is trusted.
    #[schemars(schema_with = "words::word::<Trust>")]
    trust: Trust,
    /// Where it came from, in the caller's words.
    source_note: Option<String>,
    /// Whether it is exempt from decay and shown first.
    pinned: bool,
    /// When a todo or a goal was done; null while it is open.
    #[schemars(schema_with = "words::maybe_time")]
    done_at: Option<Timestamp>,
    /// The channel it came from.
    conversation: Option<String>,
    /// Its order there.
    position: Option<i64>,
    /// Who said it.
    speaker: Option<String>,
    /// When it happened.
    #[schemars(schema_with = "words::maybe_time")]
    occurred_at: Option<Timestamp>,
    /// From when on it holds.
    #[schemars(schema_with = "words::maybe_time")]
    valid_from: Option<Timestamp>,
    /// Until when it holds.
    #[schemars(schema_with = "words::maybe_time")]
    valid_until: Option<Timestamp>,
    /// From when on recall no longer finds it.
    #[schemars(schema_with = "words::maybe_time")]
    expires_at: Option<Timestamp>,
    /// When it was forgotten; it can be restored.
    #[schemars(schema_with = "words::maybe_time")]
    forgotten_at: Option<Timestamp>,
    /// The memory that replaces it.
    superseded_by: Option<String>,
    /// The backend that gave it, where that is not the built-in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    backend: Option<String>,
    /// How it tries to command whoever reads it. It is data all the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(schema_with = "words::several::<CommandKind>")]
    commands: Vec<CommandKind>,
}

/// A file that a memory describes. `GET /v1/memories/{id}/attachment` gives it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Attachment")]
struct AttachmentReply {
    /// What it is called.
    name: Option<String>,
    /// Its media type, told by its bytes.
    media_type: String,
    /// Its size in bytes.
    size: u64,
    /// SHA-256 of its bytes.
    hash: String,
    /// Why its text could not be read, where that is so.
    trouble: Option<String>,
}

impl AttachmentReply {
    fn of(attachment: &Attachment) -> Self {
        let Attachment { media_type, size, hash, name, trouble, .. } = attachment.clone();
        Self { name, media_type, size, hash, trouble }
    }
}

/// Returns a memory as it is at this time.
pub(super) fn shown(memory: &Memory, now: Timestamp) -> MemoryReply {
    let (edition, place, span) = (&memory.edition, &memory.place, &memory.edition.span);
    MemoryReply {
        fields: memax::fields(memory, now),
        source_paths: memory.provenance.source_paths.clone(),
        also_without_path: memory.provenance.also_without_path,
        language: edition.text.language.clone(),
        auto: edition.auto,
        attachment: memory.provenance.attachment.as_ref().map(AttachmentReply::of),
        number: memory.number.map(|number| number.0),
        key: edition.key.clone(),
        memory_type: edition.class.memory_type,
        importance: edition.class.importance.get(),
        importance_now: decay::shown(memory, now),
        author: memory.provenance.author,
        trust: memory.provenance.trust,
        source_note: edition.source_note.clone(),
        pinned: memory.standing.pinned,
        done_at: memory.standing.done_at,
        conversation: place.conversation.clone(),
        position: place.position,
        speaker: place.speaker.clone(),
        occurred_at: span.occurred_at,
        valid_from: span.valid_from,
        valid_until: span.valid_until,
        expires_at: span.expires_at,
        forgotten_at: memory.standing.forgotten_at,
        superseded_by: memory.superseded_by.map(memax::id),
        backend: memory.backend.clone(),
        commands: memory.commands.clone(),
    }
}

/// Returns the same memory with another text instead of its content.
pub(super) fn with_content(memory: &Memory, content: &str, now: Timestamp) -> MemoryReply {
    let shown = shown(memory, now);
    MemoryReply { fields: shown.fields.with_content(content), ..shown }
}
