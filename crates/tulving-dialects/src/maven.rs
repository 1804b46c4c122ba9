//! The maven dialect: journals, one a day. Its tools are offered; files are not kept yet, and they say so.

use schemars::JsonSchema;
use serde::Deserialize;
use tulving_core::error::Class;

use crate::tool::{Desk, Effect, Refusal, Tool};

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::text(
            "remember",
            "Remember",
            Effect::Writes,
            "Append a line to today's journal (UTC).",
            |_: &Desk<'_>, _: Remember| Err(not_yet("remember")),
        ),
        Tool::text(
            "memory_search",
            "Search journals",
            Effect::Reads,
            "Case-insensitive substring match across the daily journals, newest first.",
            |_: &Desk<'_>, _: Search| Err(not_yet("memory_search")),
        ),
        Tool::text(
            "memory_get",
            "Read a journal",
            Effect::Reads,
            "The journal of a day: today, yesterday, or YYYY-MM-DD.",
            |_: &Desk<'_>, _: Get| Err(not_yet("memory_get")),
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "checked and not used yet")]
struct Remember {
    /// What to write down.
    content: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "checked and not used yet")]
struct Search {
    /// The text to look for.
    query: String,
    /// Most entries to return (default 5).
    #[serde(default)]
    #[schemars(with = "u32")]
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "checked and not used yet")]
struct Get {
    /// today, yesterday, or YYYY-MM-DD.
    date: String,
}

fn not_yet(tool: &str) -> Refusal {
    Refusal {
        code: "not_available",
        message: format!("`{tool}` is not available: this build of Tulving keeps no journals"),
        hint: Some("use the native dialect, or max".to_owned()),
        field: None,
        class: Class::Upstream,
    }
}
