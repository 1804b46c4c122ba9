//! Closes a todo or a goal, and opens it again. Neither makes a version; both are logged and audited.
//!
//! Rules leave what is open alone. From the day it was done it ages like an event.

use std::time::Duration;

use crate::access::{self, Parts};
use crate::answer::Completed;
use crate::error::{Error, Invalid};
use crate::id::MemoryRef;
use crate::memory::{Memory, Standing};
use crate::request::Caller;
use crate::standing;
use crate::time::Timestamp;
use crate::vocabulary::{AuditAct, State};

/// How far ahead of the clock here a date may be: a day that has begun somewhere on Earth, or a clock that is ahead.
const AHEAD: Duration = Duration::from_secs(86_400);

/// Closes a todo or a goal. `at` is when it was done; without it that is now. One that is done already stays as it is,
/// unless `at` names another time.
pub(crate) fn done(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    at: Option<Timestamp>,
) -> Result<Completed, Error> {
    let now = parts.clock.now();
    if let Some(at) = at.filter(|at| *at > now.plus(AHEAD)) {
        return Err(Invalid::NotYet { at }.into());
    }
    shift(parts, caller, which, AuditAct::Done, |memory| {
        let done_at = at.or(memory.standing.done_at).unwrap_or(now);
        Standing { done_at: Some(done_at), ..memory.standing }
    })
}

/// Opens a todo or a goal again that was done. What a rule did to it meanwhile is taken back; one that is open stays as
/// it is.
pub(crate) fn reopen(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Completed, Error> {
    let now = parts.clock.now();
    shift(parts, caller, which, AuditAct::Reopened, |memory| {
        let by_rule = matches!(memory.standing.state, State::Cooling | State::Archived)
            && memory.standing.ruled_at.is_some()
            && !memory.edition.span.has_expired(now);
        match memory.standing.done_at {
            None => memory.standing,
            Some(_) if by_rule => Standing { done_at: None, ..memory.standing.ruled(State::Active, now) },
            Some(_) => Standing { done_at: None, ..memory.standing },
        }
    })
}

fn shift(
    parts: &Parts,
    caller: &Caller,
    which: MemoryRef,
    act: AuditAct,
    step: impl Fn(&Memory) -> Standing,
) -> Result<Completed, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(parts, caller, which)?;
        let memory_type = memory.edition.class.memory_type;
        if !memory_type.can_be_done() {
            return Err(Error::CannotBeDone { which, memory_type });
        }
        let (from, to) = (memory.standing, step(&memory));
        let memory = standing::put(parts, caller, right, memory, to, (act, None))?;
        Ok(Completed { memory, changed: from != to })
    })
}
