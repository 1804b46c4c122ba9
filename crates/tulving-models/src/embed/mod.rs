//! The embedders: the built-in one, a folder with a model, and embedding services.

mod config;
mod http;
mod minilm;
mod none;
mod onnx;
mod pause;
mod prefix;
mod unigram;
mod wordpiece;

pub use config::{EmbedderConfig, EmbeddingServiceConfig, FolderConfig, RetryPolicy, embedder};
pub use http::HttpEmbedder;
pub use minilm::MiniLm;
pub use onnx::{FolderReport, ModelFolderError, check_folder, folder_prompts};
pub use prefix::TextPrefixes;

/// Scales a vector to length one. Returns `None` if it is empty, zero or not finite.
fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let length = vector.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
    if !length.is_normal() {
        return None;
    }
    for value in &mut vector {
        *value = (f64::from(*value) / length) as f32;
    }
    Some(vector)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_direction_has_no_unit() {
        assert_eq!(unit(vec![3.0, -4.0]), Some(vec![0.6, -0.8]));
        for vector in [vec![], vec![0.0, 0.0], vec![1.0, f32::NAN], vec![f32::INFINITY, 1.0]] {
            assert_eq!(unit(vector), None);
        }
        assert_eq!(unit(vec![f32::MAX, 0.0]), Some(vec![1.0, 0.0]));
    }
}
