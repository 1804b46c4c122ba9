//! Types and functions for finding and listing memories, shared by all surfaces of our own.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::{ListAnswer, Page};
use tulving_core::model::error::Error;
use tulving_core::model::request::{ListRequest, Sort};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::MemoryType;

use crate::tool::{ToolContext, ToolError};
use crate::words;

/// An order of a list. `happened`: what happened last first, or else was saved. `agenda`: what is open first, the soonest due,
/// then the most important.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "MemoryOrder")]
#[expect(missing_docs, reason = "comments of variants would stand in the schema of every tool with an order")]
pub enum MemoryOrder {
    Newest,
    Oldest,
    Updated,
    Accessed,
    Importance,
    MostAccessed,
    Happened,
    Agenda,
}

impl From<MemoryOrder> for Sort {
    fn from(order: MemoryOrder) -> Self {
        match order {
            MemoryOrder::Newest => Self::Newest,
            MemoryOrder::Oldest => Self::Oldest,
            MemoryOrder::Updated => Self::Updated,
            MemoryOrder::Accessed => Self::Accessed,
            MemoryOrder::Importance => Self::Importance,
            MemoryOrder::MostAccessed => Self::MostAccessed,
            MemoryOrder::Happened => Self::Happened,
            MemoryOrder::Agenda => Self::Agenda,
        }
    }
}

/// Returns the number of memories on all pages of a list; `None` if it has further pages and asks other backends than the
/// built-in one, because those do not count.
pub fn total_of(
    desk: &ToolContext<'_>,
    request: &ListRequest,
    page: &Page,
) -> Result<Option<u64>, ToolError> {
    if request.cursor.is_none() && page.next.is_none() && page.failed_backends.is_empty() {
        return Ok(Some(page.memories.len() as u64));
    }
    match desk.engine.count(&desk.caller, &request.filter) {
        Ok(total) => Ok(Some(total)),
        Err(Error::Backend { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The refusal of a recall that has neither a question nor anything to list by.
pub fn nothing_asked(field: &str) -> ToolError {
    ToolError::invalid("missing_query", field, format!("`{field}` is missing"))
        .hinting("ask something, or list what has certain types, tags or times")
}

/// The list that an answer is.
#[derive(Serialize, JsonSchema)]
pub struct ListSummary {
    /// It in words, with how many there are: `6 open todos`.
    pub what: String,
    /// Of which types; empty is all.
    #[schemars(schema_with = "words::several::<MemoryType>")]
    pub types: Vec<MemoryType>,
    /// Whether it has only todos and goals that are done, or only open ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "bool")]
    pub done: Option<bool>,
    /// The first instant of the time that the question names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub from: Option<Timestamp>,
    /// The first instant after that time.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub until: Option<Timestamp>,
    /// Whether the question asks how many there are; the total is the answer.
    pub counted: bool,
    /// How many were left out because another memory has taken their place; a list has them.
    pub superseded: u64,
    /// Whether no memory of these types is saved, so that those given are ranked by the question instead.
    pub ranked: bool,
}

impl From<ListAnswer> for ListSummary {
    fn from(list: ListAnswer) -> Self {
        let ListAnswer { what, types, done, from, until, counted, superseded, ranked } = list;
        Self { what, types, done, from, until, counted, superseded, ranked }
    }
}
