//! `tulving load`: takes in what `dump` wrote. What is there already stays as it is, so it can be run again.

use std::path::PathBuf;

use clap::Args;
use indicatif::ProgressBar;
use tulving_core::record::{self, Loaded};
use tulving_core::{LeftOut, Loading};

use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input::Lines;
use crate::print::Printer;
use crate::show::text::counted;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving load memories.jsonl
  gunzip -c memories.jsonl.gz | tulving load -

A memory keeps its number where it is free, and gets a new one where it is not.";

/// How many lines one transaction takes.
const TRANSACTION: usize = 1_000;

/// How many memories of a sort are listed to a person; a program gets all of them.
const LISTED: usize = 20;

/// Flags of `load`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Load {
    /// The dump; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &Load, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.everywhere("load")?;
    let mut lines = Lines::open(&args.file)?;
    if lines.is_database() {
        return Err(lines.database());
    }
    let bar = printer.bar("Loading", lines.size());
    let mut loading = Loading::default();
    let done = take_all(&mut lines, &mut loading, app, &bar)
        .and_then(|()| Ok(app.engine.finish_load(&app.caller, &loading)?));
    bar.finish_and_clear();
    if let Err(failure) = done {
        let loaded = match loading.added {
            0 => "nothing was loaded".to_owned(),
            added => format!("{} stayed loaded; mend it and load again", counted(added, "record", "records")),
        };
        let hint = failure.hint().map_or_else(|| loaded.clone(), |own| format!("{own}; {loaded}"));
        return Err(failure.hinted(hint));
    }
    if printer.json() {
        printer.document(&loading)?;
        return Ok(Outcome::Done);
    }
    report(&loading, printer)?;
    Ok(Outcome::Done)
}

fn take_all(
    lines: &mut Lines,
    loading: &mut Loading,
    app: &App<'_>,
    bar: &ProgressBar,
) -> Result<(), Failure> {
    let mut waiting = Vec::new();
    let mut some = false;
    while let Some((line, text)) = lines.next()? {
        some = true;
        let record = record::from_line(&text).map_err(|why| lines.wrong(line, why))?;
        waiting.push((line, record));
        if waiting.len() == TRANSACTION {
            app.engine.load(&app.caller, loading, std::mem::take(&mut waiting))?;
            bar.set_position(if lines.size().is_some() { lines.read() } else { line });
        }
    }
    if !some {
        return Err(lines.empty());
    }
    Ok(app.engine.load(&app.caller, loading, waiting)?)
}

fn report(loading: &Loading, printer: &mut Printer) -> Result<(), Failure> {
    printer.line(format!("Loaded {}", counted(loading.added, "record", "records")))?;
    let rest = [
        (loading.present, "was there already", "were there already"),
        (u64::try_from(loading.renumbered.len()).unwrap_or(u64::MAX), "got a new number", "got a new number"),
        (
            loading.duplicates,
            "was left out: a memory with the same content, key or path is here",
            "were left out: memories with the same content, key or path are here",
        ),
        (
            loading.dangling,
            "was left out: it refers to what is not here",
            "were left out: they refer to what is not here",
        ),
    ];
    for (count, one, many) in rest.into_iter().filter(|(count, ..)| *count > 0) {
        printer.line(format!("  {}", counted(count, one, many)))?;
    }
    for loaded in loading.renumbered.iter().take(LISTED) {
        if let Loaded::Renumbered { from, to } = loaded {
            printer.line(format!("    {from} is now {to}"))?;
        }
    }
    if loading.renumbered.len() > LISTED {
        printer.line("    … --json lists all of them")?;
    }
    for left_out in loading.left_out.iter().take(LISTED) {
        printer.warning(explain(left_out))?;
    }
    if loading.left_out.len() > LISTED {
        let more = u64::try_from(loading.left_out.len() - LISTED).unwrap_or(u64::MAX);
        let more = counted(more, "more was", "more were");
        printer.note(format!("and {more} left out; --json lists all of them"))?;
    }
    Ok(())
}

/// Which line was left out, and why.
fn explain(left_out: &LeftOut) -> String {
    let what = match left_out.memory {
        None => format!("line {}", left_out.line),
        Some(memory) => format!("line {} (memory {memory})", left_out.line),
    };
    match left_out.loaded {
        Loaded::Duplicate { of } => {
            format!("{what} was left out: memory {of} here has the same content, key or path")
        }
        _ => format!("{what} was left out: it refers to what is not here"),
    }
}
