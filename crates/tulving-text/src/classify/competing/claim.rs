//! One statement, split into its subject, its verb and its predicate.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::token::{Lexeme, LexemeKind, lexemes};
use super::words;

/// A statement of one sentence.
#[derive(Clone, Debug)]
pub(super) struct ParsedClaim {
    /// The subject of the statement. Empty if the statement has no known verb.
    pub(super) subject: Vec<Lexeme>,
    /// The verb of the statement.
    pub(super) verb: ClaimVerb,
    /// The words after the verb.
    pub(super) rest: Vec<Lexeme>,
    /// True if the statement is negated.
    pub(super) negated: bool,
}

/// The verb of a statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ClaimVerb {
    /// A form of `be`, or an equivalent: "takes place", "was moved to".
    Be,
    /// The past of `be`.
    Was,
    /// A colon or an equals sign between a name and its value.
    Divider,
    /// Another verb in the present tense, by its stem.
    Does(String),
    /// A verb in the past tense, by its stem.
    Did(String),
    /// The statement has no known verb: all words are in `rest`.
    Unknown,
}

impl ClaimVerb {
    /// Returns true if the verb is a form of `be`.
    pub(super) const fn is_be(&self) -> bool {
        matches!(self, Self::Be | Self::Was)
    }

    /// Returns true if the verb is in the present tense and its stem is in this list.
    pub(super) fn is(&self, list: &str) -> bool {
        matches!(self, Self::Does(stem) if list.split_whitespace().any(|one| one == stem))
    }

    /// Returns the verb form by which statements are grouped. Statements of the same form may compete.
    fn form(&self) -> &str {
        match self {
            Self::Be | Self::Was => "be",
            Self::Divider => ":",
            Self::Does(stem) | Self::Did(stem) => stem,
            Self::Unknown => "",
        }
    }
}

impl ParsedClaim {
    /// Reads the statement of a sentence. Returns `None` if the sentence is a question, or too short.
    pub(super) fn of(sentence: &str) -> Option<Self> {
        if sentence.trim_end().ends_with('?') {
            return None;
        }
        let (all, negations) = lexemes(sentence);
        let negated = negations % 2 == 1;
        let (subject, verb, mut rest) = divide(&all)?;
        // A reason does not change the statement, so it is removed.
        if let Some(reason) = rest.iter().position(|lexeme| lexeme.is(words::REASONS)).filter(|at| *at > 0) {
            rest.truncate(reason);
        }
        let claim = Self { subject, verb, rest, negated };
        (claim.subject.len() + claim.rest.len() > 1).then_some(claim)
    }

    /// Returns true if another statement makes the same claim in the same words.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let forms = |claim: &Self| {
            let all = claim.subject.iter().chain(&claim.rest);
            all.map(|lexeme| lexeme.form.clone()).collect::<Vec<_>>()
        };
        self.negated == other.negated && self.verb.form() == other.verb.form() && forms(self) == forms(other)
    }

    /// Returns true if the statement mentions its speaker.
    pub(super) fn is_personal(&self) -> bool {
        self.subject.iter().chain(&self.rest).any(|lexeme| lexeme.is(words::PERSONAL))
    }

    /// Returns the positions of the labels (such as numbers that name something, and redaction marks), and the forms of
    /// all other words.
    pub(super) fn labels(&self) -> (Vec<usize>, Vec<&str>) {
        let all: Vec<&Lexeme> = self.subject.iter().chain(&self.rest).collect();
        let named = |at: usize| {
            let before = at.checked_sub(1).is_some_and(|before| all[before].is(words::LABELS));
            before || at < self.subject.len().max(2)
        };
        let numbers = |at: &usize| match all[*at].kind {
            LexemeKind::Label | LexemeKind::Redacted => true,
            LexemeKind::Number | LexemeKind::Code | LexemeKind::Time => named(*at),
            _ => false,
        };
        let labels: Vec<usize> = (0..all.len()).filter(numbers).collect();
        let others =
            (0..all.len()).filter(|at| !labels.contains(at)).map(|at| all[at].form.as_str()).collect();
        (labels, others)
    }

    /// Returns a hash that is equal for statements that may compete.
    pub(super) fn key(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.verb.form().hash(&mut hasher);
        self.subject.iter().for_each(|lexeme| lexeme.form.hash(&mut hasher));
        if self.verb == ClaimVerb::Unknown {
            let words = self.rest.iter().filter(|lexeme| !lexeme.kind.is_value());
            words.for_each(|lexeme| lexeme.form.hash(&mut hasher));
        }
        hasher.finish()
    }
}

type ClaimSplit = (Vec<Lexeme>, ClaimVerb, Vec<Lexeme>);

