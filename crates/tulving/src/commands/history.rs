//! `tulving history`: shows who wrote which version, when, and what changed.

use std::collections::BTreeMap;

use clap::Args;
use tulving_core::model::answer::HistoryEntry;

use crate::args::reference;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::memory::hung;
use crate::show::style::{self, FAINT, NUMBER, WORD};
use crate::show::text::{HangingText, block, one_line, pad};
use crate::show::time::instant;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving history 12
  tulving history 12 --full
  tulving revert 12 1";

/// The text that replaces an old version's content if the newer versions are long.
const LEFT_OUT: &str = "(left out because the newer versions are long; `tulving revert` restores it)";

/// Flags of `history`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HistoryArgs {
    /// Its number in the space, or its full id
    #[arg(value_name = "MEMORY")]
    memory: String,
    /// Show the whole content of each version
    #[arg(long)]
    full: bool,
}

pub(super) fn run(args: &HistoryArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let which = reference(&args.memory)?;
    let caller = app.here()?;
    let entries = app.engine.history(&caller, which)?;
    if printer.json() {
        printer.document(&BTreeMap::from([("versions", &entries)]))?;
        return Ok(Outcome::Done);
    }
    let place = app.place(&caller)?;
    for entry in &entries {
        let heading = heading(entry);
        printer.line(match printer.columns() {
            None => heading,
            Some(columns) => HangingText { heading: "", taken: 2, columns }.lines(&heading).join("\n"),
        })?;
        let content = &entry.fields.text.content;
        if entry.left_out {
            printer.line(format!("    {}", style::paint(FAINT, LEFT_OUT)))?;
        } else if args.full {
            for line in block(content).lines() {
                printer.line(format!("    {line}"))?;
            }
        } else {
            let rest = format!("tulving history {} --full{place}", args.memory);
            printer.line(hung("    ", 4, &one_line(content), &rest, printer.columns()))?;
        }
    }
    Ok(Outcome::Done)
}

fn heading(entry: &HistoryEntry) -> String {
    let by = match &entry.agent {
        None => one_line(&entry.by_name),
        Some(agent) => format!("{} with {}", one_line(&entry.by_name), one_line(agent)),
    };
    let changed = match entry.changed.as_slice() {
        [] => String::new(),
        fields => format!(": {}", fields.join(", ")),
    };
    let current = if entry.current { "  (current)" } else { "" };
    format!(
        "{}  {}  by {by}  {}{changed}{current}",
        style::paint(NUMBER, pad(&format!("version {}", entry.version), 9)),
        style::paint(FAINT, instant(entry.at)),
        style::paint(WORD, entry.act),
    )
}
