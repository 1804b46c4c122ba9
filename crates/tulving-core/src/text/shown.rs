//! The title and the summary of a memory for surfaces that require both.

use tulving_text::classify::{made_summary, made_title};

use crate::model::memory::Memory;

/// Returns the title of a memory, or else its first meaningful words. The result is one line and never empty.
pub fn shown_title(memory: &Memory) -> String {
    let text = &memory.fields.text;
    text.title.clone().unwrap_or_else(|| made_title(&text.content, text.form(), memory.file_name()))
}

/// Returns the summary of a memory, or else a short form of its text. The result is one line and never empty.
pub fn shown_summary(memory: &Memory) -> String {
    let text = &memory.fields.text;
    text.summary.clone().unwrap_or_else(|| made_summary(&text.content, text.form(), memory.file_name()))
}
