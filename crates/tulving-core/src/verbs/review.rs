//! Quarantined memories: listed, accepted or rejected. They are stored meanwhile, and not recalled.

use crate::model::answer::{Cursor, Page};
use crate::model::error::Error;
use crate::model::id::MemoryRef;
use crate::model::memory::{Memory, Standing};
use crate::model::request::{Caller, Filter, ListRequest, Quarantined, Sort};
use crate::model::vocabulary::AuditAct;
use crate::verbs::access::{self, Parts};
use crate::verbs::read;
use crate::verbs::standing;

/// Returns a page of the quarantined memories of the caller's space, newest first.
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

/// Accepts a quarantined memory, so that recall finds it.
pub(crate) fn accept(parts: &Parts, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(parts, caller, which)?;
        let to = Standing { quarantined_at: None, ..memory.standing };
        standing::put(parts, caller, right, memory, to, (AuditAct::Accepted, None))
    })
}

/// Softly forgets a quarantined memory. If restored, it waits for review again.
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
