//! Forgets a memory, softly or for good, and brings a softly forgotten one back.

use crate::access::{self, Parts};
use crate::change::Write;
use crate::error::{Error, Field};
use crate::id::MemoryRef;
use crate::limits;
use crate::memory::{Memory, Standing};
use crate::request::{Caller, ForgetRequest, Manner};
use crate::save::{dedupe, intake};
use crate::standing;
use crate::vocabulary::{AuditAct, Role};

/// Forgets a memory and gives it as it was. Softly, the row stays for audit and can be restored; hard, row, versions,
/// chunks and vectors go, also those of a memory that was softly forgotten before.
pub(crate) fn forget(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    request: &ForgetRequest,
) -> Result<Memory, Error> {
    let reason = intake::given(Field::Reason, request.reason.as_deref(), limits::NOTE_CHARS)?;
    access::decide_again(|| match request.manner {
        Manner::Soft => soften(parts, caller, which, reason.clone()),
        Manner::Hard => erase(parts, caller, which, reason.clone()),
    })
}

fn soften(parts: &Parts, caller: &Caller, which: MemoryRef, reason: Option<String>) -> Result<Memory, Error> {
    let (memory, right) = access::find_editable(parts, caller, which)?;
    let to = Standing { forgotten_at: Some(parts.clock.now()), ..memory.standing };
    standing::relocate(parts, caller, right, memory.clone(), to, AuditAct::Forgot, reason)?;
    Ok(memory)
}

fn erase(parts: &Parts, caller: &Caller, which: MemoryRef, reason: Option<String>) -> Result<Memory, Error> {
    let memory = match access::find_forgotten(parts, caller, which)? {
        Some(memory) => memory,
        None => access::find(parts, caller, which)?,
    };
    let right = access::require_over(parts, caller, which, &memory)?;
    access::refuse_mirror(&memory)?;
    let now = parts.clock.now();
    let writes = vec![
        Write::Erase { id: memory.id, from: Some(memory.version) },
        Write::Audit(standing::audit(caller, now, AuditAct::Erased, &memory, reason, None)),
    ];
    parts.store.apply(&access::changes(caller, now, vec![right], writes))?;
    Ok(memory)
}

/// Brings a softly forgotten memory back. One that is not forgotten is given as it is.
pub(crate) fn restore(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    access::decide_again(|| {
        let Some(memory) = access::find_forgotten(parts, caller, which)? else {
            return access::find(parts, caller, which);
        };
        let right = access::require(parts, caller, memory.space, Role::Writer)?;
        dedupe::refuse_held(parts, &caller.viewer, &memory, &memory.edition)?;
        let to = Standing { forgotten_at: None, ..memory.standing };
        standing::relocate(parts, caller, right, memory, to, AuditAct::Restored, None)
    })
}
