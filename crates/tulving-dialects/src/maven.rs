//! The maven dialect: journals, with one file per day, and long-term memory in `MEMORY.md`.

use schemars::JsonSchema;
use serde::Deserialize;
use tulving_core::files::{Day, JournalHit};
use tulving_core::{model::limits, model::preview};

use crate::argument::{WholeNumber, limited};
use crate::tool::{DialectTool, ToolContext, ToolEffect, ToolError};
use crate::words;

/// Default and maximum number of entries in a search.
const USUAL: i64 = 5;
const MOST: i64 = limits::JOURNAL_HITS as i64;
/// Maximum number of characters of a new entry that the answer repeats.
const REPEATED: usize = 120;

pub(crate) fn tools() -> Vec<DialectTool> {
    vec![
        DialectTool::text(
            "remember",
            "Remember",
            ToolEffect::Adds,
            "Append a line to today's journal (UTC): a fact, preference or decision that came up and may be wanted on \
             another day. One statement, clear without this conversation. First search whether it is noted already. Facts \
             that should always be known belong in memory/MEMORY.md.",
            remember,
        ),
        DialectTool::text(
            "memory_search",
            "Search journals",
            ToolEffect::Reads,
            "Find entries of the daily journals that contain a text, ignoring case, newest first. Use it before asking the \
             user something that may have been noted on an earlier day. It searches for the exact text: one or two \
             distinctive words find more than a sentence.",
            search,
        ),
        DialectTool::text(
            "memory_get",
            "Read a journal",
            ToolEffect::Reads,
            "Read the whole journal of a day: today, yesterday, or YYYY-MM-DD. Use it to continue where a day ended, or to \
             see the context of an entry that memory_search found.",
            get,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MavenRememberArguments {
    /// The text to write down.
    content: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MavenSearchArguments {
    /// The text to search for.
    query: String,
    /// Maximum number of entries (default 5).
    #[serde(default)]
    #[schemars(with = "WholeNumber", range(min = 1, max = 1000), extend("default" = 5))]
    limit: Option<WholeNumber>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct MavenGetArguments {
    /// today, yesterday, or YYYY-MM-DD.
    date: String,
}

fn remember(context: &ToolContext<'_>, said: MavenRememberArguments) -> Result<String, ToolError> {
    let noted = context.engine.remember(&context.caller, &said.content)?;
    Ok(format!("Noted in {}: \"{}\"", noted.date.journal(), preview::cut(&noted.entry, REPEATED)))
}

fn search(context: &ToolContext<'_>, asked: MavenSearchArguments) -> Result<String, ToolError> {
    let limit = limited(context, asked.limit, USUAL, MOST)?;
    let found = context.engine.search_journals(&context.caller, &asked.query, limit)?;
    let line = |hit: &JournalHit| format!("\n- {}: {}", hit.date, words::hanging(&hit.snippet, "  "));
    let mut text = match found.entries.len() {
        0 => format!("No journal entry holds \"{}\".", preview::short(&asked.query)),
        1 => "Found 1 entry:".to_owned(),
        count => format!("Found {count} entries:"),
    };
    text.extend(found.entries.iter().map(line));
    text.extend(found.unread.iter().map(|unread| format!("\nNot read: {} ({})", unread.path, unread.why)));
    Ok(text)
}

fn get(context: &ToolContext<'_>, asked: MavenGetArguments) -> Result<String, ToolError> {
    let date = Day::named(&asked.date, context.engine.now())?;
    Ok(match context.engine.journal(&context.caller, date)? {
        Some(journal) => format!("# {date}\n\n{}", journal.content.trim_end()),
        None => format!("No journal entry for {date}."),
    })
}
