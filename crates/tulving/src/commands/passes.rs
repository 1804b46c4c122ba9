//! `tulving passes`: what work in the background did, and `tulving undo`, which takes it back.

use clap::Args;
use serde::Serialize;
use tulving_core::error::Field;
use tulving_core::id::PassId;
use tulving_core::limits;
use tulving_core::pass::{Pass, PassFilter, ToldAct, ToldPass, Undone};
use tulving_core::preview;
use tulving_core::time::Timestamp;
use tulving_core::vocabulary::{PassKind, PassOutcome};

use crate::args::{count, whole_number, word};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::style::{self, FAINT};
use crate::show::table::table;
use crate::show::text::{counted, one_line};
use crate::show::time::{age, instant};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving passes
  tulving passes --kind consolidate
  tulving passes 0199a1b2-…
  tulving undo 0199a1b2-… --dry-run
  tulving undo 0199a1b2-…

A pass is one piece of work in the background: a turn that was looked at, journals that were consolidated. All
that it did can be taken back together; what somebody changed since stays.";

const UNDO_EXAMPLES: &str = "\
Examples:
  tulving undo 0199a1b2-… --dry-run
  tulving undo 0199a1b2-…

What the pass saved is forgotten and can be restored, links go, files say again what they said. What somebody
changed since stays, and is said. `tulving passes` lists passes.";

/// Flags of `passes`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Passes {
    /// Show this one, with all that it did
    #[arg(value_name = "PASS", conflicts_with_all = ["kind", "before"])]
    pass: Option<String>,
    /// Only of this kind
    #[arg(long, value_name = "KIND", value_parser = word!(PassKind))]
    kind: Option<PassKind>,
    /// Only those before this one
    #[arg(long, value_name = "PASS")]
    before: Option<String>,
    /// How many at the most, newest first
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = whole_number, allow_negative_numbers = true)]
    limit: i64,
}

/// Flags of `undo`.
#[derive(Debug, Args)]
#[command(after_help = UNDO_EXAMPLES)]
pub(crate) struct Undo {
    /// The pass
    #[arg(value_name = "PASS")]
    pass: String,
    /// Only say what would be taken back
    #[arg(long)]
    dry_run: bool,
}

#[derive(Serialize)]
struct List<'a> {
    passes: Vec<Listed<'a>>,
}

/// A pass, for programs.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    pass: &'a Pass,
    /// Whether it has begun and will come to no end.
    interrupted: bool,
}

pub(super) fn run(args: &Passes, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if let Some(pass) = &args.pass {
        let told = app.engine.pass(&app.here()?, named(pass)?)?;
        return one(&told, app, printer);
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
        let listed = |pass| Listed { pass, interrupted: pass.is_interrupted(printer.now()) };
        let passes = passes.iter().map(listed).collect();
        printer.document(&List { passes })?;
        return Ok(Outcome::Done);
    }
    if passes.is_empty() {
        printer.note("No pass has done anything here")?;
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
        printer.note(format!("For those before add --before {}", last.id))?;
    }
    Ok(Outcome::Done)
}

fn one(told: &ToldPass, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(told)?;
        return Ok(Outcome::Done);
    }
    let pass = &told.pass;
    let names = app.engine.names(&[pass.by])?;
    let by = names.get(&pass.by).cloned().unwrap_or_else(|| pass.by.to_string());
    let with = pass.model.as_ref().map_or_else(|| "rules".to_owned(), |model| one_line(model));
    printer.line(format!("{} ({}, {})", pass.id, pass.kind, outcome(pass, printer.now())))?;
    printer.line(style::paint(FAINT, format!("  {} for {by}, with {with}", instant(pass.began_at))))?;
    if let Some(note) = &pass.note {
        printer.line(style::paint(FAINT, format!("  {}", one_line(note))))?;
    }
    for ToldAct { text, diff } in &told.told {
        printer.line(format!("  {}", one_line(text)))?;
        for line in diff.iter().flat_map(|diff| diff.lines()) {
            printer.line(format!("    {}", change(line)))?;
        }
    }
    if pass.is_interrupted(printer.now()) {
        printer
            .note(format!("It was interrupted; `tulving undo {}` takes back what it had done", pass.id))?;
    } else if pass.outcome == PassOutcome::Begun {
        printer.note("It is under way")?;
    } else if told.told.is_empty() {
        printer.note("Nothing that you may see is left of it")?;
    }
    Ok(Outcome::Done)
}

/// What became of a pass.
fn outcome(pass: &Pass, now: Timestamp) -> String {
    if pass.is_interrupted(now) { "interrupted".to_owned() } else { pass.outcome.to_string() }
}

/// A line of a diff, as it may be shown.
pub(super) fn change(line: &str) -> String {
    let mark = line.chars().next().unwrap_or(' ');
    let rest = one_line(line.get(mark.len_utf8()..).unwrap_or_default());
    let line = format!("{mark} {rest}");
    if matches!(mark, '+' | '-') { line } else { style::paint(FAINT, line) }
}

pub(super) fn undo(args: &Undo, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let undone = app.engine.undo(&app.here()?, named(&args.pass)?, args.dry_run)?;
    if printer.json() {
        if undone.taken_back() == 0 {
            printer.warning(summary(&undone, args.dry_run))?;
        }
        printer.document(&undone)?;
        return Ok(Outcome::Done);
    }
    for step in &undone.steps {
        let text = one_line(&step.text);
        match (&step.stays, args.dry_run) {
            (Some(why), _) => printer.line(format!("stays: {text}; {}", one_line(why)))?,
            (None, true) => printer.line(format!("would take back: {text}"))?,
            (None, false) => printer.line(format!("took back: {text}"))?,
        }
    }
    printer.note(summary(&undone, args.dry_run))?;
    Ok(Outcome::Done)
}

fn summary(undone: &Undone, dry_run: bool) -> String {
    let (back, all) = (undone.taken_back(), undone.steps.len());
    match (back, dry_run) {
        (0, _) if all == 0 => "Nothing was left to undo".to_owned(),
        (0, _) => "Nothing was left to undo: none of it stands as the pass left it".to_owned(),
        (_, true) => format!("{back} of {all} would be taken back; nothing was changed"),
        (_, false) => format!("Undone: {back} of {all}"),
    }
}

fn named(text: &str) -> Result<PassId, Failure> {
    text.parse().map_err(|_| {
        Failure::usage(format!("`{}` is not the id of a pass", preview::short(text)))
            .hinted("`tulving passes` shows them")
    })
}
