//! Derives the fields of a version that the caller did not give. Rules derive them from the content.

use std::collections::HashSet;

use tulving_text::classify::form::DocumentForm;
use tulving_text::classify::{self, RuleClassification};

use crate::model::limits;
use crate::model::memory::{ConversationPlace, Memory, Provenance, VersionFields};
use crate::model::vocabulary::{ContentType, Derivable, Kind, MemoryType};
use crate::text::normalize;

/// The facts about a memory outside its versioned fields.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DraftContext<'a> {
    /// The name of the memory's file, with its path if known.
    pub(crate) name: Option<&'a str>,
    /// True if the memory is a piece of a conversation. Such a piece is not a separate document.
    pub(crate) piece: bool,
    /// True if the memory is a turn of the conversation.
    pub(crate) turn: bool,
    /// True if the content is a placeholder for the text of a file.
    pub(crate) waits: bool,
}

impl<'a> DraftContext<'a> {
    /// Returns the facts about a memory from this source.
    pub(crate) fn of(provenance: &'a Provenance, place: &ConversationPlace) -> Self {
        let attached = provenance.attachment.as_ref().and_then(|object| object.name.as_deref());
        Self {
            name: provenance.source_path.as_deref().or(attached),
            piece: place.conversation.is_some(),
            turn: place.conversation.is_some() && (place.position.is_some() || place.speaker.is_some()),
            waits: false,
        }
    }

    /// Returns the facts about an existing memory.
    pub(crate) fn memory(memory: &'a Memory) -> Self {
        Self::of(&memory.provenance, &memory.place)
    }
}

/// Derives the fields that the caller did not give. A piece of a conversation is not a document and keeps the defaults
/// of its type, except a turn, which is episodic. The words of a placeholder are not used, because they do not describe
/// the file.
pub(crate) fn derive(fields: &mut VersionFields, about: DraftContext<'_>) {
    let (auto, memory_type) = (fields.auto, fields.class.memory_type);
    let reads = !about.piece && !about.waits;
    let (content, name) = (fields.text.content.as_str(), about.name);
    let form = DocumentForm::known(fields.text.content_type, fields.text.language.as_deref());
    let title = reads.then(|| classify::title(content, &form, name)).flatten();
    // The title of a file is its name; the other fields come from its extracted text.
    let form = if form.content_type == ContentType::File {
        DocumentForm::known(ContentType::Text, None)
    } else {
        form
    };
    let sort = match reads {
        true => classify::sorted(content, &form, name),
        // The words do not show how stable a statement is, and recall ranks volatile memories lower.
        false if is_said(about, &form) && memory_type == MemoryType::Fact => {
            RuleClassification { kind: Some(Kind::Episodic), stability: None }
        }
        false => RuleClassification::default(),
    };
    let summary = reads.then(|| classify::summary(content, &form, name)).flatten();
    let tags = if reads { classify::tags(content, &form, name) } else { Vec::new() };
    if auto.has(Derivable::Kind) {
        fields.class.kind = sort.kind.unwrap_or_else(|| classify::kind_of(memory_type));
    }
    if auto.has(Derivable::Stability) {
        fields.class.stability = sort.stability.unwrap_or_else(|| classify::stability_of(memory_type));
    }
    // Derived fields are normalised like given fields, for every form of content.
    if auto.has(Derivable::Title) {
        fields.text.title = title.and_then(|title| normalize::made_line(&title, limits::TITLE_CHARS));
    }
    if auto.has(Derivable::Summary) {
        fields.text.summary =
            summary.and_then(|summary| normalize::made_line(&summary, limits::SUMMARY_CHARS));
    }
    if auto.has(Derivable::Tags) {
        let mut made: Vec<String> =
            tags.iter().filter_map(|tag| normalize::made_line(tag, limits::TAG_CHARS)).collect();
        let mut known = HashSet::new();
        made.retain(|tag| known.insert(tag.clone()));
        fields.text.tags = made;
    }
}

/// Returns true if the content was said in the conversation, and is not a fact learned from it.
fn is_said(about: DraftContext<'_>, form: &DocumentForm) -> bool {
    let talk = matches!(form.content_type, ContentType::Chat | ContentType::Transcript);
    about.turn || (about.piece && talk)
}
