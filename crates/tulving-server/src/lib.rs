//! The HTTP and MCP servers. Only this crate listens for requests and transports them.

pub mod api;
pub mod http;
pub mod mcp;

/// The maintenance work after calls: counting accesses, embedding, folding. Callers do not wait for it.
pub trait MaintenanceHook: Send + Sync {
    /// Does a small part of the pending work.
    fn tend(&self);
}
