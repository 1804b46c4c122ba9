//! `/v1/review`: memories that were noted automatically and quarantined, for a person to review.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::Cursor;

use super::memories::{MemoryIdArguments, one};
use super::operation::{Operation, OperationMethod, OperationOutput, SingleInput};
use super::shown::{MemoryReply, shown};
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::tool::{ToolContext, ToolError};

/// Maximum and default number of memories on a page.
const PAGE: i64 = 1_000;
const USUAL_PAGE: i64 = 20;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/review", "listReview", "What waits for review", list).saying(
            "What was noted of a conversation and tells an agent what to do, or comes from where nobody is trusted. It is \
             kept and not recalled until it is accepted. Newest first, page by page.",
        ),
        Operation::new(OperationMethod::Post, "/v1/review/{id}/accept", "acceptMemory", "Accept a memory", accept)
            .saying("Recall finds it from now on. One that does not wait for review is given as it is."),
        Operation::new(OperationMethod::Post, "/v1/review/{id}/reject", "rejectMemory", "Reject a memory", reject)
            .saying("It is forgotten softly. One that does not wait for review is refused."),
    ]
}

/// Which page.
#[derive(Deserialize, JsonSchema)]
struct ListReviewArguments {
    /// Most memories of the page, 1 to 1000 (default 20).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
    /// Where the last page ended: its `next_cursor`.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ReviewPage")]
struct ListReviewReply {
    /// The memories, newest first.
    memories: Vec<MemoryReply>,
    /// Where the next page begins; null at the end.
    next_cursor: Option<String>,
}

fn list(
    desk: &ToolContext<'_>,
    SingleInput(paged): SingleInput<ListReviewArguments>,
) -> Result<OperationOutput<ListReviewReply>, ToolError> {
    let cursor = paged.cursor.as_deref().map(str::parse::<Cursor>).transpose()?;
    let page = desk.engine.review(&desk.caller, limited(desk, paged.limit, USUAL_PAGE, PAGE)?, cursor)?;
    let now = desk.engine.now();
    let memories = page.memories.iter().map(|memory| shown(memory, now)).collect();
    Ok(ListReviewReply { memories, next_cursor: page.next.map(|cursor| cursor.to_string()) }.into())
}

fn accept(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryReply>, ToolError> {
    Ok(one(desk, &desk.engine.accept(&desk.caller, this.which()?)?))
}

fn reject(
    desk: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<MemoryReply>, ToolError> {
    Ok(one(desk, &desk.engine.reject(&desk.caller, this.which()?)?))
}
