//! Computes the changes from one text to another, line by line.

use std::fmt::Write as _;

use similar::{Algorithm, Change, ChangeTag, DiffOp, capture_diff_slices};

/// Number of unchanged lines that are shown around a change.
const AROUND: usize = 2;
/// Maximum number of lines that are compared between the common beginning and the common end of two texts. Comparing
/// this many lines takes at most half a second. Above the limit, all old lines are removed and all new lines are added.
const COMPARED: usize = 100_000;

/// A line of the old or the new text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// A line in both texts.
    Same(&'a str),
    /// A line that was removed.
    Gone(&'a str),
    /// A line that was added.
    New(&'a str),
}

impl DiffLine<'_> {
    const fn is_same(self) -> bool {
        matches!(self, Self::Same(_))
    }
}

/// Returns the lines of both texts in order. At each change, the removed lines come before the added lines.
pub fn lines<'a>(old: &'a str, new: &'a str) -> Vec<DiffLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let alike = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(alike).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(alike).count();
    let (left, right) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let changes = match left.len() + right.len() {
        0..=COMPARED => capture_diff_slices(Algorithm::Myers, left, right),
        _ => vec![DiffOp::Replace { old_index: 0, old_len: left.len(), new_index: 0, new_len: right.len() }],
    };
    let line = |change: Change<&'a str>| match change.tag() {
        ChangeTag::Equal => DiffLine::Same(change.value()),
        ChangeTag::Delete => DiffLine::Gone(change.value()),
        ChangeTag::Insert => DiffLine::New(change.value()),
    };
    let same = |lines: &[&'a str]| lines.iter().map(|line| DiffLine::Same(line)).collect();
    let mut described: Vec<DiffLine<'a>> = same(&old[..head]);
    described.extend(changes.iter().flat_map(|op| op.iter_changes(left, right)).map(line));
    described.append(&mut same(&old[old.len() - tail..]));
    described
}

/// Returns the number of added lines and the number of removed lines. Empty lines do not count.
pub fn counts(lines: &[DiffLine<'_>]) -> (usize, usize) {
    let says = |line: &str| !line.trim().is_empty();
    let new = lines.iter().filter(|line| matches!(line, DiffLine::New(line) if says(line))).count();
    let gone = lines.iter().filter(|line| matches!(line, DiffLine::Gone(line) if says(line))).count();
    (new, gone)
}

/// Formats the changes for people, with a few lines around each change: `-` before removed lines, `+` before added
/// lines, `…` instead of unchanged lines. Empty if nothing changed.
pub fn described(lines: &[DiffLine<'_>]) -> String {
    let near = |at: usize| {
        let (from, to) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(lines.len()));
        lines[from..to].iter().any(|line| !line.is_same())
    };
    let (mut described, mut left_out) = (String::new(), false);
    for (at, line) in lines.iter().enumerate() {
        let (mark, text) = match line {
            DiffLine::Same(_) if !near(at) => {
                left_out = true;
                continue;
            }
            DiffLine::Same(text) => (' ', text),
            DiffLine::Gone(text) => ('-', text),
            DiffLine::New(text) => ('+', text),
        };
        if std::mem::take(&mut left_out) {
            described.push_str("…\n");
        }
        let _ = writeln!(described, "{}", format!("{mark} {text}").trim_end());
    }
    described
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn changes_are_told_with_what_is_around_them() {
        let old = "a\nb\nc\nd\ne\nf\ng\n";
        let new = "a\nb\nc\nD\ne\nf\ng\nh\n";
        let lines = lines(old, new);
        assert_eq!(counts(&lines), (2, 1));
        assert_eq!(described(&lines), "…\n  b\n  c\n- d\n+ D\n  e\n  f\n  g\n+ h\n");
    }

    #[test]
    fn the_same_text_has_no_changes() {
        assert_eq!(described(&lines("a\nb\n", "a\nb\n")), "");
        assert_eq!(described(&lines("", "a\n")), "+ a\n");
    }

    #[test]
    fn a_long_text_that_changes_at_both_ends_is_not_all_new() {
        let middle: String = (0..3_000).map(|n| format!("{n}\n")).collect();
        let (old, new) = (format!("a\n{middle}b\n"), format!("A\n{middle}B\n"));
        assert_eq!(counts(&lines(&old, &new)), (2, 2));
    }

    #[test]
    fn texts_too_long_to_compare_are_gone_and_new() {
        let long = "a\n".repeat(COMPARED);
        let (old, new) = (format!("b\n{long}c\nd\n"), format!("e\n{long}f\nd\n"));
        assert_eq!(counts(&lines(&old, &new)), (COMPARED + 2, COMPARED + 2));
        assert_eq!(counts(&lines(&old, &old)), (0, 0));
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_from_it(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}") {
            let lines = lines(&old, &new);
            let of = |keep: fn(&DiffLine<'_>) -> bool| -> Vec<&str> {
                lines.iter().filter(|line| keep(line)).map(|line| match line {
                    DiffLine::Same(text) | DiffLine::Gone(text) | DiffLine::New(text) => *text,
                }).collect()
            };
            prop_assert_eq!(of(|line| !matches!(line, DiffLine::New(_))), old.lines().collect::<Vec<_>>());
            prop_assert_eq!(of(|line| !matches!(line, DiffLine::Gone(_))), new.lines().collect::<Vec<_>>());
        }
    }
}
