//! Finds the parts of a turn that are worth saving: preferences, the speaker's identity, people, projects, routines,
//! decisions, facts and goals.
//!
//! Uses English rules on one turn, without a model and without a clock. The rules prefer to miss a statement rather
//! than to invent one: questions, suppositions, quotes, jokes, code and momentary wishes yield no proposals.
//! Instructions to the agent, in contrast to facts about the user's world, are proposed for quarantine, so that a
//! person can review them.

mod clause;
mod day;
mod decisions;
mod filter;
mod goals;
mod habits;
mod injected;
mod own;
mod people;
mod preferences;
mod rules;
mod things;
mod third_person;

use std::ops::Range;

use self::clause::{Clause, clauses};
pub use self::filter::{binds_agent, is_small_talk, names_secret};
use self::own::SpeakerText;
use self::rules::{FactMatch, FactSpeaker, RULES};
use crate::sentence;
use crate::time::Timestamp;
use crate::vocabulary::{MemoryType, Stability};

/// Maximum length of a turn that is read, in bytes. A longer turn was probably pasted and not written by the speaker.
pub const TURN_BYTES: usize = 4_000;
/// Maximum number of proposals from one turn.
pub const PROPOSED: usize = 8;
/// The allowed numbers of characters of a proposal. The upper end is exclusive.
pub const LENGTH: Range<usize> = 8..400;

/// A statement worth saving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactProposal {
    /// The statement, which can be understood without the turn: in the third person if the rewriting is safe, otherwise
    /// in the original words.
    pub content: String,
    /// The memory type of the statement.
    pub memory_type: MemoryType,
    /// The stability of the statement, if it differs from the default of the memory type.
    pub stability: Option<Stability>,
    /// The name of the rule that found the statement.
    pub why: &'static str,
    /// True if the statement belongs in quarantine, because it is an instruction to the agent.
    pub quarantine: bool,
}

/// Returns the statements of a turn that are worth saving, in order. `speaker` is the speaker's name, if known. `at` is
/// the time of the turn. Words such as "tomorrow" are relative to `at`.
pub fn propose(turn: &str, speaker: Option<&str>, at: Timestamp) -> Vec<FactProposal> {
    if turn.len() > TURN_BYTES {
        return Vec::new();
    }
    let own = SpeakerText::of(turn);
    if filter::is_play(&own.text) {
        return Vec::new();
    }
    let voice = FactSpeaker { subject: speaker.unwrap_or("User") };
    let mut found: Vec<FactProposal> = Vec::new();
    for sentence in sentence::sentences(&own.text) {
        let said = &own.text[sentence.clone()];
        if own.quotes_in(&sentence) || !filter::is_statement(said) || names_secret(&turn[sentence.clone()]) {
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

/// Returns a text without the parts that Tulving itself inserted into a prompt.
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

/// Returns true if a text is an instruction to the agent and not a fact about the user's world.
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
