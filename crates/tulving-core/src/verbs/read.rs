//! Reads memories without a recall: get, list and count.

use sha2::{Digest, Sha256};

use crate::model::answer::{Cursor, Page, Position};
use crate::model::change::{FrozenOrder, Write};
use crate::model::error::{Error, Field, Invalid};
use crate::model::id::{ListingId, MemoryId, MemoryRef};
use crate::model::limits;
use crate::model::memory::Memory;
use crate::model::request::{Caller, Filter, ForgottenFilter, ListRequest, TimeCondition};
use crate::model::time::Timestamp;
use crate::ports::ReadLimit;
use crate::text::normalize;
use crate::verbs::access::{self, Ports};
use crate::verbs::succession::{self, PointInTime};

/// Lifetime of the frozen order of a list.
const LISTING_LIVES_MILLIS: i64 = 3_600_000;

/// Number of memories read at a time.
const SLICE: usize = 64;
/// Maximum number of bytes read at once of rows that are processed further instead of returned.
pub(crate) const PAGE_BYTES: usize = 16_000_000;

/// Returns a memory.
pub(crate) fn get(ports: &Ports, caller: &Caller, which: MemoryRef) -> Result<Memory, Error> {
    let mut memory = access::find(ports, caller, which)?;
    succession::settle(ports, caller, [&mut memory], PointInTime::Now(ports.clock.now()))?;
    Ok(memory)
}

/// Returns the number of matching memories, among those that [`list`] lists.
pub(crate) fn count(ports: &Ports, caller: &Caller, filter: &Filter) -> Result<u64, Error> {
    let filter = fitted(filter, ports.clock.now())?.of_records();
    Ok(ports.store.count(&caller.viewer, &filter)?)
}

/// Returns a page of memories. Mirrors are left out unless the filter names their file. The page is shorter than
/// requested if the contents are long. Cursors skip and repeat no memory, even if memories are written between two
/// pages. In the order of creation, each page begins after the last memory of the previous page. For an order that may
/// change, the first page fixes the order of all pages.
pub(crate) fn list(ports: &Ports, caller: &Caller, request: &ListRequest) -> Result<Page, Error> {
    bounded(Field::Limit, request.limit, limits::PAGE)?;
    let filter = fitted(&request.filter, ports.clock.now())?.of_records();
    let request = &ListRequest { filter, ..request.clone() };
    let fingerprint = fingerprint(caller, request);
    if let Some(cursor) = request.cursor.filter(|cursor| {
        let fixed = matches!(cursor.position, Position::After(..));
        cursor.fingerprint != fingerprint || fixed != request.sort.is_fixed()
    }) {
        return Err(Invalid::Cursor { got: crate::model::preview::short(&cursor.to_string()) }.into());
    }
    let mut page = match request.cursor.map(|cursor| cursor.position) {
        Some(Position::Frozen(id, offset)) => frozen_page(ports, caller, request, fingerprint, id, offset),
        None if !request.sort.is_fixed() => freeze(ports, caller, request, fingerprint),
        None => fixed_page(ports, caller, request, fingerprint, None),
        Some(Position::After(at, id)) => fixed_page(ports, caller, request, fingerprint, Some((at, id))),
    }?;
    succession::settle(ports, caller, &mut page.memories, PointInTime::Now(ports.clock.now()))?;
    Ok(page)
}

fn fixed_page(
    ports: &Ports,
    caller: &Caller,
    request: &ListRequest,
    fingerprint: u64,
    mut after: Option<(Timestamp, MemoryId)>,
) -> Result<Page, Error> {
    let (viewer, limit) = (&caller.viewer, request.limit);
    let mut memories: Vec<Memory> = Vec::new();
    loop {
        // Reads one memory more than wanted, to detect if another page follows.
        let wanted = SLICE.min(limit - memories.len());
        let room = ports.limits.answer_bytes.saturating_sub(bytes_of(&memories));
        let extent = ReadLimit::whole(wanted + 1, room);
        let mut slice = ports.store.list_within(viewer, &request.filter, request.sort, extent, after)?;
        let heavy = bytes_of(&slice) >= room;
        // If the byte limit ended the slice, only another read can show if more memories follow.
        let more = slice.len() > wanted || (heavy && follows(ports, caller, request, &slice)?);
        slice.truncate(wanted);
        memories.append(&mut slice);
        let Some(last) = memories.last().filter(|_| more) else {
            return Ok(Page::of(memories, None));
        };
        let place = (last.usage.created_at, last.id);
        if memories.len() == limit || heavy {
            let position = Position::After(place.0, place.1);
            return Ok(Page::of(memories, Some(Cursor { fingerprint, position })));
        }
        after = Some(place);
    }
}

