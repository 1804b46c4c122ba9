//! `tulving history`: who wrote which version, when, and what changed.

use std::collections::BTreeMap;

use clap::Args;
use tulving_core::answer::HistoryEntry;

use crate::args::reference;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::style::{self, FAINT, NUMBER, WORD};
use crate::show::text::{block, cut, one_line, pad};
use crate::show::time::instant;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving history 12
  tulving history 12 --full
  tulving revert 12 1";

/// Stands for the content of an old version of a memory with long ones.
const LEFT_OUT: &str = "(left out, because the newer versions are long; `tulving revert` brings it back)";

/// Flags of `history`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct History {
    /// Its number in the space, or its full id
    #[arg(value_name = "MEMORY")]
    memory: String,
    /// Show the whole content of each version
    #[arg(long)]
    full: bool,
}

pub(super) fn run(args: &History, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let which = reference(&args.memory)?;
    let entries = app.engine.history(&app.here()?, which)?;
    if printer.json() {
        printer.document(&BTreeMap::from([("versions", &entries)]))?;
        return Ok(Outcome::Done);
    }
    for entry in &entries {
        printer.line(heading(entry))?;
        let content = &entry.edition.text.content;
        if entry.left_out {
            printer.line(format!("    {}", style::paint(FAINT, LEFT_OUT)))?;
        } else if args.full {
            for line in block(content).lines() {
                printer.line(format!("    {line}"))?;
            }
        } else {
            let line = one_line(content);
            let line = printer
                .columns()
                .map_or_else(|| line.clone(), |columns| cut(&line, columns.saturating_sub(4)));
            printer.line(format!("    {line}"))?;
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
