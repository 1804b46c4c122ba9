//! `tulving forget`: forgets memories, reversibly or for good, by name or by condition.

use clap::Args;
use serde::Serialize;
use tulving_core::model::answer::{
    EditedMemory, ForgetWherePreview, ForgottenMatches, ForgottenMemories, ForgottenMemory,
};
use tulving_core::model::error::Error;
use tulving_core::model::id::MemoryRef;
use tulving_core::model::limits;
use tulving_core::model::memory::Memory;
use tulving_core::model::request::{Caller, ForgetMode, ForgetRequest, ForgetWhere};
use tulving_store::FoldOutcome;

use super::status_changes;
use crate::args::{references, whole_number};
use crate::condition;
use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::print::Printer;
use crate::show::memory::{Layout, lines, sentence};
use crate::show::text::counted;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving forget 12 --reason \"no longer true\"
  tulving forget 12 13 14
  tulving restore 12
  tulving forget 12 --hard
  tulving forget --where type=todo --where until=2026-01-01 --dry-run
  tulving forget --where tag=scratch --expect 12";

/// The number of memories that are shown before the question.
const SHOWN: usize = 5;

/// Flags of `forget`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ForgetArgs {
    /// Numbers in the space, or full ids
    #[arg(value_name = "MEMORY", required_unless_present = "conditions", conflicts_with = "conditions")]
    memories: Vec<String>,
    /// Delete content, versions and links for good; this cannot be undone
    #[arg(long)]
    hard: bool,
    /// The reason, for the audit
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// All memories of this space that match this condition, such as type=fact. If repeated, all conditions must match, but any of
    /// several types, kinds, stabilities, states or content-types. Keys: type, kind, stability, state, tag, content-type, key,
    /// source-path, project, conversation, author, agent, pinned, done, since, until, contains. Archived memories only with state=archived
    #[arg(long = "where", value_name = "KEY=VALUE", help_heading = "Which memories")]
    conditions: Vec<String>,
    /// Only count them and show the newest
    #[arg(long, conflicts_with_all = ["yes", "expect"], help_heading = "Which memories")]
    dry_run: bool,
    /// Do not ask
    #[arg(long, help_heading = "Which memories")]
    yes: bool,
    /// Do not ask, and forget only if their number is this one
    #[arg(long, value_name = "NUMBER", value_parser = whole_number, allow_negative_numbers = true, help_heading = "Which memories")]
    expect: Option<i64>,
    /// Not supported here: memories are forgotten in one space at a time
    #[arg(long, hide = true)]
    all_spaces: bool,
}

impl ForgetArgs {
    fn request(&self) -> ForgetRequest {
        let mode = if self.hard { ForgetMode::Hard } else { ForgetMode::Soft };
        ForgetRequest { mode, reason: self.reason.clone() }
    }

    fn done(&self) -> &'static str {
        if self.hard { "Erased" } else { "Forgot" }
    }
}

pub(super) fn run(args: &ForgetArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if args.all_spaces {
        let failure = Failure::usage("memories are forgotten in one space at a time");
        return Err(failure.hinted("choose the space with --space, and run the command for each space"));
    }
    // The attribute `requires` is not used, because clap does not enforce it if a name conflicts with a condition.
    if args.conditions.is_empty() && (args.dry_run || args.yes || args.expect.is_some()) {
        let failure = Failure::usage("--dry-run, --yes and --expect need --where");
        return Err(failure.hinted("leave them out: they apply only to --where"));
    }
    if args.conditions.is_empty() { by_name(args, app, printer) } else { by_condition(args, app, printer) }
}

