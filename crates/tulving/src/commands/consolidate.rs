//! `tulving consolidate`: adds lasting knowledge from the last journals to `MEMORY.md`.

use clap::Args;
use tulving_core::{ConsolidationSummary, DroppedLine, RejectedLine};
use tulving_server::api::ConsolidateReply;

use super::passes::change;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::text::{counted, one_line};
use crate::wire::App;
use crate::worker;

const EXAMPLES: &str = "\
Examples:
  tulving consolidate --dry-run
  tulving consolidate
  tulving consolidate --apply
  tulving undo 0199a1b2-…

Searches the journals of the last 7 days for facts to keep in MEMORY.md. A language model (`tulving llm test`)
chooses them. Without one, notes of several days are proposed, and written only with --apply. The previous text
of the file is kept. A server does this by itself if consolidate.enabled is set.";

/// Flags of `consolidate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ConsolidateArgs {
    /// Show what would change, and write nothing; includes memories if consolidate.apply is set
    #[arg(long, conflicts_with = "apply")]
    dry_run: bool,
    /// Write the result even if no language model was asked
    #[arg(long)]
    apply: bool,
}

pub(super) fn run(args: &ConsolidateArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    let write = !args.dry_run && (args.apply || app.engine.llm().is_some());
    // Releases the jobs of a killed process, so that this command need not wait until they expire.
    app.engine.release_jobs(&worker::is_gone)?;
    let described = app.engine.consolidate(&caller, write)?;
    if printer.json() {
        printer.document(&ConsolidateReply::from(described))?;
        return Ok(Outcome::Done);
    }
    if described.journals > 0 {
        let looked = counted(described.journals as u64, "journal", "journals");
        let with =
            described.model.as_deref().map_or_else(|| "by rules".to_owned(), |model| format!("with {model}"));
        printer.line(format!("Read {looked} {}", one_line(&with)))?;
    }
    for unread in &described.unread {
        printer.warning(unread)?;
    }
    for line in described.diff.lines() {
        printer.line(format!("  {}", change(line)))?;
    }
    for line in changes(&described) {
        printer.line(line)?;
    }
    for action in &described.predicted {
        printer.line(format!("would do: {}", one_line(action)))?;
    }
    printer.note(match (&described.stays, described.pass) {
        (Some(why), _) => format!("MEMORY.md stays unchanged: {}", one_line(why)),
        (None, Some(pass)) => format!("Written; `tulving undo {pass}` undoes it"),
        (None, None) if args.dry_run => "Nothing was written".to_owned(),
        (None, None) => "Nothing was written; `tulving consolidate --apply` writes it".to_owned(),
    })?;
    if let Some(pass) = described.held {
        printer
            .note(format!("Doubtful lines wait in `tulving review`; `tulving undo {pass}` undoes this"))?;
    }
    for pass in &described.records {
        printer.note(format!(
            "Near-duplicate memories were checked: `tulving passes {pass}` shows the changes"
        ))?;
    }
    Ok(Outcome::Done)
}

/// Lists where the new file differs from the proposed text, and why lines were removed.
fn changes(described: &ConsolidationSummary) -> Vec<String> {
    let declined = |one: &RejectedLine| format!("left out, because {}: {}", one.why, one_line(&one.line));
    let back = |line: &String| format!("stays, because nothing else mentions it: {}", one_line(line));
    let gone = |one: &DroppedLine| format!("gone: {} (instead: {})", one_line(&one.line), one_line(&one.by));
    let mut lines: Vec<String> = described.left_out.iter().map(declined).collect();
    lines.extend(described.put_back.iter().map(back));
    lines.extend(described.gone.iter().map(gone));
    lines.extend(described.dropped.as_ref().map(|why| format!("reason for the removals: {}", one_line(why))));
    lines
}
