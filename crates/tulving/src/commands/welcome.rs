//! `tulving` without a command: shows what the home contains, and suggests next steps. It creates no home.

use serde::Serialize;
use tulving_core::model::request::Filter;
use tulving_store::Home;

use crate::config::Settings;
use crate::exit::Outcome;
use crate::failure::Failure;
use crate::print::Printer;
use crate::show::style::{self, FAINT, STRONG};
use crate::show::text::{counted, pad};
use crate::wire;

#[derive(Clone, Copy, Serialize)]
struct WelcomeExample {
    command: &'static str,
    about: &'static str,
}

const SAVE: WelcomeExample = WelcomeExample {
    command: "tulving save \"Prefers dark roast, no sugar\" --type preference",
    about: "remember something",
};

/// Examples for an empty home.
const FIRST: &[WelcomeExample] = &[
    SAVE,
    WelcomeExample {
        command: "tulving recall \"how do I take my coffee?\"",
        about: "find it again, by meaning",
    },
    WelcomeExample { command: "tulving demo", about: "see it at work, in a temporary home" },
];

/// Examples for a home with memories.
const NEXT: &[WelcomeExample] = &[
    SAVE,
    WelcomeExample {
        command: "tulving recall \"how do I take my coffee?\"",
        about: "find something, by meaning",
    },
    WelcomeExample { command: "tulving shell", about: "ask one question after the other" },
    WelcomeExample { command: "tulving list", about: "see what is there, newest first" },
    WelcomeExample {
        command: "tulving context",
        about: "see the context that an agent gets at the start of a session",
    },
];

/// Examples that connect other programs.
const CONNECT: &[WelcomeExample] = &[
    WelcomeExample {
        command: "claude mcp add --scope user tulving -- tulving mcp",
        about: "give it to an agent; others: docs/mcp.md",
    },
    WelcomeExample { command: "tulving serve", about: "give it to programs, on 127.0.0.1:7777" },
    WelcomeExample { command: "tulving --help", about: "see all commands" },
];

/// The counts that are relevant to a caller.
#[derive(Serialize)]
struct MemoryCounts {
    memories: u64,
    waiting_for_review: usize,
}

pub(super) fn run(settings: &Settings, printer: &mut Printer) -> Result<Outcome, Failure> {
    let held = held(settings)?;
    let examples = match &held {
        Some(MemoryCounts { memories: 1.., .. }) => [NEXT, CONNECT].concat(),
        _ => [FIRST, CONNECT].concat(),
    };
    if printer.json() {
        printer.document(&serde_json::json!({ "held": held, "examples": examples }))?;
        return Ok(Outcome::Done);
    }
    match &held {
        Some(MemoryCounts { memories: memories @ 1.., waiting_for_review }) => {
            let said = counted(*memories, "memory is", "memories are");
            printer.line(style::paint(STRONG, format!("{said} in `{}`. To go on:", settings.space)))?;
            if *waiting_for_review > 0 {
                let waiting = counted(*waiting_for_review as u64, "note waits", "notes wait");
                printer.line(format!("{waiting} for you: `tulving review` lists them."))?;
            }
        }
        _ => printer.line(style::paint(STRONG, "Tulving remembers for you and your agents. To begin:"))?,
    }
    printer.line("")?;
    let widest = examples.iter().map(|example| example.command.len()).max().unwrap_or(0);
    for WelcomeExample { command, about } in &examples {
        printer.line(format!("  {}  {}", pad(command, widest), style::paint(FAINT, about)))?;
    }
    Ok(Outcome::Done)
}

/// Returns what the home contains; `None` if there is none yet.
fn held(settings: &Settings) -> Result<Option<MemoryCounts>, Failure> {
    if !settings.home.exists() || !Home::open_or_create(&settings.home)?.database().exists() {
        return Ok(None);
    }
    let app = wire::open(settings)?;
    let caller = app.here()?;
    let filter = Filter { space: Some(caller.space), ..Filter::default() };
    let memories = app.engine.count(&caller, &filter)?;
    let waiting_for_review = app.engine.review(&caller, MOST_WAITING, None)?.memories.len();
    Ok(Some(MemoryCounts { memories, waiting_for_review }))
}

/// Maximum number of waiting notes that are counted.
const MOST_WAITING: usize = 100;