fn freeze(ports: &Ports, caller: &Caller, request: &ListRequest, fingerprint: u64) -> Result<Page, Error> {
    let ids = ports.store.ids(&caller.viewer, &request.filter, request.sort)?;
    let (memories, taken) = load(ports, caller, request, &ids[..ids.len().min(request.limit)])?;
    if taken == ids.len() {
        return Ok(Page::of(memories, None));
    }
    let now = ports.clock.now();
    let id = ListingId::mint(now);
    let expires_at = now.plus_millis(LISTING_LIVES_MILLIS);
    let listing = FrozenOrder { id, principal: caller.viewer.principal, expires_at, ids };
    let set = access::changes(caller, now, Vec::new(), vec![Write::FreezeListing(listing)]);
    ports.store.apply(&set)?;
    let offset = u32::try_from(taken).expect("a page is small");
    Ok(Page::of(memories, Some(Cursor { fingerprint, position: Position::Frozen(id, offset) })))
}

fn frozen_page(
    ports: &Ports,
    caller: &Caller,
    request: &ListRequest,
    fingerprint: u64,
    id: ListingId,
    offset: u32,
) -> Result<Page, Error> {
    let listing = ports.store.listing(&caller.viewer, id, ports.clock.now())?.ok_or(Error::CursorExpired)?;
    let start = listing.ids.len().min(offset as usize);
    let end = listing.ids.len().min(start + request.limit);
    let (memories, taken) = load(ports, caller, request, &listing.ids[start..end])?;
    let next = u32::try_from(start + taken)
        .ok()
        .filter(|_| start + taken < listing.ids.len())
        .map(|offset| Cursor { fingerprint, position: Position::Frozen(id, offset) });
    Ok(Page::of(memories, next))
}

/// Returns true if another memory follows the last memory of the slice. Also reads the content of that memory, although
/// it is not needed; the cost is acceptable.
fn follows(ports: &Ports, caller: &Caller, request: &ListRequest, slice: &[Memory]) -> Result<bool, Error> {
    let after = slice.last().map(|last| (last.usage.created_at, last.id));
    let next = ports.store.list(&caller.viewer, &request.filter, request.sort, 1, after)?;
    Ok(!next.is_empty())
}

/// Returns the total bytes of the contents.
pub(crate) fn bytes_of(memories: &[Memory]) -> usize {
    memories.iter().map(|memory| memory.fields.text.content.len()).sum()
}

/// Returns the first of these memories, up to the size limit of an answer, but at least one.
pub(crate) fn nearest(ports: &Ports, caller: &Caller, ids: &[MemoryId]) -> Result<Vec<Memory>, Error> {
    Ok(ports.store.memories_within(&caller.viewer, ids, ports.limits.answer_bytes)?)
}

/// Calls the function with each of these memories. Reads them in parts; each part is at most as large as an answer.
pub(crate) fn each(
    ports: &Ports,
    caller: &Caller,
    mut ids: &[MemoryId],
    take: &mut dyn FnMut(Memory),
) -> Result<(), Error> {
    let most = ports.limits.answer_bytes;
    while !ids.is_empty() {
        let memories = ports.store.memories_within(&caller.viewer, ids, most)?;
        let last = memories.last().filter(|_| bytes_of(&memories) >= most).map(|last| last.id);
        let taken =
            last.and_then(|last| ids.iter().position(|id| *id == last)).map_or(ids.len(), |at| at + 1);
        memories.into_iter().for_each(&mut *take);
        ids = &ids[taken..];
    }
    Ok(())
}

