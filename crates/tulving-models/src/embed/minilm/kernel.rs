//! The arithmetic of the network: products, softmax, GELU, layer norm, in plain Rust that the compiler vectorises.
//!
//! Every function is inlined into [`network`](super::network), which is compiled once for each kind of processor. The order of
//! each sum depends only on its own length, so a row's result does not depend on the other rows.

#![expect(
    clippy::needless_range_loop,
    reason = "counted loops over arrays become vectors; iterators often do not"
)]

use super::weights::{Linear, Norm, PANEL};

/// Rows of a product that are summed at once: 6 rows of 16 sums fill 12 of the 16 vector registers of AVX2.
pub(super) const ROWS: usize = 6;

/// Number of partial results that are kept when many numbers are reduced to one.
const LANES: usize = 16;

/// The way a processor multiplies and adds.
pub(super) trait Arithmetic {
    /// `a * b + c`
    fn multiply_add(a: f32, b: f32, c: f32) -> f32;
}

/// Multiplies and adds in one step: one instruction if the processor has it, a slow call if not.
pub(super) struct FusedArithmetic;

impl Arithmetic for FusedArithmetic {
    #[inline(always)]
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }
}

/// Multiplies and adds in two steps, for every processor.
pub(super) struct PlainArithmetic;

impl Arithmetic for PlainArithmetic {
    #[inline(always)]
    fn multiply_add(a: f32, b: f32, c: f32) -> f32 {
        a * b + c
    }
}

/// The number type of the right side of a product.
pub(super) trait Widen: Copy {
    fn widen(self) -> f32;
}

impl Widen for f32 {
    #[inline(always)]
    fn widen(self) -> f32 {
        self
    }
}

/// A byte of the weights, read as signed.
impl Widen for u8 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from(self.cast_signed())
    }
}

/// Rows of numbers in one slice; neighbouring rows start `stride` apart.
#[derive(Clone, Copy)]
pub(super) struct MatrixRows<'a> {
    pub(super) values: &'a [f32],
    pub(super) stride: usize,
}

impl<'a> MatrixRows<'a> {
    #[inline(always)]
    fn row(self, row: usize, length: usize) -> &'a [f32] {
        &self.values[row * self.stride..][..length]
    }
}

/// Cuts `rows` into groups of at most [`ROWS`], as equal as possible: small groups keep the processor waiting.
#[inline(always)]
pub(super) fn groups(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = rows.div_ceil(ROWS);
    let mut first = 0;
    (0..count).map(move |done| {
        let group = (first, (rows - first).div_ceil(count - done));
        first += group.1;
        group
    })
}

/// The products of a group of rows with a panel: a row of sums for each row of the group.
///
/// The sums are written to an array and not passed to a closure: a closure that is not inlined is compiled without the caller's
/// vector instructions, which was six times slower.
#[inline(always)]
pub(super) fn product<A: Arithmetic, W: Widen>(
    left: MatrixRows<'_>,
    (first, count): (usize, usize),
    panel: &[[W; PANEL]],
    sums: &mut [[f32; PANEL]; ROWS],
) {
    match count {
        1 => product_of::<1, A, W>(left, first, panel, sums),
        2 => product_of::<2, A, W>(left, first, panel, sums),
        3 => product_of::<3, A, W>(left, first, panel, sums),
        4 => product_of::<4, A, W>(left, first, panel, sums),
        5 => product_of::<5, A, W>(left, first, panel, sums),
        _ => product_of::<ROWS, A, W>(left, first, panel, sums),
    }
}

#[inline(always)]
fn product_of<const COUNT: usize, A: Arithmetic, W: Widen>(
    left: MatrixRows<'_>,
    first: usize,
    panel: &[[W; PANEL]],
    out: &mut [[f32; PANEL]; ROWS],
) {
    let mut rows: [&[f32]; COUNT] = [&[]; COUNT];
    for row in 0..COUNT {
        rows[row] = left.row(first + row, panel.len());
    }
    let mut sums = [[0.0_f32; PANEL]; COUNT];
    for (index, bytes) in panel.iter().enumerate() {
        let mut weights = [0.0_f32; PANEL];
        for output in 0..PANEL {
            weights[output] = bytes[output].widen();
        }
        for row in 0..COUNT {
            let value = rows[row][index];
            for output in 0..PANEL {
                sums[row][output] = A::multiply_add(value, weights[output], sums[row][output]);
            }
        }
    }
    out[..COUNT].copy_from_slice(&sums);
}

