//! Fake embedding models: one that always returns the same vectors, one that fails, and none at all.

use tulving_core::model::error::ModelError;
use tulving_core::ports::Embedder;

/// Number of dimensions of the fake vectors, as in the real ones.
const DIMENSIONS: usize = 384;

/// Gives each text a normalised vector that depends only on its words.
#[derive(Clone, Copy, Debug, Default)]
pub struct FakeEmbedder;

impl Embedder for FakeEmbedder {
    fn model(&self) -> Result<String, ModelError> {
        Ok("fake".to_owned())
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        Ok(texts.iter().map(|text| embedding(text)).collect())
    }
}

/// Sets one dimension for each word, so that texts with common words are near each other.
fn embedding(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0_f32; DIMENSIONS];
    vector[0] = 0.1;
    for word in text.split_whitespace() {
        let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let dimension = usize::try_from(hash % DIMENSIONS as u64).expect("a dimension is small");
        vector[dimension] += 1.0;
    }
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= length);
    vector
}

/// Always fails.
#[derive(Clone, Copy, Debug, Default)]
pub struct BrokenEmbedder;

impl Embedder for BrokenEmbedder {
    fn model(&self) -> Result<String, ModelError> {
        Ok("broken".to_owned())
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(ModelError::Failed { model: "broken".to_owned(), why: "it was told to".to_owned() })
    }
}

/// Answers that no model is set up.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoEmbedder;

impl Embedder for NoEmbedder {
    fn model(&self) -> Result<String, ModelError> {
        Err(ModelError::None)
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(ModelError::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_normalised_vector() {
        let made = FakeEmbedder.embed(&["one two", "one two", "three"]).expect("vectors");
        assert_eq!(made[0], made[1]);
        assert_ne!(made[0], made[2]);
        let length: f32 = made[2].iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-5, "{length}");
    }
}
