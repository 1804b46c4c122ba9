//! What to know at the start of a session: who the user is and what holds, within a token budget.
//!
//! The same store and the same clock give the same briefing. It writes nothing. What it says stands on one line each, with
//! no character that cannot be seen, and cannot end the fence that it is put into.

use std::collections::{HashMap, HashSet};

use crate::access::Parts;
use crate::answer::{Briefed, Briefing, BriefingSection, Hit, Strength};
use crate::error::{Error, Field};
use crate::id::MemoryId;
use crate::lifecycle::decay;
use crate::limits;
use crate::memory::Memory;
use crate::preview;
use crate::rank::descending;
use crate::recall;
use crate::request::{Ask, BriefingRequest, Caller, Filter, Mode, RecallRequest, Sort};
use crate::text::visible;
use crate::time::Timestamp;
use crate::vocabulary::{MemoryType, State, Trust};

/// What a section holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    /// Memories of a type.
    Type(MemoryType),
    /// What is pinned and of no type that has a section of its own.
    Pinned,
    /// What the session is about.
    Relevant,
    /// What is left: facts, events, observations.
    Rest,
}

/// The sections, in the order in which they matter, and the share of the budget that each may take before the others had
/// theirs, as one part in so many.
const SECTIONS: [(&str, Holds, usize); 11] = [
    ("Identity", Holds::Type(MemoryType::Identity), 2),
    ("Preferences", Holds::Type(MemoryType::Preference), 2),
    ("Pinned", Holds::Pinned, 4),
    ("Projects", Holds::Type(MemoryType::Project), 4),
    ("People", Holds::Type(MemoryType::Person), 4),
    ("Routines", Holds::Type(MemoryType::Routine), 4),
    ("Goals", Holds::Type(MemoryType::Goal), 4),
    ("Open todos", Holds::Type(MemoryType::Todo), 4),
    ("Recent decisions", Holds::Type(MemoryType::Decision), 4),
    ("Relevant now", Holds::Relevant, 1),
    ("Facts", Holds::Rest, 4),
];
/// The types without a section of their own.
const OTHERS: [MemoryType; 3] = [MemoryType::Fact, MemoryType::Event, MemoryType::Observation];
/// Most memories of a section that are looked at.
const LOOKED_AT: usize = 200;
/// How many are looked for by what the session is about.
const ASKED_FOR: usize = 20;
/// The share of the budget that is kept for them, as one part in so many.
const KEPT: usize = 3;
/// Most characters of one memory.
const LONGEST: usize = 400;
/// A token is about so many bytes.
const BYTES_PER_TOKEN: usize = 4;
/// What stands around the name and the text of a line, and around a heading, in bytes.
const AROUND_LINE: usize = "- [] \n".len();
const AROUND_HEADING: usize = "\n## \n".len();
/// What the note on what was left out takes at the most, and the budget from which on there is room for it, in bytes.
const NOTE: usize = 340;
const ROOM_FOR_NOTE: usize = 4 * NOTE;
/// What the note says of all sections together where there is no room to name them.
const ALL: &str = "all sections";

/// A memory that may be told, with the line it takes.
struct Line {
    said: Briefed,
    bytes: usize,
    told: bool,
}

/// A section in the making.
struct Draft {
    heading: &'static str,
    holds: Holds,
    share: usize,
    lines: Vec<Line>,
    /// How many there are beside those that were looked at.
    unseen: u64,
    used: usize,
}

