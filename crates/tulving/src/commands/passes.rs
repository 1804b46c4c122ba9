//! `tulving passes` lists background passes. `tulving undo` undoes a pass or the last manual change.

use clap::Args;
use tulving_core::model::error::Field;
use tulving_core::model::id::PassId;
use tulving_core::model::limits;
use tulving_core::model::pass::{
    DescribedAct, DescribedPass, LastUndoOutcome, Pass, PassFilter, PassUndoResult, UndoStep, UndoneChange,
};
use tulving_core::model::preview;
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{PassKind, PassOutcome};
use tulving_server::api::{PassDetailsReply, PassListReply, PassReply, UndoLastReply, UndoPassReply};

use crate::args::{count, whole_number, word};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::style::{self, FAINT};
use crate::show::table::table;
use crate::show::text::{counted, one_line, thousands};
use crate::show::time::{age, instant};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving passes
  tulving passes --kind consolidate
  tulving passes 0199a1b2-…
  tulving undo 0199a1b2-… --dry-run
  tulving undo 0199a1b2-…

A pass is one piece of background work: it read a turn, or consolidated journals. All its acts can be undone
together; later changes by others stay.";

const UNDO_EXAMPLES: &str = "\
Examples:
  tulving undo
  tulving undo --dry-run
  tulving undo 0199a1b2-…

Without PASS, undo reverses the newest change in the space: yours, one that an agent made for you, or that of a pass.
It prints what it reversed. Running it again redoes the change, except for a note in a journal and for passes.

A change is reversed as a whole or refused. Undo refuses a change that cannot be reversed (`forget --hard`, an import,
a file) or that a later change depends on, and never reverses an older one instead.

A pass is reversed as far as nobody has changed its results since. `tulving passes` lists passes.";

/// Maximum number of printed steps of a change; `--json` prints all steps.
const STEPS: usize = 20;

/// Flags of `passes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PassesArgs {
    /// Show this pass, with all its acts
    #[arg(value_name = "PASS", conflicts_with_all = ["kind", "before"])]
    pass: Option<String>,
    /// Only passes of this kind
    #[arg(long, value_name = "KIND", value_parser = word!(PassKind))]
    kind: Option<PassKind>,
    /// Only passes before this one
    #[arg(long, value_name = "PASS")]
    before: Option<String>,
    /// Maximum number, newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = whole_number, allow_negative_numbers = true)]
    limit: i64,
}

