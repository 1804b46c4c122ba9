//! A year of an agent: plays `life.txt` day by day, with a clock that is set to each day.
//!
//! Every line calls the engine methods that commands and agents use. So ages, versions, links, access counts and lifecycle
//! rules are as in a real home.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};

use tulving_core::model::id::MemoryRef;
use tulving_core::model::request::{
    AssociationRequest, Filter, Mode, RecallQuestion, RecallRequest, SaveRequest,
};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::{MemoryType, Relation};
use tulving_core::ports::Clock;
use tulving_core::{Document, TendRequest};

use crate::failure::Failure;
use crate::wire::App;

const LIFE: &str = include_str!("life.txt");
const DOCUMENTS: [(&str, &str); 2] =
    [("runbook.md", include_str!("runbook.md")), ("support.md", include_str!("support.md"))];

const DAY: i64 = 86_400_000_000;
/// Time between two events of one day, in microseconds.
const STEP: i64 = 7 * 60_000_000;
const EMBEDDED_AT_ONCE: usize = 16;
/// Number of days between two runs of the rules for aged memories.
const TENDED: i64 = 7;

/// A line of `life.txt`.
#[derive(Debug)]
pub(super) struct DemoLine {
    days_ago: i64,
    act: DemoAction,
    text: &'static str,
    tags: Vec<String>,
    name: Option<&'static str>,
    links: Vec<(Relation, &'static str)>,
    pinned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DemoAction {
    Save(MemoryType),
    Note,
    Ask,
    Push,
    Done,
}

/// A clock that the demo sets.
#[derive(Default)]
pub(super) struct DemoClock(AtomicI64);

impl Clock for DemoClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_micros(self.0.load(Ordering::Relaxed))
    }
}

impl DemoClock {
    pub(super) fn set(&self, now: Timestamp) {
        self.0.store(now.as_micros(), Ordering::Relaxed);
    }
}

/// The result of the year.
#[derive(Debug, Default)]
pub(super) struct DemoYear {
    pub(super) memories: usize,
    pub(super) notes: usize,
    pub(super) documents: usize,
    pub(super) links: usize,
    /// The memories with a name.
    pub(super) named: HashMap<&'static str, MemoryRef>,
}

/// Returns the time this many days before an instant.
pub(super) fn days_before(now: Timestamp, days: i64) -> Timestamp {
    Timestamp::from_micros(now.as_micros() - days * DAY)
}

/// Returns every line of the year, in order.
pub(super) fn lines() -> impl Iterator<Item = DemoLine> {
    LIFE.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).map(|line| {
        read(line).unwrap_or_else(|| unreachable!("a test reads every line, so this one is right: {line}"))
    })
}

fn read(line: &'static str) -> Option<DemoLine> {
    let (days_ago, rest) = line.split_once(' ')?;
    let (act, rest) = rest.trim_start().split_once(' ')?;
    let (text, marks) = rest.split_once(" | ").unwrap_or((rest, ""));
    let act = match act {
        "note" => DemoAction::Note,
        "ask" => DemoAction::Ask,
        "push" => DemoAction::Push,
        "done" => DemoAction::Done,
        of_type => DemoAction::Save(of_type.parse().ok()?),
    };
    let mut line = DemoLine {
        days_ago: days_ago.parse().ok()?,
        act,
        text: text.trim(),
        tags: Vec::new(),
        name: None,
        links: Vec::new(),
        pinned: false,
    };
    for mark in marks.split_whitespace() {
        let (kind, name) = mark.split_at(1);
        match kind {
            "#" => line.tags.push(name.to_owned()),
            "=" => line.name = Some(name),
            ">" => line.links.push((Relation::Updates, name)),
            "~" => line.links.push((Relation::RelatedTo, name)),
            "^" => line.links.push((Relation::PartOf, name)),
            "<" => line.links.push((Relation::CausedBy, name)),
            "!" => line.pinned = true,
            _ => return None,
        }
    }
    Some(line)
}

