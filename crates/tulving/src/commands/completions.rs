//! `tulving completions`: prints a script with which a shell completes commands and flags.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::cli::Cli;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;

const EXAMPLES: &str = "\
Examples:
  tulving completions bash \\
    > ~/.local/share/bash-completion/completions/tulving
  tulving completions zsh > ~/.zfunc/_tulving
  tulving completions fish > ~/.config/fish/completions/tulving.fish";

/// Flags of `completions`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "tulving", &mut script);
    if printer.json() {
        let script = String::from_utf8_lossy(&script);
        printer.document(&serde_json::json!({ "shell": args.shell.to_string(), "script": script }))?;
    } else {
        printer.bytes(&script)?;
    }
    Ok(Outcome::Done)
}
