//! Vectors: who makes them, and of what.
//!
//! The store says whose vectors answer. Another model may be set up; where its user wishes, its vectors are made beside
//! the old ones, and when none is missing it takes over in one step. Two models are never compared.
//!
//! To be set up is no such wish: of two processes with different settings, each would undo what the other has done.

mod near;
mod waiting;

use std::sync::Arc;

use crate::access::Parts;
use crate::error::{Error, ModelError};
use crate::memory::{Chunk, Edition, Embedding};
use crate::ports::Embedder;
use crate::text;
use crate::text::chunk::Form;

pub(crate) use near::{LINKS, Newcomer, alike, link, near, near_among, written_between};
pub(crate) use waiting::{Aim, embed_memory, embed_waiting, is_due, waiting};
pub use waiting::{Embedded, Failed};

/// What is to be embedded: a content and the title above it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    /// The content.
    pub(crate) content: &'a str,
    /// What form it has.
    pub(crate) form: Form<'a>,
    /// The title that was given.
    pub(crate) title: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// What of an edition is embedded.
    pub(crate) fn of(edition: &'a Edition) -> Self {
        Self { content: &edition.text.content, form: Form::of(&edition.text), title: edition.given_title() }
    }
}

/// The embedder of a model, where it is at hand.
fn embedder_of<'a>(parts: &'a Parts, model: &str) -> Option<&'a Arc<dyn Embedder>> {
    maker(std::iter::once(&parts.embedder).chain(&parts.former), model)
}

/// The first of these that makes the vectors of a model.
fn maker<'a>(
    mut embedders: impl Iterator<Item = &'a Arc<dyn Embedder>>,
    model: &str,
) -> Option<&'a Arc<dyn Embedder>> {
    embedders.find(|embedder| embedder.makes(model).is_ok_and(|its| its))
}

/// The embedder whose vectors answer: that of the store's model, or the one set up where the store has none yet. Where no
/// model is set up none answers, whatever the store holds.
pub(crate) fn answering(parts: &Parts) -> Result<&Arc<dyn Embedder>, Error> {
    let Some(model) = parts.store.model()? else {
        return Ok(&parts.embedder);
    };
    match parts.embedder.makes(&model) {
        Ok(true) => Ok(&parts.embedder),
        Err(ModelError::None) => Err(ModelError::None.into()),
        set_up => maker(parts.former.iter(), &model)
            .ok_or_else(|| set_up.err().unwrap_or(ModelError::NotAtHand { model }).into()),
    }
}

/// Gives each chunk its vectors: one of the whole, one of each sentence.
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
        texts.push(text::whole(body, source.title, &chunk.heading_path));
        let sentences = text::sentence::segments(body);
        if sentences.len() > 1 {
            texts.extend(sentences.into_iter().map(|range| body[range].to_owned()));
        }
        counts.push(texts.len() - before);
    }
    let borrowed: Vec<&str> = texts.iter().map(String::as_str).collect();
    let made = embedder.embed(&borrowed)?;
    if made.len() < texts.len() {
        let why = "it gave fewer vectors than texts".to_owned();
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
    use crate::vocabulary::ContentType;

    /// Gives one vector less than it should.
    struct Forgetful;

    impl Embedder for Forgetful {
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
        let form = Form { content_type: ContentType::Text, language: None };
        let source = Source { content, form, title: None };
        let mut chunk = Chunk { start: 0, end: content.len(), heading_path: Vec::new(), embedding: None };
        let made = vectors(&Forgetful, vec![(source, &mut chunk)]);
        assert!(matches!(made, Err(ModelError::Failed { .. })));
        assert_eq!(chunk.embedding, None);
    }
}
