//! `tulving done`: closes todos and goals, and reopens them. Lifecycle rules do not change open todos and goals.

use clap::Args;

use super::status_changes::{self, StatusChangeResult};
use crate::args::time;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving list --open
  tulving done 12
  tulving done 12 13 --at 2026-05-27
  tulving done --undo 12
  tulving list --done

An open todo or goal is never archived because of its age. Once it is done, it ages like an event.";

/// Flags of `done`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DoneArgs {
    /// Todos or goals: numbers in the space, or full ids
    #[arg(value_name = "MEMORY", required = true)]
    memories: Vec<String>,
    /// Time at which it was done, if not now: 2026-05-27 or 2026-05-27T09:30:00Z
    #[arg(long, value_name = "TIME")]
    at: Option<String>,
    /// Open them again
    #[arg(long, conflicts_with = "at")]
    undo: bool,
}

pub(super) fn run(args: &DoneArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let at = time(args.at.as_ref())?;
    let (said, idle) =
        if args.undo { ("Reopened", "was open already") } else { ("Done:", "was done already") };
    status_changes::each(&args.memories, app, printer, said, |caller, which| {
        let completed = match args.undo {
            true => app.engine.reopen(caller, which)?,
            false => app.engine.done(caller, which, at)?,
        };
        Ok(StatusChangeResult {
            memory: completed.memory,
            idle: (!completed.changed).then_some(idle),
            warnings: Vec::new(),
        })
    })
}
