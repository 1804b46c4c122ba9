//! Puts what was found in order. Pure: the same findings and the same question give the same order everywhere.
//!
//! [`recipe`] is the engine's own way and was chosen by measurement; [`fuse`] is reciprocal rank fusion, which the
//! spacebot vocabulary promises. [`weigh`] comes after the recipe, [`twins`] last.

pub(crate) mod evidence;
pub(crate) mod fuse;
pub(crate) mod recipe;
pub(crate) mod spread;
pub(crate) mod twins;
pub(crate) mod weigh;

use std::cmp::Ordering;

/// Higher scores first; where two are equal, the smaller key, so that no order is left to chance.
pub(crate) fn descending<K: Ord + Copy>(a: (f64, K), b: (f64, K)) -> Ordering {
    b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1))
}
