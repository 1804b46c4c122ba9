//! Forgets memories, softly or for good, and brings a softly forgotten one back.

use crate::access::{self, Parts};
use crate::answer::Gone;
use crate::change::{Right, Write};
use crate::error::{Error, Field};
use crate::id::MemoryRef;
use crate::limits;
use crate::memory::{Memory, Standing};
use crate::objects;
use crate::request::{Caller, ForgetRequest, Manner};
use crate::save::{dedupe, intake};
use crate::standing;
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, Role};

/// Forgets a memory and gives it as it was. Softly, the row stays for audit and can be restored; hard, row, versions,
/// chunks and vectors go, also those of a memory that was softly forgotten before.
pub(crate) fn forget(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    request: &ForgetRequest,
) -> Result<Memory, Error> {
    let reason = reason(request)?;
    access::decide_again(|| {
        let act =
            Act { parts, caller, now: parts.clock.now(), manner: request.manner, reason: reason.clone() };
        let leaving = act.decide(which)?;
        act.write(vec![leaving]).map(|mut gone| gone.pop().expect("one memory was forgotten"))
    })
}

/// Forgets several memories as one act: all that are there, or none where one may not be forgotten.
pub(crate) fn forget_many(
    parts: &Parts,
    caller: &Caller,
    which: &[MemoryRef],
    request: &ForgetRequest,
) -> Result<Gone, Error> {
    let reason = reason(request)?;
    access::decide_again(|| {
        let act =
            Act { parts, caller, now: parts.clock.now(), manner: request.manner, reason: reason.clone() };
        let (leaving, missing) = access::several(which, |which| {
            let leaving = act.decide(which)?;
            Ok((leaving.memory.id, leaving))
        })?;
        Ok(Gone { forgotten: act.write(leaving)?, missing })
    })
}

/// The reason in its normal form.
pub(crate) fn reason(request: &ForgetRequest) -> Result<Option<String>, Error> {
    Ok(intake::given(Field::Reason, request.reason.as_deref(), limits::NOTE_CHARS)?)
}

/// One act of forgetting.
struct Act<'a> {
    parts: &'a Parts,
    caller: &'a Caller,
    now: Timestamp,
    manner: Manner,
    reason: Option<String>,
}

/// A memory that may be forgotten, and by what right.
struct Leaving {
    memory: Memory,
    right: Right,
}

impl Act<'_> {
    fn decide(&self, which: MemoryRef) -> Result<Leaving, Error> {
        let (parts, caller) = (self.parts, self.caller);
        if self.manner == Manner::Soft {
            let (memory, right) = access::find_editable(parts, caller, which)?;
            return Ok(Leaving { memory, right });
        }
        let memory = match access::find_forgotten(parts, caller, which)? {
            Some(memory) => memory,
            None => access::find(parts, caller, which)?,
        };
        let right = access::require_over(parts, caller, which, &memory)?;
        access::refuse_mirror(&memory)?;
        Ok(Leaving { memory, right })
    }

    /// Forgets all of them and gives them as they were.
    fn write(self, leaving: Vec<Leaving>) -> Result<Vec<Memory>, Error> {
        let Self { parts, caller, now, manner, reason } = self;
        let (mut rights, mut writes, mut gone, mut files) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for Leaving { memory, right } in leaving {
            let (id, standing) = (memory.id, memory.standing);
            let (write, act) = match manner {
                Manner::Soft => {
                    let to = Standing { forgotten_at: Some(now), ..standing };
                    (Write::Move { id, from: standing, to }, AuditAct::Forgot)
                }
                Manner::Hard => (Write::Erase { id, from: Some(memory.version) }, AuditAct::Erased),
            };
            writes.push(write);
            writes.push(Write::Audit(standing::audit(caller, now, act, &memory, reason.clone(), None)));
            if let (Manner::Hard, Some(attachment)) = (manner, &memory.provenance.attachment) {
                let (write, job) = objects::leaves(attachment, now);
                writes.push(write);
                files.push(job);
            }
            rights.push(right);
            gone.push(memory);
        }
        if !writes.is_empty() {
            parts.store.apply(&access::changes(caller, now, rights, writes))?;
        }
        files.into_iter().for_each(|file| objects::drop_now(parts, file));
        Ok(gone)
    }
}

/// Brings a softly forgotten memory back. One that is not forgotten is given as it is.
pub(crate) fn restore(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    access::decide_again(|| {
        let Some(memory) = access::find_forgotten(parts, caller, which)? else {
            return access::find(parts, caller, which);
        };
        let right = access::require_in_place(parts, caller, &memory, Role::Writer)?;
        dedupe::refuse_held(parts, &caller.viewer, &memory, &memory.edition)?;
        let to = Standing { forgotten_at: None, ..memory.standing };
        standing::put(parts, caller, right, memory, to, AuditAct::Restored)
    })
}
