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
// The tools of seed 003, which are not there yet and say so.
mod maven;
// The rules of seed 001.
mod memax;
// Tulving's own six tools.
mod native;
// The examples and rules of seed 004.
mod recovery;
mod spacebot;
// Every tool to the letter: schemas, a good call, each error.
mod tools;
