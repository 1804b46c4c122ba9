//! Splits contents into chunks and embeds small ones at once. If a model fails, the memory is saved without vectors.

use crate::model::answer::Warning;
use crate::model::error::{Error, ModelError};
use crate::model::memory::Chunk;
use crate::text;
use crate::verbs::access::Ports;
use crate::verbs::embedding::{self, Source};

/// Maximum number of chunks that a save embeds before it returns; a background job embeds the other chunks.
const EMBEDDED_AT_ONCE: usize = 16;

/// Returns the chunks of each content, without vectors.
pub(crate) fn cut(sources: &[Source<'_>]) -> Vec<Vec<Chunk>> {
    sources.iter().map(|source| text::chunk::split(source.content, source.form)).collect()
}

/// Returns the chunks of each content, and a warning if they have no vectors.
pub(crate) fn embed(ports: &Ports, sources: &[Source<'_>]) -> (Vec<Vec<Chunk>>, Option<Warning>) {
    let mut chunks = cut(sources);
    if chunks.iter().map(Vec::len).sum::<usize>() > EMBEDDED_AT_ONCE {
        return (chunks, None);
    }
    let pieces = sources.iter().zip(&mut chunks);
    let pieces: Vec<(Source<'_>, &mut Chunk)> =
        pieces.flat_map(|(source, chunks)| chunks.iter_mut().map(|chunk| (*source, chunk))).collect();
    let made =
        embedding::answering(ports).and_then(|embedder| Ok(embedding::vectors(embedder.as_ref(), pieces)?));
    match made {
        Ok(()) | Err(Error::Model(ModelError::None)) => (chunks, None),
        Err(error) => (chunks, Some(Warning::NotEmbedded { why: error.to_string() })),
    }
}
