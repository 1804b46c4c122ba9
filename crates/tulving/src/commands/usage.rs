//! `tulving usage`: shows what the language model has cost, by day, model and purpose. For admins.

use clap::Args;
use tulving_core::model::llm::{LlmSpending, LlmUsage as Row};

use crate::args::whole_number;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::table::table;
use crate::show::text::{counted, thousands};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving usage
  tulving usage --days 30
  tulving usage --days 1 --json

Days are UTC. If a service does not report its token count, four bytes count as one token.
llm.tokens_per_day limits the tokens of one day, of all processes together.";

/// Flags of `usage`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct UsageArgs {
    /// Number of days to look back, including today
    #[arg(long, value_name = "NUMBER", default_value_t = 7, value_parser = whole_number, allow_negative_numbers = true)]
    days: i64,
}

pub(super) fn run(args: &UsageArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let spending = app.engine.usage(app.everywhere("usage")?, args.days)?;
    if printer.json() {
        printer.document(&spending)?;
        return Ok(Outcome::Done);
    }
    if spending.usage.is_empty() {
        printer.line("No language model was called")?;
    } else {
        let rows: Vec<_> = spending.usage.iter().map(row).collect();
        let headings =
            ["day", "provider", "model", "pass", "calls", "failed", "tokens in", "tokens out", "dropped"];
        printer.lines(&table(headings, &rows))?;
    }
    printer.note(bound(&spending))?;
    Ok(Outcome::Done)
}

fn row(usage: &Row) -> [String; 9] {
    [
        usage.day.clone(),
        usage.provider.clone(),
        usage.model.clone(),
        usage.pass.clone(),
        thousands(usage.calls),
        thousands(usage.failures),
        thousands(usage.tokens_in),
        thousands(usage.tokens_out),
        thousands(usage.dropped),
    ]
}

/// Describes the budget and the model.
fn bound(spending: &LlmSpending) -> String {
    let Some(llm) = &spending.llm else {
        return "no language model is set up".to_owned();
    };
    let today = counted(spending.today, "token", "tokens");
    match spending.tokens_per_day {
        None => format!("{llm}: {today} today, without a limit"),
        Some(limit) => format!("{llm}: {today} of {} today", thousands(limit)),
    }
}
