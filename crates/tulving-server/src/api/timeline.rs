//! `/v1/timeline`: how the knowledge about a subject changed over time.

use schemars::JsonSchema;
use serde::Deserialize;
use tulving_core::model::answer::Timeline;
use tulving_core::model::limits;
use tulving_core::model::request::{TimelineRequest, TimelineSubject};
use tulving_text::when::TimeInput;

use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::tool::{ToolContext, ToolError};

/// Maximum and default number of memories that a text search finds.
const MOST: i64 = limits::TIMELINE as i64;
const USUAL: i64 = 10;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/timeline", "getTimeline", "Show how the knowledge about a subject changed", timeline).read_by(Audience::Relays)
            .saying(
                "Returns the memories about a subject in the order in which they became valid: from when to when each was valid, \
                 and what ended it. Memories that update one another are followed in both directions. Archived memories are \
                 included, forgotten ones are not.",
            ),
    ]
}

/// Names a subject, and limits the answer.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimelineArguments {
    /// The number or id of a memory, or a text to search for.
    #[schemars(length(min = 1))]
    about: String,
    /// Maximum number of memories that a text finds, 1 to 50 (default 10).
    #[schemars(range(min = 1, max = 50))]
    limit: Option<WholeNumber>,
    /// Only memories that were valid at or after this time. A date without a time is a day in your time zone, like `yesterday`.
    #[serde(default)]
    since: Option<TimeInput>,
    /// Only memories that were valid before this time.
    #[serde(default)]
    until: Option<TimeInput>,
    /// True to search every space that you may see, not only the space of the call.
    #[serde(default)]
    all_spaces: bool,
}

fn timeline(
    context: &ToolContext<'_>,
    SingleInput(asked): SingleInput<TimelineArguments>,
) -> Result<OperationOutput<Timeline>, ToolError> {
    let request = TimelineRequest {
        about: TimelineSubject::from(asked.about.as_str()),
        space: (!asked.all_spaces).then_some(context.caller.space),
        limit: limited(context, asked.limit, USUAL, MOST)?,
        since: context.instant(asked.since),
        until: context.instant(asked.until),
    };
    Ok(context.engine.timeline(&context.caller, &request)?.into())
}
