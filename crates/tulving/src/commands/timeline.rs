//! `tulving timeline`: shows how knowledge about something changed.

use std::ffi::OsString;

use clap::Args;
use tulving_core::model::answer::{Timeline, TimelineEntry};
use tulving_core::model::error::Field;
use tulving_core::model::limits;
use tulving_core::model::request::{TimelineRequest, TimelineSubject};
use tulving_core::model::time::{Timestamp, Zone};

use super::warn_of_lanes;
use crate::args::{count, moment, whole_number};
use crate::exit::Outcome;
use crate::failure::{Failure, NotAMember};
use crate::input;
use crate::print::Printer;
use crate::show::style::{self, FAINT, NUMBER, WORD};
use crate::show::text::{HangingText, bounded, one_line, pad, width};
use crate::wire::{App, SpaceNames};

const EXAMPLES: &str = "\
Examples:
  tulving timeline \"where is the office?\"
  tulving timeline 12
  tulving timeline \"retries of the API\" --since 2026-01-01

A number or id shows that memory, the memories it updates and those that update it. Any other text is searched for,
and the memories found are followed in the same way. Archived memories are included, forgotten ones are not.";

/// Maximum column to which contents are aligned.
const WIDEST: usize = 80;

/// Flags of `timeline`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TimelineArgs {
    /// The number or id of a memory, or a text to search for; - reads the text from standard input
    #[arg(value_name = "ABOUT", required = true)]
    about: Vec<OsString>,
    /// Maximum number of memories that a text finds, up to 50
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = whole_number, allow_negative_numbers = true)]
    limit: i64,
    /// Only memories that were valid at or after this time: 2026-05-27 or 2026-05-27T09:30:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only memories that were valid before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// In every space that you may see
    #[arg(long, conflicts_with = "space")]
    all_spaces: bool,
}

pub(super) fn run(args: &TimelineArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let text = input::text(&args.about, limits::QUESTION_BYTES)?;
    let caller = app.here()?;
    let request = TimelineRequest {
        about: TimelineSubject::from(text.as_str()),
        space: (!args.all_spaces).then_some(caller.space),
        limit: count(Field::Limit, args.limit, limits::TIMELINE)?,
        since: moment(args.since.as_ref(), &caller.zone)?,
        until: moment(args.until.as_ref(), &caller.zone)?,
    };
    let timeline = app.engine.timeline(&caller, &request)?;
    let names = app.space_names()?;
    if printer.json() {
        printer.document(&timeline)?;
        return Ok(Outcome::Done);
    }
    let now = printer.now();
    let elsewhere = timeline.entries.iter().any(|entry| entry.space != caller.space);
    let (names, columns) = (elsewhere.then_some(&names), printer.columns());
    let place = app.place(&caller)?;
    let sheet = TimelineLayout { now, zone: &caller.zone, names, columns, place: &place };
    printer.lines(&sheet.lines(&timeline.entries))?;
    aside(&timeline, app, printer)?;
    if timeline.entries.is_empty() {
        printer.note(match app.outside(&caller, request.space)? {
            Some(NotAMember { what, hint }) => format!("No memories: {what}; {hint}"),
            None => "No memories about it. Try other words, a longer time, or --all-spaces.".to_owned(),
        })?;
    }
    Ok(Outcome::Done)
}

/// Prints notes about the answer.
fn aside(timeline: &Timeline, app: &App<'_>, printer: &mut Printer) -> Result<(), Failure> {
    warn_of_lanes(&timeline.missing, app.settings.embedding.is_off(), printer)?;
    for unread in &timeline.unread {
        printer.warning(unread)?;
    }
    if timeline.cut {
        let most = limits::TIMELINE_MEMORIES;
        printer.note(format!("There are more; a timeline shows at most {most} memories."))?;
    }
    Ok(())
}

/// The layout of lines.
struct TimelineLayout<'a> {
    now: Timestamp,
    zone: &'a Zone,
    /// The names of spaces, if memories of several are shown together.
    names: Option<&'a SpaceNames>,
    columns: Option<usize>,
    /// The flag that named the space of the call, if one did.
    place: &'a str,
}

/// The cells of a line.
struct TimelineRow {
    when: String,
    who: String,
    content: String,
    end: String,
    /// The command that shows the whole content.
    whole: String,
}

