//! The verbs get and list for several backends.

use crate::model::answer::{Cursor, FailedBackend, Page, Position};
use crate::model::backend::{BackendListQuery, Verb};
use crate::model::error::{BackendError, Error, Field, Invalid};
use crate::model::id::MemoryRef;
use crate::model::limits;
use crate::model::memory::Memory;
use crate::model::request::{Caller, Filter, ForgottenFilter, ListRequest, Sort};
use crate::ports::Backend;
use crate::rank::order;
use crate::verbs::access::{self, Ports};

use super::merge::{self, BackendSlice, MergePosition};
use super::registry::{BackendEntry, BackendLocation, Backends};
use super::screen::BackendScreen;
use super::{each, failed, failure, settled};

/// Returns a memory from the primary, or else from the first secondary that has it. If no backend has it but one backend
/// failed, the result is that failure, because the failed backend may have the memory.
pub(crate) fn get(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    which: MemoryRef,
) -> Result<Memory, Error> {
    let ask = |entry: &BackendEntry| get_from(ports, backends, caller, entry, which);
    let all = backends.all();
    let (primary, secondaries) = all.split_at(1);
    let mut absent = None;
    let mut trouble = None;
    // The secondaries are asked only for memories that the primary does not have.
    for asked in [primary, secondaries] {
        for (_, said) in each(asked, ask) {
            match said {
                Ok(memory) => return Ok(memory),
                Err(error @ (Error::NoMemory { .. } | Error::Forgotten { .. })) => {
                    absent = absent.or(Some(error));
                }
                Err(Error::Backend { source: BackendError::NotOffered { what }, .. })
                    if absent.is_some() && what == Verb::Get.as_str() => {}
                Err(error) => trouble = trouble.or(Some(error)),
            }
        }
    }
    Err(match trouble.or(absent) {
        Some(error) => error,
        None => access::absent(ports, caller, which)?,
    })
}

/// Returns a memory from one backend.
pub(super) fn get_from(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    entry: &BackendEntry,
    which: MemoryRef,
) -> Result<Memory, Error> {
    let BackendLocation::Elsewhere(backend) = &entry.keeps else {
        return access::find(ports, caller, which);
    };
    // Only the store assigns numbers to memories; other backends support ids only.
    let MemoryRef::Id(id) = which else {
        return Err(access::absent(ports, caller, which)?);
    };
    let filter = Filter::default();
    let screen = BackendScreen::new(ports, backends, caller, entry, &filter)?;
    let scope = screen.scope();
    let given =
        backend.get(id, &scope.spaces, scope.viewer, entry.within).map_err(|error| failure(entry, error))?;
    let other = given.as_ref().and_then(|given| given.as_ref().ok()).filter(|claimed| claimed.id != id);
    if let Some(claimed) = other {
        let why = format!("it was asked for the memory {id} and returned {}", claimed.id);
        return Err(failure(entry, BackendError::Wrong { why }));
    }
    let mut passed = screen.pass(given.into_iter().collect(), 1)?;
    match (passed.memories.pop(), passed.error()) {
        (Some((memory, _)), _) => Ok(memory),
        (None, Some(error)) => Err(failure(entry, error)),
        (None, None) => Err(access::absent(ports, caller, which)?),
    }
}

/// Returns a page over all backends. In order of creation, the memories of all backends form one list. Any other order may
/// change between two pages, so the page then contains only the primary's memories, and states this.
pub(crate) fn list(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    request: &ListRequest,
) -> Result<Page, Error> {
    let limit = crate::verbs::read::bounded(Field::Limit, request.limit, limits::PAGE)?;
    let filter = crate::verbs::read::fitted(&request.filter, ports.clock.now())?.of_records();
    let request = &ListRequest { filter, ..request.clone() };
    if !request.sort.is_fixed() {
        return in_changing_order(ports, backends, caller, request);
    }
    let fingerprint = crate::verbs::read::fingerprint(caller, request);
    let after = match request.cursor {
        None => None,
        Some(Cursor { fingerprint: own, position: Position::After(at, id) }) if own == fingerprint => {
            Some((at, id))
        }
        Some(cursor) => {
            return Err(Invalid::Cursor { got: crate::model::preview::short(&cursor.to_string()) }.into());
        }
    };
    let oldest_first = request.sort == Sort::Oldest;
    let said = each(&backends.all(), |entry| match &entry.keeps {
        BackendLocation::BuiltIn => {
            let page = crate::verbs::read::list(ports, caller, request)?;
            let read_to = page.next.and_then(|_| page.memories.last().map(merge::place));
            Ok((BackendSlice { memories: page.memories, read_to }, Vec::new()))
        }
        BackendLocation::Elsewhere(backend) => {
            let screen = BackendScreen::new(ports, backends, caller, entry, &request.filter)?;
            slice(&**backend, entry, &screen, request, ListStart { after, oldest_first })
        }
    });
    let (good, mut failed_backends) = settled(said)?;
    let (slices, more): (Vec<BackendSlice>, Vec<Vec<FailedBackend>>) = good.into_iter().unzip();
    failed_backends.extend(more.into_iter().flatten());
    let (memories, next) = merge::slices(slices, oldest_first, limit);
    let next = next.map(|(at, id)| Cursor { fingerprint, position: Position::After(at, id) });
    Ok(Page { memories, total: None, next, failed_backends })
}

