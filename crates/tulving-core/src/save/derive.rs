//! What nobody gave of an edition, made from its content by rules.

use std::collections::HashSet;

use crate::classify::form::Form;
use crate::classify::{self, Sorted};
use crate::limits;
use crate::memory::{Edition, Memory, Place, Provenance};
use crate::text::normalize;
use crate::vocabulary::{ContentType, Derivable, Kind, MemoryType};

/// What is known of a memory beside its edition.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct About<'a> {
    /// What its file is called, with its path where that is known.
    pub(crate) name: Option<&'a str>,
    /// Whether it is a piece of a conversation, which is no document of its own.
    pub(crate) piece: bool,
    /// Whether it is what somebody said there.
    pub(crate) turn: bool,
    /// Whether its content only stands for what will be read from a file.
    pub(crate) waits: bool,
}

impl<'a> About<'a> {
    /// What is known of a memory from this source.
    pub(crate) fn of(provenance: &'a Provenance, place: &Place) -> Self {
        let attached = provenance.attachment.as_ref().and_then(|object| object.name.as_deref());
        Self {
            name: provenance.source_path.as_deref().or(attached),
            piece: place.conversation.is_some(),
            turn: place.conversation.is_some() && (place.position.is_some() || place.speaker.is_some()),
            waits: false,
        }
    }

    /// The same of a memory that is there.
    pub(crate) fn memory(memory: &'a Memory) -> Self {
        Self::of(&memory.provenance, &memory.place)
    }
}

/// Fills in what nobody gave. A piece of a conversation is no document, and keeps what follows from its type, but for what
/// somebody said there, which is episodic; what stands for a file that is not read yet says nothing of it.
pub(crate) fn derive(edition: &mut Edition, about: About<'_>) {
    let (auto, memory_type) = (edition.auto, edition.class.memory_type);
    let reads = !about.piece && !about.waits;
    let (content, name) = (edition.text.content.as_str(), about.name);
    let form = Form::known(edition.text.content_type, edition.text.language.as_deref());
    let title = reads.then(|| classify::title(content, &form, name)).flatten();
    // A file is called by its name, and says what was read from it.
    let form =
        if form.content_type == ContentType::File { Form::known(ContentType::Text, None) } else { form };
    let sort = match reads {
        true => classify::sorted(content, &form, name),
        // How stable that is its words do not tell, and what is called volatile is found less well.
        false if is_said(about, &form) && memory_type == MemoryType::Fact => {
            Sorted { kind: Some(Kind::Episodic), stability: None }
        }
        false => Sorted::default(),
    };
    let summary = reads.then(|| classify::summary(content, &form, name)).flatten();
    let tags = if reads { classify::tags(content, &form, name) } else { Vec::new() };
    if auto.has(Derivable::Kind) {
        edition.class.kind = sort.kind.unwrap_or_else(|| classify::kind_of(memory_type));
    }
    if auto.has(Derivable::Stability) {
        edition.class.stability = sort.stability.unwrap_or_else(|| classify::stability_of(memory_type));
    }
    // What is made of the content has the form of what is given, whatever form the content has.
    if auto.has(Derivable::Title) {
        edition.text.title = title.and_then(|title| normalize::made_line(&title, limits::TITLE_CHARS));
    }
    if auto.has(Derivable::Summary) {
        edition.text.summary =
            summary.and_then(|summary| normalize::made_line(&summary, limits::SUMMARY_CHARS));
    }
    if auto.has(Derivable::Tags) {
        let mut made: Vec<String> =
            tags.iter().filter_map(|tag| normalize::made_line(tag, limits::TAG_CHARS)).collect();
        let mut known = HashSet::new();
        made.retain(|tag| known.insert(tag.clone()));
        edition.text.tags = made;
    }
}

/// Whether a piece of a conversation is what somebody said, and not what was learned from it.
fn is_said(about: About<'_>, form: &Form) -> bool {
    let talk = matches!(form.content_type, ContentType::Chat | ContentType::Transcript);
    about.turn || (about.piece && talk)
}
