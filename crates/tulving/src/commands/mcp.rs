//! `tulving mcp`: serves the Model Context Protocol on standard input and output.

use std::sync::Arc;

use clap::Args;
use tulving_core::model::request::Caller;
use tulving_core::model::vocabulary::Origin;
use tulving_server::mcp::{AgentNaming, McpServer, StdioLimits, on_stdio};

use crate::args::dialect;
use crate::exit::Outcome;
use crate::failure::{Cause, Failure};
use crate::global::GlobalArgs;
use crate::log::{BackgroundLog, Level, LogSettings};
use crate::maintenance::{LlmWorker, Maintenance};
use crate::model_watch::ModelWatch;
use crate::print::Printer;
use crate::wire::App;

const EXAMPLES: &str = "\
Examples:
  tulving mcp
  tulving mcp --dialect spacebot --space work
  claude mcp add --scope user tulving -- tulving mcp

In the dialects max and maven the instructions also contain memories, up to 4,000 characters. The client starts this
command and talks to it; it is of no use in a terminal. Standard output carries only the protocol.";

/// Flags of `mcp`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct McpArgs {
    /// The dialect of the tools: native, max, memax, groups, maven or spacebot
    #[arg(long, value_name = "DIALECT", default_value = "native")]
    dialect: String,
}

pub(super) fn run(
    args: &McpArgs,
    global: &GlobalArgs,
    app: &App<'_>,
    printer: &mut Printer,
) -> Result<Outcome, Failure> {
    let dialect = dialect(&args.dialect)?;
    let caller = Caller { origin: Origin::Mcp, ..app.here()? };
    if printer.asks() {
        printer.note("An MCP client starts this command and talks to it; it is of no use in a terminal.")?;
        printer.note(
            "`claude mcp add --scope user tulving -- tulving mcp` connects Claude Code. Ctrl-D ends this.",
        )?;
    }
    // The client also reads standard error, so only messages that concern the client are written to it.
    let logging = app.settings.logging;
    let log = BackgroundLog::start(LogSettings { level: logging.level.min(Level::WARN), ..logging });
    app.files.watch();
    if let Some(idle) = app.settings.idle() {
        tracing::warn!("{idle}");
    }
    let maintenance = Maintenance::start(&app.engine, app.store.home(), &app.store.upkeep, &app.index);
    let model_watch = ModelWatch::start(global, app);
    let llm_worker = app.warn_read_only().then(|| LlmWorker::start(&app.engine, app.store.home()));
    let (engine, signal) = (Arc::clone(&app.engine), Arc::new(maintenance.signal()));
    let server = McpServer::new(engine, signal, caller, dialect, AgentNaming::Client);
    // A line may be as long as an HTTP body, and has the same time limit.
    let limits = app.settings.server.limits;
    let served = on_stdio(server, StdioLimits { line_bytes: limits.body_bytes, time: limits.time });
    if let Some(llm_worker) = llm_worker {
        llm_worker.stop();
    }
    model_watch.stop();
    maintenance.stop();
    log.end();
    served.map_err(Cause::Mcp)?;
    Ok(Outcome::Done)
}
