//! Memories that nobody requested: remarks of a user that are worth saving.
//!
//! The findings come from rules ([`facts::propose`](tulving_text::classify::facts::propose)) or from a language model
//! ([`model`](super::model)), and both are handled in the same way: known findings are left out, and the others are saved
//! with their origin.

use std::collections::BTreeSet;

use serde::Serialize;
use tulving_text::classify::facts::FactProposal;

use crate::model::error::Error;
use crate::model::id::PassId;
use crate::model::limits;
use crate::model::preview;
use crate::model::request::SaveRequest;
use crate::model::score::Importance;
use crate::model::turn::Turn;
use crate::model::vocabulary::{Author, Trust};

/// Factor for the importance of memories that nobody requested.
const UNASKED: f64 = 0.8;

/// A turn to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProactiveTurn<'a> {
    /// The turn.
    pub(crate) turn: &'a Turn,
    /// True if the source of the turn can be trusted.
    pub(crate) trusted: bool,
    /// The pass that reads the turn.
    pub(crate) pass: PassId,
}

/// A memory to be saved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SaveProposal {
    /// The save request.
    pub(crate) request: SaveRequest,
    /// True if the memory is saved to quarantine.
    pub(crate) aside: bool,
}

/// A known memory similar to a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KnownMemory {
    /// The content of the known memory.
    pub(crate) content: String,
    /// True if its meaning is nearly the same as that of the proposal.
    pub(crate) near: bool,
}

/// The result of reading turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TurnReadingCounts {
    /// The number of saved memories that recall can find.
    pub saved: usize,
    /// The number of memories in quarantine.
    pub aside: usize,
    /// The number of findings that were already known.
    pub known: usize,
    /// The number of entries written to journals.
    pub journaled: usize,
}

/// Returns the findings in a turn that are not known yet, and the number of known findings. `known` returns the memories
/// similar to a statement.
pub(crate) fn proposals(
    heard: ProactiveTurn<'_>,
    found: Vec<FactProposal>,
    known: &mut dyn FnMut(&str) -> Result<Vec<KnownMemory>, Error>,
) -> Result<(Vec<SaveProposal>, usize), Error> {
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

fn proposal(heard: ProactiveTurn<'_>, proposed: FactProposal) -> SaveProposal {
    let ProactiveTurn { turn, trusted, pass } = heard;
    let FactProposal { content, memory_type, stability, why, quarantine } = proposed;
    let place = turn.channel.as_deref().map_or_else(String::new, |channel| format!(" in {channel}"));
    let note = format!("{}{place}; proactive, {why}", turn.note());
    let request = SaveRequest {
        memory_type: Some(memory_type),
        stability,
        importance: Some(Importance::of(memory_type).get() * UNASKED),
        author: Some(Author::Auto),
        source_note: Some(preview::cut(&note, limits::NOTE_CHARS)),
        trust: Some(if trusted { Trust::Own } else { Trust::Untrusted }),
        pass: Some(pass),
        // The request names no conversation, so that the same statement from two conversations is stored only once, by its
        // content.
        speaker: turn.speaker.clone(),
        ..SaveRequest::new(content)
    };
    SaveProposal { request, aside: quarantine || !trusted }
}

/// Returns true if two texts are the same statement, except for optional words.
pub(super) fn are_same(one: &str, other: &str) -> bool {
    plain(one) == plain(other)
}

/// Returns true if a known memory states the proposal.
pub(crate) fn is_said(proposed: &str, known: &KnownMemory) -> bool {
    let (new, old) = (plain(proposed), plain(&known.content));
    new == old || (known.near && !differs(proposed, &known.content, &new, &old))
}

/// Returns the words of a statement, without optional words: "User prefers tea" becomes "Prefers tea".
pub(super) fn plain(text: &str) -> Vec<String> {
    let lower = text.to_lowercase().replace('’', "'");
    let word = |c: char| c.is_alphanumeric() || matches!(c, '\'' | '_' | '/' | ':' | '@');
    let words = lower.split(|c: char| !word(c)).filter(|word| !word.is_empty());
    words
        .filter(|word| !matches!(*word, "user" | "user's" | "the" | "a" | "an" | "that"))
        .map(str::to_owned)
        .collect()
}

/// Returns true if two statements differ although a model finds them similar: by a number, a name, a negation, or the order
/// of the same words.
fn differs(new: &str, old: &str, new_words: &[String], old_words: &[String]) -> bool {
    let sorted = |words: &[String]| {
        let mut words = words.to_vec();
        words.sort_unstable();
        words
    };
    let turned = new_words != old_words && sorted(new_words) == sorted(old_words);
    turned || marks(new) != marks(old) || denials(new_words) != denials(old_words)
}

/// Returns the words that identify something: words with a digit, a capital letter, or one of the marks `.`, `/`,
/// `_` and `@`.
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
    use tulving_text::classify::facts;

    use super::*;
    use crate::model::vocabulary::{MemoryType, TurnRole};

    fn turn(content: &str) -> Turn {
        Turn {
            channel: Some("support".to_owned()),
            ..crate::background::passes::turn(TurnRole::User, content)
        }
    }

    fn read(content: &str, trusted: bool, known: &[(&str, bool)]) -> (Vec<SaveProposal>, usize) {
        let turn = turn(content);
        let heard = ProactiveTurn { turn: &turn, trusted, pass: PassId::mint(turn.at) };
        let mut about = |_: &str| {
            let one =
                |(content, near): &(&str, bool)| KnownMemory { content: (*content).to_owned(), near: *near };
            Ok(known.iter().map(one).collect())
        };
        let found = facts::propose(content, None, turn.at);
        proposals(heard, found, &mut about).expect("read")
    }

    #[test]
    fn a_proposal_says_where_it_comes_from_and_matters_less() {
        let (new, old) = read("I prefer tea over coffee", true, &[]);
        assert_eq!((new.len(), old), (1, 0));
        let SaveProposal { request, aside } = &new[0];
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
