//! The reading of text, applied to memories and requests: what a save refuses, removes and takes from a text, and the parts of
//! a memory.
//!
//! The reading itself is in `tulving-text`, which knows neither.

pub mod block;
pub mod chunk;
pub(crate) mod commands;
pub(crate) mod front;
pub mod normalize;
pub mod shown;
pub mod terms;
pub mod withhold;
