//! The weights besides the match: stability, importance, supersession and channel of a memory.
//!
//! All of them are small compared to the match: they decide among memories that match about equally well.

use crate::model::answer::{Part, PartName};
use crate::model::memory::Memory;
use crate::model::search::Item;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Stability, State};
use crate::rank::decay;

/// The penalty of an evolving memory with a weak match; a volatile one loses twice as much, a stable one nothing. It
/// is a penalty and not a bonus, so that of two similar memories the better match never ranks lower.
const STABILITY: f64 = -0.04;
/// The bonus for an importance of 1, and the penalty for 0.
const IMPORTANCE: f64 = 0.05;
/// The penalty of a cooling memory.
const COOLING: f64 = -0.05;
/// The penalty of a memory that another one updates.
const SUPERSEDED: f64 = -0.15;
/// The penalty of a memory that is no longer valid, or not yet.
const LAPSED: f64 = -0.15;
/// The margin by which a superseded memory is kept below its successor.
const BELOW: f64 = 1e-6;
/// The bonus of a memory from the caller's channel.
const CHANNEL: f64 = 0.10;
/// The maximum bonus of the graph lane.
const GRAPH: f64 = 0.15;

/// Returns the highest bonus that weighing can add.
pub(crate) fn most(channel: Option<&str>, linked: bool) -> f64 {
    let channel = if channel.is_some() { CHANNEL } else { 0.0 };
    IMPORTANCE + channel + if linked { GRAPH } else { 0.0 }
}

/// Cosines from which a match means something, and from which it is certain; measured on the development sets.
const FAINT: f64 = 0.2;
const CLEAR: f64 = 0.7;

/// Returns the quality of an item's match, independent of the other results: 0 to 1.
pub(crate) fn fit(item: &Item) -> f64 {
    let near = (f64::from(item.closeness()) - FAINT) / (CLEAR - FAINT);
    near.max(f64::from(item.coverage)).clamp(0.0, 1.0)
}

/// The facts about a recall that are needed to weigh a memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeighingContext<'a> {
    /// The time of the recall.
    pub(crate) now: Timestamp,
    /// The time that the question is about, if it is another.
    pub(crate) as_of: Option<Timestamp>,
    /// The channel of the caller.
    pub(crate) channel: Option<&'a str>,
    /// True if the memory counts as superseded.
    pub(crate) superseded: bool,
    /// The score of the graph lane.
    pub(crate) graph: f64,
    /// The quality of its match; see [`fit`].
    pub(crate) fit: f64,
}

/// Returns the parts to add to the score of a memory.
pub(crate) fn weigh(memory: &Memory, scales: &WeighingContext<'_>) -> Vec<Part> {
    let passing = match memory.fields.class.stability {
        Stability::Stable => 0.0,
        Stability::Evolving => 1.0,
        Stability::Volatile => 2.0,
    };
    let at = scales.as_of.unwrap_or(scales.now);
    let is = |yes: bool| f64::from(u8::from(yes));
    let here = scales.channel.is_some() && memory.place.conversation.as_deref() == scales.channel;
    let parts = [
        Part::new(PartName::Graph, scales.graph.min(1.0), GRAPH),
        Part::new(PartName::Stability, passing * (1.0 - scales.fit), STABILITY),
        Part::new(PartName::Importance, 2.0 * decay::importance_at(memory, scales.now) - 1.0, IMPORTANCE),
        Part::new(PartName::Cooling, is(memory.status.state == State::Cooling), COOLING),
        Part::new(PartName::Superseded, is(scales.superseded), SUPERSEDED),
        Part::new(PartName::Lapsed, is(!memory.held_at(at)), LAPSED),
        Part::new(PartName::Channel, is(here), CHANNEL),
    ];
    parts.into_iter().filter(|part| part.value != 0.0).collect()
}

/// Increases the bonus of a memory that is newer than one with another value.
pub(crate) fn raise(parts: &mut Vec<Part>, by: f64) {
    match parts.iter_mut().find(|part| part.name == PartName::Newer) {
        Some(known) => *known = Part::new(PartName::Newer, known.raw + by, 1.0),
        None => parts.push(Part::new(PartName::Newer, by, 1.0)),
    }
}

/// Increases the penalty of a superseded memory until its score is below that of its successor.
pub(crate) fn keep_below(parts: &mut Vec<Part>, most: f64) {
    let excess = super::scoring::sum(parts) + BELOW - most;
    if excess <= 0.0 {
        return;
    }
    let known = parts.iter_mut().find(|part| part.name == PartName::Superseded);
    let raw = known.as_ref().map_or(0.0, |part| part.raw) - excess / SUPERSEDED;
    let part = Part::new(PartName::Superseded, raw, SUPERSEDED);
    match known {
        Some(known) => *known = part,
        None => parts.push(part),
    }
}
