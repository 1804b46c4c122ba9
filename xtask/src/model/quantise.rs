//! Turns rows of numbers into bytes with one scale for each row.
//!
//! Uses only additions, multiplications and comparisons in f64 and one rounding rule, so every machine gives the
//! same bytes.

/// The largest byte that is used. -128 is not used, so the range is symmetric.
const LARGEST: f64 = 127.0;

/// A matrix of bytes; its value at `[row][column]` is the byte times the scale of the row.
pub(super) struct QuantisedMatrix {
    pub(super) bytes: Vec<i8>,
    pub(super) scales: Vec<f32>,
    columns: usize,
}

/// Rounds each row to the nearest bytes by the sum of squares.
pub(super) fn rows(values: &[f32], columns: usize) -> QuantisedMatrix {
    let mut quantised =
        QuantisedMatrix { bytes: Vec::with_capacity(values.len()), scales: Vec::new(), columns };
    for row in values.chunks_exact(columns) {
        let scale = best_scale(row);
        quantised.scales.push(scale);
        quantised.bytes.extend(row.iter().map(|value| nearest(*value, scale)));
    }
    quantised
}

impl QuantisedMatrix {
    /// The bytes in the order of the product kernel: for each `width` rows, column after column, a byte of each
    /// row.
    pub(super) fn panels(&self, width: usize) -> Vec<u8> {
        let mut panels = Vec::with_capacity(self.bytes.len());
        for rows in self.bytes.chunks_exact(width * self.columns) {
            for column in 0..self.columns {
                panels
                    .extend(rows.iter().skip(column).step_by(self.columns).map(|byte| byte.cast_unsigned()));
            }
        }
        panels
    }
}

/// The scale with the least error. It need not reproduce the largest value exactly: a slightly smaller scale is
/// finer for all the others.
fn best_scale(row: &[f32]) -> f32 {
    let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let mut best = (f64::INFINITY, 0.0);
    for percent in 60..=100_u8 {
        let scale = (f64::from(largest) * f64::from(percent) / 100.0 / LARGEST) as f32;
        let error = row.iter().map(|value| error(*value, scale)).sum::<f64>();
        if error < best.0 {
            best = (error, scale);
        }
    }
    best.1
}

fn error(value: f32, scale: f32) -> f64 {
    let off = f64::from(value) - f64::from(nearest(value, scale)) * f64::from(scale);
    off * off
}

fn nearest(value: f32, scale: f32) -> i8 {
    if scale == 0.0 {
        return 0;
    }
    let steps = (f64::from(value) / f64::from(scale)).round_ties_even();
    steps.clamp(-LARGEST, LARGEST) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_moves_by_more_than_half_a_step_where_the_row_is_even() {
        let row = [0.5, -0.5, 0.25, 0.1];
        let quantised = rows(&row, 4);
        for (byte, value) in quantised.bytes.iter().zip(row) {
            assert!((f32::from(*byte) * quantised.scales[0] - value).abs() < 0.003);
        }
    }

    #[test]
    fn a_row_of_zeros_stays_zero() {
        let quantised = rows(&[0.0, 0.0, 3.0, -1.0], 2);
        assert_eq!(quantised.bytes[..2], [0, 0]);
        assert_eq!(quantised.scales[0], 0.0);
        assert_eq!(quantised.bytes[2], 127);
    }

    #[test]
    fn panels_go_column_by_column() {
        let quantised =
            QuantisedMatrix { bytes: vec![1, 2, 3, 4, 5, 6, 7, 8], scales: vec![1.0; 4], columns: 2 };
        assert_eq!(quantised.panels(2), [1, 3, 2, 4, 5, 7, 6, 8]);
    }
}
