//! `tulving serve` as programs meet it: bytes over a socket, written by hand.

/// A server of its own, and a client that sends exactly what it is told.
pub(crate) mod client;

/// What is turned away, and how.
mod refusals;

/// The tools over HTTP: the same answers as everywhere, spaces, several at once.
mod tools;

/// The routes under `/v1`.
mod rest;

/// Changes as they happen.
mod events;

/// Who may see what, asked ten thousand times.
mod isolation;

/// The Model Context Protocol over HTTP, in both revisions.
mod mcp;

/// How it starts and how it stops.
mod life;
