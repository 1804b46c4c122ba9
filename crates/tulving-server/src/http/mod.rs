//! HTTP: one address for hosts, SDKs and MCP clients.
//!
//! A request passes the [`gate`] (Host, Origin, time), then [`auth`] (who asks, in which space), then its route, which
//! decodes, calls one verb on the blocking pool and encodes. Whatever is refused is a [`problem`].

mod app;
mod arguments;
mod auth;
mod body;
mod dialects;
mod events;
mod gate;
mod listen;
mod mcp;
mod once;
mod openapi;
mod operations;
mod problem;
mod reply;
mod routes;
pub mod status;
mod transfer;

pub use app::{App, Limits};
pub use listen::{ListenError, Listener};
