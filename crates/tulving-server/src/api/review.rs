//! `/v1/review`: memories that were noted automatically and quarantined, for a person to review.

use schemars::JsonSchema;
use serde::Deserialize;
use tulving_core::model::answer::{Cursor, Page};
use tulving_core::model::memory::Memory;
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::tool::{ToolContext, ToolError};

use super::memories::one;
use tulving_dialects::argument::MemoryIdArguments;
use tulving_dialects::operation::{Operation, OperationMethod, OperationOutput, SingleInput};

/// Maximum and default number of memories on a page.
const PAGE: i64 = 1_000;
const USUAL_PAGE: i64 = 20;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/review", "listReview", "List memories that wait for review", list).saying(
            "Returns memories that were noted automatically and that try to command an agent, or come from an untrusted source. \
             Recall does not find them until they are accepted. Newest first, one page at a time.",
        ),
        Operation::new(OperationMethod::Post, "/v1/review/{id}/accept", "acceptMemory", "Accept a memory", accept)
            .saying("Recall finds it from now on. A memory that does not wait for review is returned unchanged."),
        Operation::new(OperationMethod::Post, "/v1/review/{id}/reject", "rejectMemory", "Reject a memory", reject)
            .saying("It is softly forgotten. A memory that does not wait for review is refused."),
    ]
}

/// Selects a page.
#[derive(Deserialize, JsonSchema)]
struct ListReviewArguments {
    /// Maximum number of memories on the page, 1 to 1000 (default 20).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<WholeNumber>,
    /// The `next_cursor` of the last page.
    cursor: Option<Cursor>,
}

fn list(
    context: &ToolContext<'_>,
    SingleInput(paged): SingleInput<ListReviewArguments>,
) -> Result<OperationOutput<Page>, ToolError> {
    let limit = limited(context, paged.limit, USUAL_PAGE, PAGE)?;
    Ok(context.engine.review(&context.caller, limit, paged.cursor)?.into())
}

fn accept(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<Memory>, ToolError> {
    Ok(one(context.engine.accept(&context.caller, this.id)?))
}

fn reject(
    context: &ToolContext<'_>,
    SingleInput(this): SingleInput<MemoryIdArguments>,
) -> Result<OperationOutput<Memory>, ToolError> {
    Ok(one(context.engine.reject(&context.caller, this.id)?))
}
