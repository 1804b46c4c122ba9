//! Operations on the daily journals and on long-term memory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::files::long_term::LongTermFile;
use tulving_core::files::{
    Day, Journal, JournalFile, JournalFileList, JournalHit, JournalHits, JournalReceipt,
};
use tulving_core::model::answer::UnreadableFile;
use tulving_core::model::error::Class;
use tulving_core::model::file::PreviousFile;
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

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "JournalList")]
struct JournalListReply {
    /// The journals, newest first; none for a query.
    journals: Vec<JournalFile>,
    /// The entries that contain the query, newest first.
    entries: Vec<JournalHit>,
    /// The files that could not be read, or are not listed.
    unread: Vec<UnreadableFile>,
}

fn list(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<ListJournalsArguments>,
) -> Result<OperationOutput<JournalListReply>, ToolError> {
    let limit = limited(context, asked.limit, USUAL, MOST)?;
    let Some(query) = asked.query else {
        let JournalFileList { journals, unread } = context.engine.journals(&context.caller)?;
        return Ok(JournalListReply { journals, entries: Vec::new(), unread }.into());
    };
    let JournalHits { entries, unread } = context.engine.search_journals(&context.caller, &query, limit)?;
    Ok(JournalListReply { journals: Vec::new(), entries, unread }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct JournalNoteArguments {
    /// The text to add.
    #[schemars(length(min = 1))]
    content: String,
}

fn note(
    context: &ToolContext<'_>,
    SingleInput(note): SingleInput<JournalNoteArguments>,
) -> Result<OperationOutput<JournalReceipt>, ToolError> {
    Ok(OperationOutput::from(context.engine.remember(&context.caller, &note.content)?).new_if(true))
}

#[derive(Deserialize, JsonSchema)]
struct GetJournalArguments {
    /// today, yesterday, or YYYY-MM-DD.
    date: String,
}

fn get(
    context: &ToolContext<'_>,
    SingleInput(of): SingleInput<GetJournalArguments>,
) -> Result<OperationOutput<Journal>, ToolError> {
    let date = Day::named(&of.date, context.engine.now())?;
    let found = context.engine.journal(&context.caller, date)?.ok_or_else(|| ToolError {
        class: Class::Absent,
        ..ToolError::invalid("journal_not_found", "date", format!("there is no journal of {date}"))
    })?;
    Ok(found.into())
}

/// Returns `MEMORY.md`, tagged with its digest.
fn known(long_term: LongTermFile) -> OperationOutput<LongTermFile> {
    let tag = long_term.digest.clone();
    OperationOutput::from(long_term).tagged(tag)
}

fn long_term(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<LongTermFile>, ToolError> {
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
) -> Result<OperationOutput<LongTermFile>, ToolError> {
    Ok(known(context.engine.replace_long_term(&context.caller, &new.content, new.seen.as_deref())?))
}

/// The earlier texts of `MEMORY.md`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermHistory")]
pub struct LongTermHistoryReply {
    /// The texts, newest first.
    pub texts: Vec<PreviousFile>,
}

fn history(
    context: &ToolContext<'_>,
    _: SingleInput<NoArguments>,
) -> Result<OperationOutput<LongTermHistoryReply>, ToolError> {
    let texts = context.engine.long_term_history(&context.caller)?;
    Ok(LongTermHistoryReply { texts }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct LongTermVersionArguments {
    /// The id of the text, from the history.
    #[schemars(length(min = 1))]
    previous: String,
}

/// An earlier text of `MEMORY.md`.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "LongTermText")]
pub struct LongTermTextReply {
    /// Its id, from the history.
    pub id: String,
    /// The text.
    pub content: String,
}

fn before(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<LongTermVersionArguments>,
) -> Result<OperationOutput<LongTermTextReply>, ToolError> {
    let content = context.engine.long_term_before(&context.caller, &which.previous)?;
    Ok(LongTermTextReply { id: which.previous, content }.into())
}

fn restore(
    context: &ToolContext<'_>,
    SingleInput(which): SingleInput<LongTermVersionArguments>,
) -> Result<OperationOutput<LongTermFile>, ToolError> {
    Ok(known(context.engine.restore_long_term(&context.caller, &which.previous)?))
}
