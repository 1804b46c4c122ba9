//! `tulving related`: shows what a memory is linked with, up to a depth.

use clap::Args;
use serde::Serialize;
use tulving_core::model::answer::RelatedMemory;
use tulving_core::model::error::Field;
use tulving_core::model::limits;

use crate::args::{count, reference, whole_number};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::{Layout, lines, link};
use crate::show::style::{self, FAINT, WORD};
use crate::show::text::{self, pad};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving related 12
  tulving related 12 --depth 2

`updates → 0.5` means that the nearer memory updates this one, `← updates 0.5` that this one updates the nearer.
`(similar)` marks a link that Tulving made because both say nearly the same; it supersedes nothing.";

/// Minimum number of columns for a memory next to a link.
const LEAST: usize = 55;

/// Flags of `related`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RelatedArgs {
    /// Its number in the space, or its full id
    #[arg(value_name = "MEMORY")]
    memory: String,
    /// Maximum number of hops, up to 5
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = whole_number, allow_negative_numbers = true)]
    depth: i64,
}

/// The answer, for programs.
#[derive(Serialize)]
struct RelatedOutput<'a> {
    memories: &'a [RelatedMemory],
}

pub(super) fn run(args: &RelatedArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let which = reference(&args.memory)?;
    let depth = count(Field::Depth, args.depth, limits::DEPTH)?;
    let caller = app.here()?;
    let relatives = app.engine.related(&caller, which, depth)?;
    let names = app.space_names()?;
    if printer.json() {
        printer.document(&RelatedOutput { memories: &relatives })?;
        return Ok(Outcome::Done);
    }
    if relatives.is_empty() {
        printer.note(format!("{which} has no links. `tulving associate` links memories."))?;
        return Ok(Outcome::Done);
    }
    let links: Vec<String> = relatives.iter().map(seen_from_nearer).collect();
    let widest = links.iter().map(|link| text::width(link)).max().unwrap_or(0);
    // The depth is always one digit, so the hops take one column.
    let taken = widest + 5;
    // If a line has no room for both the link and the memory, the memory is printed below the link.
    let below = printer.columns().is_some_and(|columns| columns < taken + LEAST);
    let columns = printer.columns().map(|columns| if below { columns } else { columns - taken });
    // Numbers are ambiguous if memories of another space are among them.
    let crosses = relatives.iter().any(|relative| relative.memory.space != caller.space);
    let (now, spaces, place) = (printer.now(), crosses.then_some(&names), app.place(&caller)?);
    let layout = Layout { now, then: None, columns, spaces, place: &place };
    let memories = lines(relatives.iter().map(|relative| &relative.memory), &layout);
    for ((relative, link), memory) in relatives.iter().zip(&links).zip(memories) {
        let hops = style::paint(FAINT, relative.distance);
        let link = if below { format!("{link}\n") } else { format!("{}  ", pad(link, widest)) };
        let indent = if below { 0 } else { taken };
        let memory = memory.replace('\n', &format!("\n{}", " ".repeat(indent)));
        printer.line(format!("{hops}  {}{memory}", style::paint(WORD, link)))?;
    }
    Ok(Outcome::Done)
}

/// Returns all links by which the memory was reached, as seen from the nearer memory.
fn seen_from_nearer(relative: &RelatedMemory) -> String {
    let far = relative.memory.id;
    let seen = relative.via.iter().map(|edge| {
        let nearer = if edge.source == far { edge.target } else { edge.source };
        link(edge, nearer)
    });
    seen.collect::<Vec<_>>().join(", ")
}
