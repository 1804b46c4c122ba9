//! What to know at the start of a session: who the user is and what holds, within a token budget.
//!
//! The same store and the same clock give the same briefing. It writes nothing.

use std::collections::HashSet;

use crate::access::Parts;
use crate::answer::{Briefed, Briefing, BriefingSection, Strength};
use crate::error::{Error, Field};
use crate::id::MemoryId;
use crate::lifecycle::decay;
use crate::limits;
use crate::memory::Memory;
use crate::preview;
use crate::rank::descending;
use crate::recall;
use crate::request::{Ask, BriefingRequest, Caller, Filter, Mode, RecallRequest, Sort};
use crate::time::Timestamp;
use crate::vocabulary::{MemoryType, State};

/// The sections, in the order in which they matter.
const SECTIONS: [(&str, MemoryType); 8] = [
    ("Identity", MemoryType::Identity),
    ("Preferences", MemoryType::Preference),
    ("Projects", MemoryType::Project),
    ("People", MemoryType::Person),
    ("Routines", MemoryType::Routine),
    ("Goals", MemoryType::Goal),
    ("Open todos", MemoryType::Todo),
    ("Recent decisions", MemoryType::Decision),
];
const RELEVANT: &str = "Relevant now";
/// Most memories of a section that are looked at.
const LOOKED_AT: usize = 500;
/// How many are looked for by what the session is about.
const ASKED_FOR: usize = 20;
/// The share of the budget that is kept for them, as one part in so many.
const KEPT: usize = 3;
/// No section but the first two takes more than one part in so many of the budget.
const SHARE: usize = 4;
/// Most characters of one memory.
const LONGEST: usize = 400;
/// A token is about so many bytes; a line has a mark, a number and an end beside its text.
const BYTES_PER_TOKEN: usize = 4;
const LINE: usize = 4;
const HEADING: usize = 6;

/// What to know at the start of a session.
pub(crate) fn briefing(parts: &Parts, caller: &Caller, request: &BriefingRequest) -> Result<Briefing, Error> {
    let budget = request.token_budget;
    crate::read::bounded(Field::Budget, budget, limits::BUDGET)?;
    let now = parts.clock.now();
    let relevant = relevant(parts, caller, request.about.as_deref())?;
    let kept = if relevant.is_empty() { 0 } else { budget / KEPT };
    let mut left = budget - kept;
    let mut briefing = Briefing::default();
    let mut told: HashSet<MemoryId> = HashSet::new();
    for (place, (heading, memory_type)) in SECTIONS.into_iter().enumerate() {
        let memories = holding(parts, caller, memory_type, now)?;
        let room = if place < 2 { left } else { left.min(budget / SHARE) };
        let lines = memories.iter().map(|memory| (memory, memory.edition.text.content.as_str()));
        left -= tell(&mut briefing, heading, lines, room, &mut told);
    }
    let fresh: Vec<&(Memory, String)> =
        relevant.iter().filter(|(memory, _)| !told.contains(&memory.id)).collect();
    let lines = fresh.into_iter().map(|(memory, text)| (memory, text.as_str()));
    tell(&mut briefing, RELEVANT, lines, left + kept, &mut told);
    Ok(briefing)
}

/// Adds as many lines as there is room for, and gives what they take.
fn tell<'a>(
    briefing: &mut Briefing,
    heading: &'static str,
    lines: impl Iterator<Item = (&'a Memory, &'a str)>,
    room: usize,
    told: &mut HashSet<MemoryId>,
) -> usize {
    let mut memories = Vec::new();
    let (mut used, mut left_out) = (HEADING, 0);
    for (memory, text) in lines {
        let text = preview::cut(text, LONGEST);
        let tokens = text.len().div_ceil(BYTES_PER_TOKEN) + LINE;
        if used + tokens > room {
            left_out += 1;
            continue;
        }
        used += tokens;
        told.insert(memory.id);
        memories.push(Briefed { id: memory.id, name: memory.reference(), text });
    }
    if left_out > 0 {
        briefing.left_out.push((heading, left_out));
    }
    if memories.is_empty() {
        return 0;
    }
    briefing.sections.push(BriefingSection { heading, memories });
    used
}

/// The memories of a type that hold now, those that matter most first.
fn holding(
    parts: &Parts,
    caller: &Caller,
    memory_type: MemoryType,
    now: Timestamp,
) -> Result<Vec<Memory>, Error> {
    let filter = Filter {
        space: Some(caller.space),
        types: vec![memory_type],
        states: State::ALL.iter().copied().filter(|state| *state != State::Archived).collect(),
        alive_at: Some(now),
        valid_at: Some(now),
        ..Filter::default()
    };
    // What was decided lately counts most of the decisions; of the others what matters most.
    let sort = if memory_type == MemoryType::Decision { Sort::Newest } else { Sort::Importance };
    let mut memories = parts.store.list(&caller.viewer, &filter, sort, LOOKED_AT, None)?;
    memories.retain(|memory| memory.superseded_by.is_none());
    let weight = |memory: &Memory| {
        let pinned = f64::from(u8::from(memory.standing.pinned));
        let matters = match sort {
            Sort::Newest => 0.0,
            _ => (decay::importance_at(memory, now) * 1e3).round(),
        };
        (pinned * 1e6 + matters, std::cmp::Reverse((memory.usage.created_at, memory.id)))
    };
    memories.sort_by(|a, b| descending(weight(a), weight(b)));
    Ok(memories)
}

/// What is relevant to the subject, with the text to show of each.
fn relevant(parts: &Parts, caller: &Caller, about: Option<&str>) -> Result<Vec<(Memory, String)>, Error> {
    let Some(about) = about.map(str::trim).filter(|about| !about.is_empty()) else {
        return Ok(Vec::new());
    };
    let ask = Ask { abstain_below: Some(Strength::Weak), ..Ask::new(about) };
    let filter = Filter { space: Some(caller.space), ..Filter::default() };
    let request = RecallRequest { mode: Mode::Hybrid(Box::new(ask)), filter, sort: None, limit: ASKED_FOR };
    let hits = recall::recall(parts, caller, &request)?.hits;
    let text = |hit: crate::answer::Hit| {
        let content = &hit.memory.edition.text.content;
        let part = hit.section.as_ref().and_then(|section| content.get(section.start..section.end));
        let text = part.unwrap_or(content).to_owned();
        (hit.memory, text)
    };
    Ok(hits.into_iter().map(text).collect())
}
