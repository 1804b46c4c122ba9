//! Closes and reopens todos and goals. Both acts are logged and audited, but create no version.
//!
//! Lifecycle rules ignore open todos and goals. A completed todo or goal ages like an event, from the day on which it
//! was completed.

use std::time::Duration;

use crate::model::answer::CompletedMemory;
use crate::model::error::{Error, Invalid};
use crate::model::id::MemoryRef;
use crate::model::memory::{Memory, Status};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::model::vocabulary::{AuditAct, State};
use crate::verbs::access::{self, Ports};
use crate::verbs::status;

/// Maximum time by which a completion date may be later than the local clock. The new day may have begun in another
/// time zone, or the caller's clock may be ahead.
const AHEAD: Duration = Duration::from_secs(86_400);

/// Closes a todo or a goal. `at` is the time of completion, by default now. A todo or goal that is already closed does
/// not change, unless `at` is another time.
pub(crate) fn done(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    at: Option<Timestamp>,
) -> Result<CompletedMemory, Error> {
    let now = ports.clock.now();
    if let Some(at) = at.filter(|at| *at > now.plus(AHEAD)) {
        return Err(Invalid::NotYet { at }.into());
    }
    shift(ports, caller, which, AuditAct::Done, |memory| {
        let done_at = at.or(memory.status.done_at).unwrap_or(now);
        Status { done_at: Some(done_at), ..memory.status }
    })
}

/// Reopens a todo or a goal, and undoes the effects of lifecycle rules since its completion. A todo or goal that is
/// open does not change.
pub(crate) fn reopen(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<CompletedMemory, Error> {
    let now = ports.clock.now();
    shift(ports, caller, which, AuditAct::Reopened, |memory| {
        let by_rule = matches!(memory.status.state, State::Cooling | State::Archived)
            && memory.status.ruled_at.is_some()
            && !memory.fields.span.has_expired(now);
        match memory.status.done_at {
            None => memory.status,
            Some(_) if by_rule => Status { done_at: None, ..memory.status.ruled(State::Active, now) },
            Some(_) => Status { done_at: None, ..memory.status },
        }
    })
}

fn shift(
    ports: &Ports,
    caller: &Caller,
    which: MemoryRef,
    act: AuditAct,
    step: impl Fn(&Memory) -> Status,
) -> Result<CompletedMemory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(ports, caller, which)?;
        let memory_type = memory.fields.class.memory_type;
        if !memory_type.can_be_done() {
            return Err(Error::CannotBeDone { which, memory_type });
        }
        let (from, to) = (memory.status, step(&memory));
        let memory = status::put(ports, caller, right, memory, to, (act, None))?;
        Ok(CompletedMemory { memory, changed: from != to })
    })
}
