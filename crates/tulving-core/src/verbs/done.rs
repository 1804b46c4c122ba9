//! Closes and reopens todos and goals. Neither makes a version; both are logged and audited.
//!
//! Lifecycle rules ignore open ones. A completed one ages like an event from the day it was done.

use std::time::Duration;

use crate::model::answer::Completed;
use crate::model::error::{Error, Invalid};
use crate::model::id::MemoryRef;
use crate::model::memory::{Memory, Standing};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, State};
use crate::verbs::access::{self, Parts};
use crate::verbs::standing;

/// Maximum lead of a date over the local clock: a day that has begun somewhere on Earth, or a clock that is ahead.
const AHEAD: Duration = Duration::from_secs(86_400);

/// Closes a todo or a goal. `at` is the time at which it was done, by default now. One that is already done stays as it
/// is, unless `at` is another time.
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

/// Reopens a todo or a goal. The effects of rules since then are undone; an open one stays as it is.
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
