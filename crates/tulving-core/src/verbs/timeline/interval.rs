//! Computes the intervals in which each statement of a memory was valid, and the reason for the end of each interval.
//!
//! This module has no side effects. Its input is the versions with their times, and the successors of the memory.

use crate::model::answer::{NumberedMemory, StatementEnd};
use crate::model::id::Version;
use crate::model::memory::{ContentHash, MemoryTimes};
use crate::model::time::Timestamp;

/// A version of a memory.
#[derive(Clone, Debug)]
pub(super) struct StatementVersion {
    pub(super) version: Version,
    /// Time at which it was written.
    pub(super) at: Timestamp,
    /// The stated times of the version.
    pub(super) span: MemoryTimes,
    pub(super) hash: ContentHash,
    pub(super) content: String,
    /// True if the content is left out because other contents fill the answer.
    pub(super) left_out: bool,
}

/// The statement of a memory, over consecutive versions with the same content.
#[derive(Clone, Debug)]
pub(super) struct Statement {
    /// The first version of the statement.
    pub(super) wording: StatementVersion,
    from: Timestamp,
    /// Time at which the statement ended without a successor, and the reason.
    end: Option<(Timestamp, StatementEnd)>,
}

/// A memory that supersedes another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Successor {
    pub(super) named: NumberedMemory,
    /// Start of the successor's validity.
    pub(super) from: Timestamp,
    /// Time of expiry. The superseded memory is valid again from then on.
    pub(super) until: Option<Timestamp>,
}

/// An interval in which a statement was valid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ValidityInterval {
    pub(super) from: Timestamp,
    pub(super) end: Option<(Timestamp, StatementEnd)>,
}

impl ValidityInterval {
    fn is_empty(&self) -> bool {
        self.end.is_some_and(|(until, _)| until <= self.from)
    }
}

/// Returns the statements of these versions, oldest first. Consecutive versions with the same content are one
/// statement.
pub(super) fn statements(wordings: Vec<StatementVersion>, created_at: Timestamp) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    for wording in wordings {
        let span = wording.span;
        match statements.last_mut() {
            Some(last) if last.wording.hash == wording.hash => last.wording.span = span,
            last => {
                if let Some(last) = last {
                    last.end = Some((wording.at, StatementEnd::Edited { version: wording.version }));
                }
                statements.push(Statement { from: wording.at, wording, end: None });
            }
        }
        if let Some(last) = statements.last_mut() {
            last.from = began(&last.wording, created_at);
        }
    }
    for statement in &mut statements {
        let span = statement.wording.span;
        let ends = [
            statement.end,
            span.valid_until.map(|at| (at, StatementEnd::NoLongerValid)),
            span.expires_at.map(|at| (at, StatementEnd::Expired)),
        ];
        statement.end = ends.into_iter().flatten().min_by_key(|(at, _)| *at);
    }
    statements
}

/// Returns the start of a statement: the stated time or, if missing, the time of the event or, if missing, the time of
/// the save. The statement of a later version never starts before that version was written.
fn began(wording: &StatementVersion, created_at: Timestamp) -> Timestamp {
    let span = &wording.span;
    let began = span.valid_from.or(span.occurred_at).unwrap_or(created_at);
    if wording.version == Version::FIRST { began } else { began.max(wording.at) }
}