/// What to know at the start of a session.
pub(crate) fn briefing(parts: &Parts, caller: &Caller, request: &BriefingRequest) -> Result<Briefing, Error> {
    let budget = crate::read::bounded(Field::Budget, request.token_budget, limits::BUDGET)?;
    let now = parts.clock.now();
    let mut drafts = Vec::with_capacity(SECTIONS.len());
    for (heading, holds, share) in SECTIONS {
        let (memories, unseen) = match holds {
            Holds::Relevant => (relevant(parts, caller, request.about.as_deref(), now)?, 0),
            _ => holding(parts, caller, holds, now)?,
        };
        let lines = memories.iter().map(|(memory, text)| line(memory, text)).collect();
        drafts.push(Draft { heading, holds, share, lines, unseen, used: 0 });
    }
    let bytes = budget.saturating_mul(BYTES_PER_TOKEN);
    tell(&mut drafts, bytes);
    let known = told(&drafts);
    let has_room = bytes >= ROOM_FOR_NOTE;
    if has_room && drafts.iter().any(|draft| draft.left_out(&known) > 0) {
        drafts.iter_mut().for_each(Draft::forget);
        tell(&mut drafts, bytes - NOTE);
    }
    let mut briefing = finish(drafts);
    if !has_room && briefing.left_out.len() > 1 {
        briefing.left_out = vec![(ALL, briefing.left_out.iter().map(|(_, count)| count).sum())];
    }
    Ok(briefing)
}

/// Chooses what is told within so many bytes: first each section its share, and what is relevant what was kept for it; then
/// whatever else there is room for. A memory is told once.
fn tell(drafts: &mut [Draft], bytes: usize) {
    let about = drafts.iter().any(|draft| draft.holds == Holds::Relevant && !draft.lines.is_empty());
    let kept = if about { bytes / KEPT } else { 0 };
    let mut left = bytes - kept;
    let mut known: HashSet<MemoryId> = HashSet::new();
    for draft in drafts.iter_mut() {
        if draft.holds == Holds::Relevant {
            left += kept;
        }
        let room = left.min(bytes / draft.share);
        left -= draft.take(room, &mut known);
    }
    for draft in drafts {
        left -= draft.take(left, &mut known);
    }
}

impl Draft {
    /// Takes as many more lines as there is room for, and gives what they take.
    fn take(&mut self, room: usize, known: &mut HashSet<MemoryId>) -> usize {
        let before = self.used;
        for line in &mut self.lines {
            let heading = if self.used == 0 { self.heading.len() + AROUND_HEADING } else { 0 };
            let wanted = heading + line.bytes;
            if line.told || known.contains(&line.said.id) || self.used - before + wanted > room {
                continue;
            }
            line.told = true;
            known.insert(line.said.id);
            self.used += wanted;
        }
        self.used - before
    }

    fn forget(&mut self) {
        self.used = 0;
        self.lines.iter_mut().for_each(|line| line.told = false);
    }

    /// How many of its memories are told neither here nor elsewhere.
    fn left_out(&self, known: &HashSet<MemoryId>) -> u64 {
        let untold = self.lines.iter().filter(|line| !line.told && !known.contains(&line.said.id)).count();
        untold as u64 + self.unseen
    }
}

/// The memories that are told.
fn told(drafts: &[Draft]) -> HashSet<MemoryId> {
    let lines = drafts.iter().flat_map(|draft| &draft.lines);
    lines.filter(|line| line.told).map(|line| line.said.id).collect()
}

fn finish(drafts: Vec<Draft>) -> Briefing {
    let mut known = told(&drafts);
    let mut briefing = Briefing::default();
    for draft in drafts {
        let left_out = draft.left_out(&known);
        if left_out > 0 {
            briefing.left_out.push((draft.heading, left_out));
        }
        // What two sections have no room for is left out once.
        known.extend(draft.lines.iter().map(|line| line.said.id));
        let memories: Vec<Briefed> =
            draft.lines.into_iter().filter(|line| line.told).map(|line| line.said).collect();
        if !memories.is_empty() {
            briefing.sections.push(BriefingSection { heading: draft.heading, memories });
        }
    }
    briefing
}

