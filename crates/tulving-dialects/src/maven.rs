//! The maven dialect: journals, one file a day, and what is always known in `MEMORY.md`.

use schemars::JsonSchema;
use serde::Deserialize;
use tulving_core::journal::{Day, JournalHit};
use tulving_core::{limits, preview};

use crate::argument::{Whole, limited};
use crate::tool::{Desk, Effect, Refusal, Tool};
use crate::words;

/// How many entries a search gives where it does not say, and at the most.
const USUAL: i64 = 5;
const MOST: i64 = limits::JOURNAL_HITS as i64;
/// Most characters of an entry that are repeated when it was noted.
const REPEATED: usize = 120;

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::text(
            "remember",
            "Remember",
            Effect::Adds,
            "Append a line to today's journal (UTC): a fact, preference or decision that came up and may be wanted on \
             another day. One statement, understood without this conversation. Search first whether it is noted \
             already. What should always be known belongs in memory/MEMORY.md.",
            remember,
        ),
        Tool::text(
            "memory_search",
            "Search journals",
            Effect::Reads,
            "Find entries of the daily journals that hold a text, in any case, newest first. Use it before asking the \
             user something that may have been noted on an earlier day. It looks for the text as it is: one or two \
             telling words find more than a sentence.",
            search,
        ),
        Tool::text(
            "memory_get",
            "Read a journal",
            Effect::Reads,
            "Read the whole journal of a day: today, yesterday, or YYYY-MM-DD. Use it to take up where a day ended, or \
             to see what stands around an entry that memory_search found.",
            get,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remember {
    /// What to write down.
    content: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Search {
    /// The text to look for.
    query: String,
    /// Most entries to return (default 5).
    #[serde(default)]
    #[schemars(with = "Whole", range(min = 1, max = 1000), extend("default" = 5))]
    limit: Option<Whole>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Get {
    /// today, yesterday, or YYYY-MM-DD.
    date: String,
}

fn remember(desk: &Desk<'_>, said: Remember) -> Result<String, Refusal> {
    let noted = desk.engine.remember(&desk.caller, &said.content)?;
    Ok(format!("Noted in {}: \"{}\"", noted.date.journal(), preview::cut(&noted.entry, REPEATED)))
}

fn search(desk: &Desk<'_>, asked: Search) -> Result<String, Refusal> {
    let limit = limited(desk, asked.limit, USUAL, MOST)?;
    let found = desk.engine.search_journals(&desk.caller, &asked.query, limit)?;
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

fn get(desk: &Desk<'_>, asked: Get) -> Result<String, Refusal> {
    let date = Day::named(&asked.date, desk.engine.now())?;
    Ok(match desk.engine.journal(&desk.caller, date)? {
        Some(journal) => format!("# {date}\n\n{}", journal.content.trim_end()),
        None => format!("No journal entry for {date}."),
    })
}
