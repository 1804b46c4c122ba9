//! `/v1/review`: what was noted and put aside, for somebody to look at.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::answer::Cursor;

use super::memories::{This, one};
use super::operation::{Made, Method, One, Operation};
use super::shown::{Shown, shown};
use crate::argument::{Whole, limited};
use crate::tool::{Desk, Refusal};

/// Most memories of a page, and how many where it is not said.
const PAGE: i64 = 1_000;
const USUAL_PAGE: i64 = 20;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(Method::Get, "/v1/review", "listReview", "What waits for review", list).saying(
            "What was noted of a conversation and tells an agent what to do, or comes from where nobody is trusted. It is \
             kept and not recalled until it is accepted. Newest first, page by page.",
        ),
        Operation::new(Method::Post, "/v1/review/{id}/accept", "acceptMemory", "Accept a memory", accept)
            .saying("Recall finds it from now on. One that does not wait for review is given as it is."),
        Operation::new(Method::Post, "/v1/review/{id}/reject", "rejectMemory", "Reject a memory", reject)
            .saying("It is forgotten softly. One that does not wait for review is refused."),
    ]
}

/// Which page.
#[derive(Deserialize, JsonSchema)]
struct Paged {
    /// Most memories of the page, 1 to 1000 (default 20).
    #[schemars(range(min = 1, max = 1000))]
    limit: Option<Whole>,
    /// Where the last page ended: its `next_cursor`.
    cursor: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Waiting {
    /// The memories, newest first.
    memories: Vec<Shown>,
    /// Where the next page begins; null at the end.
    next_cursor: Option<String>,
}

fn list(desk: &Desk<'_>, One(paged): One<Paged>) -> Result<Made<Waiting>, Refusal> {
    let cursor = paged.cursor.as_deref().map(str::parse::<Cursor>).transpose()?;
    let page = desk.engine.review(&desk.caller, limited(desk, paged.limit, USUAL_PAGE, PAGE)?, cursor)?;
    let now = desk.engine.now();
    let memories = page.memories.iter().map(|memory| shown(memory, now)).collect();
    Ok(Waiting { memories, next_cursor: page.next.map(|cursor| cursor.to_string()) }.into())
}

fn accept(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    Ok(one(desk, &desk.engine.accept(&desk.caller, this.which()?)?))
}

fn reject(desk: &Desk<'_>, One(this): One<This>) -> Result<Made<Shown>, Refusal> {
    Ok(one(desk, &desk.engine.reject(&desk.caller, this.which()?)?))
}
