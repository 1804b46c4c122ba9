//! One or two sentences: what an agent mostly remembers.
//!
//! They keep what follows from their type, unless they say beyond doubt how to do something, why something was chosen, or
//! what happened or holds just now, or a label before them does.

use super::Sorted;
use super::clause::{is_past, orders};
use super::cues::NAMES;
use super::heads::longest;
use super::label::label;
use super::signs::Signs;
use super::words::{holds, names_day, spaced};
use crate::classify::lexicon::listed;
use crate::classify::page::{Block, Page};
use crate::text::when::WEEKDAYS;
use crate::vocabulary::{Kind, Stability};

/// Most characters and sentences of a saying.
const CHARS: usize = 320;
const SENTENCES: usize = 3;

/// What a label's words must count for to stand for a heading, and to do so whatever follows.
const NAMED: f32 = 2.5;
const LOUD: f32 = 3.5;

/// Whether a page is a saying rather than a document.
pub(super) fn is_saying(page: &Page<'_>) -> bool {
    let [Block::Paragraph(text)] = page.blocks.as_slice() else { return page.blocks.is_empty() };
    text.chars().nth(CHARS).is_none() && !text.contains('\n') && page.sentences().nth(SENTENCES).is_none()
}

pub(super) fn sorted(page: &Page<'_>) -> Sorted {
    let Some(Block::Paragraph(text)) = page.blocks.first() else { return Sorted::default() };
    let said = spaced(text);
    if let Some(sorted) = labelled(page, text) {
        return sorted;
    }
    if happened(&said) || holds_now(&said) {
        return Sorted::new(Kind::Episodic, Stability::Volatile);
    }
    if gives_reason(&said) {
        return Sorted::new(Kind::Rationale, Stability::Stable);
    }
    if instructs(text, &said) {
        return Sorted::new(Kind::Procedural, Stability::Evolving);
    }
    Sorted::default()
}

/// What a label at its very start makes of it, where that names a sort of document as a heading would: `Meeting notes: …`.
fn labelled(page: &Page<'_>, text: &str) -> Option<Sorted> {
    let (head, rest) = label(text).filter(|(_, rest)| !rest.is_empty())?;
    let named = longest(NAMES, &spaced(head)).map(|(_, weight)| weight).fold(0.0, f32::max);
    let sorted = (named >= NAMED).then(|| Signs::of(page, None).sorted())?;
    let rest = spaced(rest);
    let words: Vec<&str> = rest.split_whitespace().collect();
    match sorted.kind {
        // "Daily standup: 9:30" is when one is, and tells of none that was.
        Some(Kind::Episodic) if named < LOUD && !is_past(&words) => None,
        Some(Kind::Episodic | Kind::Rationale) => Some(sorted),
        // A name and what is said of it is a fact, and orders are told by their own signs.
        _ => None,
    }
}

/// Whether it holds any of these phrases, which a bar separates.
fn any(said: &str, phrases: &str) -> bool {
    phrases.split('|').any(|phrase| holds(said, phrase))
}

fn on_any_day(said: &str, before: &str) -> bool {
    WEEKDAYS.iter().any(|day| holds(said, &format!("{before} {day}")))
}

/// Whether it tells what happened at a time that is near.
fn happened(said: &str) -> bool {
    let words: Vec<&str> = said.split_whitespace().collect();
    let near = any(said, "yesterday|today|today's|tonight|last night|last week|just now")
        || any(said, "this morning|this afternoon|this evening")
        || on_any_day(said, "last")
        || (on_any_day(said, "on") && !names_day(said));
    near && is_past(&words)
}

/// Whether it holds for a moment only.
fn holds_now(said: &str) -> bool {
    let now = any(
        said,
        "currently|right now|at the moment|for now|as of now|today|this week|until tomorrow|temporarily",
    ) || on_any_day(said, "until");
    let wrong = any(said, "down|broken|blocked|failing|red|unavailable|offline|out of|stuck|frozen|paused")
        || any(said, "in the middle of|in progress");
    let open = any(said, "still open|still failing|still broken|still red|next i will|next i'll");
    (now && wrong) || open || is_busy(said)
}

/// Whether somebody is in the middle of something. "She is currently learning Welsh" lasts, "Currently debugging" does not.
fn is_busy(said: &str) -> bool {
    let words: Vec<&str> = said.split_whitespace().collect();
    let ours = words.first().is_some_and(|first| listed("i we i'm we're", first));
    let doing = words.iter().enumerate().any(|(at, word)| {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let after = words.get(at + 1).copied().unwrap_or_default();
        *word == "currently"
            && after.ends_with("ing")
            && !listed("learning living residing running studying using working", after)
            && (ours || !listed("is are was were", before))
    });
    let told = any(said, "currently working on|currently in the middle")
        && (ours || said.starts_with(" currently "));
    doing || told
}

/// Whether it says why something was chosen.
fn gives_reason(said: &str) -> bool {
    let between = any(said, "chose|chosen|picked|selected|preferred");
    let choice = between || any(said, "decided|opted|went with|settled on|rejected|ruled out");
    // People drop, switch and adopt other things than tools, for other reasons than these.
    let change = any(said, "dropped|switched|adopted|replaced|moved");
    let reason =
        any(said, "because|instead of|rather than|in favour of|in favor of|due to|so that|would have");
    let weaker = any(said, "since|in order to|mainly for|the reason");
    let explained = any(said, "the reason|reason why|trade off|tradeoff")
        && any(said, "we|our|the team|accepted|decision|design");
    (choice && (reason || weaker)) || (between && holds(said, "over")) || (change && reason) || explained
}

/// Whether it says how to do something: several orders in a row, or one with what it is good for.
fn instructs(text: &str, said: &str) -> bool {
    let aim = (said.starts_with(" to ") && !said.starts_with(" to do ")) || said.starts_with(" how to ");
    let in_a_row = any(said, "first|then|finally|afterwards");
    match orders(text) {
        0 => false,
        1 => aim || holds(said, "by running"),
        2 | 3 => aim || in_a_row || said.starts_with(" if ") || holds(said, "by running"),
        _ => true,
    }
}