impl Statement {
    /// Returns the intervals in which the statement was valid and none of its successors was valid. If there is no such
    /// interval, returns one empty interval.
    pub(super) fn intervals(&self, successors: &[Successor]) -> Vec<ValidityInterval> {
        let mut all = Vec::new();
        let own = self.end.map(|(at, why)| (at.max(self.from), why));
        let mut from = self.from;
        let mut open = true;
        for successor in successors {
            if own.is_some_and(|(end, _)| end < successor.from.max(from)) {
                break;
            }
            if successor.until.is_some_and(|until| until <= from.max(successor.from)) {
                continue;
            }
            let at = successor.from.max(from);
            all.push(ValidityInterval {
                from,
                end: Some((at, StatementEnd::Superseded { by: successor.named })),
            });
            match successor.until.filter(|until| own.is_none_or(|(end, _)| *until < end)) {
                Some(until) => from = until,
                None => {
                    open = false;
                    break;
                }
            }
        }
        if open {
            all.push(ValidityInterval { from, end: own });
        }
        let first = all[0];
        all.retain(|interval| !interval.is_empty());
        if all.is_empty() {
            all.push(first);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::id::{MemoryId, MemoryNumber};

    fn second(n: i64) -> Timestamp {
        Timestamp::from_micros(n * 1_000_000)
    }

    fn wording(version: u32, at: i64, content: u8, span: MemoryTimes) -> StatementVersion {
        StatementVersion {
            version: Version(version),
            at: second(at),
            span,
            hash: ContentHash([content; 32]),
            content: content.to_string(),
            left_out: false,
        }
    }

    fn successor(number: u64, from: i64, until: Option<i64>) -> Successor {
        let named = NumberedMemory { id: MemoryId::from_bytes([1; 16]), number: Some(MemoryNumber(number)) };
        Successor { named, from: second(from), until: until.map(second) }
    }

    /// Returns start, end and reason in short form.
    fn described(statement: &Statement, successors: &[Successor]) -> Vec<(i64, Option<i64>, String)> {
        let short = |time: Timestamp| time.as_micros() / 1_000_000;
        let tell = |interval: ValidityInterval| {
            let why = interval.end.map_or_else(String::new, |(_, why)| why.to_string());
            (short(interval.from), interval.end.map(|(at, _)| short(at)), why)
        };
        statement.intervals(successors).into_iter().map(tell).collect()
    }

    fn one(span: MemoryTimes) -> Statement {
        statements(vec![wording(1, 10, 1, span)], second(10)).pop().expect("one version says one thing")
    }

    fn row(from: i64, until: i64, why: &str) -> (i64, Option<i64>, String) {
        (from, Some(until), why.to_owned())
    }

    fn still(from: i64) -> (i64, Option<i64>, String) {
        (from, None, String::new())
    }

    #[test]
    fn it_holds_from_when_it_was_said_to_until_something_ends_it() {
        assert_eq!(described(&one(MemoryTimes::default()), &[]), [still(10)]);
        let from = MemoryTimes {
            valid_from: Some(second(5)),
            occurred_at: Some(second(7)),
            ..MemoryTimes::default()
        };
        assert_eq!(described(&one(from), &[]), [still(5)]);
        let until = MemoryTimes {
            valid_until: Some(second(20)),
            expires_at: Some(second(30)),
            ..MemoryTimes::default()
        };
        assert_eq!(described(&one(until), &[]), [row(10, 20, "no longer valid")]);
        assert_eq!(described(&one(until), &[successor(3, 25, None)]), [row(10, 20, "no longer valid")]);
        assert_eq!(described(&one(until), &[successor(3, 15, None)]), [row(10, 15, "superseded by #3")]);
        let gone = MemoryTimes { expires_at: Some(second(30)), ..MemoryTimes::default() };
        assert_eq!(described(&one(gone), &[successor(3, 30, None)]), [row(10, 30, "superseded by #3")]);
    }

    #[test]
    fn a_successor_of_before_leaves_no_time() {
        assert_eq!(
            described(&one(MemoryTimes::default()), &[successor(3, 1, None)]),
            [row(10, 10, "superseded by #3")]
        );
        let over = MemoryTimes { valid_until: Some(second(2)), ..MemoryTimes::default() };
        assert_eq!(described(&one(over), &[]), [row(10, 10, "no longer valid")]);
    }

    #[test]
    fn what_an_expired_successor_replaced_holds_again() {
        let shut = [successor(3, 20, Some(30)), successor(4, 25, Some(28)), successor(5, 40, None)];
        assert_eq!(
            described(&one(MemoryTimes::default()), &shut),
            [row(10, 20, "superseded by #3"), row(30, 40, "superseded by #5")]
        );
        assert_eq!(
            described(&one(MemoryTimes::default()), &shut[..1]),
            [row(10, 20, "superseded by #3"), still(30)]
        );
        assert_eq!(described(&one(MemoryTimes::default()), &[successor(3, 5, Some(8))]), [still(10)]);
    }

    #[test]
    fn only_another_content_is_another_statement() {
        let ended = MemoryTimes { valid_until: Some(second(50)), ..MemoryTimes::default() };
        let said = statements(
            vec![
                wording(1, 10, 1, MemoryTimes::default()),
                wording(2, 20, 1, ended),
                wording(3, 30, 2, ended),
                wording(4, 35, 2, ended),
                wording(5, 60, 1, MemoryTimes { valid_from: Some(second(70)), ..MemoryTimes::default() }),
            ],
            second(10),
        );
        let versions: Vec<u32> = said.iter().map(|statement| statement.wording.version.0).collect();
        assert_eq!(versions, [1, 3, 5]);
        let described: Vec<_> = said.iter().flat_map(|statement| described(statement, &[])).collect();
        assert_eq!(
            described,
            [row(10, 30, "edited to version 3"), row(30, 50, "no longer valid"), still(70)]
        );
    }

    #[test]
    fn a_first_version_that_is_hidden_begins_with_the_next() {
        let early = MemoryTimes { valid_from: Some(second(5)), ..MemoryTimes::default() };
        let said = statements(vec![wording(2, 20, 1, early)], second(10));
        assert_eq!(described(&said[0], &[]), [still(20)]);
    }

    proptest! {
        /// Checks that the intervals of a statement do not overlap, that no interval ends before it begins, and that no
        /// successor is valid in any interval.
        #[test]
        fn stretches_are_apart_and_free_of_successors(
            until in proptest::option::of(0_i64..60),
            expires in proptest::option::of(0_i64..60),
            mut covers in proptest::collection::vec((0_i64..60, proptest::option::of(0_i64..60)), 0..6),
        ) {
            covers.sort();
            let span = MemoryTimes { valid_until: until.map(second), expires_at: expires.map(second), ..MemoryTimes::default() };
            let successors: Vec<Successor> =
                covers.iter().map(|(from, until)| successor(1, *from, *until)).collect();
            let all = one(span).intervals(&successors);
            prop_assert!(!all.is_empty());
            for pair in all.windows(2) {
                prop_assert!(pair[0].end.is_some_and(|(end, _)| end < pair[1].from));
            }
            for interval in &all {
                prop_assert!(interval.end.is_none_or(|(end, _)| end >= interval.from));
            }
            for at in (0..60).map(second) {
                let inside = all.iter().any(|interval| {
                    interval.from <= at && interval.end.is_none_or(|(end, _)| end > at)
                });
                let replaced = successors.iter().any(|other| {
                    other.from <= at && other.until.is_none_or(|until| until > at)
                });
                let own = second(10) <= at
                    && span.valid_until.is_none_or(|end| end > at)
                    && span.expires_at.is_none_or(|end| end > at);
                prop_assert_eq!(inside, own && !replaced, "at {}", at);
            }
        }
    }
}
