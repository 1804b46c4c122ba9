//! Detects two texts that state different values for the same thing: "the demo is on Thursday" and "… on Friday".
//!
//! Uses English rules on short statements, without a model and without a clock. A statement is split at its verb. The
//! part before the verb is the subject, which must be the same in both texts. The part after the verb may differ by one
//! value. So "Room 12 has a projector" and "Room 14 has a projector" are about two rooms, and "the demo is in room 12"
//! and "… in room 14" are about one demo. Statements that can be true several times (likes, visits, events) do not
//! compete.

mod claim;
mod slot;
mod token;
mod words;

use self::claim::ParsedClaim;
use crate::sentence;

/// Maximum length of a text that is checked, in bytes. A longer text usually makes more than one statement.
const LONGEST: usize = 400;
/// Maximum number of sentences of a text that is checked.
const SENTENCES: usize = 4;

/// The statements of a short text.
#[derive(Clone, Debug)]
pub struct ParsedClaims(Vec<ParsedClaim>);

/// The values by which two texts about the same thing differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictingValues {
    /// The value in the first text.
    pub one: String,
    /// The value in the second text.
    pub other: String,
}

impl ParsedClaims {
    /// Reads the statements of a text. Returns `None` if the text is empty or too long, asks a question, or has a sentence
    /// that is too short.
    pub fn of(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let sentences = sentence::sentences(text);
        if sentences.is_empty() || sentences.len() > SENTENCES {
            return None;
        }
        sentences.into_iter().map(|range| ParsedClaim::of(&text[range])).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Returns true if a statement mentions its speaker.
    pub fn is_personal(&self) -> bool {
        self.0.iter().any(ParsedClaim::is_personal)
    }

    /// Returns true if two texts differ only in redaction marks or in numbers that name something ("Ticket 1041" and
    /// "Ticket 1042").
    pub fn differs_by_label(&self, other: &Self) -> bool {
        let same = |(one, other): (&ParsedClaim, &ParsedClaim)| {
            let ((here, rest), (there, others)) = (one.labels(), other.labels());
            one.negated == other.negated && here == there && rest == others
        };
        self.0.len() == other.0.len()
            && self.0.iter().zip(&other.0).all(same)
            && self.rivalry(other).is_none()
    }

    /// Returns one number for each statement. Two competing texts have at least one number in common. Do not store
    /// these numbers, because they may change between versions.
    pub fn keys(&self) -> impl Iterator<Item = u64> {
        self.0.iter().map(ParsedClaim::key)
    }

    /// Returns the values by which another text differs, if everything else in the two texts is the same.
    pub fn rivalry(&self, other: &Self) -> Option<ConflictingValues> {
        if self.0.len() != other.0.len() {
            return None;
        }
        let mut found = None;
        for (one, other) in self.0.iter().zip(&other.0) {
            if one.is_same(other) {
                continue;
            }
            let (here, there) = slot::competing(one, other)?;
            found.get_or_insert(ConflictingValues { one: here, other: there });
        }
        found
    }
}

/// Returns the values by which two texts about the same thing differ, or `None` if they do not compete.
pub fn competing(one: &str, other: &str) -> Option<ConflictingValues> {
    ParsedClaims::of(one)?.rivalry(&ParsedClaims::of(other)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redaction_marks_are_no_values_that_compete() {
        let of = |kind: &str| format!("The CI token is [redacted: {kind}]");
        assert_eq!(competing(&of("slack_token"), &of("npm_token")), None);
        assert_eq!(competing(&of("slack_token"), "The CI token is kept by Marta"), None);
        let assigned = |kind: &str| format!("CI_TOKEN=[redacted: {kind}]");
        assert_eq!(competing(&assigned("slack_token"), &assigned("npm_token")), None);
        let dated = |day: &str| format!("The login [redacted: password] ends on {day}");
        assert!(competing(&dated("Monday"), &dated("Friday")).is_some(), "another value differs");
    }

    #[test]
    fn the_opposite_of_a_statement_is_shown_in_its_own_words() {
        let rivalry = competing("The build is green", "The build is not green").expect("they compete");
        assert_eq!(rivalry, ConflictingValues { one: "green".to_owned(), other: "not green".to_owned() });
    }
}
