//! Cuts a content into the parts that are embedded and indexed.

use crate::memory::Chunk;

/// The chunks of a content, in order, covering it. Every memory is one chunk until there is a model whose window
/// asks for smaller ones.
pub fn split(content: &str) -> Vec<Chunk> {
    vec![Chunk { start: 0, end: content.len(), heading_path: Vec::new(), embedding: None }]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_content() {
        let text = "One.\n\nTwo.";
        let covered: String = split(text).iter().map(|chunk| &text[chunk.start..chunk.end]).collect();
        assert_eq!(covered, text);
    }
}
