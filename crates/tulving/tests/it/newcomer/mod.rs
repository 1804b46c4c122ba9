//! What goes wrong in the first hour of somebody who has just heard of Tulving. Each says what happened, with the value, and what
//! to do; the exit code fits, and nothing is lost.
//!
//! What differs from machine to machine is masked, and nothing here needs a right that a container may not give.

/// Commands, flags, ids and times as other tools have them, or as nobody has.
mod words;

/// Homes: not there, not a folder, read-only, full, copied, damaged, of another version, deleted while in use.
mod home;

/// `config.toml`, the environment, tokens and the language model.
mod settings;

/// Servers and their clients: addresses, ports, requests, and the protocol by hand.
mod server;

/// Files: to push, to import, to load, to restore.
mod files;

use std::process::Command;

use crate::binary::{Transcript, Tulving, finish};

/// Runs a command with these variables, and writes both down.
fn run_with(transcript: &mut Transcript<'_>, tulving: &Tulving, variables: &[(&str, &str)], args: &[&str]) {
    let mut command = tulving.command(args);
    command.envs(variables.iter().copied());
    let shown: Vec<String> = variables.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let typed = format!("{} tulving {}", shown.join(" "), args.join(" "));
    note(transcript, typed.trim_start(), command);
}

/// Runs a command to its end, and writes it down as it was typed.
fn note(transcript: &mut Transcript<'_>, typed: &str, command: Command) {
    transcript.note(&format!("$ {typed}"), &finish(command, b""));
}
