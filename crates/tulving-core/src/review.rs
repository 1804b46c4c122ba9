//! What was put aside for review: listed, found good, or forgotten. Kept meanwhile, and not recalled.

use crate::access::{self, Parts};
use crate::answer::{Cursor, Page};
use crate::error::Error;
use crate::id::MemoryRef;
use crate::memory::{Memory, Standing};
use crate::read;
use crate::request::{Caller, Filter, ListRequest, Quarantined, Sort};
use crate::standing;
use crate::vocabulary::AuditAct;

/// A page of what waits in the caller's space, newest first.
pub(crate) fn review(
    parts: &Parts,
    caller: &Caller,
    limit: usize,
    cursor: Option<Cursor>,
) -> Result<Page, Error> {
    let space = Some(caller.space);
    let filter = Filter { space, quarantined: Quarantined::Only, ..Filter::default() };
    read::list(parts, caller, &ListRequest { filter, sort: Sort::Newest, limit, cursor })
}

/// Lets recall find a memory that was put aside.
pub(crate) fn accept(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(parts, caller, which)?;
        let to = Standing { quarantined_at: None, ..memory.standing };
        standing::put(parts, caller, right, memory, to, (AuditAct::Accepted, None))
    })
}

/// Forgets a memory softly that was put aside. Restored, it waits for review again.
pub(crate) fn reject(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(parts, caller, which)?;
        if memory.standing.quarantined_at.is_none() {
            return Err(Error::NotInReview { which });
        }
        let to = Standing { forgotten_at: Some(parts.clock.now()), ..memory.standing };
        standing::put(parts, caller, right, memory, to, (AuditAct::Rejected, None))
    })
}
