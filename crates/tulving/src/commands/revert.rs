//! `tulving revert`: an old version comes back, as a new one.

use clap::Args;
use tulving_core::id::Version;

use super::Placed;
use crate::args::reference;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::sentence;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving history 12
  tulving revert 12 1";

/// Flags of `revert`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Revert {
    /// Its number in the space, or its full id
    #[arg(value_name = "MEMORY")]
    memory: String,
    /// The version to bring back; `tulving history` shows them
    #[arg(value_name = "VERSION")]
    version: u32,
}

pub(super) fn run(args: &Revert, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let which = reference(&args.memory)?;
    let memory = app.engine.revert(&app.here()?, which, Version(args.version))?;
    if printer.json() {
        let names = app.space_names()?;
        printer.document(&Placed::new(&memory, memory.space, &names))?;
        return Ok(Outcome::Done);
    }
    let done =
        format!("Reverted {} to version {}, now version {}", memory.label(), args.version, memory.version);
    printer.line(sentence(&done, &memory, printer.columns()))?;
    Ok(Outcome::Done)
}
