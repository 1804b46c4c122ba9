//! Listens, and carries bytes in and out. The only crate that does.

pub mod http;
pub mod mcp;

/// What has to be done after calls: counting what was used, embedding, folding. Nobody waits for it.
pub trait Upkeep: Send + Sync {
    /// Does a little of it.
    fn tend(&self);
}
