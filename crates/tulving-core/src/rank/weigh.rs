//! The weights of a memory that do not depend on the match: stability, importance, supersession and channel.
//!
//! All of these weights are small compared to the weight of the match. They decide only between memories that match about
//! equally well.

use tulving_text::when::QuestionInterval;

use crate::model::answer::{PartName, ScorePart};
use crate::model::memory::Memory;
use crate::model::search::Item;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{Stability, State};
use crate::rank::decay;

/// The penalty of an evolving memory with a weak match. The penalty of a volatile memory is twice as large; a stable memory
/// has no penalty. This is a penalty and not a bonus, so that of two similar memories the better match never ranks lower.
const STABILITY: f64 = -0.04;
/// The bonus for an importance of 1, and the penalty for an importance of 0.
const IMPORTANCE: f64 = 0.05;
/// The penalty of a cooling memory.
const COOLING: f64 = -0.05;
/// The penalty of a memory that another memory updates.
const SUPERSEDED: f64 = -0.15;
/// The penalty of a memory that is no longer valid or not yet valid.
const LAPSED: f64 = -0.15;
/// The bonus of a memory whose stated validity includes a part of the past time that the question names, if it matches well.
/// It is as large as the penalty that it does not get.
const VALID_THEN: f64 = 0.15;
/// The minimum difference between the score of a superseded memory and the higher score of its successor.
const BELOW: f64 = 1e-6;
/// The bonus of a memory from the caller's channel.
const CHANNEL: f64 = 0.10;
/// The maximum bonus of the graph lane.
const GRAPH: f64 = 0.15;

/// Returns the maximum bonus that [`weigh`] can add.
pub(crate) fn most(channel: Option<&str>, past: bool, linked: bool) -> f64 {
    let channel = if channel.is_some() { CHANNEL } else { 0.0 };
    let past = if past { VALID_THEN } else { 0.0 };
    IMPORTANCE + past + channel + if linked { GRAPH } else { 0.0 }
}

/// The minimum cosine of a meaningful match, and the minimum cosine of a certain match. Both were measured on the
/// development sets.
const FAINT: f64 = 0.2;
const CLEAR: f64 = 0.7;

/// Returns the quality of an item's match, 0 to 1, independent of the other results.
pub(crate) fn fit(item: &Item) -> f64 {
    let near = (f64::from(item.closeness()) - FAINT) / (CLEAR - FAINT);
    near.max(f64::from(item.coverage)).clamp(0.0, 1.0)
}

/// The facts about a recall that are needed to weigh a memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WeighingContext<'a> {
    /// The time of the recall.
    pub(crate) now: Timestamp,
    /// The time that the question is about, if it differs from `now`.
    pub(crate) as_of: Option<Timestamp>,
    /// The past time that the question names.
    pub(crate) past: Option<QuestionInterval>,
    /// The channel of the caller.
    pub(crate) channel: Option<&'a str>,
    /// True if the memory counts as superseded.
    pub(crate) superseded: bool,
    /// The score of the graph lane.
    pub(crate) graph: f64,
    /// The quality of the memory's match; see [`fit`].
    pub(crate) fit: f64,
}

/// Returns the score parts that a memory gets for these weights.
pub(crate) fn weigh(memory: &Memory, scales: &WeighingContext<'_>) -> Vec<ScorePart> {
    let passing = match memory.fields.class.stability {
        Stability::Stable => 0.0,
        Stability::Evolving => 1.0,
        Stability::Volatile => 2.0,
    };
    let at = scales.as_of.unwrap_or(scales.now);
    let then = scales.past.and_then(|past| was_valid(memory, &past));
    let is = |yes: bool| f64::from(u8::from(yes));
    let here = scales.channel.is_some() && memory.place.conversation.as_deref() == scales.channel;
    let parts = [
        ScorePart::new(PartName::Graph, scales.graph.min(1.0), GRAPH),
        ScorePart::new(PartName::Stability, passing * (1.0 - scales.fit), STABILITY),
        ScorePart::new(
            PartName::Importance,
            2.0 * decay::importance_at(memory, scales.now) - 1.0,
            IMPORTANCE,
        ),
        ScorePart::new(PartName::Cooling, is(memory.status.state == State::Cooling), COOLING),
        ScorePart::new(PartName::Superseded, is(scales.superseded), SUPERSEDED),
        ScorePart::new(PartName::Lapsed, is(!then.unwrap_or_else(|| memory.held_at(at))), LAPSED),
        ScorePart::new(PartName::ValidThen, is(then == Some(true)) * scales.fit, VALID_THEN),
        ScorePart::new(PartName::Channel, is(here), CHANNEL),
    ];
    parts.into_iter().filter(|part| part.value != 0.0).collect()
}

/// Returns true if the memory was valid at a part of a past time; `None` if its validity is not stated.
fn was_valid(memory: &Memory, past: &QuestionInterval) -> Option<bool> {
    let span = &memory.fields.span;
    let began = span.valid_from.is_none_or(|from| from < past.until);
    let lasted = span.valid_until.is_none_or(|until| until > past.from);
    (span.valid_from.is_some() || span.valid_until.is_some()).then_some(began && lasted)
}

/// Increases the bonus of a memory that is newer than a memory that states another value.
pub(crate) fn raise(parts: &mut Vec<ScorePart>, by: f64) {
    match parts.iter_mut().find(|part| part.name == PartName::Newer) {
        Some(known) => *known = ScorePart::new(PartName::Newer, known.raw + by, 1.0),
        None => parts.push(ScorePart::new(PartName::Newer, by, 1.0)),
    }
}

/// The highest relevance of a memory, as a share of the highest possible score, if nothing seems to answer the
/// question.
const OF_NEAREST: f64 = 0.3;

/// Lowers the scores of all results of a question that nothing seems to answer, so that no relevance looks strong. The
/// order stays the same. `scores` are the parts of each result, best first, each with its highest possible score.
pub(crate) fn lower_nearest<'a>(scores: impl Iterator<Item = (&'a mut Vec<ScorePart>, f64)>) {
    let mut share = None;
    for (parts, most) in scores {
        let score = super::scoring::sum(parts);
        let share = *share.get_or_insert_with(|| OF_NEAREST * most / score.max(OF_NEAREST * most));
        let lowered = score * share - score;
        if lowered < 0.0 {
            parts.push(ScorePart::new(PartName::NoEvidence, lowered, 1.0));
        }
    }
}

/// Increases the penalty of a superseded memory until its score is below that of its successor.
pub(crate) fn keep_below(parts: &mut Vec<ScorePart>, most: f64) {
    let excess = super::scoring::sum(parts) + BELOW - most;
    if excess <= 0.0 {
        return;
    }
    let known = parts.iter_mut().find(|part| part.name == PartName::Superseded);
    let raw = known.as_ref().map_or(0.0, |part| part.raw) - excess / SUPERSEDED;
    let part = ScorePart::new(PartName::Superseded, raw, SUPERSEDED);
    match known {
        Some(known) => *known = part,
        None => parts.push(part),
    }
}