/// Computes `output = input · matrix + bias` for `rows` consecutive rows.
#[inline(always)]
pub(super) fn linear<A: Arithmetic>(map: &Linear, rows: usize, input: &[f32], output: &mut [f32]) {
    let left = MatrixRows { values: input, stride: map.inputs };
    let width = map.bias.len();
    let (scales, _) = map.scales.as_chunks::<PANEL>();
    let (biases, _) = map.bias.as_chunks::<PANEL>();
    let mut sums = [[0.0; PANEL]; ROWS];
    for (index, panel) in map.panels.chunks_exact(map.inputs).enumerate() {
        let (scales, biases) = (&scales[index], &biases[index]);
        for (first, count) in groups(rows) {
            product::<A, u8>(left, (first, count), panel, &mut sums);
            for row in 0..count {
                let output = &mut output[(first + row) * width + index * PANEL..][..PANEL];
                for column in 0..PANEL {
                    output[column] = A::multiply_add(sums[row][column], scales[column], biases[column]);
                }
            }
        }
    }
}

/// Turns scores into shares that sum to one: `exp(factor · score)` divided by the sum of these.
#[inline(always)]
pub(super) fn softmax<A: Arithmetic>(scores: &mut [f32], factor: f32) {
    let largest = fold(scores, f32::NEG_INFINITY, f32::max);
    for score in scores.iter_mut() {
        *score = exp::<A>((*score - largest) * factor);
    }
    let whole = sum(scores);
    for score in scores {
        *score /= whole;
    }
}

/// Adds `added` to each row and normalises the row to mean 0 and variance 1, then applies the gain and shift of the norm.
#[inline(always)]
pub(super) fn add_norm<A: Arithmetic>(norm: &Norm, rows: &mut [f32], added: &[f32]) {
    let width = norm.gain.len();
    for (row, added) in rows.chunks_exact_mut(width).zip(added.chunks_exact(width)) {
        for (value, added) in row.iter_mut().zip(added) {
            *value += added;
        }
        self::norm::<A>(norm, row);
    }
}

/// Normalises one row to mean 0 and variance 1, then applies the gain and shift of the norm.
#[inline(always)]
pub(super) fn norm<A: Arithmetic>(norm: &Norm, row: &mut [f32]) {
    /// The model's own value. It only prevents a division by zero for a row of equal numbers.
    const LEAST: f32 = 1e-12;
    let size = row.len() as f32;
    let mean = sum(row) / size;
    for value in row.iter_mut() {
        *value -= mean;
    }
    let variance = sum_of_squares::<A>(row) / size;
    let factor = 1.0 / (variance + LEAST).sqrt();
    for ((value, gain), shift) in row.iter_mut().zip(&norm.gain).zip(&norm.shift) {
        *value = A::multiply_add(*value * factor, *gain, *shift);
    }
}

/// `x · Φ(x)` for each number, with Φ the normal distribution.
///
/// The error function is 7.1.26 of Abramowitz and Stegun, "Handbook of Mathematical Functions", with an error below 1.5e-7.
#[inline(always)]
pub(super) fn gelu<A: Arithmetic>(values: &mut [f32]) {
    const TERMS: [f32; 5] = [1.061_405_4, -1.453_152_1, 1.421_413_8, -0.284_496_73, 0.254_829_6];
    for value in values {
        let x = value.abs() * std::f32::consts::FRAC_1_SQRT_2;
        let t = 1.0 / A::multiply_add(0.327_591_1, x, 1.0);
        let mut series = TERMS[0];
        for term in &TERMS[1..] {
            series = A::multiply_add(series, t, *term);
        }
        let erf = 1.0 - series * t * exp::<A>(-x * x);
        *value = 0.5 * A::multiply_add(value.abs(), erf, *value);
    }
}