/// Forgets the named memories in one step. A missing memory is reported, and the others are still forgotten. If the caller
/// may not forget one of the memories, none is forgotten.
fn by_name(args: &ForgetArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let references = references(&args.memories)?;
    let caller = app.here()?;
    let ForgottenMemories { forgotten, missing, warnings } = match references.as_slice() {
        // A single memory is forgotten by its own call, whose error states the reason.
        [one] => {
            let EditedMemory { memory, warnings } = app.engine.forget(&caller, *one, &args.request())?;
            ForgottenMemories { forgotten: vec![memory], missing: Vec::new(), warnings }
        }
        several => app.engine.forget_many(&caller, several, &args.request())?,
    };
    if printer.json() {
        status_changes::document(forgotten.iter().collect(), printer)?;
    } else {
        for memory in &forgotten {
            let done = format!("{} {}", args.done(), memory.reference());
            printer.line(sentence(&done, memory, printer.columns()))?;
        }
    }
    let outcome = name_missing(&missing, &caller, app, printer);
    printer.warnings(&warnings)?;
    if forgotten.is_empty() || forgotten.iter().all(|memory| memory.backend.is_some()) {
        return Ok(outcome);
    }
    if !args.hard && outcome == Outcome::Done {
        let names: Vec<_> = forgotten.iter().map(|memory| memory.reference().to_string()).collect();
        let them = if names.len() == 1 { "it" } else { "them" };
        printer.note(match forgotten.iter().any(|memory| memory.owner != caller.viewer.principal) {
            false => {
                let names =
                    names.iter().map(|name| name.trim_start_matches('#')).collect::<Vec<_>>().join(" ");
                let place = app.place(&caller)?;
                format!("`tulving restore {names}{place}` or `tulving undo{place}` brings {them} back")
            }
            true => format!(
                "the owner or an admin of the space brings {them} back with `tulving restore {}`",
                names.iter().map(|name| name.trim_start_matches('#')).collect::<Vec<_>>().join(" ")
            ),
        })?;
    }
    if args.hard {
        scrub(app, printer)?;
    }
    Ok(outcome)
}

/// Reports the reason for each missing memory.
fn name_missing(missing: &[MemoryRef], caller: &Caller, app: &App<'_>, printer: &mut Printer) -> Outcome {
    let mut outcome = Outcome::Done;
    for which in missing {
        // If the memory is found now, it is in a read-only backend, or was restored in the meantime.
        let absent = || Error::NoMemory { which: *which, space: None };
        let error = app.engine.get(caller, *which).err().unwrap_or_else(absent);
        let failure = Failure::from(error);
        if outcome == Outcome::Done {
            outcome = Outcome::Partly(failure.class());
        }
        printer.failure(&failure);
    }
    outcome
}

fn by_condition(args: &ForgetArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut filter = condition::filter(&args.conditions, &app.settings.zone)?;
    app.resolve_source_path(&mut filter.source_path)?;
    let expect = args.expect.map(expected).transpose()?;
    let mut asked = ForgetWhere { filter, request: args.request(), expect };
    let caller = app.here()?;
    if args.dry_run {
        let predicted = app.engine.foresee_forget_where(&caller, &asked)?;
        return predict(args, &predicted, app, printer);
    }
    if !args.yes && expect.is_none() {
        let predicted = app.engine.foresee_forget_where(&caller, &asked)?;
        if predicted.count == 0 {
            return tell(args, &[], &caller, printer);
        }
        if !confirm(args, &predicted, app, printer)? {
            return printer.declined();
        }
        // The user has confirmed the shown number of memories.
        asked.expect = Some(predicted.count);
    }
    let ForgottenMatches { forgotten: gone, warnings } = app.engine.forget_where(&caller, &asked)?;
    let outcome = tell(args, &gone, &caller, printer)?;
    printer.warnings(&warnings)?;
    if args.hard && !gone.is_empty() {
        scrub(app, printer)?;
    }
    Ok(outcome)
}

fn expected(number: i64) -> Result<u64, Failure> {
    u64::try_from(number).map_err(|_| Failure::usage(format!("--expect is {number} and must be at least 0")))
}

/// The memories that would be forgotten, for programs.
#[derive(Serialize)]
struct ForgetPreview<'a> {
    count: u64,
    memories: &'a [Memory],
}

