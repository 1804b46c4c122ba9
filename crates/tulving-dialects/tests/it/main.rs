//! Every tool of every dialect over a real store, with a clock that goes as the tests say and a model that needs no model.

// A home, an engine, a desk, and what calling a tool gives.
mod bed;

// Any arguments to any tool: an answer or a refusal, and nothing half-saved.
mod anything;
// The block for the start of a session.
mod context;
// What one dialect saved, another shows.
mod cross;
// The examples and rules of seed 002.
mod groups;
// The examples and rules of seed 000.
mod max;
// The examples and rules of seed 003.
mod maven;
// The rules of seed 001.
mod memax;
// What files say, in the words of each dialect.
mod mirrors;
// Tulving's own tools.
mod native;
// Everything that models may read: marked where it tries to command, and nothing hidden in it.
mod outgoing;
// The prompt after a session was lost.
mod recovery;
// The operations of the service for journals, files and conversations.
mod rest;
// The examples and rules of seed 004.
mod spacebot;
// Every tool to the letter: schemas, a good call, each error.
mod tools;
// Secrets, private parts and texts that give orders.
mod withhold;
