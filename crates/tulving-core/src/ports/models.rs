//! The port to embedding models.

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

    /// Returns one normalised vector for each text, in order. If any text fails, the whole call fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError>;
}
