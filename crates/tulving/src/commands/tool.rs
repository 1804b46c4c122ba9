//! `tulving tool`: calls a tool of a dialect, as an agent would.

use std::ffi::OsString;

use clap::Args;
use serde_json::Value;
use tulving_dialects::Dialect;
use tulving_dialects::listed::ToolDescription;
use tulving_dialects::strict;
use tulving_dialects::tool::ToolContext;

use crate::args::dialect;
use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::input;
use crate::print::Printer;
use crate::show::style::{self, WORD};
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving tool max
  tulving tool max remember '{\"category\": \"preference\", \"content\": \"Likes tea\"}'
  tulving tool max recall '{\"keyword\": \"tea\"}'
  echo '{\"query\": \"how do we deploy?\"}' | tulving tool native recall -

Dialects: native, max, memax, groups, maven, spacebot. MCP and HTTP return the same answers.";

/// Maximum size of the arguments, in bytes.
const ARGUMENTS: usize = 8 * 1024 * 1024;

/// Flags of `tool`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ToolArgs {
    /// The dialect of the tools
    #[arg(value_name = "DIALECT")]
    dialect: String,
    /// The tool; without one, the tools are listed
    #[arg(value_name = "TOOL")]
    tool: Option<String>,
    /// Its arguments as a JSON object, or `-` to read them from standard input
    #[arg(value_name = "JSON", requires = "tool")]
    arguments: Option<OsString>,
}

pub(super) fn run(args: &ToolArgs, app: &App<'_>, printer: &mut Printer) -> Result<Outcome, Failure> {
    let dialect = dialect(&args.dialect)?;
    let Some(name) = &args.tool else {
        return list(dialect, printer);
    };
    let tool = dialect.find(name).map_err(Cause::Refused)?;
    let arguments = match &args.arguments {
        None => Value::Null,
        Some(given) => {
            let text = input::text(std::slice::from_ref(given), ARGUMENTS)?;
            strict::parse(&text).map_err(|error| {
                Failure::usage(format!("the arguments are not JSON: {error}"))
                    .hinted(format!("give an object in single quotes; `tulving tool {dialect} --json` shows what each tool takes"))
            })?
        }
    };
    let caller = app.here()?;
    let tool_context = ToolContext::open(&app.engine, &caller, dialect).map_err(Cause::Refused)?;
    let (text, data) = tool.call(&tool_context, arguments).map_err(Cause::Refused)?.into_parts();
    if printer.json() {
        printer.document(&data.unwrap_or_else(|| serde_json::json!({ "text": text })))?;
        return Ok(Outcome::Done);
    }
    printer.bytes(text.as_bytes())?;
    printer.bytes(b"\n")?;
    Ok(Outcome::Done)
}

fn list(dialect: Dialect, printer: &mut Printer) -> Result<Outcome, Failure> {
    if printer.json() {
        printer.document(&dialect.tools().iter().map(ToolDescription::from).collect::<Vec<_>>())?;
        return Ok(Outcome::Done);
    }
    for tool in dialect.tools() {
        printer.line(format!("{}  {}", style::paint(WORD, tool.name), tool.description))?;
    }
    Ok(Outcome::Done)
}
