//! The two inner loops over vectors. Each has a version for any CPU and a faster one for newer CPUs, chosen at run
//! time. The loops compute sums of integers, so both versions of a loop give the same result.

/// The sum of the products. The rows have the same length, which is a multiple of 64. The caller ensures that the sum
/// does not overflow.
pub(super) fn dot(numbers: &[i16], row: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(
            unsafe_code,
            reason = "the CPU was just checked for the features that the function is compiled with"
        )]
        // SAFETY: see the reason above.
        return unsafe { dot_avx2(numbers, row) };
    }
    dot_plain(numbers, row)
}

/// Number of bits in which each row differs from `signs`.
pub(super) fn distances(signs: &[u64], rows: &[u64], distances: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("popcnt") {
        #[expect(
            unsafe_code,
            reason = "the CPU was just checked for the features that the function is compiled with"
        )]
        // SAFETY: see the reason above.
        return unsafe { distances_popcnt(signs, rows, distances) };
    }
    distances_plain(signs, rows, distances);
}

/// Prefetches rows that will be compared soon. Rows at random positions are not in any cache, and waiting for each row
/// in turn takes longer than the comparisons.
pub(super) fn fetch(rows: &[i8]) {
    #[cfg(target_arch = "x86_64")]
    for line in rows.chunks(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a prefetch reads nothing, and every CPU supports it")]
        // SAFETY: see the reason above.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = rows;
}

#[inline(always)]
fn dot_plain(numbers: &[i16], row: &[i8]) -> i32 {
    let mut sum = 0;
    for (number, value) in numbers.iter().zip(row) {
        sum += i32::from(*number) * i32::from(*value);
    }
    sum
}

#[inline(always)]
fn distances_plain(signs: &[u64], rows: &[u64], distances: &mut [u16]) {
    // The built-in model has 384 dimensions, which are six words. The compiler can unroll a loop with a fixed number of
    // words.
    if let Ok(signs) = <&[u64; 6]>::try_from(signs) {
        for (distance, row) in distances.iter_mut().zip(rows.chunks_exact(6)) {
            let mut bits = 0;
            for n in 0..6 {
                bits += (row[n] ^ signs[n]).count_ones();
            }
            *distance = bits as u16;
        }
        return;
    }
    for (distance, row) in distances.iter_mut().zip(rows.chunks_exact(signs.len().max(1))) {
        let mut bits = 0;
        for (word, sign) in row.iter().zip(signs) {
            bits += (word ^ sign).count_ones();
        }
        *distance = u16::try_from(bits).unwrap_or(u16::MAX);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "each load is from a slice that is at least as long as the load")]
fn dot_avx2(numbers: &[i16], row: &[i8]) -> i32 {
    use std::arch::x86_64::{
        _mm_add_epi32, _mm_cvtsi128_si32, _mm_loadu_si128, _mm_shuffle_epi32, _mm256_add_epi32,
        _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_extracti128_si256, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_setzero_si256,
    };
    let mut sums = [_mm256_setzero_si256(); 2];
    for (n, (numbers, row)) in numbers.chunks_exact(16).zip(row.chunks_exact(16)).enumerate() {
        // SAFETY: the chunks have sixteen numbers of two bytes and sixteen of one byte, and neither load needs
        // alignment.
        let (numbers, row) =
            unsafe { (_mm256_loadu_si256(numbers.as_ptr().cast()), _mm_loadu_si128(row.as_ptr().cast())) };
        let products = _mm256_madd_epi16(numbers, _mm256_cvtepi8_epi16(row));
        sums[n % 2] = _mm256_add_epi32(sums[n % 2], products);
    }
    let eight = _mm256_add_epi32(sums[0], sums[1]);
    let four = _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256::<1>(eight));
    let two = _mm_add_epi32(four, _mm_shuffle_epi32::<0b00_00_11_10>(four));
    _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32::<0b01>(two)))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt")]
fn distances_popcnt(signs: &[u64], rows: &[u64], distances: &mut [u16]) {
    distances_plain(signs, rows, distances);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_gives_the_same() {
        let mut random = fastrand::Rng::with_seed(3);
        for width in [64, 128, 384, 1_024] {
            for _ in 0..100 {
                let numbers: Vec<i16> = (0..width).map(|_| random.i16(-9_000..9_000)).collect();
                let row: Vec<i8> = (0..width).map(|_| random.i8(-127..=127)).collect();
                let slow: i32 = numbers.iter().zip(&row).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
                assert_eq!((dot(&numbers, &row), dot_plain(&numbers, &row)), (slow, slow));

                let words = width / 64;
                let signs: Vec<u64> = (0..words).map(|_| random.u64(..)).collect();
                let rows: Vec<u64> = (0..words * 37).map(|_| random.u64(..)).collect();
                let (mut fast, mut plain) = (vec![0; 37], vec![0; 37]);
                distances(&signs, &rows, &mut fast);
                distances_plain(&signs, &rows, &mut plain);
                let slow = rows
                    .chunks(words)
                    .map(|row| row.iter().zip(&signs).map(|(a, b)| (a ^ b).count_ones() as u16).sum::<u16>());
                assert_eq!((&fast, &plain), (&plain, &slow.collect()));
            }
        }
    }
}
