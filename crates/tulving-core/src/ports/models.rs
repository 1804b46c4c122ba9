//! What the engine asks of models.

use crate::error::ModelError;
use crate::memory::Embedding;

/// Turns text into vectors.
pub trait Embedder: Send + Sync {
    /// One normalised vector for each text, in their order, all of one model. Whole or an error.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, ModelError>;
}
