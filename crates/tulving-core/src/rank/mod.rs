//! Ranks the results. The functions are pure: the same results and the same question give the same order on every machine.
//!
//! [`scoring`] is the engine's own ranking, which was chosen by measurement. [`fuse`] is reciprocal rank fusion, which the
//! spacebot dialect promises. After the score is computed, [`weigh`], [`ties`] and [`duplicates`] are applied in this
//! order.

pub mod decay;
pub(crate) mod duplicates;
pub(crate) mod evidence;
pub(crate) mod fuse;
pub(crate) mod order;
pub(crate) mod scoring;
pub(crate) mod spread;
pub(crate) mod ties;
pub(crate) mod walk;
pub(crate) mod weigh;

use std::cmp::Ordering;

/// Orders by descending score, then by ascending key, so that the order is always the same.
pub(crate) fn descending<K: Ord + Copy>(a: (f64, K), b: (f64, K)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}
