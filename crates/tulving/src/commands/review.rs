//! `tulving review`: lists quarantined notes, for a person to accept or reject.

use clap::{Args, Subcommand};
use serde::Serialize;
use tulving_core::model::answer::Cursor;
use tulving_core::model::error::Field;
use tulving_core::model::limits;
use tulving_core::model::memory::Memory;

use super::status_changes;
use crate::args::{count, whole_number};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::{Layout, lines};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving review
  tulving review accept 12
  tulving review reject 13 14

A memory noted from a conversation is quarantined if it gives the agent orders or comes from an untrusted source. Recall does
not find it until you accept it. A rejected memory is forgotten and can be restored.";

/// Flags of `review`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct ReviewArgs {
    #[command(subcommand)]
    command: Option<ReviewCommand>,
    #[command(flatten)]
    list: ReviewListArgs,
}

#[derive(Debug, Subcommand)]
enum ReviewCommand {
    /// List the memories that wait for review, newest first; the default
    List(ReviewListArgs),
    /// Accept memories; recall finds them from now on
    Accept(status_changes::MemoriesArgs),
    /// Reject memories: they are forgotten, and can be restored
    Reject(status_changes::MemoriesArgs),
}

#[derive(Debug, Args)]
struct ReviewListArgs {
    /// Maximum number, up to 1000
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = whole_number, allow_negative_numbers = true)]
    limit: i64,
    /// Continue after the last page
    #[arg(long, allow_hyphen_values = true)]
    cursor: Option<String>,
}

#[derive(Serialize)]
struct ReviewPage<'a> {
    memories: &'a [Memory],
    next_cursor: Option<Cursor>,
}

pub(super) fn run(args: &ReviewArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    match &args.command {
        None => list(&args.list, app, printer),
        Some(ReviewCommand::List(args)) => list(args, app, printer),
        Some(ReviewCommand::Accept(which)) => status_changes::run(&ACCEPT, which, app, printer),
        Some(ReviewCommand::Reject(which)) => status_changes::run(&REJECT, which, app, printer),
    }
}

const ACCEPT: status_changes::StatusChange = status_changes::StatusChange {
    done: "Accepted",
    act: |engine, caller, which| status_changes::plain(engine.accept(caller, which)),
    idle: (|memory| memory.status.quarantined_at.is_none(), "was not waiting for review"),
};
/// Forgets quarantined memories. The engine refuses a memory that does not wait for review.
const REJECT: status_changes::StatusChange = status_changes::StatusChange {
    done: "Rejected",
    act: |engine, caller, which| status_changes::plain(engine.reject(caller, which)),
    idle: (|_| false, ""),
};

fn list(args: &ReviewListArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    let limit = count(Field::Limit, args.limit, limits::PAGE)?;
    let cursor = args.cursor.as_deref().map(str::parse::<Cursor>).transpose()?;
    let page = app.engine.review(&caller, limit, cursor)?;
    if printer.json() {
        let memories = &page.memories;
        printer.document(&ReviewPage { memories, next_cursor: page.next })?;
        return Ok(Outcome::Done);
    }
    let (now, columns, place) = (printer.now(), printer.columns(), app.place(&caller)?);
    let layout = Layout { now, then: None, columns, spaces: None, place: &place };
    printer.lines(&lines(page.memories.iter(), &layout))?;
    match page.next {
        Some(cursor) => printer.note(format!("For the next page add --cursor {cursor}"))?,
        None if page.memories.is_empty() => printer.note("Nothing waits for review")?,
        None => {}
    }
    Ok(Outcome::Done)
}
