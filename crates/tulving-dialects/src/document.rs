//! Shortens long documents in the answers of dialects without sections: an answer contains the matching section or the
//! beginning, and a note on how to read the whole document.
//!
//! A memory that was saved through such a dialect is returned completely. A document that was pushed or read from a file may
//! be a hundred times as long as the answer that the agent expects.

use std::borrow::Cow;

use tulving_core::model::answer::{BestSection, Hit};
use tulving_core::model::id::SpaceId;
use tulving_core::model::memory::Memory;
use tulving_core::model::preview;
use tulving_core::text::chunk;

/// Maximum length of a section, in characters. Only a code block or a table can be longer.
const SECTION_CHARS: usize = 4_000;

/// The part of a memory that is shown.
pub(crate) struct Excerpt<'a> {
    /// The content, or a section of it.
    pub(crate) text: &'a str,
    /// A note on how to read the whole document, if the excerpt is only a part.
    pub(crate) pointer: Option<String>,
}

impl<'a> Excerpt<'a> {
    /// Returns the excerpt of a search hit: for a document, the best section.
    pub(crate) fn of_hit(hit: &'a Hit) -> Self {
        let memory = &hit.memory;
        let opening = if memory.is_document() { chunk::first(&memory.fields.text) } else { None };
        let text = match (&hit.section, opening) {
            _ if hit.cut => memory.fields.text.content.as_str(),
            (_, None) => return Self { text: &memory.fields.text.content, pointer: None },
            (Some(_), Some(_)) => hit.shown(),
            (None, Some(opening)) => opening,
        };
        Self { text, pointer: Some(pointer(memory, hit.section.as_ref(), hit.cut)) }
    }

    /// Returns the excerpt of a memory that was not found by a question: for a document, the beginning.
    pub(crate) fn of(memory: &'a Memory) -> Self {
        let text = &memory.fields.text;
        match chunk::first(text).filter(|_| memory.is_document()) {
            Some(opening) => Self { text: opening, pointer: Some(pointer(memory, None, false)) },
            None => Self { text: &text.content, pointer: None },
        }
    }

    /// Returns the excerpt as text, with the pointer on its own line.
    pub(crate) fn written(&self) -> Cow<'a, str> {
        match &self.pointer {
            None => Cow::Borrowed(self.text),
            Some(pointer) => {
                Cow::Owned(format!("{}\n{pointer}", preview::beginning(self.text, SECTION_CHARS)))
            }
        }
    }

    /// Returns the beginning of the excerpt, at most `chars` characters, followed by the pointer.
    pub(crate) fn opening(&self, chars: usize) -> String {
        let text = preview::beginning(self.text, chars);
        self.pointer.iter().fold(text, |text, pointer| format!("{text} {pointer}"))
    }
}

/// Returns a note that names the shown part of a document, and explains how to read the whole document.
fn pointer(memory: &Memory, section: Option<&BestSection>, cut: bool) -> String {
    let part = match section {
        Some(section) if section.heading_path.is_empty() => format!("from line {}", section.line),
        Some(section) => format!("{}, line {}", section.heading_path.join(" › "), section.line),
        None => "the beginning".to_owned(),
    };
    let name = memory.file_name().map_or_else(String::new, |name| format!(" of {name}"));
    // If the content was cut for the answer, its length is not the length of the whole document.
    let length = match cut {
        true => String::new(),
        false => format!(", {} characters in all", memory.fields.text.content.chars().count()),
    };
    // A number is valid only in its space; an id is valid everywhere.
    let which = match memory.number.filter(|_| memory.space == SpaceId::DEFAULT) {
        Some(number) => number.0.to_string(),
        None => memory.id.to_string(),
    };
    format!(
        "[{part}{name}{length}; `tulving get {which}` and the resource memory://{which} return all of it]"
    )
}
