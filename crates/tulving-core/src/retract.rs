//! Takes back what a memory is superseded by where it is said to hold again.
//!
//! Goes before the link that says so, in the same act, so that the newest statement wins and no ring of updates is stored.

use crate::access::Parts;
use crate::answer::Warning;
use crate::audit::AuditEntry;
use crate::change::Write;
use crate::error::Error;
use crate::id::{MemoryId, MemoryRef};
use crate::memory::Memory;
use crate::request::Caller;
use crate::standing;
use crate::succession;
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, Relation};

/// Where `memory` is said to update `target` and was superseded by way of that: the writes that end this, and the warnings
/// that say so. `before` are the writes of the act so far.
pub(crate) fn retract(
    parts: &Parts,
    caller: &Caller,
    now: Timestamp,
    (memory, target): (&Memory, MemoryId),
    before: &[Write],
) -> Result<(Vec<Write>, Vec<Warning>), Error> {
    let (mut writes, mut warnings) = (Vec::new(), Vec::new());
    for by in succession::overtaken(parts, caller, (memory.id, target), before)? {
        let relation = Relation::Updates;
        writes.push(Write::Unlink { source: by.id, target: memory.id, relation });
        writes.push(Write::Audit(audit(caller, now, AuditAct::Dissociated, (&by, memory), relation)));
        let (memory, by) = (named(caller, memory), named(caller, &by));
        warnings.push(Warning::HoldsAgain { memory, by });
    }
    Ok((writes, warnings))
}

/// What a memory is called in the space of the call: its number there, else its id.
pub(crate) fn named(caller: &Caller, memory: &Memory) -> MemoryRef {
    MemoryRef::of(memory.number.filter(|_| memory.space == caller.space), memory.id)
}

/// The audit entry of an act on an edge. It names both ends, so it is as private as either.
pub(crate) fn audit(
    caller: &Caller,
    at: Timestamp,
    act: AuditAct,
    (from, to): (&Memory, &Memory),
    relation: Relation,
) -> AuditEntry {
    // Who reads the audit of one space may not know of a memory in another.
    let detail = match from.space == to.space {
        true => format!("{relation} {}", to.id),
        false => format!("{relation} a memory of another space"),
    };
    let mut entry = standing::audit(caller, at, act, from, None, Some(detail));
    entry.private_to = entry.private_to.or_else(|| standing::private_to(to));
    entry
}