impl TimelineLayout<'_> {
    fn lines(&self, entries: &[TimelineEntry]) -> Vec<String> {
        let several = entries.iter().any(|entry| entry.chain > 1);
        let mut rows: Vec<TimelineRow> = entries.iter().map(|entry| self.row(entry, several)).collect();
        let widest = |rows: &[TimelineRow], cell: fn(&TimelineRow) -> &str| {
            rows.iter().map(|row| width(cell(row))).max().unwrap_or(0)
        };
        let (when, who) = (widest(&rows, |row| &row.when), widest(&rows, |row| &row.who));
        let end = match widest(&rows, |row| &row.end) {
            0 => 0,
            end => end + 3,
        };
        let taken = when + who + 4;
        if let Some(columns) = self.columns
            && taken + widest(&rows, |row| &row.content) + end > columns
        {
            return rows.iter().map(|row| wrapped(row, (when, who), columns)).collect();
        }
        for row in &mut rows {
            row.content = bounded(&row.content, &row.whole);
        }
        let content = widest(&rows, |row| &row.content).min(WIDEST);
        rows.iter().map(|row| line(row, when, who, content)).collect()
    }

    fn row(&self, entry: &TimelineEntry, several: bool) -> TimelineRow {
        let chain = if several { format!("[{}] ", entry.chain) } else { String::new() };
        let space = self.names.and_then(|names| names.get(&entry.space));
        let space = space.map_or_else(String::new, |name| format!("{name} "));
        let name = entry.place.as_deref().map_or_else(|| entry.memory.to_string(), one_line);
        let content = match entry.left_out {
            true => "(left out because others are long; `tulving history` shows it)".to_owned(),
            false => one_line(&entry.content),
        };
        let which = match (entry.memory.number, self.names) {
            (Some(number), None) => number.0.to_string(),
            _ => entry.memory.id.to_string(),
        };
        TimelineRow {
            whole: format!("tulving history {which} --full{}", self.place),
            when: when(entry, self.zone),
            who: format!("{chain}{space}{name} v{}", entry.version),
            content,
            end: self.end(entry),
        }
    }

    /// Returns a text that states what ended an entry, and which memories contradict it.
    fn end(&self, entry: &TimelineEntry) -> String {
        let mut all = Vec::new();
        if entry.from > self.now {
            all.push("not yet".to_owned());
        }
        let over = entry.until.is_none_or(|until| until <= self.now);
        all.extend(entry.ended.filter(|_| over).map(|ended| ended.to_string()));
        if entry.archived && entry.until.is_some() {
            all.push("archived".to_owned());
        }
        if !entry.contradicts.is_empty() {
            let others: Vec<String> = entry.contradicts.iter().map(ToString::to_string).collect();
            all.push(format!("contradicts {}", others.join(", ")));
        }
        all.join(", ")
    }
}

/// Formats the interval: days, or times if both are on one day.
fn when(entry: &TimelineEntry, zone: &Zone) -> String {
    let from = zone.date(entry.from);
    match entry.until {
        Some(until) if zone.date(until) == from => {
            format!("{} → {}", zone.minute(entry.from), zone.minute(until))
        }
        Some(until) => format!("{from} → {}", zone.date(until)),
        None if entry.holds => format!("{from} → now"),
        None => format!("{from} →"),
    }
}

/// Lays out a row on a narrow terminal: the content wraps below itself, and the text about its end is below the
/// content.
fn wrapped(row: &TimelineRow, (when, who): (usize, usize), columns: usize) -> String {
    let heading = format!(
        "{}  {}  ",
        style::paint(FAINT, pad(&row.when, when)),
        style::paint(NUMBER, pad(&row.who, who))
    );
    let hanging = HangingText { heading: &heading, taken: when + who + 4, columns };
    let mut lines = hanging.beginning(&row.content, &row.whole);
    if !row.end.is_empty() {
        lines.extend(hanging.below(&style::paint(WORD, &row.end)));
    }
    lines.join("\n")
}

/// Lays out a line with these column widths.
fn line(row: &TimelineRow, when: usize, who: usize, content: usize) -> String {
    let when = style::paint(FAINT, pad(&row.when, when));
    let who = style::paint(NUMBER, pad(&row.who, who));
    match row.end.as_str() {
        "" => format!("{when}  {who}  {}", row.content),
        end => format!("{when}  {who}  {}   {}", pad(&row.content, content), style::paint(WORD, end)),
    }
}
