//! The search index over a store in memory, with files in a folder of its own.

// The store, and random acts on it.
mod fake;

// Scopes and questions.
mod ask;

// However content came in, answers are the same.
mod same;

// The plain index of the test kit, to compare with.
mod plain;

// What is hidden changes nothing.
mod hidden;

// Files: folding, sharing, damage.
mod files;

// Large stores without a whole base.
mod partly;

// More items than are compared one by one.
mod large;

// Over the SQLite store.
mod sqlite;
