//! Moves a memory without a new version: archive, unarchive, pin, unpin. Each is logged and audited.

use crate::access::{self, Parts};
use crate::audit::AuditEntry;
use crate::change::{Right, Write};
use crate::error::Error;
use crate::id::{MemoryRef, PrincipalId};
use crate::memory::{Memory, Standing};
use crate::request::Caller;
use crate::succession::{self, Moment};
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, Boundary, State};

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

/// Brings an archived memory back; rules count anew from then on. Others stay as they are, and so does one that has
/// expired: it would be hidden all the same.
pub(crate) fn unarchive(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    shift(parts, caller, which, (AuditAct::Unarchived, None), |memory, now| {
        match memory.edition.span.expires_at {
            Some(at) if at <= now => Err(Error::Expired { which, at }),
            _ if memory.standing.state == State::Archived => Ok(memory.standing.ruled(State::Active, now)),
            _ => Ok(memory.standing),
        }
    })
}

/// Exempts a memory from decay and shows it first; one that was cooling does no longer.
pub(crate) fn pin(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    shift(parts, caller, which, (AuditAct::Pinned, None), |memory, _| {
        let stood = memory.standing;
        let stands = if stood.state == State::Cooling { stood.moved(State::Active) } else { stood };
        Ok(Standing { pinned: true, ..stands })
    })
}

/// Takes the exemption away.
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

/// Writes a move and its audit entry, which may have a reason, as one act, and gives the memory as it stands then. Nothing is
/// written where it stands so already.
pub(crate) fn put(
    parts: &Parts,
    caller: &Caller,
    right: Right,
    mut memory: Memory,
    to: Standing,
    (act, reason): (AuditAct, Option<&str>),
) -> Result<Memory, Error> {
    let now = parts.clock.now();
    succession::settle(parts, caller, [&mut memory], Moment::Now(now))?;
    if to == memory.standing {
        return Ok(memory);
    }
    let writes = vec![
        Write::Move { id: memory.id, from: memory.standing, to },
        Write::Audit(audit(caller, now, act, &memory, reason.map(str::to_owned), None)),
    ];
    parts.store.apply(&access::changes(caller, now, vec![right], writes))?;
    Ok(Memory { standing: to, ..memory })
}

/// The audit entry of an act on a memory.
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

/// The owner of a private memory.
pub(crate) fn private_to(memory: &Memory) -> Option<PrincipalId> {
    (memory.edition.boundary == Boundary::Private).then_some(memory.owner)
}
