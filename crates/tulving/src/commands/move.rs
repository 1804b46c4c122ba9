//! `tulving move`: moves memories to another space.

use clap::Args;
use tulving_core::model::answer::MovedMemories;
use tulving_core::model::error::Error;
use tulving_core::model::id::{MemoryRef, SpaceId};
use tulving_core::model::memory::Memory;
use tulving_core::model::vocabulary::Boundary;

use super::status_changes;
use crate::args::references;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::sentence;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving move 12 --to team-notes
  tulving move 12 13 14 --to team-notes
  tulving move 3 --space team-notes --to default";

/// Flags of `move`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MoveArgs {
    #[command(flatten)]
    which: status_changes::MemoriesArgs,
    /// The target space
    #[arg(long, value_name = "SPACE")]
    to: String,
}

/// Moves all memories in one change. If one memory may not be moved, none is moved. A memory that does not exist does not
/// stop the others.
pub(super) fn run(args: &MoveArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let which = references(&args.which.memories)?;
    let caller = app.here_and(&[&args.to])?;
    let MovedMemories { moved, missing } = app.engine.move_to(&caller, &which, &args.to)?;
    if printer.json() {
        status_changes::document(moved.iter().collect(), printer)?;
    } else {
        let names = app.space_names()?;
        for memory in &moved {
            let space = names.get(&memory.space).unwrap_or(&args.to);
            let done = format!("Moved to {space} as {}", memory.reference());
            printer.line(sentence(&done, memory, printer.columns()))?;
        }
    }
    let hidden = |memory: &Memory| memory.fields.boundary == Boundary::Private;
    if moved.iter().any(|memory| hidden(memory) && memory.space != SpaceId::DEFAULT) {
        printer.note(
            "private memories stay private; `tulving update --boundary hub` shows them to the members there",
        )?;
    }
    let mut outcome = Outcome::Done;
    for which in missing {
        let space = match which {
            // The move is complete, so an unreadable name must not make the command fail.
            MemoryRef::Number(_) => app.engine.space(&caller).ok().map(|space| space.name),
            MemoryRef::Id(_) | MemoryRef::Foreign(_) => None,
        };
        let failure = Failure::from(Error::NoMemory { which, space });
        outcome = Outcome::Partly(failure.class());
        printer.failure(&failure);
    }
    Ok(outcome)
}
