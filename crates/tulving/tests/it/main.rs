//! Tests of the real binary: child processes, a home in a folder of its own, a clean environment.

/// Runs the binary and keeps what it said.
mod binary;

/// What a person sees: every command, to the letter.
mod cli;

/// What a person sees when something is wrong: the sentence, what to do, the exit code.
mod errors;

/// What a program sees: the shape of `--json`.
mod json;

/// Backends that are programs of their own: the example of `examples/plugin`, and one that misbehaves.
mod plugins;

/// `tulving shell`, at a terminal and line by line.
mod shell;

/// Where settings come from, and what is wrong with them.
mod settings;

/// Homes that cannot be used: a file, read-only, on a full disk.
mod bad_home;

/// What goes wrong in the first hour of somebody who has just heard of Tulving: each with what happened and what to do.
mod newcomer;

/// Backups of the whole home: into a new one, from elsewhere, killed in the middle.
mod backup;

/// The binary killed while it writes.
mod crash;

/// The files beside the database, taken from under running processes.
mod detached;

/// A made-up year of an agent, and a walk through it.
mod demo;

/// The documents of the project: every command they show prints what they show.
mod docs;

/// Documents: pushed one by one, and imported as trees that change.
mod documents;

/// The text of files that are not text, in a process of its own for each.
mod extract;

/// Several processes on one home at the same time.
mod processes;

/// Recall by meaning, with the real model and the real index.
mod recall;

/// Embedding by a service: slow, away, another one, told a password.
mod service;

/// The tools of the dialects and the block for the start of a session, as the binary gives them.
mod tool;

/// Rules for what has aged.
mod tend;

/// The log of conversations, and memories by category.
mod turns;

/// What is noted of conversations, and what is put aside of it.
mod proactive;

/// Journals and what is always known, in files of the workspace.
mod journal;

/// What journals say, taken over into `MEMORY.md`: by a model, by rules, by a server, killed, and undone.
mod consolidate;

/// The files of a space.
mod files;

/// Two groups that must not know of each other: every route and every tool, asked for what is the other's.
mod apart;

/// The binary killed while it writes or follows files.
mod files_crash;

/// Conversations that are archived.
mod conversations;

/// What other memories have kept, taken in by `tulving import`.
mod adopt;

/// How well recall finds, on a small set of our own.
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

/// The language model: its set-up, what it costs, and that off is off.
mod llm;

/// What a language model does in the background, and that whatever it does costs nothing else.
mod shadow;

/// The examples of the seeds, played to the letter on every way to a tool.
mod replay;
