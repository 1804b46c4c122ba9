//! Commands that change the status of memories without a new version: restore, archive, unarchive, pin, unpin.
//!
//! These commands accept several memories and change each memory separately: a failed change is reported, and the others are
//! still carried out.

use clap::Args;
use serde::Serialize;
use tulving_core::Engine;
use tulving_core::model::answer::{EditedMemory, Warning};
use tulving_core::model::error::Error;
use tulving_core::model::id::MemoryRef;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::Caller;
use tulving_core::model::vocabulary::State;

use crate::args::references;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::sentence;
use crate::wire::App;

pub(crate) const RESTORE_EXAMPLES: &str = "\
Examples:
  tulving list --forgotten
  tulving restore 12";
pub(crate) const ARCHIVE_EXAMPLES: &str = "\
Examples:
  tulving archive 12 13
  tulving list --archived

Memories that were superseded by a memory that you archive become current again. If a rule archives it, they stay superseded.";
pub(crate) const UNARCHIVE_EXAMPLES: &str = "\
Examples:
  tulving list --archived
  tulving unarchive 12";
pub(crate) const PIN_EXAMPLES: &str = "\
Examples:
  tulving pin 12
  tulving list --pinned";
pub(crate) const UNPIN_EXAMPLES: &str = "\
Examples:
  tulving unpin 12";

/// The memories to change.
#[derive(Debug, Args)]
pub(crate) struct MemoriesArgs {
    /// Numbers in the space, or full ids
    #[arg(value_name = "MEMORY", required = true)]
    pub(super) memories: Vec<String>,
}

/// A change of the status of memories.
pub(crate) struct StatusChange {
    pub(super) done: &'static str,
    pub(super) act: fn(&Engine, &Caller, MemoryRef) -> Result<EditedMemory, Error>,
    /// A check for memories that are already in the target state, and the words for this state.
    pub(super) idle: (fn(&Memory) -> bool, &'static str),
}

pub(crate) const RESTORE: StatusChange =
    StatusChange { done: "Restored", act: Engine::restore, idle: (|_| true, "was not forgotten") };
pub(crate) const ARCHIVE: StatusChange = StatusChange {
    done: "Archived",
    act: |engine, caller, which| plain(engine.archive(caller, which)),
    idle: (|memory| memory.status.state == State::Archived, "was archived already"),
};
pub(crate) const UNARCHIVE: StatusChange = StatusChange {
    done: "Unarchived",
    act: |engine, caller, which| plain(engine.unarchive(caller, which)),
    idle: (|memory| memory.status.state != State::Archived, "was not archived"),
};
pub(crate) const PIN: StatusChange = StatusChange {
    done: "Pinned",
    act: |engine, caller, which| plain(engine.pin(caller, which)),
    idle: (|memory| memory.status.pinned, "was pinned already"),
};
pub(crate) const UNPIN: StatusChange = StatusChange {
    done: "Unpinned",
    act: |engine, caller, which| plain(engine.unpin(caller, which)),
    idle: (|memory| !memory.status.pinned, "was not pinned"),
};

/// The result of a change without warnings.
pub(super) fn plain(moved: Result<Memory, Error>) -> Result<EditedMemory, Error> {
    moved.map(|memory| EditedMemory { memory, warnings: Vec::new() })
}

/// The memories of a command, for programs.
#[derive(Serialize)]
struct ChangedMemories<T> {
    memories: Vec<T>,
}

/// A memory after its change, for programs.
#[derive(Serialize)]
struct ChangedMemory {
    #[serde(flatten)]
    edited: EditedMemory,
    /// True if anything changed, false if it was in that state already.
    changed: bool,
}

pub(super) fn run(
    step: &StatusChange,
    which: &MemoriesArgs,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let (is_idle, said) = step.idle;
    each(&which.memories, app, printer, step.done, |caller, which| {
        // If the memory cannot be read, the change reports the error.
        let before = app.engine.get(caller, which).ok().filter(is_idle);
        let EditedMemory { memory, warnings } = (step.act)(&app.engine, caller, which)?;
        Ok(StatusChangeResult { memory, idle: before.map(|_| said), warnings })
    })
}

/// One memory after its change.
pub(super) struct StatusChangeResult {
    pub(super) memory: Memory,
    /// The reason why no change was needed.
    pub(super) idle: Option<&'static str>,
    pub(super) warnings: Vec<Warning>,
}

/// Changes each memory, and prints the change or that no change was needed. All names are parsed before the first change.
pub(super) fn each(
    names: &[String],
    app: &App<'_>,
    printer: &mut Printer,
    done: &str,
    act: impl Fn(&Caller, MemoryRef) -> Result<StatusChangeResult, Error>,
) -> Result<Outcome, Failure> {
    let references = references(names)?;
    let caller = app.here()?;
    let mut outcome = Outcome::Done;
    let mut moved = Vec::new();
    // All changes get the same time, so that one undo reverses all of them.
    let _held = app.clock.hold();
    for reference in references {
        match act(&caller, reference) {
            Ok(StatusChangeResult { memory, idle, warnings }) if printer.json() => {
                if let Some(said) = idle {
                    printer.warning(format!("{} {said}", memory.reference()))?;
                }
                printer.warnings(&warnings)?;
                moved.push(ChangedMemory {
                    edited: EditedMemory { memory, warnings },
                    changed: idle.is_none(),
                });
            }
            Ok(StatusChangeResult { memory, idle, warnings }) => {
                let done = match idle {
                    None => format!("{done} {}", memory.reference()),
                    Some(said) => format!("{} {said}", memory.reference()),
                };
                printer.line(sentence(&done, &memory, printer.columns()))?;
                printer.warnings(&warnings)?;
            }
            Err(error) => {
                let failure = Failure::from(error);
                if outcome == Outcome::Done {
                    outcome = Outcome::Partly(failure.class());
                }
                printer.failure(&failure);
            }
        }
    }
    if printer.json() {
        document(moved, printer)?;
    }
    Ok(outcome)
}

/// Prints the changed memories for programs, if there are any.
pub(super) fn document<T: Serialize>(moved: Vec<T>, printer: &mut Printer) -> Result<(), Failure> {
    if moved.is_empty() {
        return Ok(());
    }
    printer.document(&ChangedMemories { memories: moved })
}
