//! `tulving load`: loads the complete output of `dump`, or nothing after an error. Existing records do not change, so the
//! command can be repeated.

use std::path::PathBuf;

use clap::Args;
use indicatif::ProgressBar;
use tulving_core::model::preview;
use tulving_core::model::record::{self, LoadOutcome};
use tulving_core::{DumpLoad, DumpMembership, LoadOptions, LoadReport, SkippedDumpLine};

use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input::InputLines;
use crate::print::Printer;
use crate::show::text::counted;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving load memories.jsonl
  gunzip -c memories.jsonl.gz | tulving load -
  tulving load memories.jsonl --with-roles

Everything is loaded; if a line is refused, nothing is. A memory keeps its number if it is free, and else
gets a new one. Without --with-roles a load gives nobody rights on existing data: a membership is imported
only if its space, team or org came with this load, and its principal did too or is you. A membership never
makes anyone an admin of an org.";

/// Number of lines that are checked at a time.
const LINES: usize = 1_000;

/// Maximum number of memories of each sort in the output for people. The output for programs lists all memories.
const LISTED: usize = 20;

/// Flags of `load`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LoadArgs {
    /// The dump; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Import every membership with its role, including admins of the org
    #[arg(long)]
    with_roles: bool,
}

pub(super) fn run(args: &LoadArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    app.everywhere("load")?;
    let mut lines = InputLines::open(&args.file)?;
    if lines.is_database() {
        return Err(lines.database());
    }
    let bar = printer.bar("Loading", lines.size());
    let options = LoadOptions { with_roles: args.with_roles };
    let done = load(&mut lines, options, app, &bar);
    bar.finish_and_clear();
    let loaded = done.map_err(|failure| {
        let nothing = "nothing was loaded";
        let hint = failure.hint().map_or_else(|| nothing.to_owned(), |own| format!("{own}; {nothing}"));
        failure.hinted(hint)
    })?;
    if printer.json() {
        printer.document(&loaded)?;
    } else {
        report(&loaded, printer)?;
    }
    Ok(Outcome::Done)
}

fn load(
    lines: &mut InputLines,
    options: LoadOptions,
    app: &App<'_>,
    bar: &ProgressBar,
) -> Result<LoadReport, Failure> {
    let mut loading = app.engine.begin_load(&app.caller, options)?;
    take_all(lines, &mut loading, app, bar)?;
    Ok(app.engine.finish_load(&app.caller, loading)?)
}

fn take_all(
    lines: &mut InputLines,
    loading: &mut DumpLoad,
    app: &App<'_>,
    bar: &ProgressBar,
) -> Result<(), Failure> {
    let mut waiting = Vec::new();
    let mut some = false;
    while let Some((line, text)) = lines.next()? {
        some = true;
        let record = record::from_line(&text).map_err(|why| lines.wrong(line, why))?;
        waiting.push((line, record));
        if waiting.len() == LINES {
            app.engine.load(&app.caller, loading, std::mem::take(&mut waiting))?;
            bar.set_position(if lines.size().is_some() { lines.read() } else { line });
        }
    }
    if !some {
        return Err(lines.empty());
    }
    Ok(app.engine.load(&app.caller, loading, waiting)?)
}

fn report(loading: &LoadReport, printer: &mut Printer) -> Result<(), Failure> {
    printer.line(format!(
        "Loaded {}: {}, {}, {}",
        counted(loading.added, "record", "records"),
        counted(loading.memories, "memory", "memories"),
        counted(loading.files, "file", "files"),
        counted(loading.attachments, "attachment", "attachments"),
    ))?;
    let rest = [
        (loading.present, "existed already", "existed already"),
        (loading.files_present, "file existed already", "files existed already"),
        (loading.attachments_present, "attachment existed already", "attachments existed already"),
        (u64::try_from(loading.renumbered.len()).unwrap_or(u64::MAX), "got a new number", "got a new number"),
        (
            loading.duplicates,
            "was left out: a memory with the same content, key or path is here",
            "were left out: memories with the same content, key or path are here",
        ),
        (
            loading.dangling,
            "was left out: it references a missing record",
            "were left out: they reference missing records",
        ),
    ];
    for (count, one, many) in rest.into_iter().filter(|(count, ..)| *count > 0) {
        printer.line(format!("  {}", counted(count, one, many)))?;
    }
    for loaded in loading.renumbered.iter().take(LISTED) {
        if let LoadOutcome::Renumbered { from, to } = loaded {
            printer.line(format!("    {from} is now {to}"))?;
        }
    }
    if loading.renumbered.len() > LISTED {
        printer.line("    … --json lists all of them")?;
    }
    for path in &loading.files_differ {
        printer.warning(format!("the file {path} exists here with other content, and stays unchanged"))?;
    }
    for (what, why) in &loading.missing {
        printer.warning(format!("{what} was left out: {why}"))?;
    }
    for name in loading.attachments_missing.iter().take(LISTED) {
        printer.warning(format!("the attachment {name} is neither in the dump nor here"))?;
    }
    if loading.attachments_missing.len() > LISTED {
        printer.note("--json lists all attachments that are missing")?;
    }
    for role in &loading.roles {
        printer.line(format!(
            "  {} is now {} of the {} {}",
            role.principal,
            article(role),
            role.realm,
            role.of
        ))?;
    }
    for role in &loading.roles_left_out {
        let who = format!("{} would be {} of the {} {}", role.principal, article(role), role.realm, role.of);
        printer.warning(format!("line {} was left out: {who}", role.line))?;
    }
    if !loading.roles_left_out.is_empty() {
        printer.note("load it again with --with-roles to import these memberships")?;
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

/// Returns a role with its article.
fn article(role: &DumpMembership) -> String {
    let role = role.role.as_str();
    format!("{} {role}", preview::article(role))
}

/// Explains which line was left out, and why.
fn explain(left_out: &SkippedDumpLine) -> String {
    let what = match left_out.memory {
        None => format!("line {}", left_out.line),
        Some(memory) => format!("line {} (memory {memory})", left_out.line),
    };
    match left_out.loaded {
        LoadOutcome::Duplicate { of } => {
            format!("{what} was left out: memory {of} here has the same content, key or path")
        }
        _ => format!("{what} was left out: it references a missing record"),
    }
}
