//! Finds the sessions of the candidates, in order and over all parts, and adds the neighbours of each candidate.
//!
//! The work for a session is done once, however many candidates it has.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use tulving_core::model::search::is_person;

use super::segment::{DocDetailFields as _, NONE, SessionKey, SessionKind};
use super::visible::VisibleDocs;

/// Number of items before and after a candidate that are added to the result.
const REACH: usize = 2;
/// Number of the latest classes of a session with which the class of the next item is compared.
const REMEMBERED: usize = 8;

/// A doc of the search result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ResultDoc {
    pub(super) part: u32,
    pub(super) doc: u32,
    pub(super) session: Option<u32>,
    pub(super) order: u32,
    pub(super) candidate: bool,
}

/// A session that contains candidates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CandidateSession {
    /// True if the session consists of the chunks of one memory.
    pub(super) document: bool,
    /// All docs of the session, visible or not: for each part of the index, its number and a range of docs.
    pub(super) docs: Vec<(u32, Range<u32>)>,
    /// Number of visible docs of the session.
    pub(super) items: u32,
    pub(super) speakers: u32,
    /// Number of different speakers with a name of their own.
    pub(super) people: u32,
    /// Total number of terms of the visible docs.
    pub(super) length: u64,
}

/// Collects the result: the items of sessions in their order, then the items without a session, and the sessions.
pub(super) fn gather(
    parts: &[VisibleDocs<'_>],
    candidates: &[(u32, u32)],
) -> (Vec<ResultDoc>, Vec<CandidateSession>) {
    let (mut picked, mut sessions) = (Vec::new(), Vec::new());
    let (by_session, mut loose) = by_session(parts, candidates);
    for ((space, key), found) in by_session {
        let session = u32::try_from(sessions.len()).ok();
        let docs = match key.kind {
            // All docs of a memory are in one part, so the other parts need no search.
            SessionKind::Memory => found.iter().take(1).map(|one| (one.0, one.1.clone())).collect(),
            SessionKind::Conversation => (0_u32..)
                .zip(parts)
                .map(|(part, visible)| (part, visible.view.find_session(&space, &key)))
                .filter(|(_, docs)| !docs.is_empty())
                .collect::<Vec<_>>(),
        };
        let members = members(parts, &docs);
        let mut candidates: Vec<(u32, u32)> =
            found.iter().flat_map(|(part, _, docs)| docs.iter().map(|doc| (*part, *doc))).collect();
        candidates.sort_unstable();
        for (order, candidate) in around(&members, &candidates) {
            let (part, doc) = members[order];
            let order = u32::try_from(order).unwrap_or(NONE);
            picked.push(ResultDoc { part, doc, session, order, candidate });
        }
        let document = key.kind == SessionKind::Memory;
        sessions.push(CandidateSession { document, ..measured(parts, docs, &members) });
    }
    loose.sort_unstable_by_key(|&(part, doc)| parts[part as usize].view.ids[doc as usize]);
    picked.extend(loose.into_iter().map(|(part, doc)| ResultDoc {
        part,
        doc,
        session: None,
        order: 0,
        candidate: true,
    }));
    (picked, sessions)
}

/// A part, the docs of the session in that part, and the candidates among these docs.
type SessionPart = (u32, Range<u32>, Vec<u32>);

/// The candidates of each session, and the candidates without a session.
#[expect(clippy::type_complexity, reason = "used once, just above")]
fn by_session<'a>(
    parts: &[VisibleDocs<'a>],
    candidates: &[(u32, u32)],
) -> (BTreeMap<([u8; 16], SessionKey<'a>), Vec<SessionPart>>, Vec<(u32, u32)>) {
    let mut runs: Vec<(u32, SessionPart)> = Vec::new();
    let mut loose = Vec::new();
    for &(part, doc) in candidates {
        let view = &parts[part as usize].view;
        let session = view.details[doc as usize].session();
        if session == NONE {
            loose.push((part, doc));
            continue;
        }
        match runs.last_mut() {
            Some((last, (of, _, docs))) if (*last, *of) == (session, part) => docs.push(doc),
            _ => runs.push((session, (part, view.session_docs(session), vec![doc]))),
        }
    }
    let mut sessions: BTreeMap<_, Vec<SessionPart>> = BTreeMap::new();
    for (session, run) in runs {
        sessions.entry(parts[run.0 as usize].view.session_key(session)).or_default().push(run);
    }
    (sessions, loose)
}

/// The visible docs of a session, in the order of the session.
fn members(parts: &[VisibleDocs<'_>], docs: &[(u32, Range<u32>)]) -> Vec<(u32, u32)> {
    let mut members: Vec<(u32, u32)> = Vec::new();
    for (part, docs) in docs {
        let visible = &parts[*part as usize];
        members.extend(docs.clone().filter(|&doc| visible.sees(doc)).map(|doc| (*part, doc)));
    }
    if docs.len() > 1 {
        // Each part is already sorted, so this sort only merges sorted runs.
        members.sort_by_cached_key(|&(part, doc)| {
            let view = &parts[part as usize].view;
            let detail = &view.details[doc as usize];
            (detail.place(), detail.at(), view.ids[doc as usize], detail.chunk())
        });
    }
    members
}

/// The positions of candidates and of their neighbours, in ascending order. The boolean is true for a candidate.
fn around(members: &[(u32, u32)], candidates: &[(u32, u32)]) -> Vec<(usize, bool)> {
    let mut wanted: Vec<(usize, bool)> = Vec::new();
    let mut left = candidates.len();
    for (place, member) in members.iter().enumerate() {
        if left == 0 {
            break;
        }
        if candidates.binary_search(member).is_err() {
            continue;
        }
        left -= 1;
        let next = wanted.last().map_or(0, |(last, _)| last + 1);
        let from = next.max(place.saturating_sub(REACH));
        wanted.extend((from..members.len().min(place + REACH + 1)).map(|place| (place, false)));
        if let Ok(found) = wanted.binary_search_by_key(&place, |(place, _)| *place) {
            wanted[found].1 = true;
        }
    }
    wanted
}

fn measured(
    parts: &[VisibleDocs<'_>],
    docs: Vec<(u32, Range<u32>)>,
    members: &[(u32, u32)],
) -> CandidateSession {
    // The docs of a session alternate between few classes, so most docs have one of the latest classes.
    let mut classes: Vec<(u32, u32)> = Vec::new();
    let mut length = 0;
    for &(part, doc) in members {
        let view = &parts[part as usize].view;
        length += u64::from(view.lengths[doc as usize]);
        let class = (part, view.classes[doc as usize]);
        if !classes.iter().rev().take(REMEMBERED).any(|known| *known == class) {
            classes.push(class);
        }
    }
    let speakers: BTreeSet<Option<&str>> =
        classes.into_iter().map(|(part, class)| parts[part as usize].view.class_speaker(class)).collect();
    let people = speakers.iter().flatten().filter(|name| is_person(name)).count();
    let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    CandidateSession {
        docs,
        items: count(members.len()),
        speakers: count(speakers.len()),
        people: count(people),
        length,
        document: false,
    }
}
