//! `tulving memory`: prints all memories by category, as Max's `/memory` does.

use clap::Args;
use serde_json::{Map, json};
use tulving_dialects::tool::ToolContext;
use tulving_dialects::{Dialect, max};

use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::print::Printer;
use crate::show::memory::{Layout, lines};
use crate::show::style::{self, STRONG};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving memory
  tulving memory --space team-notes --json";

/// Flags of `memory`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MemoryArgs {}

pub(super) fn run(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let tool_context = ToolContext::open(&app.engine, &app.here()?, Dialect::Max).map_err(Cause::Refused)?;
    let groups = max::grouped(&tool_context).map_err(Cause::Refused)?;
    if printer.json() {
        let mut document = Map::new();
        for (category, group) in &groups {
            let group = serde_json::to_value(group).map_err(|error| Cause::Output(error.into()))?;
            document.insert(category.to_string(), group);
        }
        printer.document(&json!({ "memories": document }))?;
        return Ok(Outcome::Done);
    }
    let (now, columns, flag) = (printer.now(), printer.columns(), app.place(&app.here()?)?);
    let layout = Layout { now, then: None, columns, spaces: None, place: &flag };
    for (place, (category, group)) in groups.iter().enumerate() {
        if place > 0 {
            printer.line("")?;
        }
        printer.line(style::paint(STRONG, category))?;
        printer.lines(&lines(group.iter(), &layout))?;
    }
    if groups.is_empty() {
        printer.note("No memories. Save one with `tulving save \"…\"`.")?;
    }
    Ok(Outcome::Done)
}
