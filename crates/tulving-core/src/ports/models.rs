//! The port to embedding models.

use std::sync::Arc;

use crate::model::error::ModelError;

/// Turns text into vectors.
pub trait Embedder: Send + Sync {
    /// Returns the id of the model, which is stored with each vector of the model. The id changes whenever the model would
    /// compute different vectors.
    fn model(&self) -> Result<String, ModelError>;

    /// Returns true if the embedder computes vectors of this model. An implementation may answer without calling the model.
    fn makes(&self, model: &str) -> Result<bool, ModelError> {
        Ok(self.model()? == model)
    }

    /// Returns the embedder behind this one, if another can take its place while the program runs. An operation calls only
    /// the embedder that it got at its start, so that the ids and the vectors it uses are of one model.
    fn pinned(&self) -> Option<Arc<dyn Embedder>> {
        None
    }

    /// Returns one normalised vector for each stored text, in order. If any text fails, the whole call fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError>;

    /// Returns the normalised vector of a question. Some models expect another prefix before a question than before a
    /// stored text. An embedder that calls another one must pass this call on.
    fn embed_query(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        first_vector(&self.model()?, self.embed(&[text])?)
    }
}

/// Returns the only vector of an answer to one text.
pub fn first_vector(model: &str, vectors: Vec<Vec<f32>>) -> Result<Vec<f32>, ModelError> {
    let why = || ModelError::Failed { model: model.to_owned(), why: "it gave no vector".to_owned() };
    vectors.into_iter().next().ok_or_else(why)
}
