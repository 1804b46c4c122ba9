//! HTTP: one address for hosts, SDKs and MCP clients.
//!
//! [`listen`] takes connections, under [`rules`] that may change while it runs. [`visit`] accompanies each request. The
//! request passes the [`gate`] (Host, Origin, time), then [`auth`] (caller and space) and the [`guard`] (rate limits),
//! then its route, which decodes, calls one verb on the blocking pool and encodes. Every refusal is a [`problem`].

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

pub use app::HttpApp;
pub use listen::{ListenError, Listener};
pub use metrics::Gauge;
pub use rules::{RequestLimits, RulesReloader, ServerRules};
pub use tls::{Tls, TlsError};
