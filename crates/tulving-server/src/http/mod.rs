//! HTTP: one address for hosts, SDKs and MCP clients.
//!
//! A request passes the [`gate`] (Host, Origin, time), then [`auth`] (who asks, in which space), then its route, which
//! decodes, calls one verb on the blocking pool and encodes. Whatever is refused is a [`problem`].

mod app;
mod auth;
mod body;
mod dialects;
mod gate;
mod listen;
mod mcp;
mod problem;
mod routes;
pub mod status;

pub use app::{App, Limits};
pub use listen::{ListenError, Listener};
