//! `/v1/timeline`: the changes of what is known about a subject.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tulving_core::model::answer::{Ended, Named, TimelineEntry};
use tulving_core::model::limits;
use tulving_core::model::request::{About, TimelineRequest};
use tulving_core::model::time::{TimeInput, Timestamp};

use super::operation::{Audience, Operation, OperationMethod, OperationOutput, SingleInput};
use tulving_dialects::argument::{WholeNumber, limited};
use tulving_dialects::memax;
use tulving_dialects::tool::{ToolContext, ToolError};
use tulving_dialects::words;

/// Maximum and default number of memories that a text finds.
const MOST: i64 = limits::TIMELINE as i64;
const USUAL: i64 = 10;

pub(super) fn operations() -> Vec<Operation> {
    vec![
        Operation::new(OperationMethod::Get, "/v1/timeline", "getTimeline", "How what is known about something changed", timeline).read_by(Audience::Relays)
            .saying(
                "What held, from when to when, and what ended it, in the order in which it began. Memories that update one another \
                 are followed in both directions. Archived ones are told too, forgotten ones are not.",
            ),
    ]
}

/// About what.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TimelineArguments {
    /// The number or id of a memory, or what memories are about.
    #[schemars(length(min = 1))]
    about: String,
    /// Most memories that a text finds, 1 to 50 (default 10).
    #[schemars(range(min = 1, max = 50))]
    limit: Option<WholeNumber>,
    /// Only what held at or after this. A date without a time is a day of your time zone, and so is `yesterday`.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time_input")]
    since: Option<TimeInput>,
    /// Only what held before this.
    #[serde(default)]
    #[schemars(schema_with = "words::maybe_time_input")]
    until: Option<TimeInput>,
    /// In every space that you may see, not only in that of the call.
    #[serde(default)]
    all_spaces: bool,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Timeline")]
struct TimelineReply {
    /// What held, in the order in which it began to.
    entries: Vec<TimelineEntryReply>,
    /// Whether more memories belong to it than are looked at.
    cut: bool,
    /// What could not be looked at, and why.
    warnings: Vec<String>,
}

/// A statement, and a stretch of time in which it held.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TimelineEntry")]
struct TimelineEntryReply {
    /// The memory that says it.
    id: String,
    /// Its number in its space; null for a mirror of a file.
    number: Option<u64>,
    /// The space that it is in.
    hub_id: String,
    /// File and line, where the memory mirrors an entry of a file.
    place: Option<String>,
    /// The first version with this content.
    version: u32,
    /// What it says.
    content: String,
    /// Whether the content is left out, because others fill the answer.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    left_out: bool,
    /// From when on it held.
    #[schemars(schema_with = "words::time")]
    from: Timestamp,
    /// Until when; null where nothing ended it, or nobody knows when.
    #[schemars(schema_with = "words::maybe_time")]
    until: Option<Timestamp>,
    /// What ended it, or will.
    ended: Option<TimelineEndReply>,
    /// The memory that took its place, where one did.
    superseded_by: Option<String>,
    /// Whether it holds now.
    holds: bool,
    /// Whether the memory is archived.
    archived: bool,
    /// Which chain of memories that update one another it belongs to, from 1.
    chain: usize,
    /// The memories of this answer that contradict it, or that it contradicts.
    contradicts: Vec<String>,
}

/// What ended a statement.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "TimelineEnd")]
enum TimelineEndReply {
    Superseded,
    Edited,
    NoLongerValid,
    Expired,
    Archived,
}

impl From<Ended> for TimelineEndReply {
    fn from(ended: Ended) -> Self {
        match ended {
            Ended::Superseded { .. } => Self::Superseded,
            Ended::Edited { .. } => Self::Edited,
            Ended::NoLongerValid => Self::NoLongerValid,
            Ended::Expired => Self::Expired,
            Ended::Archived => Self::Archived,
        }
    }
}

fn entry(entry: TimelineEntry) -> TimelineEntryReply {
    let superseded_by = match entry.ended {
        Some(Ended::Superseded { by }) => Some(memax::id(by.id)),
        _ => None,
    };
    TimelineEntryReply {
        id: memax::id(entry.memory.id),
        number: entry.memory.number.map(|number| number.0),
        hub_id: entry.space.to_string(),
        place: entry.place,
        version: entry.version.0,
        content: entry.content,
        left_out: entry.left_out,
        from: entry.from,
        until: entry.until,
        ended: entry.ended.map(TimelineEndReply::from),
        superseded_by,
        holds: entry.holds,
        archived: entry.archived,
        chain: entry.chain,
        contradicts: entry.contradicts.iter().map(|Named { id, .. }| memax::id(*id)).collect(),
    }
}

fn timeline(
    desk: &ToolContext<'_>,
    SingleInput(asked): SingleInput<TimelineArguments>,
) -> Result<OperationOutput<TimelineReply>, ToolError> {
    let request = TimelineRequest {
        about: About::from(asked.about.as_str()),
        space: (!asked.all_spaces).then_some(desk.caller.space),
        limit: limited(desk, asked.limit, USUAL, MOST)?,
        since: desk.instant(asked.since),
        until: desk.instant(asked.until),
    };
    let timeline = desk.engine.timeline(&desk.caller, &request)?;
    let warnings = timeline.troubles().collect();
    let entries = timeline.entries.into_iter().map(entry).collect();
    Ok(TimelineReply { entries, cut: timeline.cut, warnings }.into())
}
