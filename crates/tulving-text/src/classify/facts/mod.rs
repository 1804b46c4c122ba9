//! Finds the parts of a turn that are worth keeping: preferences, the speaker's identity, people, projects, routines,
//! decisions, facts, goals.
//!
//! English rules over one turn, without a model and without a clock. They prefer missing something to making something up:
//! questions, suppositions, quotes, jokes, code and momentary wishes yield nothing. Instructions to the agent, as opposed to
//! facts about the user's world, are proposed for quarantine, so that somebody can review them.

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
pub use self::gate::{binds_agent, is_small_talk, names_secret};
use self::own::SpeakerText;
use self::rules::{FactMatch, FactSpeaker, RULES};
use crate::sentence;
use crate::time::Timestamp;
use crate::vocabulary::{MemoryType, Stability};

/// Longest turn, in bytes, that is read. A longer one was pasted, not said by the speaker.
pub const TURN_BYTES: usize = 4_000;
/// Most proposals from one turn.
pub const PROPOSED: usize = 8;
/// Fewest and most characters of a proposal.
pub const LENGTH: Range<usize> = 8..400;

/// A statement worth keeping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactProposal {
    /// The statement, readable on its own: in the third person if that is safe, otherwise in the original words.
    pub content: String,
    /// Its memory type.
    pub memory_type: MemoryType,
    /// Its stability, if it differs from the default of the type.
    pub stability: Option<Stability>,
    /// The rule that found it.
    pub why: &'static str,
    /// True if it belongs in quarantine, because it tells the agent what to do.
    pub quarantine: bool,
}

/// Returns the parts of a turn that are worth keeping, in order. `speaker` is the speaker's name, if known. `at` is the time
/// of the turn, which "tomorrow" is relative to.
pub fn propose(turn: &str, speaker: Option<&str>, at: Timestamp) -> Vec<FactProposal> {
    if turn.len() > TURN_BYTES {
        return Vec::new();
    }
    let own = SpeakerText::of(turn);
    if gate::is_play(&own.text) {
        return Vec::new();
    }
    let voice = FactSpeaker { subject: speaker.unwrap_or("User") };
    let mut found: Vec<FactProposal> = Vec::new();
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

/// Returns a text without the parts that Tulving itself put into a prompt.
pub fn without_injected(text: &str) -> String {
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

/// Returns true if a text is an instruction to the agent, not a fact about the user's world.
pub fn is_told_to_the_agent(text: &str, at: Timestamp) -> bool {
    propose(text, None, at).iter().any(|proposed| proposed.quarantine)
}

/// Adds dates to the days in a statement, relative to `at`, unless the days recur.
pub fn dated(content: String, memory_type: MemoryType, at: Timestamp) -> String {
    match memory_type {
        // "On Fridays" means every Friday.
        MemoryType::Routine | MemoryType::Preference => content,
        _ => day::dated(&content, at),
    }
}

/// Applies the first rule that matches a clause.
fn read(clause: &Clause<'_>, voice: FactSpeaker<'_>, at: Timestamp) -> Option<FactProposal> {
    let (why, found) = RULES.iter().find_map(|(why, rule)| Some((*why, rule(clause, voice)?)))?;
    let FactMatch { memory_type, content, quarantine, stability } = found;
    let content = dated(content, memory_type, at);
    let fits = LENGTH.contains(&content.chars().count());
    fits.then_some(FactProposal { content, memory_type, stability, why, quarantine })
}

#[cfg(test)]
mod tests;
