//! The layers of the network, from word pieces to vectors, for several texts at once.
//!
//! The tokens of the texts are stored one after the other, with no padding. Only attention needs to know the text of a
//! token. The code is compiled twice: for processors with AVX2 and FMA, and for all others. The processor is checked once.

use super::kernel::{self, Arithmetic, MatrixRows, ROWS};
use super::weights::{BertShape, BertWeights, Layer, PANEL};

/// A model that is ready to run, on any number of threads at once.
pub(super) struct Network {
    weights: BertWeights,
}

/// The buffers of a thread. They grow as needed and are reused.
#[derive(Default)]
pub(super) struct InferenceBuffers {
    /// The values of each token.
    hidden: Vec<f32>,
    /// Query, key and value of each token, and later its inner values.
    wide: Vec<f32>,
    /// The output of a layer for each token.
    found: Vec<f32>,
    /// The output of attention for each token.
    gathered: Vec<f32>,
    keys: Vec<[f32; PANEL]>,
    values: Vec<[f32; PANEL]>,
    scores: Vec<f32>,
}

impl Network {
    pub(super) fn new(weights: BertWeights) -> Self {
        Self { weights }
    }

    /// Number of words with an embedding.
    pub(super) fn words(&self) -> usize {
        self.weights.shape.words
    }

    /// Maximum number of word pieces in a text.
    pub(super) fn places(&self) -> usize {
        self.weights.shape.places
    }