/// The start and direction of a list.
#[derive(Clone, Copy)]
struct ListStart {
    after: Option<MergePosition>,
    oldest_first: bool,
}

fn slice(
    backend: &dyn Backend,
    entry: &BackendEntry,
    screen: &BackendScreen<'_>,
    request: &ListRequest,
    ListStart { after, oldest_first }: ListStart,
) -> Result<(BackendSlice, Vec<FailedBackend>), Error> {
    if request.filter.forgotten == ForgottenFilter::Only {
        return Err(failure(entry, BackendError::NotOffered { what: "what was forgotten" }));
    }
    if screen.is_empty() {
        return Ok((BackendSlice::default(), Vec::new()));
    }
    let limit = request.limit;
    let query = BackendListQuery { scope: screen.scope(), oldest_first, after, limit };
    let mut listed = backend.list(&query, entry.within).map_err(|error| failure(entry, error))?;
    let longer = listed.given.len() > limit;
    listed.given.truncate(limit);
    let out_of_turn =
        |place: MergePosition| after.is_some_and(|after| !merge::is_after(place, after, oldest_first));
    for given in &mut listed.given {
        if given.as_ref().is_ok_and(|claimed| out_of_turn((claimed.created_at, claimed.id))) {
            *given = Err("it comes before the position at which the list continues".to_owned());
        }
    }
    let places = listed.given.iter().flatten().map(|claimed| (claimed.created_at, claimed.id));
    let last = if oldest_first { places.max() } else { places.min() };
    let passed = screen.pass(listed.given, limit)?;
    let failed = passed.failed(entry);
    let memories = passed.memories.into_iter().map(|(memory, _)| memory).collect();
    Ok((BackendSlice { memories, read_to: last.filter(|_| listed.more || longer) }, failed))
}

/// Lists the primary's memories in an order that may change. For an external backend, its newest memories are sorted and
/// returned on one page.
fn in_changing_order(
    ports: &Ports,
    backends: &Backends,
    caller: &Caller,
    request: &ListRequest,
) -> Result<Page, Error> {
    let not_offered = |what| BackendError::NotOffered { what };
    let all = backends.all();
    let aside = all[1..].iter().map(|entry| failed(&entry.name, &not_offered("lists in this order")));
    let mut page = match &backends.primary().keeps {
        BackendLocation::BuiltIn => crate::verbs::read::list(ports, caller, request)?,
        BackendLocation::Elsewhere(backend) => {
            let entry = backends.primary();
            if request.cursor.is_some() {
                return Err(failure(entry, not_offered("further pages in this order")));
            }
            let screen = BackendScreen::new(ports, backends, caller, entry, &request.filter)?;
            let most = ListRequest { limit: limits::PAGE, ..request.clone() };
            let whole = ListStart { after: None, oldest_first: false };
            let (slice, mut failed_backends) = slice(&**backend, entry, &screen, &most, whole)?;
            let mut memories = slice.memories;
            let now = ports.clock.now();
            memories.sort_by(|a, b| order::compare(a, b, request.sort, now));
            if slice.read_to.is_some() || memories.len() > request.limit {
                failed_backends.push(failed(&entry.name, &not_offered("further pages in this order")));
            }
            memories.truncate(request.limit);
            Page { memories, total: None, next: None, failed_backends }
        }
    };
    page.failed_backends.extend(aside);
    Ok(page)
}
