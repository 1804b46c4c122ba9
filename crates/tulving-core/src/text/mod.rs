//! Text analysis for memories and requests: finds the parts that a save refuses, removes or extracts, and the parts of a
//! memory.
//!
//! The analysis itself is in `tulving-text`, which knows neither memories nor requests.

pub mod block;
pub mod chunk;
pub(crate) mod commands;
pub(crate) mod front;
pub mod normalize;
pub mod redact;
pub mod shown;
pub mod terms;
