//! `tulving journal`: shows the notes of a day, or adds one for today.

use std::ffi::OsString;

use clap::Args;
use serde_json::json;
use tulving_core::files::{Day, JournalFileList, JournalHits};
use tulving_core::model::error::Field;
use tulving_core::model::limits;

use crate::args::{count, whole_number};
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::input;
use crate::print::Printer;
use crate::show::style::{self, FAINT, WORD};
use crate::show::text::{HangingText, counted, one_line, width};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving journal
  tulving journal 2026-05-27
  tulving journal --note \"Prefers Postgres on Hetzner, not RDS\"
  tulving journal --search postgres --limit 5
  tulving journal --list

A journal is a Markdown file for each day (UTC), in `memory` of the workspace; edit it as you like.";

/// Flags of `journal`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct JournalArgs {
    /// The day in UTC: today, yesterday, or a date such as 2026-05-27
    #[arg(value_name = "DAY", default_value = "today", conflicts_with_all = ["note", "search", "list"])]
    day: String,
    /// Add this note to today's journal; - reads standard input
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with_all = ["search", "list"])]
    note: Option<OsString>,
    /// Find entries that contain this text, newest first
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, conflicts_with = "list")]
    search: Option<String>,
    /// Maximum number of entries
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = whole_number, allow_negative_numbers = true, requires = "search")]
    limit: i64,
    /// List the journals, newest first
    #[arg(long)]
    list: bool,
}

pub(super) fn run(args: &JournalArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    match args {
        JournalArgs { note: Some(content), .. } => note(content, app, printer),
        JournalArgs { search: Some(text), limit, .. } => search(text, *limit, app, printer),
        JournalArgs { list: true, .. } => list(app, printer),
        JournalArgs { day, .. } => show(day, app, printer),
    }
}

fn show(day: &str, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let date = Day::named(day, app.engine.now())?;
    let found = app.engine.journal(&app.here()?, date)?;
    match found {
        Some(journal) if printer.json() => printer.document(&journal)?,
        None if printer.json() => printer.document(&json!({ "date": date, "content": null }))?,
        Some(journal) => printer.written(&format!("# {date} (UTC)\n\n{}", journal.content))?,
        None => printer.note(format!("No journal entry for {date} (UTC)."))?,
    }
    Ok(Outcome::Done)
}

fn note(content: &OsString, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let content = input::text(std::slice::from_ref(content), app.settings.limits.content_bytes)?;
    let noted = app.engine.remember(&app.here()?, &content)?;
    if printer.json() {
        printer.document(&noted)?;
    } else {
        printer.line(format!("Noted in {}", noted.path))?;
        printer.warnings(&noted.warnings)?;
    }
    // The journal is read now, so that the work after the answer embeds the new entry, and the next recall does not wait.
    app.engine.follow_files();
    Ok(Outcome::Done)
}

fn search(text: &str, limit: i64, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let limit = count(Field::Limit, limit, limits::JOURNAL_HITS)?;
    let found = app.engine.search_journals(&app.here()?, text, limit)?;
    if printer.json() {
        printer.document(&found)?;
        return Ok(Outcome::Done);
    }
    let JournalHits { entries, unread } = &found;
    for hit in entries {
        let place = style::paint(FAINT, format!("{}:{}", hit.path, hit.line));
        let (heading, text) = (format!("{}  ", style::paint(WORD, hit.date)), one_line(&hit.snippet));
        let taken = width(&hit.date.to_string()) + 2;
        printer.line(match printer.columns() {
            None => format!("{heading}{text}  {place}"),
            Some(columns) => {
                let hanging = HangingText { heading: &heading, taken, columns };
                hanging.lines(&format!("{text}  {place}")).join("\n")
            }
        })?;
    }
    for unread in unread {
        printer.warning(unread)?;
    }
    if entries.is_empty() {
        printer.note("No journal contains that text.")?;
    }
    Ok(Outcome::Done)
}

fn list(app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let found = app.engine.journals(&app.here()?)?;
    if printer.json() {
        printer.document(&found)?;
        return Ok(Outcome::Done);
    }
    let JournalFileList { journals, unread } = &found;
    for journal in journals {
        let size = style::paint(FAINT, counted(journal.size, "byte", "bytes"));
        printer.line(format!("{}  {}  {size}", style::paint(WORD, journal.date), journal.path))?;
    }
    for unread in unread {
        printer.warning(unread)?;
    }
    if journals.is_empty() {
        printer.note("No journals. Note something with `tulving journal --note \"…\"`.")?;
    }
    Ok(Outcome::Done)
}