    /// A normalised vector for each text. Texts are ids of word pieces, at least one and at most [`places`](Self::places).
    pub(super) fn vectors(&self, texts: &[&[u32]], room: &mut InferenceBuffers) -> Vec<Vec<f32>> {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                #[expect(
                    unsafe_code,
                    reason = "the processor was asked for these features the line before"
                )]
                // SAFETY: the features that the function is compiled for are available.
                return unsafe { run_with_avx2(&self.weights, texts, room) };
            }
            run::<kernel::PlainArithmetic>(&self.weights, texts, room)
        }
        #[cfg(target_arch = "aarch64")]
        {
            run::<kernel::FusedArithmetic>(&self.weights, texts, room)
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        {
            run::<kernel::PlainArithmetic>(&self.weights, texts, room)
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_with_avx2(weights: &BertWeights, texts: &[&[u32]], room: &mut InferenceBuffers) -> Vec<Vec<f32>> {
    run::<kernel::FusedArithmetic>(weights, texts, room)
}

#[inline(always)]
fn run<A: Arithmetic>(weights: &BertWeights, texts: &[&[u32]], room: &mut InferenceBuffers) -> Vec<Vec<f32>> {
    look_up::<A>(weights, texts, room);
    for layer in &weights.layers {
        pass::<A>(layer, weights.shape, texts, room);
    }
    let mut first = 0;
    texts
        .iter()
        .map(|text| {
            let rows = &room.hidden[first..][..text.len() * weights.shape.hidden];
            first += rows.len();
            mean::<A>(rows, weights.shape.hidden)
        })
        .collect()
}

/// Looks up the embedding of each word at its position.
#[inline(always)]
fn look_up<A: Arithmetic>(weights: &BertWeights, texts: &[&[u32]], room: &mut InferenceBuffers) {
    let size = weights.shape.hidden;
    room.hidden.clear();
    for (place, word) in texts.iter().flat_map(|text| text.iter().enumerate()) {
        let word = *word as usize;
        let bytes = &weights.words[word * size..][..size];
        let scale = f32::from_le_bytes(weights.word_scales[word]);
        let place = &weights.places[place * size..][..size];
        let begin = room.hidden.len();
        room.hidden.extend(bytes.iter().zip(place).map(|(byte, place)| {
            A::multiply_add(f32::from(byte.cast_signed()), scale, f32::from_le_bytes(*place))
        }));
        kernel::norm::<A>(&weights.norm, &mut room.hidden[begin..]);
    }
}

/// Runs one layer: attention within each text, then the feed-forward part for each token.
#[inline(always)]
fn pass<A: Arithmetic>(layer: &Layer, shape: BertShape, texts: &[&[u32]], room: &mut InferenceBuffers) {
    let tokens = room.hidden.len() / shape.hidden;
    room.wide.resize(tokens * (3 * shape.hidden).max(shape.inner), 0.0);
    room.found.resize(tokens * shape.hidden, 0.0);
    room.gathered.resize(tokens * shape.hidden, 0.0);

    kernel::linear::<A>(&layer.look, tokens, &room.hidden, &mut room.wide);
    let mut first = 0;
    for text in texts {
        attend::<A>(shape, first, text.len(), room);
        first += text.len();
    }
    kernel::linear::<A>(&layer.attended, tokens, &room.gathered, &mut room.found);
    kernel::add_norm::<A>(&layer.attended_norm, &mut room.hidden, &room.found);

    kernel::linear::<A>(&layer.up, tokens, &room.hidden, &mut room.wide);
    kernel::gelu::<A>(&mut room.wide[..tokens * shape.inner]);
    kernel::linear::<A>(&layer.down, tokens, &room.wide, &mut room.found);
    kernel::add_norm::<A>(&layer.norm, &mut room.hidden, &room.found);
}

/// Computes attention within one text, whose tokens begin at `first`.
#[inline(always)]
fn attend<A: Arithmetic>(shape: BertShape, first: usize, tokens: usize, room: &mut InferenceBuffers) {
    let InferenceBuffers { wide, gathered, keys, values, scores, .. } = room;
    let stride = 3 * shape.hidden;
    let wide = &wide[first * stride..][..tokens * stride];
    let gathered = &mut gathered[first * shape.hidden..][..tokens * shape.hidden];
    let size = shape.hidden / shape.heads;
    let padded = tokens.next_multiple_of(PANEL);
    scores.resize(ROWS * padded, 0.0);
    let factor = 1.0 / (size as f32).sqrt();
    let mut sums = [[0.0; PANEL]; ROWS];
    for head in 0..shape.heads {
        let queries = MatrixRows { values: &wide[head * size..], stride };
        panels_of_keys(&wide[shape.hidden + head * size..], stride, size, tokens, keys);
        panels_of_values(&wide[2 * shape.hidden + head * size..], stride, size, tokens, values);
        for (first, count) in kernel::groups(tokens) {
            for (index, panel) in keys.chunks_exact(size).enumerate() {
                kernel::product::<A, f32>(queries, (first, count), panel, &mut sums);
                for (row, sums) in sums[..count].iter().enumerate() {
                    scores[row * padded + index * PANEL..][..PANEL].copy_from_slice(sums);
                }
            }
            for row in scores.chunks_exact_mut(padded).take(count) {
                kernel::softmax::<A>(&mut row[..tokens], factor);
            }
            let shares = MatrixRows { values: scores, stride: padded };
            for (index, panel) in values.chunks_exact(tokens).enumerate() {
                kernel::product::<A, f32>(shares, (0, count), panel, &mut sums);
                for (row, sums) in sums[..count].iter().enumerate() {
                    let begin = (first + row) * shape.hidden + head * size + index * PANEL;
                    gathered[begin..][..PANEL].copy_from_slice(sums);
                }
            }
        }
    }
}

/// The keys of a head, in panels of [`PANEL`] tokens; the last is filled up with zeros.
#[inline(always)]
fn panels_of_keys(from: &[f32], stride: usize, size: usize, tokens: usize, keys: &mut Vec<[f32; PANEL]>) {
    keys.clear();
    keys.resize(tokens.div_ceil(PANEL) * size, [0.0; PANEL]);
    for (token, row) in from.chunks(stride).enumerate() {
        let panel = &mut keys[token / PANEL * size..][..size];
        for (numbers, value) in panel.iter_mut().zip(&row[..size]) {
            numbers[token % PANEL] = *value;
        }
    }
}

/// The values of a head, in panels of [`PANEL`] numbers of each token.
#[inline(always)]
fn panels_of_values(from: &[f32], stride: usize, size: usize, tokens: usize, values: &mut Vec<[f32; PANEL]>) {
    values.clear();
    values.resize(size / PANEL * tokens, [0.0; PANEL]);
    for (token, row) in from.chunks(stride).enumerate() {
        for (index, numbers) in row[..size].as_chunks::<PANEL>().0.iter().enumerate() {
            values[index * tokens + token] = *numbers;
        }
    }
}

/// The mean of the rows, normalised.
#[inline(always)]
fn mean<A: Arithmetic>(rows: &[f32], size: usize) -> Vec<f32> {
    let mut vector = vec![0.0; size];
    for row in rows.chunks_exact(size) {
        for (sum, value) in vector.iter_mut().zip(row) {
            *sum += value;
        }
    }
    // Sums and means have the same direction, so there is no need to divide by the number of rows.
    let length = kernel::sum_of_squares::<A>(&vector).sqrt().max(f32::MIN_POSITIVE);
    for value in &mut vector {
        *value /= length;
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::super::{WEIGHTS, weights};
    use super::*;

    #[test]
    fn a_processor_without_vectors_comes_to_the_same() {
        let network = Network::new(weights::read(WEIGHTS).unwrap());
        let texts: [&[u32]; 3] = [&[101, 102], &[101, 2129, 2079, 2057, 21296, 1029, 102], &[101; 40]];
        let fast = network.vectors(&texts, &mut InferenceBuffers::default());
        let plain =
            run::<kernel::PlainArithmetic>(&network.weights, &texts, &mut InferenceBuffers::default());
        for (one, other) in fast.iter().flatten().zip(plain.iter().flatten()) {
            assert!((one - other).abs() < 1e-5, "{one} {other}");
        }
    }
}