/// Returns the current memories of a page, and the number of ids that the page covers. Memories that no longer exist
/// are left out. Memories that were forgotten or restored in the meantime are left out if they no longer match the
/// request.
fn load(
    ports: &Ports,
    caller: &Caller,
    request: &ListRequest,
    ids: &[MemoryId],
) -> Result<(Vec<Memory>, usize), Error> {
    let (store, viewer, most) = (&ports.store, &caller.viewer, ports.limits.answer_bytes);
    let mut memories: Vec<Memory> = Vec::new();
    match request.filter.forgotten {
        ForgottenFilter::Without => memories = store.memories_within(viewer, ids, most)?,
        ForgottenFilter::Only => {
            let mut bytes = 0;
            for id in ids {
                let found = store.memory(viewer, caller.space, (*id).into(), ForgottenFilter::Only)?;
                bytes += found.iter().map(|memory| memory.fields.text.content.len()).sum::<usize>();
                memories.extend(found);
                if bytes >= most {
                    break;
                }
            }
        }
    }
    // If the byte limit ended the page, the next one begins after the last memory.
    let last = memories.last().filter(|_| bytes_of(&memories) >= most);
    let taken = last.and_then(|last| ids.iter().position(|id| *id == last.id)).map_or(ids.len(), |at| at + 1);
    Ok((memories, taken))
}

/// Returns a fingerprint of the viewer, filter and order. A cursor is valid only with the same fingerprint. Memories
/// that expire between two pages do not change the fingerprint.
pub(crate) fn fingerprint(caller: &Caller, request: &ListRequest) -> u64 {
    let states_at = request.filter.states_at.map(|_| Timestamp::from_micros(0));
    let filter = Filter { states_at, ..request.filter.clone() };
    let text = format!("{:?} {filter:?} {:?}", caller.viewer, request.sort);
    let digest = Sha256::digest(text.as_bytes());
    u64::from_be_bytes(digest[..8].try_into().expect("a digest has 32 bytes"))
}

/// Normalises a filter: converts words to their stored form, removes repeated states, and evaluates states at the
/// current time unless the filter gives a time. Refuses a filter with more tags than a memory can have, or with an
/// interval that ends before it begins.
pub(crate) fn fitted(filter: &Filter, now: Timestamp) -> Result<Filter, Invalid> {
    let (got, limit) = (filter.tags.len(), limits::TAGS);
    if got > limit {
        return Err(Invalid::TooMany { field: Field::Tags, got, limit });
    }
    let saved = filter.since.zip(filter.until);
    let happened = filter.timed.iter().filter_map(|timed| match timed {
        TimeCondition::Happened(period) => Some((period.from, period.until)),
        TimeCondition::Done(_) | TimeCondition::Due(_) => None,
    });
    if let Some((since, until)) = saved.into_iter().chain(happened).find(|(since, until)| until <= since) {
        return Err(Invalid::NoTimeBetween { since, until });
    }
    let composed = |text: &Option<String>| text.as_deref().map(normalize::composed);
    let mut states = filter.states.clone();
    states.sort_unstable();
    states.dedup();
    Ok(Filter {
        states,
        tags: filter.tags.iter().map(|tag| normalize::composed(tag)).collect(),
        key: composed(&filter.key),
        conversation: composed(&filter.conversation),
        source_agent: composed(&filter.source_agent),
        states_at: filter.states_at.or(Some(now)),
        ..filter.clone()
    })
}

/// Checks a count from 1 to `most`.
pub(crate) fn bounded(field: Field, got: usize, most: usize) -> Result<usize, Invalid> {
    within(field, got, 1, most)
}

/// Checks a count from `least` to `most`.
pub(crate) fn within(field: Field, got: usize, least: usize, most: usize) -> Result<usize, Invalid> {
    if (least..=most).contains(&got) {
        return Ok(got);
    }
    let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    Err(Invalid::OutsideRange { field, got: number(got), least: number(least), most: number(most) })
}
