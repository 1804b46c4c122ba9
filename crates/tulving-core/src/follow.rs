//! Tells what changed, entry by entry of the change log, to those who may see it.

use crate::access::Parts;
use crate::answer::Changes;
use crate::error::{Error, Field};
use crate::id::Seq;
use crate::limits;
use crate::read;
use crate::request::Caller;
use crate::vocabulary::ChangeKind;

/// How many entries are read at a time.
const PAGE: usize = 1_000;
/// After so many pages an answer is given, however little was found: some ten milliseconds.
const PAGES: usize = 10;

/// The entries after one that the caller may see, and how far the log was read for them.
///
/// Each is judged as it was written: by the space, owner and boundary that the memory had then, and by what the caller may
/// see now. That vectors were made changes nothing that anybody sees, so it is left out.
pub(crate) fn changes(parts: &Parts, caller: &Caller, after: Seq, limit: usize) -> Result<Changes, Error> {
    let limit = read::bounded(Field::Limit, limit, limits::CHANGES)?;
    let sight = parts.store.sight(&caller.viewer)?;
    let mut told = Changes { changes: Vec::new(), read_to: after, gap: false };
    for _ in 0..PAGES {
        let page = parts.store.changes(told.read_to, PAGE)?;
        let whole = page.len() == PAGE;
        told.gap |= page.first().is_some_and(|first| first.seq.0.saturating_sub(told.read_to.0) > 1);
        for change in page {
            told.read_to = change.seq;
            if change.kind != ChangeKind::Embedded && sight.sees(change.space, change.owner, change.boundary)
            {
                told.changes.push(change);
                if told.changes.len() == limit {
                    return Ok(told);
                }
            }
        }
        if !whole {
            break;
        }
    }
    if told.read_to == after {
        // A log that ends before what was followed is another one.
        let head = parts.store.head()?;
        if head < after {
            (told.read_to, told.gap) = (head, true);
        }
    }
    Ok(told)
}