/// Returns `e` to the power of a number that is not above zero. Numbers below -87 count as -87.
///
/// As in Cephes: the whole powers of two go into the exponent, and a polynomial gives the rest within 2 units in the last place.
#[inline(always)]
fn exp<A: Arithmetic>(x: f32) -> f32 {
    const TERMS: [f32; 6] =
        [1.987_569_2e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    /// Adding it leaves a whole number in the low bits: the spacing of floats there is one.
    const ROUND: f32 = 12_582_912.0;
    /// ln 2 in two parts; the first has so few bits that its multiples are exact.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    let x = x.max(-87.0);
    let shifted = A::multiply_add(x, std::f32::consts::LOG2_E, ROUND);
    let powers = shifted - ROUND;
    let rest = A::multiply_add(powers, -LN_2.1, A::multiply_add(powers, -LN_2.0, x));
    let mut series = TERMS[0];
    for term in &TERMS[1..] {
        series = A::multiply_add(series, rest, *term);
    }
    let series = A::multiply_add(series * rest, rest, rest) + 1.0;
    let two_to_the_powers = shifted.to_bits().wrapping_sub(ROUND.to_bits()).wrapping_add(127) << 23;
    series * f32::from_bits(two_to_the_powers)
}

#[inline(always)]
fn sum(values: &[f32]) -> f32 {
    fold(values, 0.0, |sum, value| sum + value)
}

#[inline(always)]
pub(super) fn sum_of_squares<A: Arithmetic>(values: &[f32]) -> f32 {
    let (whole, rest) = values.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for chunk in whole {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = A::multiply_add(*value, *value, *lane);
        }
    }
    let rest = rest.iter().fold(0.0, |sum, value| A::multiply_add(*value, *value, sum));
    lanes.iter().fold(rest, |sum, lane| sum + lane)
}

/// Reduces many numbers to one, in lanes: the compiler may not reorder a sum to vectorise it.
#[inline(always)]
fn fold(values: &[f32], start: f32, join: impl Fn(f32, f32) -> f32) -> f32 {
    let (whole, rest) = values.as_chunks::<LANES>();
    let mut lanes = [start; LANES];
    for chunk in whole {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane = join(*lane, *value);
        }
    }
    lanes.iter().chain(rest).fold(start, |joined, value| join(joined, *value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_even_and_whole() {
        assert_eq!(groups(14).collect::<Vec<_>>(), [(0, 5), (5, 5), (10, 4)]);
        assert_eq!(groups(6).collect::<Vec<_>>(), [(0, 6)]);
        assert_eq!(groups(0).count(), 0);
    }

    #[test]
    fn exp_is_exp() {
        for step in 0..=8_700_u16 {
            let x = -f32::from(step) / 100.0;
            let right = f64::from(x).exp();
            for got in [exp::<PlainArithmetic>(x), exp::<FusedArithmetic>(x)] {
                assert!((f64::from(got) / right - 1.0).abs() < 4e-7, "exp({x}) = {got}, not {right}");
            }
        }
    }

    #[test]
    fn gelu_meets_known_values() {
        // From the error function of Python's math module.
        let known = [
            (-3.0, -0.004_049_694),
            (-1.0, -0.158_655_25),
            (-0.1, -0.046_017_22),
            (0.0, 0.0),
            (0.5, 0.345_731_23),
            (2.0, 1.954_499_7),
            (9.0, 9.0),
        ];
        let mut values = known.map(|(x, _)| x);
        gelu::<PlainArithmetic>(&mut values);
        for (got, (x, right)) in values.into_iter().zip(known) {
            assert!((got - right).abs() < 1e-6, "gelu({x}) = {got}, not {right}");
        }
    }

    #[test]
    fn shares_sum_to_one() {
        let mut scores: Vec<f32> = (0..37_u8).map(|index| f32::from(index) * 3.0 - 40.0).collect();
        softmax::<PlainArithmetic>(&mut scores, 0.5);
        assert!((sum(&scores) - 1.0).abs() < 1e-6);
        assert!(scores.is_sorted());
    }

    #[test]
    fn a_norm_has_mean_zero_and_variance_one() {
        let mut row: Vec<f32> = (0..48_u8).map(f32::from).collect();
        norm::<PlainArithmetic>(&Norm { gain: vec![1.0; 48], shift: vec![0.0; 48] }, &mut row);
        assert!(sum(&row).abs() < 1e-4);
        assert!((sum_of_squares::<PlainArithmetic>(&row) / 48.0 - 1.0).abs() < 1e-5);
    }
}
