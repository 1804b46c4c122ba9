//! Pure work on text: its normal form, its hash, its parts.

pub mod chunk;
pub mod normalize;
