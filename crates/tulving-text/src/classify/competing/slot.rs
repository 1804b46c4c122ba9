//! Detects two statements that differ only by a value.

use std::ops::Range;

use super::claim::{ClaimVerb, ParsedClaim};
use super::token::{Lexeme, LexemeKind};
use super::words;
use crate::classify::lexicon::listed;
use crate::diff::{self, DiffLine};

/// Maximum number of words of a value without a recognizable form, such as a favourite dish.
const OPEN: usize = 3;

/// One difference between two statements.
struct ClaimHunk<'a> {
    here: &'a [Lexeme],
    there: &'a [Lexeme],
    /// The common words before the difference, after the verb.
    before: &'a [Lexeme],
    /// The common words after the difference, up to the next difference.
    after: &'a [Lexeme],
}

/// Returns the values by which two statements differ, if everything else is the same.
pub(super) fn competing(one: &ParsedClaim, other: &ParsedClaim) -> Option<(String, String)> {
    if !about_the_same(one, other) {
        return None;
    }
    let hunks = hunks(&one.rest, &other.rest);
    if one.negated != other.negated {
        return hunks.is_empty().then(|| (affirmed(one), affirmed(other)));
    }
    // The text that a redaction mark replaces is unknown, so the mark is not a value that competes with another value.
    if hunks.iter().any(ClaimHunk::is_redacted) {
        return None;
    }
    let verb = if one.verb == ClaimVerb::Was { &one.verb } else { &other.verb };
    let is = match &hunks[..] {
        [only] => only.is_slot(verb, &one.subject),
        [day, time] => verb.is_be() && day.is_when() && time.is_when(),
        _ => false,
    };
    let shown = |side: fn(&ClaimHunk<'_>) -> String| hunks.iter().map(side).collect::<Vec<_>>().join(" ");
    is.then(|| (shown(|hunk| text(hunk.here)), shown(|hunk| text(hunk.there))))
}

fn about_the_same(one: &ParsedClaim, other: &ParsedClaim) -> bool {
    let forms = |all: &[Lexeme]| all.iter().map(|lexeme| lexeme.form.clone()).collect::<Vec<_>>();
    let referred = one.subject.first().is_some_and(|first| first.is(words::PRONOUNS));
    let verbs = one.verb == other.verb
        || (one.verb.is_be() && other.verb.is_be())
        || (one.negated != other.negated && did_or_does(&one.verb) == did_or_does(&other.verb));
    verbs && !(referred && one.verb != ClaimVerb::Unknown) && forms(&one.subject) == forms(&other.subject)
}

/// Returns the predicate of a statement. The predicate of a negated statement contains `not`.
fn affirmed(claim: &ParsedClaim) -> String {
    let said = match text(&claim.rest) {
        said if said.is_empty() => "true".to_owned(),
        said => said,
    };
    if claim.negated { format!("not {said}") } else { said }
}

/// Returns the stem of a verb in the present or the past tense.
fn did_or_does(verb: &ClaimVerb) -> Option<&str> {
    match verb {
        ClaimVerb::Does(stem) | ClaimVerb::Did(stem) => Some(stem),
        _ => None,
    }
}

fn text(lexemes: &[Lexeme]) -> String {
    let shown: Vec<&str> =
        lexemes.iter().map(|lexeme| lexeme.shown.as_str()).filter(|shown| !shown.is_empty()).collect();
    shown.join(" ")
}

/// The ranges of one difference in the two lists.
type HunkRanges = (Range<usize>, Range<usize>);

/// Returns the differences between two lists.
fn hunks<'a>(one: &'a [Lexeme], other: &'a [Lexeme]) -> Vec<ClaimHunk<'a>> {
    let joined =
        |all: &[Lexeme]| all.iter().map(|lexeme| lexeme.form.as_str()).collect::<Vec<_>>().join("\n");
    let (here, there) = (joined(one), joined(other));
    let (mut at, mut to) = (0, 0);
    let mut places: Vec<HunkRanges> = Vec::new();
    let mut same = true;
    for line in diff::lines(&here, &there) {
        if let DiffLine::Same(_) = line {
            (at, to, same) = (at + 1, to + 1, true);
            continue;
        }
        if std::mem::take(&mut same) {
            places.push((at..at, to..to));
        }
        let (from, into) = places.last_mut().expect("one was pushed");
        match line {
            DiffLine::Gone(_) => (at, from.end) = (at + 1, at + 1),
            _ => (to, into.end) = (to + 1, to + 1),
        }
    }
    let values = |all: &[Lexeme]| all.len() > 1 && all.iter().all(|lexeme| lexeme.kind.is_value());
    // "Thursday 10:00" and "Friday 11:00" consist of two values each.
    let places: Vec<HunkRanges> = places
        .into_iter()
        .flat_map(|(from, into)| match values(&one[from.clone()]) && values(&other[into.clone()]) {
            true if from.len() == into.len() => {
                from.zip(into).map(|(at, to)| (at..at + 1, to..to + 1)).collect()
            }
            _ => vec![(from, into)],
        })
        .collect();
    let ends: Vec<usize> = places.iter().skip(1).map(|(from, _)| from.start).chain([one.len()]).collect();
    let hunk = |((from, into), end): (&HunkRanges, usize)| ClaimHunk {
        here: &one[from.clone()],
        there: &other[into.clone()],
        before: &one[..from.start],
        after: &one[from.end..end],
    };
    places.iter().zip(ends).map(hunk).collect()
}

impl ClaimHunk<'_> {
    fn both(&self, is: impl Fn(&[Lexeme]) -> bool) -> bool {
        is(self.here) && is(self.there)
    }

    /// Returns true if either side contains a redaction mark.
    fn is_redacted(&self) -> bool {
        self.here.iter().chain(self.there).any(|lexeme| lexeme.kind == LexemeKind::Redacted)
    }

    /// Returns the value of each side, if each side is a single value.
    fn values(&self) -> Option<(&Lexeme, &Lexeme)> {
        let value = |side: &'_ [Lexeme]| match side {
            [value] if value.kind.is_value() => true,
            [value, unit] => value.kind == LexemeKind::Number && dimension(unit).is_some(),
            _ => false,
        };
        (value(self.here) && value(self.there)).then(|| (&self.here[0], &self.there[0]))
    }

    /// Returns true if the sides are different days or different times.
    fn is_when(&self) -> bool {
        self.values().is_some_and(|(here, there)| {
            let time = here.kind == LexemeKind::Time && there.kind == LexemeKind::Time;
            time || (here.kind.is_day() && there.kind.is_day() && are_other_days(here, there))
        })
    }

    /// Returns true if the difference is in the value that the verb assigns.
    fn is_slot(&self, verb: &ClaimVerb, subject: &[Lexeme]) -> bool {
        if matches!(verb, ClaimVerb::Did(_)) || self.here.is_empty() || self.there.is_empty() {
            return false;
        }
        let described = *verb == ClaimVerb::Divider || !subject.is_empty();
        if let Some((here, there)) = self.values() {
            return self.is_value(verb, subject, here, there);
        }
        if !described {
            return false;
        }
        self.is_set() || self.is_code(verb) || self.is_name(verb) || self.is_open(verb, subject)
    }

    /// Returns true if the difference has the form of a value and is in the position of a value.
    fn is_value(&self, verb: &ClaimVerb, subject: &[Lexeme], here: &Lexeme, there: &Lexeme) -> bool {
        let last = self.before.last();
        let before = || self.before.iter().filter(|lexeme| lexeme.kind.is_value());
        if verb == &ClaimVerb::Unknown && (self.before.len() < 2 || self.before.iter().any(is_past)) {
            return false;
        }
        // "Take the pill at 8" and "Take the pill at 20" are two things to do.
        if subject.is_empty() && !matches!(verb, ClaimVerb::Unknown | ClaimVerb::Divider) {
            return false;
        }
        match (here.kind, there.kind) {
            (LexemeKind::Number, LexemeKind::Number) => {
                let labelled = last.is_some_and(|last| listed(words::LABELS, &last.lower));
                let measured = |side: &[Lexeme]| side.get(1).and_then(dimension);
                let led = last.is_some_and(|last| last.is("to at of for in on is after within than every"));
                let counts =
                    self.here.len() > 1 || self.after.first().is_some_and(|next| dimension(next).is_some());
                let placed = *verb != ClaimVerb::Unknown || led || counts || !self.after.is_empty();
                !labelled
                    && placed
                    && measured(self.here) == measured(self.there)
                    && before().next().is_none()
            }
            (LexemeKind::Time, LexemeKind::Time) => before().all(|value| value.kind.is_day()),
            (one, other) if one.is_day() && other.is_day() => {
                are_other_days(here, there) && self.is_day_slot(verb, before().next().is_some())
            }
            _ => false,
        }
    }

    /// Returns true if a day is the value itself, and not the time at which the statement is true.
    fn is_day_slot(&self, verb: &ClaimVerb, after_value: bool) -> bool {
        let content = self.before.iter().filter(|lexeme| lexeme.kind == LexemeKind::Word);
        let content: Vec<&Lexeme> =
            content.filter(|word| !word.is("until from since before after by on at in")).collect();
        match verb {
            ClaimVerb::Divider => content.is_empty(),
            ClaimVerb::Be | ClaimVerb::Was => match content[..] {
                [] => self.before.iter().all(|lexeme| lexeme.kind != LexemeKind::Number),
                [word] => !after_value && word.lower.ends_with("ed") && !word.is(words::STATES),
                _ => false,
            },
            ClaimVerb::Does(_) => !after_value && content.is_empty() && verb.is(words::POINTS),
            ClaimVerb::Unknown => !after_value && self.after.is_empty() && content.len() > 1,
            ClaimVerb::Did(_) => false,
        }
    }

    /// Returns true if the words of both sides belong to one set of words that exclude each other.
    fn is_set(&self) -> bool {
        let ([here], [there]) = (self.here, self.there) else { return false };
        let both = |set: &&'static str| listed(set, &here.lower) && listed(set, &there.lower);
        let adjunct = listed(words::SEASONS, &here.lower)
            && self.before.iter().any(|lexeme| lexeme.kind == LexemeKind::Word && !lexeme.is("in on at"));
        let attribute = here.indefinite || there.indefinite;
        words::SETS.iter().any(both) && !adjunct && !attribute && !self.follows_value()
    }

    fn follows_value(&self) -> bool {
        self.before.iter().any(|lexeme| lexeme.kind.is_value())
    }

    /// Returns true if both sides are identifiers in the position of a value.
    fn is_code(&self, verb: &ClaimVerb) -> bool {
        let code = |side: &[Lexeme]| matches!(side, [one] if one.kind == LexemeKind::Code);
        let led = self.before.len() < 3
            && !self.before.last().is_some_and(|last| listed(words::LABELS, &last.lower));
        let single = verb.is_be() || *verb == ClaimVerb::Divider || verb.is(words::SINGLE);
        self.both(code) && led && single && !self.follows_value()
    }

    /// Returns true if both sides are names of people, places or things, and only one of the names can be correct.
    fn is_name(&self, verb: &ClaimVerb) -> bool {
        let name = |side: &[Lexeme]| {
            side.len() <= OPEN
                && side.iter().all(|one| one.kind == LexemeKind::Word && one.capital && !one.indefinite)
        };
        if !self.both(name) || self.follows_value() {
            return false;
        }
        let links = "in at by with for from near to on as called named";
        let (linked, words): (Vec<&Lexeme>, Vec<&Lexeme>) =
            self.before.iter().partition(|word| word.is(links));
        match verb {
            ClaimVerb::Divider => words.is_empty(),
            ClaimVerb::Be => {
                words.len() < 2
                    && words.iter().all(|word| word.lower.ends_with("ed"))
                    && self.after.is_empty()
            }
            ClaimVerb::Does(_) if verb.is(words::SINGLE) => {
                !linked.is_empty() && words.is_empty() && self.after.is_empty()
            }
            ClaimVerb::Does(stem) if stem == "use" => {
                self.before.is_empty() && self.after.first().is_some_and(|next| next.is("for as"))
            }
            ClaimVerb::Does(stem) if stem == "prefer" => self.before.is_empty(),
            _ => false,
        }
    }

    /// Returns true if the difference is the complete predicate of a subject that has one value at a time.
    fn is_open(&self, verb: &ClaimVerb, subject: &[Lexeme]) -> bool {
        let short =
            |side: &[Lexeme]| side.len() <= OPEN && side.iter().all(|one| one.kind != LexemeKind::Label);
        // The word after the value is the same, as in "Prefers aisle seats" and "Prefers window seats".
        let more = if verb.is("prefer") { 1 } else { 0 };
        if !self.both(short) || !self.before.is_empty() || self.after.len() > more {
            return false;
        }
        let role = || subject.iter().any(|word| listed(words::ROLES, &word.lower));
        match verb {
            ClaimVerb::Be => role(),
            ClaimVerb::Divider => {
                let last = subject.last();
                let counted =
                    last.is_some_and(|last| last.kind != LexemeKind::Word && last.kind != LexemeKind::Code);
                let remark = subject.iter().any(|word| listed(words::REMARKS, &word.lower));
                !counted && !remark && (role() || self.both(|side| side.len() == 1))
            }
            ClaimVerb::Does(stem) => stem == "prefer",
            _ => false,
        }
    }
}

/// Returns true if a word is an irregular past form.
fn is_past(lexeme: &Lexeme) -> bool {
    lexeme.is(words::IRREGULAR)
}

/// Returns the dimension of a unit.
fn dimension(lexeme: &Lexeme) -> Option<usize> {
    words::UNITS.iter().position(|units| lexeme.kind == LexemeKind::Word && listed(units, &lexeme.form))
}

/// Returns true if two days cannot be the same. One day may be less precise than the other day.
fn are_other_days(here: &Lexeme, there: &Lexeme) -> bool {
    if here.kind != LexemeKind::Date || there.kind != LexemeKind::Date {
        return here.form != there.form;
    }
    here.form
        .split('-')
        .zip(there.form.split('-'))
        .any(|(one, other)| one != "?" && other != "?" && one != other)
}
