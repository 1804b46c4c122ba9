//! `tulving turn`: logs conversations, and makes the prompt after a lost session.

use std::collections::VecDeque;
use std::ffi::OsString;

use clap::{Args, Subcommand};
use tulving_core::model::answer::LoggedTurn;
use tulving_core::model::error::Field;
use tulving_core::model::limits;
use tulving_core::model::request::{Caller, TurnFilter, TurnRequest};
use tulving_core::model::turn::Turn;
use tulving_core::model::vocabulary::TurnRole;
use tulving_dialects::recovery;
use tulving_dialects::tool::ToolContext;

use crate::args::{count, whole_number, word};
use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::input;
use crate::print::Printer;
use crate::show::memory::hung;
use crate::show::style::{self, FAINT};
use crate::show::text::{one_line, width};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving turn log user \"Fix the JWT expiry bug\" --source telegram
  tulving turn log assistant - < answer.md
  tulving turn list --last 20

The log of a space keeps its newest 200 turns; it is trimmed to them at every 50th turn, so --last 250 shows all of
it. Recall does not search the log. A background job reads the turns of users, and saves facts worth keeping as
memories.";

const RECOVER_EXAMPLES: &str = "\
Examples:
  tulving recover
  tulving recover --channel support --assistant Ada";

/// Maximum number of listed turns. It is higher than the number of turns in any log, even in a loaded log that was not
/// pruned yet.
const MOST: usize = 1_000_000;

/// Flags of `turn`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TurnArgs {
    #[command(subcommand)]
    command: TurnCommand,
}

#[derive(Debug, Subcommand)]
enum TurnCommand {
    /// Log a turn
    Log(TurnLogArgs),
    /// Show the newest turns, oldest first
    List(TurnListArgs),
}

#[derive(Debug, Args)]
struct TurnLogArgs {
    /// The role of the speaker
    #[arg(value_parser = word!(TurnRole))]
    role: TurnRole,
    /// The text; - reads standard input
    #[arg(value_name = "CONTENT", required = true)]
    words: Vec<OsString>,
    /// The source, such as telegram or tui [default: unknown]
    #[arg(long, value_name = "NAME")]
    source: Option<String>,
    /// The channel that it belongs to
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// The name of the speaker
    #[arg(long, value_name = "NAME")]
    speaker: Option<String>,
}

#[derive(Debug, Args)]
struct TurnListArgs {
    /// Maximum number of turns, up to the whole log
    #[arg(long, value_name = "NUMBER", default_value_t = 10, value_parser = whole_number, allow_negative_numbers = true)]
    last: i64,
    /// Only turns of this channel
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
}

/// Flags of `recover`.
#[derive(Debug, Args)]
#[command(after_help = RECOVER_EXAMPLES)]
pub(crate) struct RecoverArgs {
    /// Only turns of this channel
    #[arg(long, value_name = "NAME")]
    channel: Option<String>,
    /// The name of the assistant
    #[arg(long, value_name = "NAME", default_value = recovery::ASSISTANT)]
    assistant: String,
}

pub(super) fn run(args: &TurnArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    match &args.command {
        TurnCommand::Log(args) => log(args, app, printer),
        TurnCommand::List(args) => list(args, app, printer),
    }
}

fn log(args: &TurnLogArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let request = TurnRequest {
        channel: args.channel.clone(),
        role: args.role,
        speaker: args.speaker.clone(),
        content: input::text(&args.words, limits::TURN_BYTES)?,
        source: args.source.clone(),
    };
    let logged = app.engine.log_turn(&app.here()?, &request)?;
    if printer.json() {
        printer.document(&logged)?;
    } else {
        let LoggedTurn { turn, warnings } = logged;
        printer.line(format!("Logged turn {} ({}, {})", turn.position, turn.role, turn.source))?;
        printer.warnings(&warnings)?;
    }
    Ok(Outcome::Done)
}

fn list(args: &TurnListArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let last = count(Field::Limit, args.last, MOST)?;
    let caller = app.here()?;
    let turns = newest(app, &caller, args.channel.clone(), last)?;
    if printer.json() {
        printer.document(&serde_json::json!({ "turns": turns }))?;
        return Ok(Outcome::Done);
    }
    let place = app.place(&caller)?;
    for turn in &turns {
        let about = format!("{} {}", caller.zone.date(turn.at), one_line(&turn.source));
        let taken = width(&about) + turn.role.as_str().len() + 3;
        let heading = format!("{} {}: ", style::paint(FAINT, about), turn.role);
        let rest = format!("tulving turn list --json{place}");
        printer.line(hung(&heading, taken, &one_line(&turn.content), &rest, printer.columns()))?;
    }
    if turns.is_empty() {
        printer.note("No turns are logged here. Log one with `tulving turn log user \"…\"`.")?;
    }
    Ok(Outcome::Done)
}

/// Returns the newest turns, oldest first, from as many pages of the log as needed.
fn newest(
    app: &App<'_>,
    caller: &Caller,
    channel: Option<String>,
    last: usize,
) -> Result<VecDeque<Turn>, Failure> {
    let mut filter = TurnFilter { channel, before: None, last: last.min(limits::PAGE) };
    let mut newest = VecDeque::new();
    loop {
        let page = app.engine.turns(caller, &filter)?;
        filter.before = page.turns.first().map(|turn| turn.position);
        page.turns.into_iter().rev().for_each(|turn| newest.push_front(turn));
        filter.last = (last - newest.len()).min(limits::PAGE);
        if !page.earlier || filter.last == 0 {
            return Ok(newest);
        }
    }
}

pub(super) fn recover(args: &RecoverArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let tool_context = ToolContext::open(&app.engine, &app.here()?, tulving_dialects::Dialect::Max)
        .map_err(Cause::Refused)?;
    let prompt =
        recovery::prompt(&tool_context, &args.assistant, args.channel.clone()).map_err(Cause::Refused)?;
    if printer.json() {
        printer.document(&serde_json::json!({ "prompt": prompt }))?;
        return Ok(Outcome::Done);
    }
    if prompt.is_empty() {
        printer.note("No turns are logged here, so there is nothing to recover.")?;
    }
    printer.bytes(prompt.as_bytes())?;
    Ok(Outcome::Done)
}
