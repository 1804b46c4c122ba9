//! Listens, and carries bytes in and out. The only crate that does.

pub mod http;
pub mod mcp;
