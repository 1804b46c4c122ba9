//! The port to embedding models.

use crate::model::error::ModelError;

/// Turns text into vectors.
pub trait Embedder: Send + Sync {
    /// Returns the id of the model, which each of its vectors carries. The id changes whenever its vectors
    /// would differ.
    fn model(&self) -> Result<String, ModelError>;

    /// Returns true if its vectors are those of this model. It may know without calling the model.
    fn makes(&self, model: &str) -> Result<bool, ModelError> {
        Ok(self.model()? == model)
    }

    /// Returns one normalised vector for each text, in order. All of them or an error.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError>;
}
