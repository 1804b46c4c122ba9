//! `tulving revert`: restores an old version as a new one.

use clap::Args;
use tulving_core::model::answer::EditedMemory;
use tulving_core::model::id::Version;
use tulving_core::model::memory::Memory;

use crate::args::reference;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::{sentence, unchanged};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving history 12
  tulving revert 12 1";

/// Flags of `revert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RevertArgs {
    /// Its number in the space, or its full id
    #[arg(value_name = "MEMORY")]
    memory: String,
    /// The version to restore; `tulving history` lists them
    #[arg(value_name = "VERSION", value_parser = version)]
    version: u32,
}

pub(super) fn run(args: &RevertArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let which = reference(&args.memory)?;
    let caller = app.here()?;
    // The revert reports what is wrong with the memory or the version.
    let past = app.engine.history(&caller, which).unwrap_or_default();
    let before = past.iter().find(|entry| entry.current).map(|entry| entry.version);
    let edited = app.engine.revert(&caller, which, Version(args.version))?;
    if printer.json() {
        printer.document(&edited)?;
        return Ok(Outcome::Done);
    }
    let EditedMemory { memory, warnings } = edited;
    if before == Some(memory.version) {
        printer.line(unchanged(&memory))?;
    } else {
        say(args, &memory, printer)?;
    }
    printer.warnings(&warnings)?;
    let reverted = past.iter().find(|entry| entry.version == Version(args.version));
    let boundary = memory.fields.boundary;
    if reverted.is_some_and(|entry| entry.fields.boundary != boundary) {
        printer.note(format!("The boundary stays unchanged: {boundary}"))?;
    }
    Ok(Outcome::Done)
}

fn version(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "it is not a version, which is a number such as 1".to_owned())
}

fn say(args: &RevertArgs, memory: &Memory, printer: &mut Printer) -> Result<(), Failure> {
    let done = format!(
        "Reverted {} to version {}, now version {}",
        memory.reference(),
        args.version,
        memory.version
    );
    printer.line(sentence(&done, memory, printer.columns()))
}
