//! The terms of a memory, which the keyword lane compares.

use tulving_text::headings::headings_above;
use tulving_text::terms::{ChunkTerms, gathered};

use crate::model::memory::{Chunk, Memory};

/// Returns the terms of a chunk of a memory.
pub fn of_chunk(memory: &Memory, chunk: &Chunk) -> ChunkTerms {
    let fields = &memory.fields;
    let said = fields.text.content.get(chunk.start..chunk.end).unwrap_or_default();
    let above = headings_above(said, &chunk.heading_path);
    let labels =
        fields.given_tags().iter().chain(&fields.key).chain(&fields.project).chain(&memory.place.speaker);
    let labels = labels.map(String::as_str).chain(memory.file_name());
    gathered(std::iter::once(said).chain(fields.given_title()).chain(above), labels)
}