/// A memory as it is told. Of a long one, what it says in short where that is known, else its beginning.
fn line(memory: &Memory, text: &str) -> Line {
    let summary = memory.edition.text.summary.as_deref();
    let text = summary.filter(|_| text.chars().nth(LONGEST).is_some()).unwrap_or(text);
    let mut text = visible::fenced(&preview::cut(&visible::plain(text), LONGEST));
    if memory.provenance.trust == Trust::Untrusted {
        text.insert_str(0, "(from an untrusted source) ");
    }
    let name = memory.reference();
    let bytes = text.len() + name.to_string().len() + AROUND_LINE;
    Line { said: Briefed { id: memory.id, name, text }, bytes, told: false }
}

/// The memories of a section that hold now, those that matter most first, and how many there are beside.
fn holding(
    parts: &Parts,
    caller: &Caller,
    holds: Holds,
    now: Timestamp,
) -> Result<(Vec<(Memory, String)>, u64), Error> {
    let filter = Filter {
        space: Some(caller.space),
        types: match holds {
            Holds::Type(memory_type) => vec![memory_type],
            _ => OTHERS.to_vec(),
        },
        pinned: match holds {
            Holds::Pinned => Some(true),
            Holds::Rest => Some(false),
            _ => None,
        },
        states: State::ALL.iter().copied().filter(|state| *state != State::Archived).collect(),
        alive_at: Some(now),
        valid_at: Some(now),
        ..Filter::default()
    };
    // What was decided lately counts most of the decisions; of the others what matters most.
    let recent = holds == Holds::Type(MemoryType::Decision);
    let sort = if recent { Sort::Newest } else { Sort::Importance };
    let store = &parts.store;
    let mut memories = store.list(&caller.viewer, &filter, sort, LOOKED_AT, None)?;
    let mut unseen = 0;
    if memories.len() == LOOKED_AT {
        unseen = store.count(&caller.viewer, &filter)?.saturating_sub(LOOKED_AT as u64);
        // What is pinned is told first, however little it was said to matter.
        let pinned = Filter { pinned: Some(true), ..filter };
        let known: HashSet<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        let more = store.list(&caller.viewer, &pinned, sort, LOOKED_AT, None)?;
        let more: Vec<Memory> = more.into_iter().filter(|memory| !known.contains(&memory.id)).collect();
        unseen = unseen.saturating_sub(more.len() as u64);
        memories.extend(more);
    }
    memories.retain(|memory| memory.superseded_by.is_none());
    let weights: HashMap<MemoryId, f64> = memories
        .iter()
        .map(|memory| {
            let pinned = if memory.standing.pinned { 1e6 } else { 0.0 };
            let matters = if recent { 0.0 } else { (decay::importance_at(memory, now) * 1e3).round() };
            (memory.id, pinned + matters)
        })
        .collect();
    let place = |memory: &Memory| {
        let at = memory.edition.span.occurred_at.unwrap_or(memory.usage.created_at);
        (weights[&memory.id], std::cmp::Reverse((at, memory.id)))
    };
    memories.sort_by(|a, b| descending(place(a), place(b)));
    let text = |memory: Memory| {
        let text = memory.edition.text.content.clone();
        (memory, text)
    };
    Ok((memories.into_iter().map(text).collect(), unseen))
}

/// What is relevant to the subject and holds now, with the text to show of each.
fn relevant(
    parts: &Parts,
    caller: &Caller,
    about: Option<&str>,
    now: Timestamp,
) -> Result<Vec<(Memory, String)>, Error> {
    let Some(about) = about.map(str::trim).filter(|about| !about.is_empty()) else {
        return Ok(Vec::new());
    };
    let ask = Ask { abstain_below: Some(Strength::Weak), ..Ask::new(about) };
    let filter = Filter { space: Some(caller.space), valid_at: Some(now), ..Filter::default() };
    let request = RecallRequest { mode: Mode::Hybrid(Box::new(ask)), filter, sort: None, limit: ASKED_FOR };
    let mut hits = recall::recall(parts, caller, &request)?.hits;
    hits.retain(|hit| hit.memory.superseded_by.is_none());
    let told = |hit: Hit| {
        let text = hit.shown().to_owned();
        (hit.memory, text)
    };
    Ok(hits.into_iter().map(told).collect())
}
