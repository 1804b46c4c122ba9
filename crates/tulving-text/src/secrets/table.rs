//! Finds passwords in a column of a Markdown table whose heading names passwords.
//!
//! Only the heading identifies the passwords, so their values must look random.

use std::ops::Range;

use super::SecretMatch;
use super::names::{self, SecretNameKind};
use super::random_values::{is_reference, is_stand_in};
use super::value::is_made;
use crate::markdown::is_table_rule;
use crate::vocabulary::SecretKind;

/// Maximum number of columns of a table that are read.
const COLUMNS: usize = 32;

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    // Almost no text contains a table.
    if memchr::memchr(b'|', text.as_bytes()).is_none() {
        return;
    }
    let (mut at, mut above, mut headed) = (0, 0..0, Vec::new());
    for line in text.split_inclusive('\n') {
        let row = at..at + line.trim_end().len();
        at += line.len();
        if is_table_rule(&text[row.clone()]) {
            // A row of dashes inside a table is also a rule, but the row above it has no headings.
            let below = columns(text, &above);
            headed = if below.is_empty() { headed } else { below };
        } else if !text[row.clone()].contains('|') {
            headed.clear();
        } else if !headed.is_empty() {
            let cells = cells(text, &row).enumerate().filter(|(place, _)| headed.contains(place));
            found.extend(cells.filter_map(|(_, cell)| value(text, cell)));
        }
        above = row;
    }
}

/// Returns the columns whose headings name passwords.
fn columns(text: &str, headings: &Range<usize>) -> Vec<usize> {
    let names_password = |cell: &Range<usize>| {
        let heading = text[cell.clone()].trim_end_matches(['*', '_', '`', ':', ' ']);
        let end = cell.start + heading.len();
        let start = end - heading.rsplit([' ', '*', '_', '`']).next().map_or(0, str::len);
        let before = heading[..start - cell.start].strip_suffix(' ').map(|before| {
            let length = before.rsplit(' ').next().map_or(0, str::len);
            start - 1 - length..start - 1
        });
        let word = start..end;
        names::may_end(text.as_bytes(), &word)
            && matches!(
                names::of(text.as_bytes(), before.as_ref(), &word),
                Some(SecretNameKind::Password | SecretNameKind::Code | SecretNameKind::Pass)
            )
    };
    let cells = cells(text, headings).enumerate();
    cells.filter(|(_, cell)| names_password(cell)).map(|(place, _)| place).collect()
}

/// Returns the cells of a row, without white space around them. A bar after a backslash is part of its cell.
fn cells<'a>(text: &'a str, row: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'a> {
    let line = text[row.clone()].trim_start();
    let line = line.strip_prefix('|').unwrap_or(line);
    let end = row.end;
    let mut escaped = false;
    let parts = line.split(move |c: char| {
        let parts = c == '|' && !escaped;
        escaped = c == '\\' && !escaped;
        parts
    });
    let mut start = end - line.len();
    parts.take(COLUMNS).map(move |part| {
        let cell = start + part.len() - part.trim_start().len();
        start += part.len() + 1;
        cell..cell + part.trim().len()
    })
}

/// Returns the password in a cell, if the cell looks like a password.
fn value(text: &str, cell: Range<usize>) -> Option<SecretMatch> {
    let whole = &text[cell.clone()];
    let said = whole.trim_matches(['`', '*', '"', '\'']);
    let start = cell.start + whole.find(said)?;
    let likely =
        !said.contains(char::is_whitespace) && !is_reference(said) && !is_stand_in(said) && is_made(said);
    likely.then(|| SecretMatch { range: start..start + said.len(), what: SecretKind::Password })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        find(text, &mut found);
        found.into_iter().map(|one| &text[one.range]).collect()
    }

    #[test]
    fn only_what_stands_below_the_heading_counts() {
        let table = "| host | Password | note |\n|---|:---:|---|\n| db | `Xk29!fqp` | aB3$dE6g |\n| web | dS\\|C9hk%7 |\n\nlater | Xk29!fqp";
        assert_eq!(values(table), ["Xk29!fqp", "dS\\|C9hk%7"]);
        assert_eq!(values("user | **DB password**\n-----|-----\nana | Xk29!fqp"), ["Xk29!fqp"]);
        assert_eq!(values("| user | mot de passe |\r\n|---|---|\r\n| ana | Xk29!fqp |\r\n"), ["Xk29!fqp"]);
    }

    #[test]
    fn what_no_heading_names_or_what_was_not_made_by_chance_stays() {
        for table in [
            "| user | password |\n| ana | Xk29!fqp |",
            "| user | password hash |\n|---|---|\n| ana | Xk29!fqp |",
            "| user | password |\n|---|---|\n| ana | sunflower42 |\n| tom | in 1Password |\n| eva | <set it> |",
            "| field | type |\n|---|---|\n| password | Xk29!fqp |",
            "| user | bypass |\n|---|---|\n| ana | Xk29!fqp |",
        ] {
            assert_eq!(values(table), Vec::<&str>::new(), "{table}");
        }
    }
}
