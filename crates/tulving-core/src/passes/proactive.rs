//! Memories that nobody asked for: what a user says in passing and what is worth keeping of it.
//!
//! What rules ([`facts::propose`](crate::classify::facts::propose)) or a language model ([`model`](super::model)) find in a turn is sorted out here in one way: what is
//! known is left out, and the rest says where it comes from.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::classify::facts::Proposed;
use crate::classify::importance_of;
use crate::error::Error;
use crate::id::PassId;
use crate::limits;
use crate::preview;
use crate::request::SaveRequest;
use crate::turn::Turn;
use crate::vocabulary::{Author, Trust};

/// What nobody asked for matters this much less than what somebody did.
const UNASKED: f64 = 0.8;

/// A turn to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard<'a> {
    /// What was said, and where.
    pub(crate) turn: &'a Turn,
    /// Whether it was said where what is said can be trusted.
    pub(crate) trusted: bool,
    /// The act that reads it.
    pub(crate) pass: PassId,
}

/// A memory to be saved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Proposal {
    /// What.
    pub(crate) request: SaveRequest,
    /// Whether it is put aside for review.
    pub(crate) aside: bool,
}

/// What is known already, near to what is proposed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// What it says.
    pub(crate) content: String,
    /// Whether it means nearly the same.
    pub(crate) near: bool,
}

/// What came of turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Gleaned {
    /// How many memories were saved, and are found.
    pub saved: usize,
    /// How many wait for review.
    pub aside: usize,
    /// How many were known already.
    pub known: usize,
    /// How many entries were written into journals.
    pub journaled: usize,
}

/// What was found in a turn and is not known yet, and how much was known. `known` tells what is known near to a statement.
pub(crate) fn proposals(
    heard: Heard<'_>,
    found: Vec<Proposed>,
    known: &mut dyn FnMut(&str) -> Result<Vec<Known>, Error>,
) -> Result<(Vec<Proposal>, usize), Error> {
    let (mut new, mut old) = (Vec::new(), 0);
    for proposed in found {
        if known(&proposed.content)?.iter().any(|known| is_said(&proposed.content, known)) {
            old += 1;
        } else {
            new.push(proposal(heard, proposed));
        }
    }
    Ok((new, old))
}

fn proposal(heard: Heard<'_>, proposed: Proposed) -> Proposal {
    let Heard { turn, trusted, pass } = heard;
    let Proposed { content, memory_type, stability, why, quarantine } = proposed;
    let place = turn.channel.as_deref().map_or_else(String::new, |channel| format!(" in {channel}"));
    let note = format!("{}{place}; proactive, {why}", turn.note());
    let request = SaveRequest {
        memory_type: Some(memory_type),
        stability,
        importance: Some(importance_of(memory_type).get() * UNASKED),
        author: Some(Author::Auto),
        source_note: Some(preview::cut(&note, limits::NOTE_CHARS)),
        trust: Some(if trusted { Trust::Own } else { Trust::Untrusted }),
        pass: Some(pass),
        // No conversation: what was said in two of them is known once, by its content.
        speaker: turn.speaker.clone(),
        ..SaveRequest::new(content)
    };
    Proposal { request, aside: quarantine || !trusted }
}

/// Whether two texts are the same statement, but for words that may be there or not.
pub(super) fn are_same(one: &str, other: &str) -> bool {
    plain(one) == plain(other)
}

/// Whether what is known says what is proposed.
pub(crate) fn is_said(proposed: &str, known: &Known) -> bool {
    let (new, old) = (plain(proposed), plain(&known.content));
    new == old || (known.near && !differs(proposed, &known.content, &new, &old))
}

/// The words of a statement, without those that may be there or not: "User prefers tea" is "Prefers tea".
pub(super) fn plain(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('’', "'");
    let word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '_' | '/' | ':' | '@');
    let words = lower.split(|c: char| !word(c)).filter(|word| !word.is_empty());
    words
        .filter(|word| !matches!(*word, "user" | "user's" | "the" | "a" | "an" | "that"))
        .map(str::to_owned)
        .collect()
}

