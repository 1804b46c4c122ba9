//! Cuts contents into chunks and embeds what is soon done. A model that fails costs the vectors, never the memory.

use crate::access::Parts;
use crate::answer::Warning;
use crate::error::ModelError;
use crate::memory::Chunk;
use crate::text;

/// How many chunks are embedded before a save returns; more are left for the background.
const EMBEDDED_AT_ONCE: usize = 16;

/// The chunks of each content, and what the caller should know where they have no vectors.
pub(crate) fn embed(parts: &Parts, contents: &[&str]) -> (Vec<Vec<Chunk>>, Option<Warning>) {
    let mut chunks: Vec<Vec<Chunk>> = contents.iter().map(|content| text::chunk::split(content)).collect();
    if chunks.iter().map(Vec::len).sum::<usize>() > EMBEDDED_AT_ONCE {
        return (chunks, None);
    }
    let texts: Vec<&str> = contents
        .iter()
        .zip(&chunks)
        .flat_map(|(content, chunks)| chunks.iter().map(|chunk| &content[chunk.start..chunk.end]))
        .collect();
    match parts.embedder.embed(&texts) {
        Ok(embeddings) => {
            for (chunk, embedding) in chunks.iter_mut().flatten().zip(embeddings) {
                chunk.embedding = Some(embedding);
            }
            (chunks, None)
        }
        Err(ModelError::None) => (chunks, None),
        Err(error) => (chunks, Some(Warning::NotEmbedded { why: error.to_string() })),
    }
}
