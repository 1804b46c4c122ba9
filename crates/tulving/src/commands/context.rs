//! `tulving context`: prints the block for a system prompt at the start of a session.

use clap::Args;
use tulving_core::model::error::Field;
use tulving_core::model::limits;
use tulving_core::model::request::{BriefingRequest, Caller, Filter};
use tulving_dialects::tool::ToolContext;
use tulving_dialects::{Dialect, context};

use crate::args::{count_within, dialect, whole_number};
use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::print::Printer;
use crate::show::text::counted;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving context
  tulving context --about \"the payments service\" --budget 1000
  tulving context --dialect max

The native block is fenced as data and kept within its budget. `--dialect max` prints all memories by category, as Max does,
and `--dialect maven` prints MEMORY.md.";

/// Flags of `context`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ContextArgs {
    /// The dialect of the block: native, max or maven
    #[arg(long, value_name = "DIALECT", default_value = "native")]
    dialect: String,
    /// The topic of the session; relevant memories are added to the block
    #[arg(long, value_name = "TEXT")]
    about: Option<String>,
    /// Maximum number of tokens, 50 to 100000
    #[arg(long, value_name = "TOKENS", default_value_t = 2000, value_parser = whole_number, allow_negative_numbers = true)]
    budget: i64,
}

pub(super) fn run(args: &ContextArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let dialect = dialect(&args.dialect)?;
    if !matches!(dialect, Dialect::Native | Dialect::Max | Dialect::Maven) {
        return Err(
            Failure::usage(format!("{dialect} has no block of its own")).hinted("use native, max or maven")
        );
    }
    let request = BriefingRequest {
        about: args.about.clone(),
        token_budget: count_within(
            Field::Budget,
            args.budget,
            limits::BRIEFING_LEAST,
            limits::BRIEFING_MOST,
        )?,
    };
    let caller = app.here()?;
    let tool_context = ToolContext::open(&app.engine, &caller, dialect).map_err(Cause::Refused)?;
    let session = match dialect {
        Dialect::Native => context::in_sections(&tool_context, &request),
        _ => context::as_block(&tool_context, dialect, &request),
    };
    let session = session.map_err(Cause::Refused)?;
    if printer.json() {
        printer.document(&session)?;
        return Ok(Outcome::Done);
    }
    for unread in session.briefing.iter().flat_map(|briefing| &briefing.unread) {
        printer.warning(unread)?;
    }
    if session.context.is_empty() {
        printer.note(nothing(app, &caller, dialect)?)?;
    }
    printer.bytes(session.context.as_bytes())?;
    Ok(Outcome::Done)
}

/// Explains why there is no block.
fn nothing(app: &App<'_>, caller: &Caller, dialect: Dialect) -> Result<String, Failure> {
    if dialect == Dialect::Maven {
        return Ok("MEMORY.md is empty, so there is no context.".to_owned());
    }
    let filter = Filter { space: Some(caller.space), ..Filter::default() };
    // With other backends the engine cannot count memories; the count is then 0.
    let here = app.engine.count(caller, &filter).unwrap_or(0);
    if here == 0 {
        return Ok("There are no memories yet, so there is no context.".to_owned());
    }
    let (here, are) =
        (counted(here, "memory is", "memories are"), if here == 1 { "it is" } else { "each is" });
    Ok(format!(
        "{here} here, but {are} superseded, archived or not valid now, so there is no context. `tulving list` shows them."
    ))
}
