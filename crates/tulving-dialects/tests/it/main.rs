//! Every tool of every dialect over a real store, with a manual clock and a fake embedding model.

// A home, an engine, a desk, and calls of tools.
mod bed;

// Any arguments to any tool: an answer or a refusal, and nothing half-saved.
mod anything;
// The block for the start of a session.
mod context;
// Memories saved in one dialect, shown in another.
mod cross;
// Long documents in dialects that know no sections.
mod documents;
// The examples and rules of seed 002.
mod groups;
// The examples and rules of seed 000.
mod max;
// The examples and rules of seed 003.
mod maven;
// The rules of seed 001.
mod memax;
// The content of files, in the words of each dialect.
mod mirrors;
// Tulving's own tools.
mod native;
// All text that models may read: marked if it tries to command, and without hidden characters.
mod outgoing;
// The recovery prompt.
mod recovery;
// The operations of the service for journals, files and conversations.
mod rest;
// The examples and rules of seed 004.
mod spacebot;
// Every tool in detail: schemas, a good call, each error.
mod tools;
// Secrets, private passages and texts that give orders.
mod withhold;
