//! Journals, one a day, and long-term memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::files::long_term::LongTermFile;
use tulving_core::files::{Day, JournalFile, JournalHit, JournalReceipt};
use tulving_core::model::answer;
use tulving_core::model::error::Class;
use tulving_core::model::file::Previous;
use tulving_core::model::time::Timestamp;

use super::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use super::people::NoArguments;
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::tool::{self, ToolContext, ToolError};
use tulving_dialects::words;

/// Default and maximum number of entries in a search.
const USUAL: i64 = 5;
const MOST: i64 = 1_000;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/journals", "listJournals", "The journals, newest first", list).read_by(Audience::Relays).saying(
            "With `query`, instead of the journals the newest of their entries that hold this text as it is, in any case.",
        ),
        Operation::new(OperationMethod::Post, "/v1/journals", "note", "Note something in the journal of today", note)
            .creating()
            .saying("Days are UTC. The file is made where it is missing; nothing else in it is touched."),
        Operation::new(OperationMethod::Get, "/v1/journals/{date}", "getJournal", "The journal of a day", get).read_by(Audience::Relays),
        Operation::new(OperationMethod::Get, "/v1/long-term", "getLongTerm", "What is always known: MEMORY.md", long_term).read_by(Audience::Relays)
            .saying("`ETag` is its digest; there is none where there is no such file."),
        Operation::new(OperationMethod::Put, "/v1/long-term", "replaceLongTerm", "Replace MEMORY.md", replace)
            .matching("seen")
            .saying(
                "What it said is kept. With `If-Match`, or `seen`, it is replaced only where it still is what was seen; \
                 an empty `seen` means no file.",
            ),
        Operation::new(
            OperationMethod::Get,
            "/v1/long-term/history",
            "listLongTermHistory",
            "The texts that MEMORY.md had before, newest first",
            history,
        ),
        Operation::new(
            OperationMethod::Get,
            "/v1/long-term/history/{previous}",
            "getLongTermBefore",
            "A text that MEMORY.md had before",
            before,
        ).read_by(Audience::Relays),
        Operation::new(
            OperationMethod::Post,
            "/v1/long-term/restore",
            "restoreLongTerm",
            "Bring back a text that MEMORY.md had before",
            restore,
        )
        .saying("What is there is kept in turn."),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct ListJournalsArguments {
    /// Only entries that hold this text.
    query: Option<String>,
    /// Most entries to give, 1 to 1000 (default 5); for a query.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// A journal.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JournalInfo")]
struct JournalFileReply {
    /// Its day.
    date: String,
    /// Its path below the workspace.
    path: String,
    /// Its size in bytes.
    size: u64,
}

impl From<JournalFile> for JournalFileReply {
    fn from(file: JournalFile) -> Self {
        Self { date: file.date.to_string(), path: file.path, size: file.size }
    }
}

/// An entry of a journal.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JournalEntry")]
struct JournalEntryReply {
    /// The day.
    date: String,
    /// The path of the journal below the workspace.
    path: String,
    /// The line where it begins.
    line: u32,
    /// What it says, cut to 500 characters around the text.
    snippet: String,
}

impl From<JournalHit> for JournalEntryReply {
    fn from(hit: JournalHit) -> Self {
        Self { date: hit.date.to_string(), path: hit.path, line: hit.line, snippet: hit.snippet }
    }
}

/// A file that could not be read.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "UnreadFile")]
pub(super) struct UnreadFileReply {
    /// Its path below the workspace.
    path: String,
    /// Why.
    why: String,
}

impl From<answer::Unread> for UnreadFileReply {
    fn from(unread: answer::Unread) -> Self {
        Self { path: unread.path, why: unread.why }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JournalList")]
struct JournalListReply {
    /// The journals, newest first; none for a query.
    journals: Vec<JournalFileReply>,
    /// The entries that hold what was asked for, newest first.
    entries: Vec<JournalEntryReply>,
    /// The files that could not be read, or are not listed.
    unread: Vec<UnreadFileReply>,
}

fn list(
    desk: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ListJournalsArguments>,
) -> Result<OperationOutput<JournalListReply>, ToolError> {
    let limit = limited(desk, asked.limit, USUAL, MOST)?;
    let Some(query) = asked.query else {
        let found = desk.engine.journals(&desk.caller)?;
        let journals = found.journals.into_iter().map(JournalFileReply::from).collect();
        let unread = found.unread.into_iter().map(UnreadFileReply::from).collect();
        return Ok(JournalListReply { journals, entries: Vec::new(), unread }.into());
    };
    let found = desk.engine.search_journals(&desk.caller, &query, limit)?;
    Ok(JournalListReply {
        journals: Vec::new(),
        entries: found.entries.into_iter().map(JournalEntryReply::from).collect(),
        unread: found.unread.into_iter().map(UnreadFileReply::from).collect(),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JournalNoteArguments {
    /// What to write down.
    #[schemars(length(min = 1))]
    content: String,
}

/// What was noted, and where.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JournalNote")]
struct JournalNoteReply {
    /// The day.
    date: String,
    /// The path of its journal below the workspace.
    path: String,
    /// What was written, as it stands in the file.
    entry: String,
    /// Whether the journal was made for it.
    created: bool,
    /// What was held back of it: secrets, private parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

impl From<JournalReceipt> for JournalNoteReply {
    fn from(noted: JournalReceipt) -> Self {
        let JournalReceipt { date, path, entry, created, warnings } = noted;
        Self { date: date.to_string(), path, entry, created, warnings: tool::warnings(&warnings) }
    }
}

fn note(
    desk: &ToolContext<'_>,
    SingleInput(note): SingleInput<JournalNoteArguments>,
) -> Result<OperationOutput<JournalNoteReply>, ToolError> {
    Ok(OperationOutput::from(JournalNoteReply::from(desk.engine.remember(&desk.caller, &note.content)?))
        .new_if(true))
}

#[derive(Deserialize, JsonSchema)]
struct GetJournalArguments {
    /// today, yesterday, or YYYY-MM-DD.
    date: String,
}

/// A journal and what it says.
#[derive(Serialize, JsonSchema)]
struct JournalReply {
    /// Its day.
    date: String,
    /// Its path below the workspace.
    path: String,
    /// What it says.
    content: String,
}

fn get(
    desk: &ToolContext<'_>,
    SingleInput(of): SingleInput<GetJournalArguments>,
) -> Result<OperationOutput<JournalReply>, ToolError> {
    let date = Day::named(&of.date, desk.engine.now())?;
    let found = desk.engine.journal(&desk.caller, date)?.ok_or_else(|| ToolError {
        class: Class::Absent,
        ..ToolError::invalid("journal_not_found", "date", format!("there is no journal of {date}"))
    })?;
    Ok(JournalReply { date: found.date.to_string(), path: found.path, content: found.content }.into())
}

/// What is always known.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermMemory")]
struct LongTermReply {
    /// The path of the file below the workspace.
    path: String,
    /// What it says; empty where there is no such file.
    content: String,
    /// SHA-256 of the file; null where there is none.
    digest: Option<String>,
    /// When it was last written.
    #[schemars(schema_with = "words::maybe_time")]
    modified_at: Option<Timestamp>,
    /// What was held back of what was just written: secrets, private parts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

fn known(long_term: LongTermFile) -> OperationOutput<LongTermReply> {
    let LongTermFile { path, content, digest, modified_at, warnings, secrets: _ } = long_term;
    let (tag, warnings) = (digest.clone(), tool::warnings(&warnings));
    OperationOutput::from(LongTermReply { path, content, digest, modified_at, warnings }).tagged(tag)
}

fn long_term(
    desk: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<LongTermReply>, ToolError> {
    Ok(known(desk.engine.long_term(&desk.caller)?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplaceLongTermArguments {
    /// What it shall say.
    content: String,
    /// The digest that you saw, where a change in between shall be an error; empty for no file.
    seen: Option<String>,
}

fn replace(
    desk: &ToolContext<'_>,
    SingleInput(new): SingleInput<ReplaceLongTermArguments>,
) -> Result<OperationOutput<LongTermReply>, ToolError> {
    Ok(known(desk.engine.replace_long_term(&desk.caller, &new.content, new.seen.as_deref())?))
}

/// A text that was replaced.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermVersion")]
struct LongTermVersionReply {
    /// What it is called by.
    previous: String,
    /// When it was replaced.
    #[schemars(schema_with = "words::time")]
    at: Timestamp,
    /// Its size in bytes.
    size: u64,
}

impl From<Previous> for LongTermVersionReply {
    fn from(previous: Previous) -> Self {
        Self { previous: previous.id, at: previous.at, size: previous.size }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermHistory")]
struct LongTermHistoryReply {
    /// The texts, newest first.
    texts: Vec<LongTermVersionReply>,
}

fn history(
    desk: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<LongTermHistoryReply>, ToolError> {
    let texts = desk.engine.long_term_history(&desk.caller)?;
    Ok(LongTermHistoryReply { texts: texts.into_iter().map(LongTermVersionReply::from).collect() }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LongTermVersionArguments {
    /// The text, as the history calls it.
    #[schemars(length(min = 1))]
    previous: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermText")]
struct LongTermTextReply {
    /// What it is called by.
    previous: String,
    /// What it said.
    content: String,
}

fn before(
    desk: &ToolContext<'_>,
    SingleInput(which): SingleInput<LongTermVersionArguments>,
) -> Result<OperationOutput<LongTermTextReply>, ToolError> {
    let content = desk.engine.long_term_before(&desk.caller, &which.previous)?;
    Ok(LongTermTextReply { previous: which.previous, content }.into())
}

fn restore(
    desk: &ToolContext<'_>,
    SingleInput(which): SingleInput<LongTermVersionArguments>,
) -> Result<OperationOutput<LongTermReply>, ToolError> {
    Ok(known(desk.engine.restore_long_term(&desk.caller, &which.previous)?))
}