/// Splits a sentence at its verb. If it has no verb, splits it at its colon. Returns `None` if the sentence is a
/// question.
fn divide(all: &[Lexeme]) -> Option<ClaimSplit> {
    let divider = all.iter().position(|lexeme| lexeme.kind == LexemeKind::Divider);
    let Some((verb, at, next)) = verb_of(all, divider.map_or(0, |at| at + 1)) else {
        return Some(match divider.filter(|at| (1..6).contains(at)) {
            Some(at) => (bare(&all[..at]), ClaimVerb::Divider, bare(&all[at + 1..])),
            None => (Vec::new(), ClaimVerb::Unknown, bare(all)),
        });
    };
    if at == 0 && (verb.is_be() || all[0].is(words::MODALS)) {
        return None;
    }
    Some((bare(&all[..at]), verb, bare(&all[next..])))
}

fn bare(all: &[Lexeme]) -> Vec<Lexeme> {
    all.iter().filter(|lexeme| lexeme.kind != LexemeKind::Divider).cloned().collect()
}

/// Returns the first verb from a position on, the position of the verb, and the position of the predicate.
fn verb_of(all: &[Lexeme], from: usize) -> Option<(ClaimVerb, usize, usize)> {
    let is = |at: usize, list: &str| all.get(at).is_some_and(|lexeme| lexeme.is(list));
    let stem = |at: usize| all[at].form.clone();
    let known = (from..all.len()).find_map(|at| {
        let speaks = at > from && is(at - 1, words::SPEAKERS);
        // "will be", "has been moved to", "was moved to"
        if is(at, words::COPULAS) || is(at, words::AUXILIARIES) {
            return be_or_auxiliary(all, at);
        }
        if let Some(next) = after_change(all, at) {
            return (at > from).then_some((ClaimVerb::Be, at, next));
        }
        if is(at, words::HAPPENINGS) {
            return Some((ClaimVerb::Be, at, at + 1));
        }
        if is(at, "takes take") && is(at + 1, "place") {
            return Some((ClaimVerb::Be, at, at + 2));
        }
        let verb = is(at, words::MODALS) || is(at, words::THIRD) || (speaks && is(at, words::BASE));
        if verb && !all[at].capital {
            return Some((ClaimVerb::Does(stem(at)), at, at + 1));
        }
        let past = is(at, words::IRREGULAR) || (all[at].lower.len() > 4 && all[at].lower.ends_with("ed"));
        // "failed requests" and "red" are not verbs: a verb follows a subject.
        (past
            && at > from
            && all[at].kind == LexemeKind::Word
            && !all[at].capital
            && !all[at - 1].is("of for with"))
        .then(|| (ClaimVerb::Did(stem(at)), at, at + 1))
    });
    let base = || {
        let at = (from + 1..all.len()).find(|at| is(*at, words::BASE) && !all[*at].capital)?;
        Some((ClaimVerb::Does(stem(at)), at, at + 1))
    };
    known.or_else(base)
}

/// Reads the verb that begins with a form of `be`, `have` or `will`.
fn be_or_auxiliary(all: &[Lexeme], at: usize) -> Option<(ClaimVerb, usize, usize)> {
    let is = |at: usize, list: &str| all.get(at).is_some_and(|lexeme| lexeme.is(list));
    let mut next = at;
    while is(next, words::COPULAS) || is(next, words::AUXILIARIES) {
        next += 1;
    }
    if is(next, "going") && is(next + 1, "to") {
        next += 2 + usize::from(is(next + 2, "be"));
    }
    if let Some(after) = after_change(all, next) {
        return Some((ClaimVerb::Be, at, after));
    }
    let be = |at: usize| is(at, words::COPULAS) || is(at, "been being");
    if (at..next).any(be) {
        let past = is(at, words::PAST_COPULAS) || is(at, "has have had");
        return Some((if past { ClaimVerb::Was } else { ClaimVerb::Be }, at, next));
    }
    if is(at, "will would shall") {
        let verb = all.get(next)?;
        return Some((ClaimVerb::Does(verb.form.clone()), at, next + 1));
    }
    // "has visited" is about the past, and "has two rooms" is about the present.
    let happened = all.get(next).is_some_and(|word| word.lower.len() > 4 && word.lower.ends_with("ed"));
    match happened || is(at, "had") {
        true => Some((ClaimVerb::Did(all.get(next)?.form.clone()), at, next + 1)),
        false => Some((ClaimVerb::Does("have".to_owned()), at, at + 1)),
    }
}

/// Returns the position after a participle that is followed by a new value.
fn after_change(all: &[Lexeme], at: usize) -> Option<usize> {
    let is = |at: usize, list: &str| all.get(at).is_some_and(|lexeme| lexeme.is(list));
    let timed =
        |at: usize| all.get(at).is_some_and(|lexeme| lexeme.kind.is_day() || lexeme.kind == LexemeKind::Time);
    if !is(at, words::CHANGES) {
        return None;
    }
    let mut next = at + 1;
    while is(next, words::CHANGE_LINKS) {
        next += 1;
    }
    (next > at + 1 || timed(next)).then_some(next)
}
