//! Returns the entries of the change log that a caller may see.

use crate::model::answer::Changes;
use crate::model::error::{Error, Field};
use crate::model::id::Seq;
use crate::model::limits;
use crate::model::request::Caller;
use crate::model::vocabulary::ChangeKind;
use crate::verbs::access::Ports;
use crate::verbs::read;

/// Number of log entries read at a time.
const PAGE: usize = 1_000;
/// Maximum number of pages read for one answer, even if few entries were found. Reading them takes about ten
/// milliseconds.
const PAGES: usize = 10;

/// Returns the entries after the position `after` that the caller may see, and the position up to which the log was
/// read.
///
/// The access check uses the space, owner and boundary that the memory had when the entry was written, and the caller's
/// current access. Entries about new vectors are left out, because they change nothing that a caller can see.
pub(crate) fn changes(ports: &Ports, caller: &Caller, after: Seq, limit: usize) -> Result<Changes, Error> {
    let limit = read::bounded(Field::Limit, limit, limits::CHANGES)?;
    let visibility = ports.store.visibility(&caller.viewer)?;
    let mut described = Changes { changes: Vec::new(), read_to: after, gap: false };
    for _ in 0..PAGES {
        let page = ports.store.changes(described.read_to, PAGE)?;
        let whole = page.len() == PAGE;
        described.gap |=
            page.first().is_some_and(|first| first.seq.0.saturating_sub(described.read_to.0) > 1);
        for change in page {
            described.read_to = change.seq;
            if change.kind != ChangeKind::Embedded
                && visibility.sees(change.space, change.owner, change.boundary)
            {
                described.changes.push(change);
                if described.changes.len() == limit {
                    return Ok(described);
                }
            }
        }
        if !whole {
            break;
        }
    }
    if described.read_to == after {
        // If the log ends before the requested position, the position belongs to another log.
        let head = ports.store.head()?;
        if head < after {
            (described.read_to, described.gap) = (head, true);
        }
    }
    Ok(described)
}
