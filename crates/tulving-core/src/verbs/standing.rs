//! Changes the status of a memory without a new version: archive, unarchive, pin, unpin. Each is logged and audited.

use crate::model::audit::AuditEntry;
use crate::model::change::{Right, Write};
use crate::model::error::Error;
use crate::model::id::{MemoryRef, PrincipalId};
use crate::model::memory::{Memory, Standing};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Boundary, State};
use crate::verbs::access::{self, Parts};
use crate::verbs::succession::{self, Moment};

/// Hides a memory from recall.
pub(crate) fn archive(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    reason: Option<&str>,
) -> Result<Memory, Error> {
    shift(parts, caller, which, (AuditAct::Archived, reason), |memory, _| {
        Ok(memory.standing.moved(State::Archived))
    })
}

/// Makes an archived memory active again; rules count from then on. A memory that is not archived stays unchanged. One that has
/// expired is refused, because it would be hidden all the same.
pub(crate) fn unarchive(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    shift(parts, caller, which, (AuditAct::Unarchived, None), |memory, now| {
        match memory.edition.span.expires_at {
            Some(at) if at <= now => Err(Error::Expired { which, at }),
            _ if memory.standing.state == State::Archived => Ok(memory.standing.ruled(State::Active, now)),
            _ => Ok(memory.standing),
        }
    })
}

/// Exempts a memory from decay and shows it first; a cooling one becomes active.
pub(crate) fn pin(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    shift(parts, caller, which, (AuditAct::Pinned, None), |memory, _| {
        let stood = memory.standing;
        let stands = if stood.state == State::Cooling { stood.moved(State::Active) } else { stood };
        Ok(Standing { pinned: true, ..stands })
    })
}

/// Removes the exemption.
pub(crate) fn unpin(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    shift(parts, caller, which, (AuditAct::Unpinned, None), |memory, _| {
        Ok(Standing { pinned: false, ..memory.standing })
    })
}

fn shift(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    act: (AuditAct, Option<&str>),
    step: impl Fn(&Memory, Timestamp) -> Result<Standing, Error>,
) -> Result<Memory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(parts, caller, which)?;
        let to = step(&memory, parts.clock.now())?;
        put(parts, caller, right, memory, to, act)
    })
}

/// Writes a new status and its audit entry, with an optional reason, in one transaction, and returns the memory as it is then.
/// Nothing is written if the status is unchanged.
pub(crate) fn put(
    parts: &Parts,
    caller: &Caller,
    right: Right,
    mut memory: Memory,
    to: Standing,
    (act, reason): (AuditAct, Option<&str>),
) -> Result<Memory, Error> {
    let stood = memory.standing;
    let now = parts.clock.now();
    succession::settle(parts, caller, [&mut memory], Moment::Now(now))?;
    if to == memory.standing {
        return Ok(memory);
    }
    let writes = vec![
        Write::Move { id: memory.id, from: memory.standing, to },
        Write::Audit(audit(caller, now, act, &memory, reason.map(str::to_owned), done_then(stood, to))),
    ];
    parts.store.apply(&access::changes(caller, now, vec![right], writes))?;
    Ok(Memory { standing: to, ..memory })
}

/// Returns the audit detail of an act that clears or changes the completion time: the old time, so that the act can be undone.
pub(crate) fn done_then(from: Standing, to: Standing) -> Option<String> {
    from.done_at.filter(|_| from.done_at != to.done_at).map(|at| format!("{WAS_DONE}{at}"))
}

/// Parses the old completion time from such a detail.
pub(crate) fn done_before(detail: &str) -> Option<Timestamp> {
    detail.strip_prefix(WAS_DONE)?.parse().ok()
}

const WAS_DONE: &str = "was done at ";

/// Builds the audit entry of an act on a memory.
pub(crate) fn audit(
    caller: &Caller,
    at: Timestamp,
    act: AuditAct,
    memory: &Memory,
    reason: Option<String>,
    detail: Option<String>,
) -> AuditEntry {
    AuditEntry {
        space: Some(memory.space),
        memory: Some(memory.id),
        private_to: private_to(memory),
        reason,
        detail,
        ..access::audit(caller, at, act)
    }
}

/// Returns the owner of a private memory.
pub(crate) fn private_to(memory: &Memory) -> Option<PrincipalId> {
    (memory.edition.boundary == Boundary::Private).then_some(memory.owner)
}
