//! `tulving` alone: what to do next.

use serde::Serialize;

use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::style::{self, FAINT, STRONG};
use crate::show::text::pad;

#[derive(Serialize)]
struct Example {
    command: &'static str,
    about: &'static str,
}

const EXAMPLES: [Example; 5] = [
    Example {
        command: "tulving save \"Prefers dark roast, no sugar\" --type preference",
        about: "remember something",
    },
    Example { command: "tulving recall roast", about: "find it again" },
    Example { command: "tulving list", about: "see what is there, newest first" },
    Example { command: "tulving get 1", about: "see everything about one memory" },
    Example { command: "tulving --help", about: "see all commands" },
];

pub(super) fn run(printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(&serde_json::json!({ "examples": EXAMPLES }))?;
        return Ok(Outcome::Done);
    }
    printer.line(style::paint(STRONG, "Tulving remembers for you and your agents. To begin:"))?;
    printer.line("")?;
    let widest = EXAMPLES.iter().map(|example| example.command.len()).max().unwrap_or(0);
    for Example { command, about } in &EXAMPLES {
        printer.line(format!("  {}  {}", pad(command, widest), style::paint(FAINT, about)))?;
    }
    Ok(Outcome::Done)
}