/// Whether statements that mean nearly the same to a model say different things all the same: another number, name or
/// denial, or the same words the other way round.
fn differs(new: &str, old: &str, new_words: &[String], old_words: &[String]) -> bool {
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort_unstable();
        words
    };
    let turned = new_words != old_words && sorted(new_words) == sorted(old_words);
    turned || marks(new) != marks(old) || denials(new_words) != denials(old_words)
}

/// The words that name one thing and no other: with a digit, a capital or a mark inside.
pub(super) fn marks(text: &str) -> BTreeSet<String> {
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let marked = words.enumerate().filter(|(at, word)| {
        let capital = *at > 0 && word.starts_with(char::is_uppercase);
        let mark = |c: char| c.is_ascii_digit() || matches!(c, '.' | '/' | '_' | '@');
        capital || word.chars().skip(1).any(char::is_uppercase) || word.contains(mark)
    });
    marked.map(|(_, word)| word.to_owned()).collect()
}

pub(super) fn denials(words: &[String]) -> usize {
    let denies = |word: &&String| {
        matches!(
            word.as_str(),
            "not" | "never" | "no" | "none" | "without" | "hate" | "hates" | "dislikes" | "against"
        ) || word.ends_with("n't")
    };
    words.iter().filter(denies).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::facts;
    use crate::vocabulary::{MemoryType, TurnRole};

    fn turn(content: &str) -> Turn {
        Turn { channel: Some("support".to_owned()), ..crate::passes::turn(TurnRole::User, content) }
    }

    fn read(content: &str, trusted: bool, known: &[(&str, bool)]) -> (Vec<Proposal>, usize) {
        let turn = turn(content);
        let heard = Heard { turn: &turn, trusted, pass: PassId::mint(turn.at) };
        let mut about = |_: &str| {
            let one = |(content, near): &(&str, bool)| Known { content: (*content).to_owned(), near: *near };
            Ok(known.iter().map(one).collect())
        };
        let found = facts::propose(content, None, turn.at);
        proposals(heard, found, &mut about).expect("read")
    }

    #[test]
    fn a_proposal_says_where_it_comes_from_and_matters_less() {
        let (new, old) = read("I prefer tea over coffee", true, &[]);
        assert_eq!((new.len(), old), (1, 0));
        let Proposal { request, aside } = &new[0];
        assert_eq!(request.content, "User prefers tea over coffee");
        assert_eq!(request.memory_type, Some(MemoryType::Preference));
        assert_eq!(request.importance, Some(0.7 * 0.8));
        assert_eq!(request.source_note.as_deref(), Some("turn 7 (tui) in support; proactive, preference"));
        assert_eq!((request.author, request.trust), (Some(Author::Auto), Some(Trust::Own)));
        assert!(request.pass.is_some() && request.conversation.is_none() && !aside);
    }

    #[test]
    fn what_is_not_trusted_is_put_aside() {
        let (new, _) = read("I prefer tea over coffee", false, &[]);
        assert!(new[0].aside);
        assert_eq!(new[0].request.trust, Some(Trust::Untrusted));
    }

    #[test]
    fn what_is_known_is_not_said_again_and_what_has_changed_is() {
        let said = "I prefer tea over coffee";
        for (known, near, due) in [
            ("Prefers tea over coffee.", false, 0),
            ("user prefers the tea over coffee", false, 0),
            ("User would rather drink tea than coffee", true, 0),
            ("User would rather drink tea than coffee", false, 1),
            ("User prefers coffee over tea", true, 1),
            ("User doesn't prefer tea over coffee", true, 1),
        ] {
            assert_eq!(read(said, true, &[(known, near)]).0.len(), due, "{known} {near}");
        }
        let moved = "Daily standup is at 10:00 every day";
        assert_eq!(read(moved, true, &[("Daily standup is at 9:30 every day", true)]).0.len(), 1);
    }
}
