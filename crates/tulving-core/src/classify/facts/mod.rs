//! What of a turn is worth keeping: preferences, who the speaker is, people, projects, routines, decisions, facts, aims.
//!
//! English rules over one turn, without a model and without a clock. They would rather miss something than make something up:
//! a question, a supposition, a quote, a joke, code and a wish of the moment give nothing. What tells the agent how to behave
//! rather than something of its user's world is proposed to be put aside, for somebody to look at.

mod aims;
mod clause;
mod day;
mod gate;
mod habits;
mod injected;
mod own;
mod people;
mod rules;
mod tastes;
mod things;
mod third;
mod wills;

use std::ops::Range;

use self::clause::{Clause, clauses};
pub(crate) use self::gate::{binds_agent, is_small_talk, names_secret};
use self::own::Own;
use self::rules::{Found, RULES, Voice};
use crate::text::sentence;
use crate::time::Timestamp;
use crate::vocabulary::{MemoryType, Stability};

/// Most bytes of a turn that is looked at. What is longer was pasted rather than said.
pub(crate) const TURN_BYTES: usize = 4_000;
/// Most that is taken of one turn.
pub(crate) const PROPOSED: usize = 8;
/// Fewest and most characters of what is kept.
pub(crate) const LENGTH: Range<usize> = 8..400;

/// Something worth keeping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed {
    /// It, as a statement that stands by itself: in the third person where that is safe, else as it was said.
    pub content: String,
    /// What it says.
    pub memory_type: MemoryType,
    /// How soon it goes stale, where that is not what follows from the type.
    pub stability: Option<Stability>,
    /// The rule that found it.
    pub why: &'static str,
    /// Whether it is to be put aside: it tells the agent what to do.
    pub quarantine: bool,
}

/// What of a turn is worth keeping, in the order in which it was said. `speaker` is what its speaker is called, where that is
/// known, and `at` when it was said, from which "tomorrow" is counted.
pub fn propose(turn: &str, speaker: Option<&str>, at: Timestamp) -> Vec<Proposed> {
    if turn.len() > TURN_BYTES {
        return Vec::new();
    }
    let own = Own::of(turn);
    if gate::is_play(&own.text) {
        return Vec::new();
    }
    let voice = Voice { subject: speaker.unwrap_or("User") };
    let mut found: Vec<Proposed> = Vec::new();
    for sentence in sentence::sentences(&own.text) {
        let said = &own.text[sentence.clone()];
        if own.quotes_in(&sentence) || !gate::is_statement(said) || names_secret(&turn[sentence.clone()]) {
            continue;
        }
        for clause in clauses(turn, &own.text, sentence) {
            let proposed =
                read(&clause, voice, at).filter(|one| found.iter().all(|old| old.content != one.content));
            found.extend(proposed);
        }
    }
    found.truncate(PROPOSED);
    found
}

/// A text without what Tulving itself put into a prompt.
pub(crate) fn without_injected(text: &str) -> String {
    let mut gone = injected::ranges(text);
    gone.sort_unstable_by_key(|range| range.start);
    let (mut left, mut at) = (String::with_capacity(text.len()), 0);
    for range in gone {
        left.push_str(text.get(at..range.start).unwrap_or_default());
        at = at.max(range.end);
    }
    left.push_str(text.get(at..).unwrap_or_default());
    left.trim().to_owned()
}

/// Whether a text tells the agent what to do rather than something of its user's world.
pub(crate) fn is_told_to_the_agent(text: &str, at: Timestamp) -> bool {
    propose(text, None, at).iter().any(|proposed| proposed.quarantine)
}

/// A statement with dates put to the days that it counts from `at`, where they are not every one of them.
pub(crate) fn dated(content: String, memory_type: MemoryType, at: Timestamp) -> String {
    match memory_type {
        // "On Fridays" is every one of them.
        MemoryType::Routine | MemoryType::Preference => content,
        _ => day::dated(&content, at),
    }
}

/// What a clause gives, by the first rule that knows it.
fn read(clause: &Clause<'_>, voice: Voice<'_>, at: Timestamp) -> Option<Proposed> {
    let (why, found) = RULES.iter().find_map(|(why, rule)| Some((*why, rule(clause, voice)?)))?;
    let Found { memory_type, content, quarantine, stability } = found;
    let content = dated(content, memory_type, at);
    let fits = LENGTH.contains(&content.chars().count());
    fits.then_some(Proposed { content, memory_type, stability, why, quarantine })
}

#[cfg(test)]
mod tests;
