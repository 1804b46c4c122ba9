//! Operations on the daily journals and on long-term memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::files::long_term::LongTermFile;
use tulving_core::files::{Day, JournalFile, JournalHit, JournalReceipt};
use tulving_core::model::answer::{UnreadableFile, WarningMessage};
use tulving_core::model::error::Class;
use tulving_core::model::file::PreviousFile;
use tulving_core::model::time::Timestamp;

use super::messages;
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::input::NoArguments;
use tulving_dialects::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::tool::{ToolContext, ToolError};

/// Default and maximum number of entries in a search.
const USUAL: i64 = 5;
const MOST: i64 = 1_000;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/journals", "listJournals", "List journals, newest first", list).read_by(Audience::Relays).saying(
            "With `query`, returns the newest journal entries that contain this exact text, ignoring case, instead of the journals.",
        ),
        Operation::new(OperationMethod::Post, "/v1/journals", "note", "Add a note to today's journal", note)
            .creating()
            .saying("Days are UTC. The file is created if it is missing; the rest of it stays unchanged."),
        Operation::new(OperationMethod::Get, "/v1/journals/{date}", "getJournal", "Read the journal of a day", get).read_by(Audience::Relays),
        Operation::new(OperationMethod::Get, "/v1/long-term", "getLongTerm", "Read long-term memory: MEMORY.md", long_term).read_by(Audience::Relays)
            .saying("`ETag` is the digest of the file; it is absent if there is no file."),
        Operation::new(OperationMethod::Put, "/v1/long-term", "replaceLongTerm", "Replace MEMORY.md", replace)
            .matching("seen")
            .saying(
                "The previous text is kept. With `If-Match`, or `seen`, the file is replaced only if its digest is still this one; \
                 an empty `seen` means that there was no file.",
            ),
        Operation::new(
            OperationMethod::Get,
            "/v1/long-term/history",
            "listLongTermHistory",
            "List earlier texts of MEMORY.md, newest first",
            history,
        ),
        Operation::new(
            OperationMethod::Get,
            "/v1/long-term/history/{previous}",
            "getLongTermBefore",
            "Read an earlier text of MEMORY.md",
            before,
        ).read_by(Audience::Relays),
        Operation::new(
            OperationMethod::Post,
            "/v1/long-term/restore",
            "restoreLongTerm",
            "Restore an earlier text of MEMORY.md",
            restore,
        )
        .saying("The current text is kept as an earlier one."),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct ListJournalsArguments {
    /// Only entries that contain this text.
    query: Option<String>,
    /// Maximum number of entries for a query, 1 to 1000 (default 5).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
}

/// A journal.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JournalInfo")]
struct JournalFileReply {
    /// The day of the journal.
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
    /// The line in which it begins.
    line: u32,
    /// Its text, cut to 500 characters around the match.
    snippet: String,
}