/// Plays the whole year up to `now`, and calls `described` after each line.
pub(super) fn live(
    app: &App<'_>,
    clock: &DemoClock,
    now: Timestamp,
    described: impl Fn(),
) -> Result<DemoYear, Failure> {
    let caller = app.here()?;
    let mut lived = DemoYear::default();
    let (mut today, mut since, mut tended) = (i64::MAX, 0, i64::MAX);
    for line in lines() {
        since = if line.days_ago == today { since + STEP } else { 0 };
        today = line.days_ago;
        clock.set(Timestamp::from_micros(days_before(now, today).as_micros() + since));
        if tended.saturating_sub(today) >= TENDED {
            app.engine.flush()?;
            app.engine.tend(&caller, &TendRequest { space: None, dry_run: false, shown: 0 })?;
            tended = today;
        }
        match line.act {
            DemoAction::Note => {
                app.engine.remember(&caller, line.text)?;
                lived.notes += 1;
            }
            DemoAction::Ask => {
                app.engine.recall(&caller, &question(line.text))?;
            }
            DemoAction::Done => {
                if let Some(which) = lived.named.get(line.text) {
                    app.engine.done(&caller, *which, None)?;
                }
            }
            DemoAction::Save(_) | DemoAction::Push => {
                let (name, links) = (line.name, line.links.len());
                let receipt = match line.act {
                    DemoAction::Push => {
                        lived.documents += 1;
                        app.engine.push(&caller, document(line, &lived))?
                    }
                    _ => app.engine.save(&caller, request(line, &lived))?,
                };
                lived.memories += 1;
                lived.links += links;
                lived.named.extend(name.map(|name| (name, receipt.memory.reference())));
            }
        }
        described();
    }
    clock.set(now);
    app.engine.flush()?;
    while app.engine.follow_files().left > 0 {}
    while app.engine.embed_waiting(EMBEDDED_AT_ONCE)?.goes_on() {}
    Ok(lived)
}

fn question(text: &str) -> RecallRequest {
    RecallRequest {
        mode: Mode::Hybrid(Box::new(RecallQuestion::new(text))),
        filter: Filter::default(),
        sort: None,
        limit: 3,
    }
}

fn request(line: DemoLine, lived: &DemoYear) -> SaveRequest {
    let target = |name: &str| lived.named.get(name).copied();
    let links = line.links.iter().filter_map(|(relation, name)| {
        let target = target(name)?;
        Some(AssociationRequest { target, relation: Some(*relation), weight: None })
    });
    SaveRequest {
        content: line.text.to_owned(),
        memory_type: match line.act {
            DemoAction::Save(of_type) => Some(of_type),
            _ => None,
        },
        associations: links.collect(),
        tags: Some(line.tags),
        pinned: line.pinned,
        ..SaveRequest::default()
    }
}

fn document(line: DemoLine, lived: &DemoYear) -> Document {
    let name = line.text;
    let (_, text) = DOCUMENTS
        .into_iter()
        .find(|(known, _)| *known == name)
        .unwrap_or_else(|| unreachable!("a test looks for every document, so this one is there: {name}"));
    let about = SaveRequest { content: String::new(), ..request(line, lived) };
    Document { name: Some(name.to_owned()), bytes: text.as_bytes().to_vec(), about }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_line_is_right_and_points_back() {
        let mut known = HashSet::new();
        let mut before = i64::MAX;
        for text in LIFE.lines().filter(|text| !text.starts_with("//") && !text.is_empty()) {
            let line = read(text).unwrap_or_else(|| panic!("not a line: {text}"));
            assert!(line.days_ago <= before && line.days_ago > 0, "out of order: {text}");
            before = line.days_ago;
            assert!(line.links.iter().all(|(_, name)| known.contains(name)), "points nowhere: {text}");
            assert!(
                line.act != DemoAction::Done || known.contains(line.text),
                "done before it was to do: {text}"
            );
            assert!(line.name.is_none_or(|name| known.insert(name)), "the name is taken: {text}");
            let there = |(name, _): &(&str, &str)| *name == line.text;
            assert!(line.act != DemoAction::Push || DOCUMENTS.iter().any(there), "no such document: {text}");
        }
        assert!(lines().count() > 250, "a few hundred");
    }
}
