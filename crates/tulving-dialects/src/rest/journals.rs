//! Journals, one a day, and what is always known.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::answer;
use tulving_core::error::Class;
use tulving_core::file::Previous;
use tulving_core::journal::long_term::LongTerm;
use tulving_core::journal::{Day, JournalFile, JournalHit, Noted};
use tulving_core::time::Timestamp;

use super::operation::{Audience, Made, Method, One, Operation};
use super::people::Nothing;
use crate::argument::{Whole, limited};
use crate::tool::{self, Desk, Refusal};
use crate::words;

/// How many entries a search gives where it does not say, and at the most.
const USUAL: i64 = 5;
const MOST: i64 = 1_000;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::Get, "/v1/journals", "listJournals", "The journals, newest first", list).read_by(Audience::Relays).saying(
            "With `query`, instead of the journals the newest of their entries that hold this text as it is, in any case.",
        ),
        Operation::new(Method::Post, "/v1/journals", "note", "Note something in the journal of today", note)
            .creating()
            .saying("Days are UTC. The file is made where it is missing; nothing else in it is touched."),
        Operation::new(Method::Get, "/v1/journals/{date}", "getJournal", "The journal of a day", get).read_by(Audience::Relays),
        Operation::new(Method::Get, "/v1/long-term", "getLongTerm", "What is always known: MEMORY.md", long_term).read_by(Audience::Relays)
            .saying("`ETag` is its digest; there is none where there is no such file."),
        Operation::new(Method::Put, "/v1/long-term", "replaceLongTerm", "Replace MEMORY.md", replace)
            .matching("seen")
            .saying(
                "What it said is kept. With `If-Match`, or `seen`, it is replaced only where it still is what was seen; \
                 an empty `seen` means no file.",
            ),
        Operation::new(
            Method::Get,
            "/v1/long-term/history",
            "listLongTermHistory",
            "The texts that MEMORY.md had before, newest first",
            history,
        ),
        Operation::new(
            Method::Get,
            "/v1/long-term/history/{previous}",
            "getLongTermBefore",
            "A text that MEMORY.md had before",
            before,
        ).read_by(Audience::Relays),
        Operation::new(
            Method::Post,
            "/v1/long-term/restore",
            "restoreLongTerm",
            "Bring back a text that MEMORY.md had before",
            restore,
        )
        .saying("What is there is kept in turn."),
    ]
}

#[derive(Deserialize, JsonSchema)]
struct Asked {
    /// Only entries that hold this text.
    query: Option<String>,
    /// Most entries to give, 1 to 1000 (default 5); for a query.
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<Whole>,
}

/// A journal.
#[derive(Serialize, JsonSchema)]
struct Listed {
    /// Its day.
    date: String,
    /// Its path below the workspace.
    path: String,
    /// Its size in bytes.
    size: u64,
}

impl From<JournalFile> for Listed {
    fn from(file: JournalFile) -> Self {
        Self { date: file.date.to_string(), path: file.path, size: file.size }
    }
}

/// An entry of a journal.
#[derive(Serialize, JsonSchema)]
struct Entry {
    /// The day.
    date: String,
    /// The path of the journal below the workspace.
    path: String,
    /// The line where it begins.
    line: u32,
    /// What it says, cut to 500 characters around the text.
    snippet: String,
}

impl From<JournalHit> for Entry {
    fn from(hit: JournalHit) -> Self {
        Self { date: hit.date.to_string(), path: hit.path, line: hit.line, snippet: hit.snippet }
    }
}

/// A file that could not be read.
#[derive(Serialize, JsonSchema)]
pub(super) struct Unread {
    /// Its path below the workspace.
    path: String,
    /// Why.
    why: String,
}

impl From<answer::Unread> for Unread {
    fn from(unread: answer::Unread) -> Self {
        Self { path: unread.path, why: unread.why }
    }
}

#[derive(Serialize, JsonSchema)]
struct Journals {
    /// The journals, newest first; none for a query.
    journals: Vec<Listed>,
    /// The entries that hold what was asked for, newest first.
    entries: Vec<Entry>,
    /// The files that could not be read, or are not listed.
    unread: Vec<Unread>,
}

