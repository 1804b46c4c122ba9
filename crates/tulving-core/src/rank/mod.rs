//! Ranks the results. Pure: the same results and the same question give the same order everywhere.
//!
//! [`scoring`] is the engine's own ranking and was chosen by measurement; [`fuse`] is reciprocal rank fusion, which
//! the spacebot vocabulary promises. After the score come [`weigh`], then [`ties`], then [`duplicates`].

pub mod decay;
pub(crate) mod duplicates;
pub(crate) mod evidence;
pub(crate) mod fuse;
pub(crate) mod order;
pub(crate) mod scoring;
pub(crate) mod spread;
pub(crate) mod ties;
pub(crate) mod weigh;

use std::cmp::Ordering;

/// Orders by descending score, then by ascending key, so that no order is left to chance.
pub(crate) fn descending<K: Ord + Copy>(a: (f64, K), b: (f64, K)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}
