//! `tulving recall`: finds memories again.

use std::ffi::OsString;

use clap::{Args, ValueEnum};
use serde::Serialize;
use tulving_core::answer::Hit;
use tulving_core::error::Field;
use tulving_core::limits;
use tulving_core::request::{Mode, RecallRequest, Sort};

use super::Placed;
use crate::args::{Chooser, count, whole_number};
use crate::exit::Outcome;
use crate::failure::{Failure, Outside};
use crate::input;
use crate::print::Printer;
use crate::show::memory::{Layout, lines};
use crate::show::text::thousands;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving recall typescript
  tulving recall \"dark roast\" --type preference
  tulving recall --mode important --limit 5
  tulving recall --mode typed --type decision --since 2026-05-01
  tulving recall deploy --json

The text is looked for as it is, in any case, in content, title and key. What is recalled counts as used.";

/// Flags of `recall`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Recall {
    /// What to look for; without it, the newest memories
    #[arg(value_name = "TEXT")]
    words: Vec<OsString>,
    /// How to find: the newest, the most important, or all of the types named by --type
    #[arg(long, value_enum)]
    mode: Option<How>,
    /// Another order than the mode's own
    #[arg(long, value_enum)]
    sort: Option<Order>,
    /// How many at the most
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = whole_number, allow_negative_numbers = true)]
    limit: i64,
    #[command(flatten)]
    chooser: Chooser,
}

/// How to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum How {
    Recent,
    Important,
    Typed,
}

/// In which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Order {
    Recent,
    Importance,
    MostAccessed,
}

/// The answer for programs.
#[derive(Serialize)]
struct Found<'a> {
    memories: Vec<Placed<'a, Hit>>,
    total_found: u64,
}

impl Recall {
    fn request(&self, app: &App<'_>) -> Result<RecallRequest, Failure> {
        let text = match self.words.as_slice() {
            [] => None,
            words => Some(input::text(words, app.settings.limits.content_bytes)?.trim().to_owned()),
        };
        let mut filter = self.chooser.filter()?;
        let mode = match (self.mode, text) {
            (None, None) => Mode::Recent,
            (None, Some(text)) => Mode::Substring(text),
            (Some(how), text) => {
                filter.substring = text;
                match how {
                    How::Recent => Mode::Recent,
                    How::Important => Mode::Important,
                    How::Typed => Mode::Typed,
                }
            }
        };
        let sort = self.sort.map(|order| match order {
            Order::Recent => Sort::Newest,
            Order::Importance => Sort::Importance,
            Order::MostAccessed => Sort::MostAccessed,
        });
        Ok(RecallRequest { mode, filter, sort, limit: count(Field::Limit, self.limit, limits::RECALL)? })
    }
}

pub(super) fn run(args: &Recall, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let mut request = args.request(app)?;
    let caller = app.here()?;
    if !args.chooser.all_spaces {
        request.filter.space = Some(caller.space);
    }
    let answer = app.engine.recall(&caller, &request)?;
    if printer.json() {
        let names = app.space_names()?;
        let placed = answer.hits.iter().map(|hit| Placed::new(hit, hit.memory.space, &names));
        printer.document(&Found { memories: placed.collect(), total_found: answer.total_found })?;
        return Ok(Outcome::Done);
    }
    if answer.hits.is_empty() {
        if let Some(Outside { what, hint }) = app.outside(&caller, request.filter.space)? {
            printer.note(format!("No memories: {what}; {hint}"))?;
            return Ok(Outcome::Done);
        }
        return nothing(args, &request.mode, printer);
    }
    let names = args.chooser.all_spaces.then(|| app.space_names()).transpose()?;
    let layout = Layout { now: printer.now(), columns: printer.columns(), spaces: names.as_ref() };
    printer.lines(&lines(answer.hits.iter().map(|hit| &hit.memory), &layout))?;
    let shown = u64::try_from(answer.hits.len()).unwrap_or(u64::MAX);
    if answer.total_found > shown {
        let found = thousands(answer.total_found);
        printer.note(format!("{} of {found}; --limit shows more", thousands(shown)))?;
    }
    Ok(Outcome::Done)
}

/// Nothing found is an answer, not an error.
fn nothing(args: &Recall, mode: &Mode, printer: &mut Printer) -> Result<Outcome, Failure> {
    let what = match mode {
        Mode::Substring(text) => format!("No memory holds “{}”.", tulving_core::preview::short(text)),
        _ => "No memories found.".to_owned(),
    };
    let tip = match mode {
        Mode::Substring(_) => "Try a shorter word, or --all-spaces.",
        _ if args.chooser.has_types() => "Try without --type, or `tulving list --all-spaces`.",
        _ => "Save one with `tulving save \"…\"`.",
    };
    printer.note(format!("{what} {tip}"))?;
    Ok(Outcome::Done)
}
