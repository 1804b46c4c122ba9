//! Lists, accepts and rejects quarantined memories. A quarantined memory is stored, but recall does not find it.

use crate::model::answer::{Cursor, Page};
use crate::model::error::Error;
use crate::model::id::MemoryRef;
use crate::model::memory::{Memory, Status};
use crate::model::request::{Caller, Filter, ListRequest, Quarantined, Sort};
use crate::model::vocabulary::AuditAct;
use crate::verbs::access::{self, Ports};
use crate::verbs::read;
use crate::verbs::status;

/// Returns a page of the quarantined memories of the caller's space, newest first.
pub(crate) fn review(
    ports: &Ports,
    caller: &Caller,
    limit: usize,
    cursor: Option<Cursor>,
) -> Result<Page, Error> {
    let space = Some(caller.space);
    let filter = Filter { space, quarantined: Quarantined::Only, ..Filter::default() };
    read::list(ports, caller, &ListRequest { filter, sort: Sort::Newest, limit, cursor })
}

/// Accepts a quarantined memory, so that recall finds it.
pub(crate) fn accept(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(ports, caller, which)?;
        let to = Status { quarantined_at: None, ..memory.status };
        status::put(ports, caller, right, memory, to, (AuditAct::Accepted, None))
    })
}

/// Softly forgets a quarantined memory. After a restore, the memory waits for review again.
pub(crate) fn reject(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    access::decide_again(|| {
        let (memory, right) = access::find_editable(ports, caller, which)?;
        if memory.status.quarantined_at.is_none() {
            return Err(Error::NotInReview { which });
        }
        let to = Status { forgotten_at: Some(ports.clock.now()), ..memory.status };
        status::put(ports, caller, right, memory, to, (AuditAct::Rejected, None))
    })
}
