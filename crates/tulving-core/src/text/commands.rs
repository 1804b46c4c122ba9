//! The commands in the texts of a memory.

pub(crate) use tulving_text::commands::kinds;

use crate::model::memory::VersionFields;
use crate::model::vocabulary::CommandKind;

/// Returns the kinds of command in the texts of a memory, each once.
pub(crate) fn marks(fields: &VersionFields) -> Vec<CommandKind> {
    let text = &fields.text;
    let beside = [&text.title, &text.summary, &fields.key, &fields.source_note].into_iter().flatten();
    let texts = std::iter::once(&text.content).chain(beside).chain(&text.tags);
    kinds(texts.map(String::as_str))
}
