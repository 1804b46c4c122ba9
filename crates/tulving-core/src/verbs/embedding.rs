//! The models that compute vectors, and the input of these models.
//!
//! The store records the answering model: the model whose vectors are used in searches. Another model may be
//! configured. If the user requests the change, the vectors of the configured model are computed in addition to the old
//! vectors. Once no vector is missing, the configured model becomes the answering model in one step. Vectors of two
//! models are never compared.
//!
//! The configuration of a model alone does not start the change, because two processes with different settings would
//! undo each other's work. The store records a requested change, and processes with that model complete it.

mod near_duplicates;
mod waiting;

use std::sync::Arc;

use tulving_text::chunk::ContentForm;
use tulving_text::{headings, sentence};

use crate::model::error::{Error, ModelError};
use crate::model::memory::{Chunk, Embedding, VersionFields};
use crate::ports::Embedder;
use crate::verbs::access::Ports;

pub(crate) use near_duplicates::{
    ABOUT, LINKS, LinkCandidate, SAME, alike, is_near, link, near, near_among, resembling, written_between,
};
pub use waiting::{EmbeddingProgress, FailedEmbedding, ModelStatus};
pub(crate) use waiting::{
    EmbeddingTarget, embed_memory, embed_waiting, is_due, model_status, request_model, waiting,
};

/// The input of an embedding: a content and its title.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The content.
    pub(crate) content: &'a str,
    /// The form of the content.
    pub(crate) form: ContentForm<'a>,
    /// The title given by the author.
    pub(crate) title: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// Returns the part of a version that is embedded.
    pub(crate) fn of(fields: &'a VersionFields) -> Self {
        Self { content: &fields.text.content, form: fields.text.form(), title: fields.given_title() }
    }
}

/// Returns the embedder to use for one operation.
fn pinned(embedder: &Arc<dyn Embedder>) -> Arc<dyn Embedder> {
    embedder.pinned().unwrap_or_else(|| Arc::clone(embedder))
}

/// Returns the embedder of a model, if it is available.
fn embedder_of(ports: &Ports, model: &str) -> Option<Arc<dyn Embedder>> {
    maker(std::iter::once(&ports.embedder).chain(&ports.former), model)
}

/// Returns the first embedder that computes the vectors of a model.
fn maker<'a>(
    embedders: impl Iterator<Item = &'a Arc<dyn Embedder>>,
    model: &str,
) -> Option<Arc<dyn Embedder>> {
    embedders.map(pinned).find(|embedder| embedder.makes(model).is_ok_and(|its| its))
}

/// Returns the embedder of the answering model. This is the embedder of the store's model, or the configured embedder
/// if the store has no model yet. If no model is configured, searches use no vectors, even if the store has some.
pub(crate) fn answering(ports: &Ports) -> Result<Arc<dyn Embedder>, Error> {
    let set_up = pinned(&ports.embedder);
    let Some(model) = ports.store.model()? else {
        return Ok(set_up);
    };
    match set_up.makes(&model) {
        Ok(true) => Ok(set_up),
        Err(ModelError::None) => Err(ModelError::None.into()),
        made => maker(ports.former.iter(), &model)
            .ok_or_else(|| made.err().unwrap_or(ModelError::NotAtHand { model }).into()),
    }
}

/// Adds the vectors to each chunk: one for the whole chunk and one for each sentence.
pub(crate) fn vectors(
    embedder: &dyn Embedder,
    pieces: Vec<(Source<'_>, &mut Chunk)>,
) -> Result<(), ModelError> {
    let model = embedder.model()?;
    let mut texts: Vec<String> = Vec::new();
    let mut counts = Vec::with_capacity(pieces.len());
    for (source, chunk) in &pieces {
        let body = source.content.get(chunk.start..chunk.end).unwrap_or_default();
        let before = texts.len();
        texts.push(headings::whole(body, source.title, &chunk.heading_path));
        let sentences = sentence::segments(body);
        if sentences.len() > 1 {
            texts.extend(sentences.into_iter().map(|range| body[range].to_owned()));
        }
        counts.push(texts.len() - before);
    }
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let made = embedder.embed(&borrowed)?;
    if made.len() < texts.len() {
        let why = "it returned fewer vectors than texts".to_owned();
        return Err(ModelError::Failed { model, why });
    }
    let mut made = made.into_iter();
    for ((_, chunk), count) in pieces.into_iter().zip(counts) {
        let mut vectors = made.by_ref().take(count);
        let vector = vectors.next().expect("there is a vector for each text");
        chunk.embedding = Some(Embedding { model: model.clone(), vector, sentences: vectors.collect() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::vocabulary::ContentType;

    /// An embedder that returns one vector too few.
    struct IncompleteEmbedder;

    impl Embedder for IncompleteEmbedder {
        fn model(&self) -> Result<String, ModelError> {
            Ok("forgetful".to_owned())
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
            Ok(vec![vec![1.0]; texts.len() - 1])
        }
    }

    #[test]
    fn a_sentence_without_a_vector_was_taken_for_one_that_is_not_there() {
        let content = "The first sentence is here. The second sentence is there.";
        let form = ContentForm { content_type: ContentType::Text, language: None };
        let source = Source { content, form, title: None };
        let mut chunk = Chunk { start: 0, end: content.len(), heading_path: Vec::new(), embedding: None };
        let made = vectors(&IncompleteEmbedder, vec![(source, &mut chunk)]);
        assert!(matches!(made, Err(ModelError::Failed { .. })));
        assert_eq!(chunk.embedding, None);
    }
}