fn predict(
    args: &ForgetArgs,
    predicted: &ForgetWherePreview,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(&ForgetPreview { count: predicted.count, memories: &predicted.newest })?;
        return Ok(Outcome::Done);
    }
    show(predicted, limits::FORESEEN, app, printer)?;
    printer.line(match predicted.count {
        0 => "No memory matches".to_owned(),
        count => {
            let done = if args.hard { "erased" } else { "forgotten" };
            format!("{} would be {done}", counted(count, "memory", "memories"))
        }
    })?;
    Ok(Outcome::Done)
}

/// Prints the newest memories, and how many more there are.
fn show(
    predicted: &ForgetWherePreview,
    most: usize,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    let (now, columns, place) = (printer.now(), printer.columns(), app.place(&app.here()?)?);
    let layout = Layout { now, then: None, columns, spaces: None, place: &place };
    printer.lines(&lines(predicted.newest.iter().take(most), &layout))?;
    let more = predicted.count.saturating_sub(most.min(predicted.newest.len()) as u64);
    if more > 0 {
        printer.note(format!("and {more} more"))?;
    }
    Ok(())
}

fn confirm(
    args: &ForgetArgs,
    predicted: &ForgetWherePreview,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<bool, Failure> {
    let memories = counted(predicted.count, "memory", "memories");
    if !printer.asks() {
        let failure = Failure::from(Cause::Unconfirmed("there is no terminal to ask for confirmation"));
        let matching = if predicted.count == 1 { "matches" } else { "match" };
        let hint = format!("{memories} {matching}: add --yes, or --expect {} to be sure", predicted.count);
        return Err(failure.hinted(hint));
    }
    show(predicted, SHOWN, app, printer)?;
    let question =
        if args.hard { format!("Erase {memories} for good?") } else { format!("Forget {memories}?") };
    Ok(printer.confirm(&question)? == Some(true))
}

/// The forgotten memories, for programs.
#[derive(Serialize)]
struct ForgetReport<'a> {
    count: usize,
    forgotten: &'a [ForgottenMemory],
}

fn tell(
    args: &ForgetArgs,
    gone: &[ForgottenMemory],
    caller: &Caller,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(&ForgetReport { count: gone.len(), forgotten: gone })?;
        return Ok(Outcome::Done);
    }
    if gone.is_empty() {
        printer.line("No memory matches")?;
        return Ok(Outcome::Done);
    }
    printer.line(format!("{} {}", args.done(), counted(gone.len() as u64, "memory", "memories")))?;
    if !args.hard {
        printer.note(match gone.iter().any(|gone| gone.owner != caller.viewer.principal) {
            false => "`tulving undo` brings them back, `tulving list --forgotten` shows them",
            true => "their owners or an admin of the space bring them back with `tulving restore`",
        })?;
    }
    Ok(Outcome::Done)
}

/// Removes the text of erased memories from unused parts of the files, after the answer. If the removal must wait, the next
/// `forget --hard` or `doctor` carries it out.
pub(super) fn scrub(app: &App<'_>, printer: &mut Printer) -> Result<(), Failure> {
    printer.finish()?;
    match app.store.upkeep.scrub().and_then(|_| app.store.upkeep.erased_lingers()) {
        Ok(false) => {}
        Ok(true) => printer.warning(
            "another process reads the store, so its files may contain the text until that process ends; `tulving doctor` checks this",
        )?,
        Err(error) => printer.warning(format!("could not rewrite the file: {error}"))?,
    }
    match app.index.purge() {
        Ok(FoldOutcome::NoNeed | FoldOutcome::Done { left: 0, .. } | FoldOutcome::Unwritable(_)) => {}
        Ok(FoldOutcome::Busy | FoldOutcome::Done { .. }) => printer.warning(
            "another process uses the index, so the index may contain the words until that process ends; `tulving doctor` checks this",
        )?,
        Err(error) => printer.warning(format!("could not rewrite the index: {error}"))?,
    }
    Ok(())
}
