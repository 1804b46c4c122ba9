//! `tulving serve` as programs meet it: bytes over a socket, written by hand.

/// A server for one test, and a client that sends exact bytes.
pub(crate) mod client;

/// Refused requests.
mod refusals;

/// The tools over HTTP: the same answers as everywhere, spaces, several at once.
mod tools;

/// The routes under `/v1`.
mod rest;

/// Secrets that are not stored, and texts that give orders.
mod secrets;

/// Files that are uploaded and downloaded.
mod documents;

/// Changes as they happen.
mod events;

/// Memories noted from turns, and those that are quarantined.
mod review;

/// The isolation of callers, checked with ten thousand requests.
mod isolation;

/// The Model Context Protocol over HTTP, in both revisions.
mod mcp;

/// The start and the stop of the server.
mod life;

/// The limits of one client: connections, requests, time, memory.
mod bounds;

/// Requests whose bytes do not add up, and addresses that try to be others.
mod framing;

/// Encryption.
mod tls;

/// The content of the log, and content that must never be in it.
mod log;

/// The metrics.
mod metrics;

/// Settings that change while it runs.
mod reload;

/// Pages of other sites, and names of this one.
mod cors;

/// Many clients at once, and a server that is killed or stopped under them.
mod load;