fn list(desk: &Desk<'_>, One(asked): One<Asked>) -> Result<Made<Journals>, Refusal> {
    let limit = limited(desk, asked.limit, USUAL, MOST)?;
    let Some(query) = asked.query else {
        let found = desk.engine.journals(&desk.caller)?;
        let journals = found.journals.into_iter().map(Listed::from).collect();
        let unread = found.unread.into_iter().map(Unread::from).collect();
        return Ok(Journals { journals, entries: Vec::new(), unread }.into());
    };
    let found = desk.engine.search_journals(&desk.caller, &query, limit)?;
    Ok(Journals {
        journals: Vec::new(),
        entries: found.entries.into_iter().map(Entry::from).collect(),
        unread: found.unread.into_iter().map(Unread::from).collect(),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Note {
    /// What to write down.
    #[schemars(length(min = 1))]
    content: String,
}

/// What was noted, and where.
#[derive(Serialize, JsonSchema)]
struct Written {
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

impl From<Noted> for Written {
    fn from(noted: Noted) -> Self {
        let Noted { date, path, entry, created, warnings } = noted;
        Self { date: date.to_string(), path, entry, created, warnings: tool::warnings(&warnings) }
    }
}

fn note(desk: &Desk<'_>, One(note): One<Note>) -> Result<Made<Written>, Refusal> {
    Ok(Made::from(Written::from(desk.engine.remember(&desk.caller, &note.content)?)).new_if(true))
}

#[derive(Deserialize, JsonSchema)]
struct OfDay {
    /// today, yesterday, or YYYY-MM-DD.
    date: String,
}

/// A journal and what it says.
#[derive(Serialize, JsonSchema)]
struct Journal {
    /// Its day.
    date: String,
    /// Its path below the workspace.
    path: String,
    /// What it says.
    content: String,
}

fn get(desk: &Desk<'_>, One(of): One<OfDay>) -> Result<Made<Journal>, Refusal> {
    let date = Day::named(&of.date, desk.engine.now())?;
    let found = desk.engine.journal(&desk.caller, date)?.ok_or_else(|| Refusal {
        class: Class::Absent,
        ..Refusal::invalid("journal_not_found", "date", format!("there is no journal of {date}"))
    })?;
    Ok(Journal { date: found.date.to_string(), path: found.path, content: found.content }.into())
}

/// What is always known.
#[derive(Serialize, JsonSchema)]
struct Known {
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

fn known(long_term: LongTerm) -> Made<Known> {
    let LongTerm { path, content, digest, modified_at, warnings, secrets: _ } = long_term;
    let (tag, warnings) = (digest.clone(), tool::warnings(&warnings));
    Made::from(Known { path, content, digest, modified_at, warnings }).tagged(tag)
}

fn long_term(desk: &Desk<'_>, _: One<Nothing>) -> Result<Made<Known>, Refusal> {
    Ok(known(desk.engine.long_term(&desk.caller)?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Replacement {
    /// What it shall say.
    content: String,
    /// The digest that you saw, where a change in between shall be an error; empty for no file.
    seen: Option<String>,
}

fn replace(desk: &Desk<'_>, One(new): One<Replacement>) -> Result<Made<Known>, Refusal> {
    Ok(known(desk.engine.replace_long_term(&desk.caller, &new.content, new.seen.as_deref())?))
}

/// A text that was replaced.
#[derive(Serialize, JsonSchema)]
struct Before {
    /// What it is called by.
    previous: String,
    /// When it was replaced.
    #[schemars(schema_with = "words::time")]
    at: Timestamp,
    /// Its size in bytes.
    size: u64,
}

impl From<Previous> for Before {
    fn from(previous: Previous) -> Self {
        Self { previous: previous.id, at: previous.at, size: previous.size }
    }
}

#[derive(Serialize, JsonSchema)]
struct History {
    /// The texts, newest first.
    texts: Vec<Before>,
}

fn history(desk: &Desk<'_>, _: One<Nothing>) -> Result<Made<History>, Refusal> {
    let texts = desk.engine.long_term_history(&desk.caller)?;
    Ok(History { texts: texts.into_iter().map(Before::from).collect() }.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Which {
    /// The text, as the history calls it.
    #[schemars(length(min = 1))]
    previous: String,
}

#[derive(Serialize, JsonSchema)]
struct Said {
    /// What it is called by.
    previous: String,
    /// What it said.
    content: String,
}

fn before(desk: &Desk<'_>, One(which): One<Which>) -> Result<Made<Said>, Refusal> {
    let content = desk.engine.long_term_before(&desk.caller, &which.previous)?;
    Ok(Said { previous: which.previous, content }.into())
}

fn restore(desk: &Desk<'_>, One(which): One<Which>) -> Result<Made<Known>, Refusal> {
    Ok(known(desk.engine.restore_long_term(&desk.caller, &which.previous)?))
}