impl From<JournalHit> for JournalEntryReply {
    fn from(hit: JournalHit) -> Self {
        Self { date: hit.date.to_string(), path: hit.path, line: hit.line, snippet: hit.snippet }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JournalList")]
struct JournalListReply {
    /// The journals, newest first; none for a query.
    journals: Vec<JournalFileReply>,
    /// The entries that contain the query, newest first.
    entries: Vec<JournalEntryReply>,
    /// The files that could not be read, or are not listed.
    unread: Vec<UnreadableFile>,
}

fn list(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ListJournalsArguments>,
) -> Result<OperationOutput<JournalListReply>, ToolError> {
    let limit = limited(context, asked.limit, USUAL, MOST)?;
    let Some(query) = asked.query else {
        let found = context.engine.journals(&context.caller)?;
        let journals = found.journals.into_iter().map(JournalFileReply::from).collect();
        let unread = found.unread;
        return Ok(JournalListReply { journals, entries: Vec::new(), unread }.into());
    };
    let found = context.engine.search_journals(&context.caller, &query, limit)?;
    Ok(JournalListReply {
        journals: Vec::new(),
        entries: found.entries.into_iter().map(JournalEntryReply::from).collect(),
        unread: found.unread,
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JournalNoteArguments {
    /// The text to add.
    #[schemars(length(min = 1))]
    content: String,
}

/// A note in a journal.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JournalNote")]
struct JournalNoteReply {
    /// The day.
    date: String,
    /// The path of its journal below the workspace.
    path: String,
    /// The entry as it was written to the file.
    entry: String,
    /// True if the journal was created for it.
    created: bool,
    /// Parts of the text that were redacted: secrets, private passages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningMessage>,
}

impl From<JournalReceipt> for JournalNoteReply {
    fn from(noted: JournalReceipt) -> Self {
        let JournalReceipt { date, path, entry, created, warnings } = noted;
        Self { date: date.to_string(), path, entry, created, warnings: messages(warnings) }
    }
}

fn note(
    context: &ToolContext<'_>,
    SingleInput(note): SingleInput<JournalNoteArguments>,
) -> Result<OperationOutput<JournalNoteReply>, ToolError> {
    Ok(OperationOutput::from(JournalNoteReply::from(
        context.engine.remember(&context.caller, &note.content)?,
    ))
    .new_if(true))
}

#[derive(Deserialize, JsonSchema)]
struct GetJournalArguments {
    /// today, yesterday, or YYYY-MM-DD.
    date: String,
}

/// A journal and its content.
#[derive(Serialize, JsonSchema)]
struct JournalReply {
    /// The day of the journal.
    date: String,
    /// Its path below the workspace.
    path: String,
    /// Its text.
    content: String,
}

fn get(
    context: &ToolContext<'_>,
    SingleInput(of): SingleInput<GetJournalArguments>,
) -> Result<OperationOutput<JournalReply>, ToolError> {
    let date = Day::named(&of.date, context.engine.now())?;
    let found = context.engine.journal(&context.caller, date)?.ok_or_else(|| ToolError {
        class: Class::Absent,
        ..ToolError::invalid("journal_not_found", "date", format!("there is no journal of {date}"))
    })?;
    Ok(JournalReply { date: found.date.to_string(), path: found.path, content: found.content }.into())
}

/// Long-term memory, which every session begins with.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermMemory")]
struct LongTermReply {
    /// The path of the file below the workspace.
    path: String,
    /// Its text; empty if there is no such file.
    content: String,
    /// SHA-256 of the file; null if there is none.
    digest: Option<String>,
    /// Time of the last write.
    modified_at: Option<Timestamp>,
    /// Parts of the new text that were redacted: secrets, private passages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningMessage>,
}

fn known(long_term: LongTermFile) -> OperationOutput<LongTermReply> {
    let LongTermFile { path, content, digest, modified_at, warnings, secrets: _ } = long_term;
    let (tag, warnings) = (digest.clone(), messages(warnings));
    OperationOutput::from(LongTermReply { path, content, digest, modified_at, warnings }).tagged(tag)
}

fn long_term(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<LongTermReply>, ToolError> {
    Ok(known(context.engine.long_term(&context.caller)?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReplaceLongTermArguments {
    /// The new text.
    content: String,
    /// The digest that you read. If the file has changed since, the call fails. Empty means that there was no file.
    seen: Option<String>,
}

fn replace(
    context: &ToolContext<'_>,
    SingleInput(new): SingleInput<ReplaceLongTermArguments>,
) -> Result<OperationOutput<LongTermReply>, ToolError> {
    Ok(known(context.engine.replace_long_term(&context.caller, &new.content, new.seen.as_deref())?))
}

/// An earlier text.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermVersion")]
struct LongTermVersionReply {
    /// Its name.
    previous: String,
    /// Time at which it was replaced.
    at: Timestamp,
    /// Its size in bytes.
    size: u64,
}

impl From<PreviousFile> for LongTermVersionReply {
    fn from(previous: PreviousFile) -> Self {
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
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<LongTermHistoryReply>, ToolError> {
    let texts = context.engine.long_term_history(&context.caller)?;
    Ok(LongTermHistoryReply { texts: texts.into_iter().map(LongTermVersionReply::from).collect() }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LongTermVersionArguments {
    /// The name of the text, from the history.
    #[schemars(length(min = 1))]
    previous: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermText")]
struct LongTermTextReply {
    /// Its name.
    previous: String,
    /// The text.
    content: String,
}

fn before(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<LongTermVersionArguments>,
) -> Result<OperationOutput<LongTermTextReply>, ToolError> {
    let content = context.engine.long_term_before(&context.caller, &which.previous)?;
    Ok(LongTermTextReply { previous: which.previous, content }.into())
}

fn restore(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<LongTermVersionArguments>,
) -> Result<OperationOutput<LongTermReply>, ToolError> {
    Ok(known(context.engine.restore_long_term(&context.caller, &which.previous)?))
}
