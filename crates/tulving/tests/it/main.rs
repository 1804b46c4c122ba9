//! Tests of the real binary: child processes, a separate home, a clean environment.

/// Runs the binary and records its output.
mod binary;

/// The exact output of every command for people.
mod cli;

/// Errors as people see them: the message, the hint and the exit code.
mod errors;

/// The structure of the `--json` output.
mod json;

/// Backends as separate programs: the example `examples/plugin`, and one that misbehaves.
mod plugins;

/// `tulving shell`, at a terminal and line by line.
mod shell;

/// The sources of settings, and errors in them.
mod settings;

/// Homes that cannot be used: a file, read-only, on a full disk.
mod bad_home;

/// Typical errors in the first hour of a new user: each message states what happened and what to do.
mod newcomer;

/// Backups of the whole home: restored into a new home, made elsewhere, killed in the middle.
mod backup;

/// The binary killed while it writes.
mod crash;

/// The files next to the database, removed under running processes.
mod detached;

/// A made-up year of an agent, and a walk through it.
mod demo;

/// The documents of the project: every command they show prints what they show.
mod docs;

/// Documents: pushed one by one, and imported as trees that change.
mod documents;

/// Text extraction from other files, in one process for each file.
mod extract;

/// Several processes on one home at the same time.
mod processes;

/// Recall by meaning, with the real model and the real index.
mod recall;

/// Embedding models in folders: added, refused, changed while a server runs, and found across languages.
mod model;

/// Embedding by a service that is slow, unreachable, replaced, or has a password in its address.
mod service;

/// The tools of the dialects and the block for the start of a session, as the binary returns them.
mod tool;

/// Lifecycle rules for aged memories.
mod tend;

/// The log of conversations, and memories by category.
mod turns;

/// Memories noted from conversations, and those that are quarantined.
mod proactive;

/// Journals and `MEMORY.md`, in files of the workspace.
mod journal;

/// Consolidation of journals into `MEMORY.md`: by a model, by rules, by a server, killed in the middle, and undone.
mod consolidate;

/// The files of a space.
mod files;

/// Two isolated groups: every route and every tool, with names from the other group.
mod apart;

/// The binary killed while it writes or follows files.
mod files_crash;

/// Archived conversations.
mod conversations;

/// Data of other memory systems, imported with `tulving import`.
mod adopt;

/// The quality of recall on a small set of our own.
mod ranking;

/// Saves, deletes, recalls and folds of several processes at once.
mod together;

/// `tulving mcp` as clients meet it: lines over a pipe.
mod mcp;

/// `--space` confines, in every dialect and every command.
mod confined;

/// `tulving serve` as programs meet it: bytes over a socket.
mod serve;

/// Secrets that are not stored, private passages, and texts that give orders.
mod secrets;

/// The language model: its settings, its cost, and no calls while it is off.
mod llm;

/// Background work with a language model, which must not delay or break anything else.
mod shadow;

/// The examples of the seeds, played exactly on every way to a tool.
mod replay;
