//! The terms of a memory, which the keyword lane compares.

use tulving_text::headings::headings_above;
use tulving_text::terms::{ChunkTerms, gathered};

use crate::model::memory::{Chunk, Memory};

/// Returns the terms of a chunk of a memory.
pub fn of_chunk(memory: &Memory, chunk: &Chunk) -> ChunkTerms {
    let edition = &memory.edition;
    let said = edition.text.content.get(chunk.start..chunk.end).unwrap_or_default();
    let above = headings_above(said, &chunk.heading_path);
    let labels = edition.given_tags().iter().chain(&edition.key).chain(&memory.place.speaker);
    let labels = labels.map(String::as_str).chain(memory.file_name());
    gathered(std::iter::once(said).chain(edition.given_title()).chain(above), labels)
}
