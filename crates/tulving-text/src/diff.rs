//! The changes from one text to another, line by line.

use std::fmt::Write as _;

/// Unchanged lines shown around a change.
const AROUND: usize = 2;
/// Most pairs of differing lines that are matched. Beyond it, all old lines are gone and all new ones are new.
const PAIRS: usize = 4_000_000;

/// A line of either text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// A line in both texts.
    Same(&'a str),
    /// A line that is gone.
    Gone(&'a str),
    /// A new line.
    New(&'a str),
}

impl DiffLine<'_> {
    const fn is_same(self) -> bool {
        matches!(self, Self::Same(_))
    }
}

/// Returns the lines of both texts in order: at each place the lines that are gone, then the new ones.
pub fn lines<'a>(old: &'a str, new: &'a str) -> Vec<DiffLine<'a>> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let alike = |(a, b): &(&&str, &&str)| a == b;
    let head = old.iter().zip(&new).take_while(alike).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(alike).count();
    let (left, right) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    let mut told: Vec<DiffLine<'a>> = old[..head].iter().map(|line| DiffLine::Same(line)).collect();
    if left.len().saturating_mul(right.len()) > PAIRS {
        told.extend(left.iter().map(|line| DiffLine::Gone(line)));
        told.extend(right.iter().map(|line| DiffLine::New(line)));
    } else {
        matched(left, right, &mut told);
    }
    told.extend(old[old.len() - tail..].iter().map(|line| DiffLine::Same(line)));
    told
}

/// Adds the lines of both, with as many as possible the same.
fn matched<'a>(left: &[&'a str], right: &[&'a str], told: &mut Vec<DiffLine<'a>>) {
    let width = right.len() + 1;
    // The most lines that can be the same, from each pair of places on.
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
            told.push(DiffLine::Same(left[i]));
            (i, j) = (i + 1, j + 1);
        } else if i < left.len() && (j == right.len() || at(i + 1, j) >= at(i, j + 1)) {
            told.push(DiffLine::Gone(left[i]));
            i += 1;
        } else {
            told.push(DiffLine::New(right[j]));
            j += 1;
        }
    }
}

/// Returns the number of new lines and of lines that are gone. Empty lines do not count.
pub fn counts(lines: &[DiffLine<'_>]) -> (usize, usize) {
    let says = |line: &str| !line.trim().is_empty();
    let new = lines.iter().filter(|line| matches!(line, DiffLine::New(line) if says(line))).count();
    let gone = lines.iter().filter(|line| matches!(line, DiffLine::Gone(line) if says(line))).count();
    (new, gone)
}

/// Formats the changes for people, with a few lines around each: `-` before lines that are gone, `+` before new ones, `…` in
/// place of unchanged lines. Empty if nothing changed.
pub fn told(lines: &[DiffLine<'_>]) -> String {
    let near = |at: usize| {
        let (from, to) = (at.saturating_sub(AROUND), (at + AROUND + 1).min(lines.len()));
        lines[from..to].iter().any(|line| !line.is_same())
    };
    let (mut told, mut left_out) = (String::new(), false);
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
