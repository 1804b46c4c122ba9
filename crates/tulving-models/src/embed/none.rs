//! The embedder that is used if no model is set up. Memories are still stored, and are found by their words.

use tulving_core::model::error::ModelError;
use tulving_core::ports::Embedder;

/// No embedding model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NoModel;

impl Embedder for NoModel {
    fn model(&self) -> Result<String, ModelError> {
        Err(ModelError::None)
    }

    fn embed(&self, _texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(ModelError::None)
    }
}
