//! Typical errors in the first hour of a new user. Each message states what happened, with the value, and what to do; the exit
//! code matches, and no data is lost.
//!
//! Values that differ from machine to machine are masked, and no test needs a right that a container may not have.

/// Commands, flags, ids and times as in other tools, or invalid ones.
mod words;

/// Homes: missing, not a folder, read-only, full, copied, damaged, of another version, deleted while in use.
mod home;

/// `config.toml`, the environment, tokens and the language model.
mod settings;

/// Servers and their clients: addresses, ports, requests, and handwritten protocol messages.
mod server;

/// Files for push, import, load and restore.
mod files;

use std::process::Command;

use crate::binary::{Transcript, Tulving, finish};

/// Runs a command with these variables, and records both.
fn run_with(transcript: &mut Transcript<'_>, tulving: &Tulving, variables: &[(&str, &str)], args: &[&str]) {
    let mut command = tulving.command(args);
    command.envs(variables.iter().copied());
    let shown: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let typed = format!("{} tulving {}", shown.join(" "), args.join(" "));
    note(transcript, typed.trim_start(), command);
}

/// Runs a command to its end, and records it as it was typed.
fn note(transcript: &mut Transcript<'_>, typed: &str, command: Command) {
    transcript.note(&format!("$ {typed}"), &finish(command, b""));
}
