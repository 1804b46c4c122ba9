//! Types and functions for finding and listing memories, shared by the native tools and the REST operations.

use tulving_core::model::answer::{Answer, Lane, Page};
use tulving_core::model::error::Error;
use tulving_core::model::limits;
use tulving_core::model::request::{
    ForgottenFilter, ListBounds, ListQuery, ListRequest, MemoryFilter, Mode, Quarantined, RecallQuery,
    RecallQuestion, RecallRequest,
};
use tulving_core::model::vocabulary::State;

use crate::argument::{limited, list_limited, token_budget};
use crate::tool::{ToolContext, ToolError};

/// Default and maximum number of memories for a question.
const USUAL: i64 = 10;
const MOST: i64 = 1_000;
/// Default number of memories if nothing seems to answer the question.
const NEAREST: i64 = limits::NEAREST as i64;
/// Default and maximum number of memories on a page of a list.
const USUAL_PAGE: i64 = 20;
const MOST_PAGE: i64 = 1_000;

/// Returns the request for a page of a list.
pub fn list_request(
    context: &ToolContext<'_>,
    query: ListQuery,
    filter: MemoryFilter,
) -> Result<ListRequest, ToolError> {
    let mut filter = filter.resolve(&context.caller, context.engine.now());
    if filter.states.is_empty() && !query.include_archived && !query.forgotten {
        filter.states = State::unarchived();
    }
    if query.forgotten {
        filter.forgotten = ForgottenFilter::Only;
        filter.quarantined = Quarantined::Either;
    }
    let limit = limited(context, query.limit, USUAL_PAGE, MOST_PAGE)?;
    Ok(ListRequest { filter, sort: query.sort.unwrap_or_default(), limit, cursor: query.cursor })
}

/// Finds memories for a question, or lists all that match the filter. `field` is the name of the argument with the question.
pub fn recall(
    context: &ToolContext<'_>,
    query: RecallQuery,
    filter: MemoryFilter,
    field: &str,
) -> Result<Answer, ToolError> {
    let filter = filter.resolve(&context.caller, context.engine.now());
    let (explain, token_budget) = (query.explain, token_budget(query.token_budget)?);
    let listed = list_limited(context, query.limit, MOST);
    let (mode, limit) = match query.query {
        None if filter.is_empty() => return Err(nothing_asked(field)),
        None => {
            refuse_question_options(&query, field)?;
            (Mode::Filtered(ListBounds { as_of: query.as_of, token_budget }), listed?)
        }
        Some(question) => {
            let ask = RecallQuestion {
                fusion: query.fusion.unwrap_or_default(),
                lanes: if query.lanes.is_empty() { Lane::ALL.to_vec() } else { query.lanes },
                asked_at: query.asked_at,
                as_of: query.as_of,
                channel: query.channel,
                abstain_below: query.abstain_below,
                prefix: query.prefix,
                list_limit: Some(listed?),
                nearest_limit: Some(limited(context, query.limit, NEAREST, MOST)?),
                token_budget,
                ..RecallQuestion::new(question)
            };
            (Mode::Hybrid(Box::new(ask)), limited(context, query.limit, USUAL, MOST)?)
        }
    };
    let request = RecallRequest { mode, filter, sort: None, limit };
    let mut answer = context.engine.recall(&context.caller, &request)?;
    if !explain {
        answer.hits.iter_mut().for_each(|hit| hit.explanation = None);
    }
    Ok(answer)
}

/// Refuses options that apply only to a question.
fn refuse_question_options(query: &RecallQuery, field: &str) -> Result<(), ToolError> {
    let given = [
        ("asked_at", query.asked_at.is_some()),
        ("channel", query.channel.is_some()),
        ("abstain_below", query.abstain_below.is_some()),
        ("prefix", query.prefix),
        ("fusion", query.fusion.is_some()),
        ("lanes", !query.lanes.is_empty()),
    ];
    let Some((name, _)) = given.iter().find(|(_, given)| *given) else { return Ok(()) };
    let message = format!("`{name}` needs a question, but `{field}` is missing");
    Err(ToolError::invalid("conflicting_arguments", name, message))
}

/// Returns the number of memories on all pages of a list; `None` if the list has more pages and uses a backend other than
/// the built-in one, because such a backend cannot count memories.
pub fn total_of(
    context: &ToolContext<'_>,
    request: &ListRequest,
    page: &Page,
) -> Result<Option<u64>, ToolError> {
    if request.cursor.is_none() && page.next.is_none() && page.failed_backends.is_empty() {
        return Ok(Some(page.memories.len() as u64));
    }
    match context.engine.count(&context.caller, &request.filter) {
        Ok(total) => Ok(Some(total)),
        Err(Error::Backend { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns the refusal of a recall that has neither a question nor a filter.
pub fn nothing_asked(field: &str) -> ToolError {
    ToolError::invalid("missing_query", field, format!("`{field}` is missing"))
        .hinting("give a question, or filter by types, tags or times")
}
