//! Changes the status of a memory without a new version: archive, unarchive, pin, unpin. Each is logged and audited.

use crate::model::audit::AuditEntry;
use crate::model::change::{RequiredRole, Write};
use crate::model::error::Error;
use crate::model::id::{MemoryRef, PrincipalId};
use crate::model::memory::{Memory, Status};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, Boundary, State};
use crate::verbs::access::{self, Ports};
use crate::verbs::succession::{self, PointInTime};

/// Hides a memory from recall.
pub(crate) fn archive(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    reason: Option<&str>,
) -> Result<Memory, Error> {
    shift(ports, caller, which, (AuditAct::Archived, reason), |memory, _| {
        Ok(memory.status.moved(State::Archived))
    })
}

/// Makes an archived memory active again. Lifecycle rules count its idle time from now. A memory that is not archived
/// stays unchanged. An expired memory is refused, because recall would still not find it.
pub(crate) fn unarchive(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    shift(ports, caller, which, (AuditAct::Unarchived, None), |memory, now| {
        match memory.fields.span.expires_at {
            Some(at) if at <= now => Err(Error::Expired { which, at }),
            _ if memory.status.state == State::Archived => Ok(memory.status.ruled(State::Active, now)),
            _ => Ok(memory.status),
        }
    })
}

/// Pins a memory: it does not decay, and is shown first. A cooling memory becomes active.
pub(crate) fn pin(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    shift(ports, caller, which, (AuditAct::Pinned, None), |memory, _| {
        let stood = memory.status;
        let stands = if stood.state == State::Cooling { stood.moved(State::Active) } else { stood };
        Ok(Status { pinned: true, ..stands })
    })
}

/// Unpins a memory, so that it can decay again.
pub(crate) fn unpin(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    shift(ports, caller, which, (AuditAct::Unpinned, None), |memory, _| {
        Ok(Status { pinned: false, ..memory.status })
    })
}

fn shift(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    act: (AuditAct, Option<&str>),
    step: impl Fn(&Memory, Timestamp) -> Result<Status, Error>,
) -> Result<Memory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(ports, caller, which)?;
        let to = step(&memory, ports.clock.now())?;
        put(ports, caller, right, memory, to, act)
    })
}

/// Writes a new status and its audit entry, with an optional reason, in one transaction, and returns the changed
/// memory. Nothing is written if the status is unchanged.
pub(crate) fn put(
    ports: &Ports,
    caller: &Caller,
    right: RequiredRole,
    mut memory: Memory,
    to: Status,
    (act, reason): (AuditAct, Option<&str>),
) -> Result<Memory, Error> {
    let stood = memory.status;
    let now = ports.clock.now();
    succession::settle(ports, caller, [&mut memory], PointInTime::Now(now))?;
    if to == memory.status {
        return Ok(memory);
    }
    let writes = vec![
        Write::Move { id: memory.id, from: memory.status, to },
        Write::Audit(audit(caller, now, act, &memory, reason.map(str::to_owned), done_then(stood, to))),
    ];
    ports.store.apply(&access::changes(caller, now, vec![right], writes))?;
    Ok(Memory { status: to, ..memory })
}

/// Returns the audit detail of an act that clears or changes the completion time. The detail is the old time, so that
/// the act can be undone.
pub(crate) fn done_then(from: Status, to: Status) -> Option<String> {
    from.done_at.filter(|_| from.done_at != to.done_at).map(|at| format!("{WAS_DONE}{at}"))
}

/// Parses the old completion time from an audit detail.
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
    (memory.fields.boundary == Boundary::Private).then_some(memory.owner)
}
