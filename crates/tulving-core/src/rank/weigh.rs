//! What counts beside the match: how lasting and how important a memory is, what took its place, where it was said.
//!
//! All of it is small against the match: it decides among what fits about equally well.

use crate::answer::{Part, PartName};
use crate::lifecycle::decay;
use crate::memory::Memory;
use crate::search::Item;
use crate::time::Timestamp;
use crate::vocabulary::{Stability, State};

/// What an evolving memory loses where the match is weak; a volatile one loses twice as much, a stable one nothing. A
/// loss and no gain, so that of two alike the better match never comes off worse.
const STABILITY: f64 = -0.04;
/// What an importance of 1 gains and of 0 loses.
const IMPORTANCE: f64 = 0.05;
/// What a cooling memory loses.
const COOLING: f64 = -0.05;
/// What a memory loses that another one updates.
const SUPERSEDED: f64 = -0.15;
/// What a memory loses that does not hold any more, or not yet.
const LAPSED: f64 = -0.15;
/// How far a superseded memory is kept below its successor.
const BELOW: f64 = 1e-6;
/// What a memory of the channel that the caller speaks in gains.
const CHANNEL: f64 = 0.10;
/// What the graph lane adds at the most.
const GRAPH: f64 = 0.15;

/// The most that weighing can add.
pub(crate) fn most(channel: Option<&str>, linked: bool) -> f64 {
    let channel = if channel.is_some() { CHANNEL } else { 0.0 };
    IMPORTANCE + channel + if linked { GRAPH } else { 0.0 }
}

/// Cosines from here on mean something, and from there on leave no doubt; measured on the development sets.
const FAINT: f64 = 0.2;
const CLEAR: f64 = 0.7;

/// How well an item fits by itself, whatever else was found: 0 to 1.
pub(crate) fn fit(item: &Item) -> f64 {
    let near = (f64::from(item.closeness()) - FAINT) / (CLEAR - FAINT);
    near.max(f64::from(item.coverage)).clamp(0.0, 1.0)
}

/// What is known of a recall beside the memory that is weighed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scales<'a> {
    /// The time of asking.
    pub(crate) now: Timestamp,
    /// The time that is asked about, where it is another.
    pub(crate) as_of: Option<Timestamp>,
    /// The channel that the caller speaks in.
    pub(crate) channel: Option<&'a str>,
    /// Whether the memory counts as superseded.
    pub(crate) superseded: bool,
    /// What the graph lane says of it.
    pub(crate) graph: f64,
    /// How well it fits; see [`fit`].
    pub(crate) fit: f64,
}

/// What is added to the score of a memory.
pub(crate) fn weigh(memory: &Memory, scales: &Scales<'_>) -> Vec<Part> {
    let passing = match memory.edition.class.stability {
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
        Part::new(PartName::Cooling, is(memory.standing.state == State::Cooling), COOLING),
        Part::new(PartName::Superseded, is(scales.superseded), SUPERSEDED),
        Part::new(PartName::Lapsed, is(!memory.held_at(at)), LAPSED),
        Part::new(PartName::Channel, is(here), CHANNEL),
    ];
    parts.into_iter().filter(|part| part.value != 0.0).collect()
}

/// Makes what a superseded memory loses as large as it must be for its score to stay below that of its successor.
pub(crate) fn keep_below(parts: &mut Vec<Part>, most: f64) {
    let excess = super::recipe::sum(parts) + BELOW - most;
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
