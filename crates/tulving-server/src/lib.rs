//! Listens, and moves bytes in and out. The only crate that does.

pub mod api;
pub mod http;
pub mod mcp;

/// The work after calls: counting accesses, embedding, folding. Nobody waits for it.
pub trait MaintenanceHook: Send + Sync {
    /// Does a little of it.
    fn tend(&self);
}
