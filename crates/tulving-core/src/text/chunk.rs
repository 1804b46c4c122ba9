//! The chunks of a memory before they are embedded.

use tulving_text::chunk::{self, ContentForm, TextChunk};

use crate::model::memory::{Chunk, MemoryText};

/// Returns the chunks of a text.
pub fn of(text: &MemoryText) -> Vec<Chunk> {
    split(&text.content, text.form())
}

/// Returns the first chunk of a text that has several chunks, or `None` if the text is one chunk. The end of the returned
/// chunk may differ a little from that of the stored chunk.
pub fn first(text: &MemoryText) -> Option<&str> {
    chunk::first(&text.content, text.form())
}

/// Cuts a content into chunks that are in order and together cover the content. A content that fits into the window is one
/// chunk.
pub fn split(content: &str, form: ContentForm<'_>) -> Vec<Chunk> {
    let unembedded =
        |TextChunk { start, end, heading_path }| Chunk { start, end, heading_path, embedding: None };
    chunk::split(content, form).into_iter().map(unembedded).collect()
}
