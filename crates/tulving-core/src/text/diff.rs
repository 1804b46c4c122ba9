//! What changed from one text to another, line by line.

use std::fmt::Write as _;

/// Lines around a change that are told with it.
const AROUND: usize = 2;
/// Beyond so many pairs of lines that differ, they are not matched: all old ones are gone and all new ones are new.
const PAIRS: usize = 4_000_000;

/// A line of either text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// It is in both.
    Same(&'a str),
    /// It is gone.
    Gone(&'a str),
    /// It is new.
    New(&'a str),
}

impl Line<'_> {
    const fn is_same(self) -> bool {
        matches!(self, Self::Same(_))
    }
}

/// The lines of both texts in order: in each place what is gone first, then what is new.
pub(crate) fn lines<'a>(old: &'a str, new: &'a str) -> Vec<Line<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let alike = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(alike).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(alike).count();
    let (left, right) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut told: Vec<Line<'a>> = old[..head].iter().map(|line| Line::Same(line)).collect();
    if left.len().saturating_mul(right.len()) > PAIRS {
        told.extend(left.iter().map(|line| Line::Gone(line)));
        told.extend(right.iter().map(|line| Line::New(line)));
    } else {
        matched(left, right, &mut told);
    }
    told.extend(old[old.len() - tail..].iter().map(|line| Line::Same(line)));
    told
}

/// Adds the lines of both, where as many as possible are the same.
fn matched<'a>(left: &[&'a str], right: &[&'a str], told: &mut Vec<Line<'a>>) {
    let width = right.len() + 1;
    // How many lines are the same at the most, from each pair of places on.
    let mut best = vec![0_u32; (left.len() + 1) * width];
    for i in (0..left.len()).rev() {
        for j in (0..right.len()).rev() {
            best[i * width + j] = match left[i] == right[j] {
                true => best[(i + 1) * width + j + 1] + 1,
                false => best[(i + 1) * width + j].max(best[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < left.len() || j < right.len() {
        let at = |i: usize, j: usize| best[i * width + j];
        if i < left.len() && j < right.len() && left[i] == right[j] {
            told.push(Line::Same(left[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < left.len() && (j == right.len() || at(i + 1, j) >= at(i, j + 1)) {
            told.push(Line::Gone(left[i]));
            i += 1;
        } else {
            told.push(Line::New(right[j]));
            j += 1;
        }
    }
}

/// How many lines are new, and how many are gone. Empty ones do not count.
pub(crate) fn counts(lines: &[Line<'_>]) -> (usize, usize) {
    let says = |line: &str| !line.trim().is_empty();
    let new = lines.iter().filter(|line| matches!(line, Line::New(line) if says(line))).count();
    let gone = lines.iter().filter(|line| matches!(line, Line::Gone(line) if says(line))).count();
    (new, gone)
}

/// The changes for people, with a few lines around each: `-` before what is gone, `+` before what is new, `…` where lines that
/// stay are left out. Empty where nothing changed.
pub(crate) fn told(lines: &[Line<'_>]) -> String {
    let near = |at: usize| {
        let (from, to) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(lines.len()));
        lines[from..to].iter().any(|line| !line.is_same())
    };
    let (mut told, mut left_out) = (String::new(), false);
    for (at, line) in lines.iter().enumerate() {
        let (mark, text) = match line {
            Line::Same(_) if !near(at) => {
                left_out = true;
                continue;
            }
            Line::Same(text) => (' ', text),
            Line::Gone(text) => ('-', text),
            Line::New(text) => ('+', text),
        };
        if std::mem::take(&mut left_out) {
            told.push_str("…\n");
        }
        let _ = writeln!(told, "{}", format!("{mark} {text}").trim_end());
    }
    told
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
        assert_eq!(told(&lines), "…\n  b\n  c\n- d\n+ D\n  e\n  f\n  g\n+ h\n");
    }

    #[test]
    fn the_same_text_has_no_changes() {
        assert_eq!(told(&lines("a\nb\n", "a\nb\n")), "");
        assert_eq!(told(&lines("", "a\n")), "+ a\n");
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_from_it(old in "[ab\n]{0,40}", new in "[ab\n]{0,40}") {
            let lines = lines(&old, &new);
            let of = |keep: fn(&Line<'_>) -> bool| -> Vec<&str> {
                lines.iter().filter(|line| keep(line)).map(|line| match line {
                    Line::Same(text) | Line::Gone(text) | Line::New(text) => *text,
                }).collect()
            };
            prop_assert_eq!(of(|line| !matches!(line, Line::New(_))), old.lines().collect::<Vec<_>>());
            prop_assert_eq!(of(|line| !matches!(line, Line::Gone(_))), new.lines().collect::<Vec<_>>());
        }
    }
}
