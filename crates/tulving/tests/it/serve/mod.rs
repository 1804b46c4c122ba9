//! `tulving serve` as programs meet it: bytes over a socket, written by hand.

/// A server of its own, and a client that sends exactly what it is told.
pub(crate) mod client;

/// What is turned away, and how.
mod refusals;

/// The tools over HTTP: the same answers as everywhere, spaces, several at once.
mod tools;

/// The routes under `/v1`.
mod rest;

/// Secrets that are not stored, and texts that give orders.
mod secrets;

/// Files that are sent and given back.
mod documents;

/// Changes as they happen.
mod events;

/// What is noted of turns, and what is put aside of it.
mod review;

/// Who may see what, asked ten thousand times.
mod isolation;

/// The Model Context Protocol over HTTP, in both revisions.
mod mcp;

/// How it starts and how it stops.
mod life;

/// How much of it one client can take: connections, requests, time, memory.
mod bounds;

/// Requests whose bytes do not add up, and addresses that try to be others.
mod framing;

/// Encryption.
mod tls;

/// What the log says, and what it never says.
mod log;

/// What is counted.
mod metrics;

/// Settings that change while it runs.
mod reload;

/// Pages of other sites, and names of this one.
mod cors;

/// Many clients at once, and a server that is killed or stopped under them.
mod load;
