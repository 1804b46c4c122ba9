//! HTTP: one address for hosts, SDKs and MCP clients.
//!
//! [`listen`] takes connections, under [`rules`] that may change while it runs. [`visit`] goes with each request, which
//! passes the [`gate`] (Host, Origin, time), then [`auth`] (who asks, in which space) and the [`guard`] (how often), then
//! its route, which decodes, calls one verb on the blocking pool and encodes. Whatever is refused is a [`problem`].

mod app;
mod arguments;
mod attachment;
mod auth;
#[cfg(test)]
mod bed;
mod body;
mod connections;
mod cors;
mod crowd;
mod dialects;
mod events;
mod gate;
mod guard;
mod listen;
mod mcp;
mod metrics;
mod multipart;
mod once;
mod openapi;
mod operations;
mod pages;
mod problem;
mod rate;
mod reply;
mod room;
mod routes;
mod rules;
pub mod status;
mod stream;
mod tally;
mod tls;
mod transfer;
mod visit;

pub use app::App;
pub use listen::{ListenError, Listener};
pub use metrics::Gauge;
pub use rules::{Limits, Reload, Rules};
pub use tls::{Tls, TlsError};