/// Flags of `undo`.
#[derive(Debug, Args)]
#[command(after_help = UNDO_EXAMPLES)]
pub(crate) struct UndoArgs {
    /// A background pass, as `tulving passes` lists them; without it, the newest change
    #[arg(value_name = "PASS")]
    pass: Option<String>,
    /// Only report what would be undone
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(args: &PassesArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if let Some(pass) = &args.pass {
        let described = app.engine.pass(&app.here()?, named(pass)?)?;
        return one(described, app, printer);
    }
    let caller = app.here()?;
    let filter = PassFilter {
        space: Some(caller.space),
        kind: args.kind,
        before: args.before.as_deref().map(named).transpose()?,
        limit: count(Field::Limit, args.limit, limits::PAGE)?,
    };
    let passes = app.engine.passes(&caller, &filter)?;
    if printer.json() {
        let now = printer.now();
        let passes = passes.into_iter().map(|pass| PassReply::of(pass, now)).collect();
        printer.document(&PassListReply { passes })?;
        return Ok(Outcome::Done);
    }
    if passes.is_empty() {
        printer.note("No pass has changed anything in this space")?;
        return Ok(Outcome::Done);
    }
    let row = |pass: &Pass| {
        [
            pass.id.to_string(),
            age(pass.began_at, printer.now()),
            pass.kind.to_string(),
            outcome(pass, printer.now()),
            counted(pass.acts.len() as u64, "act", "acts"),
            pass.note.clone().unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = passes.iter().map(row).collect();
    printer.lines(&table(["pass", "when", "kind", "outcome", "did", "about"], &rows))?;
    if let Some(last) = passes.last().filter(|_| passes.len() == filter.limit) {
        printer.note(format!("For earlier passes add --before {}", last.id))?;
    }
    Ok(Outcome::Done)
}

fn one(described: DescribedPass, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(&PassDetailsReply::of(described, printer.now()))?;
        return Ok(Outcome::Done);
    }
    let pass = &described.pass;
    let names = app.engine.names(&[pass.by])?;
    let by = names.get(&pass.by).cloned().unwrap_or_else(|| pass.by.to_string());
    let with = pass.model.as_ref().map_or_else(|| "rules".to_owned(), |model| one_line(model));
    printer.line(format!("{} ({}, {})", pass.id, pass.kind, outcome(pass, printer.now())))?;
    printer.line(style::paint(FAINT, format!("  {} for {by}, with {with}", instant(pass.began_at))))?;
    if let Some(note) = &pass.note {
        printer.line(style::paint(FAINT, format!("  {}", one_line(note))))?;
    }
    for DescribedAct { text, diff } in &described.described {
        printer.line(format!("  {}", one_line(text)))?;
        for line in diff.iter().flat_map(|diff| diff.lines()) {
            printer.line(format!("    {}", change(line)))?;
        }
    }
    if pass.is_interrupted(printer.now()) {
        printer.note(format!("It was interrupted; `tulving undo {}` undoes its acts", pass.id))?;
    } else if pass.outcome == PassOutcome::Begun {
        printer.note("It is still running")?;
    } else if described.described.is_empty() {
        printer.note("It has no acts that you may see")?;
    }
    Ok(Outcome::Done)
}

/// Returns the outcome of a pass.
fn outcome(pass: &Pass, now: Timestamp) -> String {
    if pass.is_interrupted(now) { "interrupted".to_owned() } else { pass.outcome.to_string() }
}

/// Formats a line of a diff for a terminal, without control characters.
pub(super) fn change(line: &str) -> String {
    let mark = line.chars().next().unwrap_or(' ');
    let rest = one_line(line.get(mark.len_utf8()..).unwrap_or_default());
    let line = format!("{mark} {rest}");
    if matches!(mark, '+' | '-') { line } else { style::paint(FAINT, line) }
}

pub(super) fn undo(args: &UndoArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    let last = match &args.pass {
        Some(pass) => LastUndoOutcome::Pass(app.engine.undo(&caller, named(pass)?, args.dry_run)?),
        None => app.engine.undo_last(&caller, args.dry_run)?,
    };
    if printer.json() {
        if let LastUndoOutcome::Pass(undone) = &last
            && undone.taken_back() == 0
        {
            printer.warning(summary(undone, args.dry_run))?;
        }
        match (last, &args.pass) {
            (LastUndoOutcome::Pass(undone), Some(_)) => {
                printer.document(&UndoPassReply::of(undone, printer.now()))?;
            }
            (last, _) => printer.document(&UndoLastReply::of(last, printer.now()))?,
        }
        return Ok(Outcome::Done);
    }
    match &last {
        LastUndoOutcome::Pass(undone) => {
            if args.pass.is_none() {
                let Pass { id, kind, .. } = &undone.pass;
                printer.line(format!("The last change was made by the pass {id} ({kind})"))?;
            }
            of_pass(undone, args.dry_run, printer)
        }
        LastUndoOutcome::Change(undone) => of_change(undone, args.dry_run, printer),
    }
}

fn of_pass(undone: &PassUndoResult, dry_run: bool, printer: &mut Printer) -> Result<Outcome, Failure> {
    steps(&undone.steps, dry_run, printer)?;
    printer.note(summary(undone, dry_run))?;
    Ok(Outcome::Done)
}

fn of_change(undone: &UndoneChange, dry_run: bool, printer: &mut Printer) -> Result<Outcome, Failure> {
    let shown = undone.steps.len().min(STEPS);
    steps(&undone.steps[..shown], dry_run, printer)?;
    if undone.steps.len() > shown {
        printer.line(format!("and {} more", thousands((undone.steps.len() - shown) as u64)))?;
    }
    let when = match age(undone.at, printer.now()).as_str() {
        "just now" => "just now".to_owned(),
        age => format!("{age} ago"),
    };
    let by = undone.agent.as_deref().map(|agent| format!(" by {}", one_line(agent))).unwrap_or_default();
    printer.note(match (dry_run, undone.redoable) {
        (true, _) => format!("That was done {when}{by}; nothing was changed"),
        (false, true) => format!("That was done {when}{by}; run `tulving undo` again to redo it"),
        (false, false) => format!("That was done {when}{by}; undo cannot redo it"),
    })?;
    Ok(Outcome::Done)
}

fn steps(steps: &[UndoStep], dry_run: bool, printer: &mut Printer) -> Result<(), Failure> {
    for step in steps {
        let text = one_line(&step.text);
        match (&step.stays, dry_run) {
            (Some(why), _) => printer.line(format!("stays: {text}; {}", one_line(why)))?,
            (None, true) => printer.line(format!("would undo: {text}"))?,
            (None, false) => printer.line(format!("undone: {text}"))?,
        }
    }
    Ok(())
}

fn summary(undone: &PassUndoResult, dry_run: bool) -> String {
    let (back, all) = (undone.taken_back(), undone.steps.len());
    match (back, dry_run) {
        (0, _) if all == 0 => "Nothing was left to undo".to_owned(),
        (0, _) => "Nothing was left to undo: all results have been changed since".to_owned(),
        (_, true) => format!("{back} of {all} would be undone; nothing was changed"),
        (_, false) => format!("Undone: {back} of {all}"),
    }
}

fn named(text: &str) -> Result<PassId, Failure> {
    text.parse().map_err(|_| {
        Failure::usage(format!("`{}` is not the id of a pass", preview::short(text)))
            .hinted("`tulving passes` shows them")
    })
}
