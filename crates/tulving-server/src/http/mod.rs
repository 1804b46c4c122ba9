//! The HTTP server: one address for agent hosts, SDKs and MCP clients.
//!
//! [`listen`] accepts connections under [`rules`] that may change while the server runs. [`request_log`] logs and counts
//! each request. A request passes the [`host_check`] (Host, Origin, time), then [`auth`] (caller and space) and the
//! [`guard`] (rate limits). The route then decodes the request, calls one engine method on the blocking pool and encodes the
//! answer. Every refusal is a [`problem`].

mod app;
mod arguments;
mod attachment;
mod auth;
mod body;
mod concurrency;
mod connection_limit;
mod connections;
mod cors;
mod counters;
mod dialects;
mod events;
mod guard;
mod host_check;
mod idempotency;
mod listen;
mod mcp;
mod metrics;
mod multipart;
mod openapi;
mod operations;
mod pages;
mod problem;
mod rate;
mod reply;
mod request_log;
mod routes;
mod rules;
pub mod status;
mod stream;
#[cfg(test)]
mod test_app;
mod tls;
mod transfer;

pub use app::HttpApp;
pub use listen::{ListenError, Listener};
pub use metrics::Gauge;
pub use rules::{RequestLimits, RulesReloader, ServerRules};
pub use tls::{Tls, TlsError};
