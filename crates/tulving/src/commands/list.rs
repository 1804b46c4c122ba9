//! `tulving list`: lists memories page by page. The cursors ensure that no memory is skipped or repeated.

use clap::Args;
use tulving_core::model::answer::{Cursor, FailedBackend, Page};
use tulving_core::model::error::{Error, Field};
use tulving_core::model::limits;
use tulving_core::model::request::{Caller, Filter, ForgottenFilter, ListRequest, Quarantined, Sort};
use tulving_core::model::vocabulary::State;

use crate::args::{FilterArgs, count, order, whole_number, word};
use crate::exit::Outcome;
use crate::failure::{Failure, NotAMember};
use crate::print::Printer;
use crate::show::memory::{Layout, lines};
use crate::show::text::thousands;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving list
  tulving list --type decision --tag backend --sort importance
  tulving list --since 2026-05-01 --until 2026-06-01 --all
  tulving list --forgotten
  tulving list --all --json > memories.json";

/// Flags of `list`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArgs {
    /// The order; agenda: open ones first, the soonest due, then the most important
    #[arg(long, value_name = "ORDER", value_parser = order(), default_value_t = Sort::Newest)]
    sort: Sort,
    /// Maximum number, up to 1000
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = whole_number, allow_negative_numbers = true)]
    limit: i64,
    /// Continue after the last page; with the same filters and order
    #[arg(long, conflicts_with = "all", allow_hyphen_values = true)]
    cursor: Option<String>,
    /// Every page
    #[arg(long, conflicts_with = "limit")]
    all: bool,
    /// Only in this state: processing, active, cooling or archived; may be repeated
    #[arg(long = "state", value_name = "STATE", value_parser = word!(State), hide_possible_values = true, conflicts_with = "forgotten")]
    states: Vec<State>,
    /// Archived and expired ones only; without it they are left out
    #[arg(long, conflicts_with = "states")]
    archived: bool,
    /// Forgotten ones only
    #[arg(long, conflicts_with = "archived")]
    forgotten: bool,
    /// Only memories with this text in content, title or key, ignoring case
    #[arg(long, value_name = "TEXT")]
    contains: Option<String>,
    #[command(flatten)]
    chooser: FilterArgs,
}

impl ListArgs {
    fn filter(&self, caller: &Caller) -> Result<Filter, Failure> {
        let mut filter = self.chooser.filter(&caller.zone)?;
        filter.space = (!self.chooser.all_spaces).then_some(caller.space);
        filter.substring.clone_from(&self.contains);
        if self.forgotten {
            filter.forgotten = ForgottenFilter::Only;
            filter.quarantined = Quarantined::Either;
        } else if !self.states.is_empty() {
            filter.states.clone_from(&self.states);
        } else if self.archived {
            filter.states = vec![State::Archived];
        } else {
            filter.states = vec![State::Processing, State::Active, State::Cooling];
        }
        Ok(filter)
    }

    fn request(&self, caller: &Caller) -> Result<ListRequest, Failure> {
        let limit = if self.all { limits::PAGE } else { count(Field::Limit, self.limit, limits::PAGE)? };
        let cursor = self.cursor.as_deref().map(str::parse::<Cursor>).transpose()?;
        Ok(ListRequest { filter: self.filter(caller)?, sort: self.sort, limit, cursor })
    }
}

pub(super) fn run(args: &ListArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let caller = app.here()?;
    let mut request = args.request(&caller)?;
    app.resolve_source_path(&mut request.filter.source_path)?;
    let names = app.space_names()?;
    let place = app.place(&caller)?;
    let layout = Layout {
        now: printer.now(),
        then: None,
        columns: printer.columns(),
        spaces: args.chooser.all_spaces.then_some(&names),
        place: &place,
    };
    let mut shown = 0;
    let mut document = printer.json().then_some(ListWriter { begun: false, failed: Vec::new() });
    loop {
        let Page { memories, next, failed_backends, .. } = app.engine.list(&caller, &request)?;
        shown += memories.len();
        match &mut document {
            Some(document) => {
                for memory in &memories {
                    document.item(memory, printer)?;
                }
            }
            None => printer.lines(&lines(memories.iter(), &layout))?,
        }
        if let Some(document) = &mut document {
            document.failed(failed_backends);
        } else {
            for failed in failed_backends {
                printer.warning(failed)?;
            }
        }
        request.cursor = next;
        if next.is_none() || !args.all {
            break;
        }
    }
    match document {
        Some(document) => {
            let whole = args.cursor.is_none() && request.cursor.is_none();
            let total = if whole { Some(shown as u64) } else { total(&request, &caller, app)? };
            document.end(request.cursor, total, printer)?;
        }
        None => footer(shown, &request, &caller, app, printer)?,
    }
    Ok(Outcome::Done)
}

/// Returns the number of memories on all pages; `None` if several backends are asked.
fn total(request: &ListRequest, caller: &Caller, app: &App<'_>) -> Result<Option<u64>, Failure> {
    match app.engine.count(caller, &request.filter) {
        Ok(total) => Ok(Some(total)),
        Err(Error::Backend { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn footer(
    shown: usize,
    request: &ListRequest,
    caller: &Caller,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<(), Failure> {
    if let Some(cursor) = request.cursor {
        let total = total(request, caller, app)?;
        let total = total.map_or_else(String::new, |total| format!(" of {}", thousands(total)));
        return printer.note(format!("{shown}{total}; for the next page add --cursor {cursor}"));
    }
    if shown == 0
        && let Some(NotAMember { what, hint }) = app.outside(caller, request.filter.space)?
    {
        return printer.note(format!("No memories: {what}; {hint}"));
    }
    if shown == 0 {
        return printer.note("No memories. Save one with `tulving save \"…\"`, or loosen the filters.");
    }
    Ok(())
}

/// A document of any length, written item by item.
struct ListWriter {
    begun: bool,
    failed: Vec<FailedBackend>,
}

impl ListWriter {
    fn item(&mut self, item: &impl serde::Serialize, printer: &mut Printer) -> Result<(), Failure> {
        let before = if self.begun { ",\n" } else { "{\"memories\":[\n" };
        self.begun = true;
        printer.bytes(before.as_bytes())?;
        printer.part(item)
    }

    /// Records the backends that failed on a page, each only once.
    fn failed(&mut self, failed: Vec<FailedBackend>) {
        for failed in failed {
            if !self.failed.contains(&failed) {
                self.failed.push(failed);
            }
        }
    }

    fn end(self, next: Option<Cursor>, total: Option<u64>, printer: &mut Printer) -> Result<(), Failure> {
        printer.bytes(if self.begun {
            b"\n],\"next_cursor\":"
        } else {
            b"{\"memories\":[],\"next_cursor\":"
        })?;
        printer.part(&next)?;
        if let Some(total) = total {
            printer.bytes(b",\"total\":")?;
            printer.part(&total)?;
        }
        if !self.failed.is_empty() {
            printer.bytes(b",\"failed_backends\":")?;
            printer.part(&self.failed)?;
        }
        printer.bytes(b"}\n")
    }
}
