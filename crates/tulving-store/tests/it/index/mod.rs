//! The search index over an in-memory store, with files in a folder of its own.

// The store, and random acts on it.
mod fake;

// Scopes and questions.
mod ask;

// The same answers, however content came in.
mod same;

// The plain index of the test kit, to compare with.
mod plain;

// Hidden memories change nothing.
mod hidden;

// Files: folding, sharing, damage.
mod files;

// Large stores without a whole base.
mod partly;

// More items than are compared one by one.
mod large;

// Over the SQLite store.
mod sqlite;
