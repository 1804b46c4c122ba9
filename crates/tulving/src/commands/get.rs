//! `tulving get`: shows one memory with everything that is known about it.

use clap::Args;

use crate::args::reference;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::{MemoryNames, full};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving get 12
  tulving get '#12' --space team-a
  tulving get 12 --json";

/// Flags of `get`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GetArgs {
    /// Its number in the space, or its full id
    #[arg(value_name = "MEMORY")]
    memory: String,
}

pub(super) fn run(args: &GetArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let which = reference(&args.memory)?;
    let memory = app.engine.get(&app.here()?, which)?;
    let names = app.space_names()?;
    if printer.json() {
        printer.document(&memory)?;
        return Ok(Outcome::Done);
    }
    let owner = app.engine.names(&[memory.owner])?.remove(&memory.owner);
    let names = MemoryNames { space: names.get(&memory.space).cloned(), owner };
    printer.lines(&full(&memory, names, printer.now()))?;
    Ok(Outcome::Done)
}
