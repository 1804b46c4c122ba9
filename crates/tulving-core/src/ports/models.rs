//! What the engine asks of models.

use crate::error::ModelError;

/// Turns text into vectors.
pub trait Embedder: Send + Sync {
    /// The id of the model, which each of its vectors carries: another id whenever its vectors would differ.
    fn model(&self) -> Result<String, ModelError>;

    /// Whether its vectors are those of this model. It may know without asking the model anything.
    fn makes(&self, model: &str) -> Result<bool, ModelError> {
        Ok(self.model()? == model)
    }

    /// One normalised vector for each text, in their order. Whole or an error.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError>;
}
