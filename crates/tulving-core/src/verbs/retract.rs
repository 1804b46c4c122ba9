//! Removes the links that superseded a memory when a new link states that the memory is valid again.
//!
//! The links are removed before the new link is written, in the same transaction. So the newest statement wins, and no
//! cycle of updates is stored.

use crate::model::answer::Warning;
use crate::model::association::Association;
use crate::model::audit::AuditEntry;
use crate::model::change::Write;
use crate::model::error::Error;
use crate::model::id::{MemoryId, MemoryRef};
use crate::model::memory::Memory;
use crate::model::request::Caller;
use crate::model::score::Weight;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, LinkedBy, Relation};
use crate::verbs::access::Ports;
use crate::verbs::status;
use crate::verbs::succession;

/// Returns the writes that remove the links through which `target` superseded `memory`, directly or through other
/// memories, and the warnings about them. `memory` now updates `target`. `before` contains the earlier writes of the
/// transaction.
pub(crate) fn retract(
    ports: &Ports,
    caller: &Caller,
    now: Timestamp,
    (memory, target): (&Memory, MemoryId),
    before: &[Write],
) -> Result<(Vec<Write>, Vec<Warning>), Error> {
    let (mut writes, mut warnings) = (Vec::new(), Vec::new());
    for by in succession::overtaken(ports, caller, (memory.id, target), before)? {
        let relation = Relation::Updates;
        let edges = ports.store.associations(&caller.viewer, &[by.id])?;
        let ends = (by.id, memory.id, relation);
        let was = edges.iter().find(|edge| (edge.source, edge.target, edge.relation) == ends).map(Edge::of);
        writes.push(Write::Unlink { source: by.id, target: memory.id, relation });
        writes.push(Write::Audit(audit(caller, now, AuditAct::Dissociated, (&by, memory), (relation, was))));
        let (memory, by) = (named(caller, memory), named(caller, &by));
        warnings.push(Warning::HoldsAgain { memory, by });
    }
    Ok((writes, warnings))
}

/// Returns the reference to a memory: its number if it is in the space of the call, else its id.
pub(crate) fn named(caller: &Caller, memory: &Memory) -> MemoryRef {
    MemoryRef::of(memory.number.filter(|_| memory.space == caller.space), memory.id)
}

/// The weight and the creator of an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Edge {
    pub(crate) weight: Weight,
    pub(crate) linked_by: LinkedBy,
}

impl Edge {
    pub(crate) fn of(association: &Association) -> Self {
        Self { weight: association.weight, linked_by: association.linked_by }
    }
}

/// Builds the audit entry of an act on an edge. The entry contains the relation and the previous edge, so that the act
/// can be undone. The entry names both memories, so it is private if either memory is private.
pub(crate) fn audit(
    caller: &Caller,
    at: Timestamp,
    act: AuditAct,
    (from, to): (&Memory, &Memory),
    (relation, was): (Relation, Option<Edge>),
) -> AuditEntry {
    let was = was.map(|edge| format!("{WAS}{} by {}", edge.weight.get(), edge.linked_by)).unwrap_or_default();
    // A reader of the audit of one space must not learn that a memory in another space exists.
    let detail = match from.space == to.space {
        true => format!("{relation} {}{was}", to.id),
        false => format!("{relation} a memory of another space"),
    };
    let mut entry = status::audit(caller, at, act, from, None, Some(detail));
    entry.private_to = entry.private_to.or_else(|| status::private_to(to));
    entry
}

/// The text that separates the previous edge from the relation in an audit detail.
const WAS: &str = ", was ";

/// Parses the detail of an audit entry: the edge, and the previous edge if known.
pub(crate) fn named_edge(detail: &str) -> Option<(Relation, MemoryId, Option<Edge>)> {
    let (edge, was) = detail.split_once(WAS).map_or((detail, None), |(edge, was)| (edge, Some(was)));
    let (relation, target) = edge.split_once(' ')?;
    let was = match was {
        None => None,
        Some(was) => {
            let (weight, by) = was.split_once(" by ")?;
            Some(Edge { weight: Weight::new(weight.parse().ok()?).ok()?, linked_by: by.parse().ok()? })
        }
    };
    Some((relation.parse().ok()?, target.parse().ok()?, was))
}
