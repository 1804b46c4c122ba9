//! Converts vectors to blobs: the whole vector unchanged, and the vectors of its sentences with one byte for each
//! number.
//!
//! A text may have many sentences and only the best one counts, so the rounding error of a byte is too small to affect
//! ranking. Reading loses nothing more: a vector that was read from a blob is written as the same bytes again.

use std::fmt;

/// Number of bytes of a number in the whole vector, and of the scale before each sentence.
const WIDE: usize = 4;
/// The largest number of steps that a byte stores.
const STEPS: f32 = 127.0;

/// The reason why a blob is not one that Tulving wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VectorBlobError {
    /// The blob is not a whole number of dimensions.
    Whole { bytes: usize },
    /// The blob is not a whole number of sentences.
    Sentences { bytes: usize, dimensions: usize },
}

impl fmt::Display for VectorBlobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole { bytes } => write!(f, "a vector has {bytes} bytes"),
            Self::Sentences { bytes, dimensions } => {
                write!(f, "the sentences of a vector of {dimensions} dimensions have {bytes} bytes")
            }
        }
    }
}

impl std::error::Error for VectorBlobError {}

/// Converts the whole vector to a blob.
pub(super) fn pack(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Converts a blob to the whole vector.
pub(super) fn unpack(blob: &[u8]) -> Result<Vec<f32>, VectorBlobError> {
    if blob.is_empty() || !blob.len().is_multiple_of(WIDE) {
        return Err(VectorBlobError::Whole { bytes: blob.len() });
    }
    Ok(blob.chunks_exact(WIDE).map(number).collect())
}

/// Converts the vectors of sentences to a blob: for each sentence, the scale and then a byte for each number.
pub(super) fn pack_sentences(sentences: &[Vec<f32>]) -> Vec<u8> {
    let mut blob = Vec::with_capacity(sentences.iter().map(|sentence| WIDE + sentence.len()).sum());
    for sentence in sentences {
        let largest = sentence.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        let scale = if largest.is_finite() { largest / STEPS } else { 0.0 };
        blob.extend(scale.to_le_bytes());
        blob.extend(sentence.iter().flat_map(|number| step(*number, scale).to_le_bytes()));
    }
    blob
}

/// Converts a blob to the vectors of sentences. They have the same number of dimensions as the whole vector.
pub(super) fn unpack_sentences(blob: &[u8], dimensions: usize) -> Result<Vec<Vec<f32>>, VectorBlobError> {
    let each = WIDE + dimensions;
    if !blob.len().is_multiple_of(each) {
        return Err(VectorBlobError::Sentences { bytes: blob.len(), dimensions });
    }
    let sentence = |blob: &[u8]| {
        let (scale, steps) = blob.split_at(WIDE);
        let scale = number(scale);
        steps.iter().map(|step| f32::from(i8::from_le_bytes([*step])) * scale).collect()
    };
    Ok(blob.chunks_exact(each).map(sentence).collect())
}

fn number(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(bytes.try_into().expect("a number is cut to its four bytes"))
}

/// The number divided by the scale, rounded to an integer.
#[expect(clippy::cast_possible_truncation, reason = "the number is clamped to the range of a byte")]
fn step(number: f32, scale: f32) -> i8 {
    if scale > 0.0 { (number / scale).round().clamp(-STEPS, STEPS) as i8 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(random: &mut fastrand::Rng, dimensions: usize) -> Vec<f32> {
        let vector: Vec<f32> = (0..dimensions).map(|_| random.f32() - 0.5).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.into_iter().map(|x| x / length).collect()
    }

    #[test]
    fn the_whole_comes_back_as_it_was() {
        let vector = [0.6, -0.8, f32::MIN_POSITIVE, 0.0];
        assert_eq!(unpack(&pack(&vector)).expect("sound"), vector);
        for bytes in [0, 1, 3, 5] {
            assert_eq!(unpack(&vec![0; bytes]), Err(VectorBlobError::Whole { bytes }));
        }
    }

    #[test]
    fn a_sentence_comes_back_within_half_a_step_and_then_stays() {
        let mut rng = fastrand::Rng::with_seed(7);
        for dimensions in [1, 2, 384] {
            let sentences: Vec<Vec<f32>> = (0..5).map(|_| random(&mut rng, dimensions)).collect();
            let blob = pack_sentences(&sentences);
            assert_eq!(blob.len(), 5 * (4 + dimensions));
            let back = unpack_sentences(&blob, dimensions).expect("sound");
            for (sentence, back) in sentences.iter().zip(&back) {
                let largest = sentence.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
                let half = largest / STEPS * 0.5001;
                assert!(sentence.iter().zip(back).all(|(a, b)| (a - b).abs() <= half));
            }
            assert_eq!(unpack_sentences(&pack_sentences(&back), dimensions), Ok(back));
        }
    }

    #[test]
    fn what_has_no_direction_is_nought() {
        for sentence in [vec![0.0, 0.0], vec![f32::INFINITY, 1.0], vec![f32::NAN, 0.0]] {
            let back = unpack_sentences(&pack_sentences(&[sentence]), 2).expect("sound");
            assert_eq!(back, [[0.0, 0.0]]);
        }
    }

    #[test]
    fn a_blob_of_another_length_is_unsound() {
        assert_eq!(unpack_sentences(&[], 384), Ok(Vec::new()));
        for bytes in [1, 387, 389] {
            let found = unpack_sentences(&vec![0; bytes], 384);
            assert_eq!(found, Err(VectorBlobError::Sentences { bytes, dimensions: 384 }));
        }
    }
}
