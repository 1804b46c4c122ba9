//! The arguments of a recall and of a list, the same for the command line, HTTP and the native tools. Together with a
//! [`MemoryFilter`](super::MemoryFilter) they become the request of the engine.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Fusion, Sort, WholeNumber};
use crate::model::answer::{Cursor, Lane, Strength};
use crate::model::time::Timestamp;

/// The arguments of a recall, except for its filter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecallQuery {
    /// The question. Without it, all memories that match the filter are listed.
    #[schemars(length(min = 1))]
    pub query: Option<String>,
    /// Maximum number of memories (default: 10; 100 for a list; 3 if nothing seems to answer the question).
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<WholeNumber>,
    /// Answers as of this time: 2026-05-27 or 2026-05-27T09:30:00Z.
    pub as_of: Option<Timestamp>,
    /// The time of the question, to which "last week" refers (default: now).
    pub asked_at: Option<Timestamp>,
    /// The channel of the caller; its memories are preferred.
    pub channel: Option<String>,
    /// Answers with nothing if the evidence is weaker than this.
    pub abstain_below: Option<Strength>,
    /// Maximum tokens of all contents together.
    #[schemars(range(min = 1, max = 10_000_000))]
    pub token_budget: Option<WholeNumber>,
    /// True if the last word of the question may be incomplete, for a search while somebody types: words that begin with it
    /// match too.
    pub prefix: bool,
    /// The way in which the lanes are fused (default: measured).
    pub fusion: Option<Fusion>,
    /// Only these lanes (default: all).
    pub lanes: Vec<Lane>,
    /// Explains each score.
    pub explain: bool,
}

/// The arguments of a list, except for its filter.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListQuery {
    /// Maximum number of memories on a page (default: 20).
    #[schemars(range(min = 1, max = 1000))]
    pub limit: Option<WholeNumber>,
    /// The `next_cursor` of the last page, with the same filter and order.
    pub cursor: Option<Cursor>,
    /// The order (default: newest).
    pub sort: Option<Sort>,
    /// True if archived memories are included. Not needed if `states` names them.
    pub include_archived: bool,
    /// True for only softly forgotten memories, which you may restore.
    pub forgotten: bool,
}
