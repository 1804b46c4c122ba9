//! Vectors as small numbers: one byte for each dimension of a stored vector, two bytes for each dimension of the
//! question's vector.
//!
//! A stored vector consists of bytes and a scale. The question uses sixteen bits for each dimension, so that only the
//! stored vector is rounded. For normalised vectors of 384 dimensions, the error of the cosine is less than 0.002. All
//! sums are sums of integers and cannot overflow, so every CPU gives exactly the same answer.

use super::simd;

/// The vector as bytes, padded to `width` with zeros, and the scale, which is the value of one unit; `None` if the
/// vector is not finite.
pub(super) fn quantised(vector: &[f32], width: usize) -> Option<(Vec<i8>, f32)> {
    let largest = largest(vector)?;
    let scale = largest / 127.0;
    let inverse = if largest > 0.0 { 127.0 / largest } else { 0.0 };
    let mut bytes = vec![0; width];
    for (byte, value) in bytes.iter_mut().zip(vector) {
        #[expect(clippy::cast_possible_truncation, reason = "within 127 by the choice of the scale")]
        let rounded = (value * inverse).round() as i8;
        *byte = rounded;
    }
    Some((bytes, scale))
}

/// The largest absolute value; `None` if one of the values is not a number.
fn largest(vector: &[f32]) -> Option<f32> {
    vector.iter().try_fold(0.0_f32, |largest, value| value.is_finite().then(|| largest.max(value.abs())))
}

/// The question's vector, prepared for comparisons.
#[derive(Clone, Debug)]
pub(super) struct QuantisedQuery {
    numbers: Vec<i16>,
    scale: f32,
    signs: Vec<u64>,
}

impl QuantisedQuery {
    /// Prepares a vector for comparisons with rows of `width` bytes.
    pub(super) fn new(vector: &[f32], width: usize) -> Option<Self> {
        let largest = f64::from(largest(vector)?);
        if largest == 0.0 {
            return None;
        }
        // Neither a single value nor the sum of all products with 127 may overflow.
        let sum: f64 = vector.iter().map(|value| f64::from(value.abs())).sum();
        let room = f64::from(i32::MAX) / 127.0 - vector.len() as f64;
        let factor = (f64::from(i16::MAX) / largest).min(room / sum);
        let mut numbers = vec![0; width];
        for (number, value) in numbers.iter_mut().zip(vector) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "within the range by the choice of the factor"
            )]
            let rounded = (f64::from(*value) * factor).round() as i16;
            *number = rounded;
        }
        let mut signs = vec![0_u64; width / 64];
        for (place, _) in vector.iter().enumerate().filter(|(_, value)| **value > 0.0) {
            signs[place / 64] |= 1 << (place % 64);
        }
        #[expect(clippy::cast_possible_truncation, reason = "a scale needs no more precision than f32")]
        let scale = (1.0 / factor) as f32;
        Some(Self { numbers, scale, signs })
    }

    /// Number of bytes in a row.
    pub(super) fn width(&self) -> usize {
        self.numbers.len()
    }

    /// The cosine of the question and a row.
    pub(super) fn cosine(&self, row: &[i8], scale: f32) -> f32 {
        simd::dot(&self.numbers, row) as f32 * (self.scale * scale)
    }

    /// The highest cosine of the question and any of these rows.
    pub(super) fn best_cosine(&self, rows: &[i8], scales: &[f32]) -> Option<f32> {
        let cosines = rows.chunks_exact(self.numbers.len()).zip(scales);
        cosines.map(|(row, scale)| self.cosine(row, *scale)).reduce(f32::max)
    }

    /// Prefetches rows that will be compared soon.
    pub(super) fn fetch(&self, whole: &[i8], sentences: &[i8]) {
        simd::fetch(whole);
        simd::fetch(sentences);
    }

    /// For each row, the number of signs in which it differs from the question.
    pub(super) fn distances(&self, rows: &[u64], distances: &mut Vec<u16>) {
        distances.clear();
        distances.resize(rows.len() / self.signs.len().max(1), 0);
        simd::distances(&self.signs, rows, distances);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(random: &mut fastrand::Rng, dimensions: usize) -> Vec<f32> {
        let numbers: Vec<f32> = (0..dimensions).map(|_| random.f32() - random.f32()).collect();
        let length = numbers.iter().map(|x| x * x).sum::<f32>().sqrt();
        numbers.iter().map(|x| x / length).collect()
    }

    #[test]
    fn a_cosine_is_off_by_less_than_two_thousandths() {
        for dimensions in [3_usize, 64, 100, 384, 1_000, 4_096] {
            let mut rng = fastrand::Rng::with_seed(7);
            let width = dimensions.next_multiple_of(64);
            for _ in 0..200 {
                let (one, other) = (random(&mut rng, dimensions), random(&mut rng, dimensions));
                let exact: f32 = one.iter().zip(&other).map(|(a, b)| a * b).sum();
                let (bytes, scale) = quantised(&other, width).expect("numbers");
                let near = QuantisedQuery::new(&one, width).expect("numbers").cosine(&bytes, scale);
                let bound = if dimensions < 64 { 0.01 } else { 0.002 };
                assert!((near - exact).abs() < bound, "{dimensions}: {near} {exact}");
            }
        }
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        for dimensions in [64, 384, 4_096, 16_384] {
            let (ones, width) = (vec![1.0; dimensions], dimensions);
            let (bytes, scale) = quantised(&ones, width).expect("numbers");
            let got = QuantisedQuery::new(&ones, width).expect("numbers").cosine(&bytes, scale);
            assert!((got / dimensions as f32 - 1.0).abs() < 0.001, "{dimensions}: {got}");
        }
    }

    #[test]
    fn what_is_not_a_number_is_no_vector() {
        assert!(quantised(&[0.5, f32::NAN], 64).is_none());
        assert!(quantised(&[0.0, 0.0], 64).is_some_and(|(bytes, _)| bytes == vec![0; 64]));
        assert!(
            QuantisedQuery::new(&[0.0, 0.0], 64).is_none()
                && QuantisedQuery::new(&[f32::INFINITY], 64).is_none()
        );
    }
}
