//! Stands where no model is set up. What it is asked to embed is stored all the same, and found by its words.

use tulving_core::error::ModelError;
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
