//! Aligns columns.

use super::style::{self, FAINT};
use super::text::{self, one_line, pad};

/// Aligns rows under headings, each column as wide as its widest cell; the last column is not padded.
///
/// Each cell becomes one line. Callers add colours to whole lines only, as colours in cells would count as width.
pub(crate) fn table<const N: usize>(headings: [&str; N], rows: &[[String; N]]) -> Vec<String> {
    let rows: Vec<[String; N]> = rows.iter().map(|row| row.each_ref().map(|cell| one_line(cell))).collect();
    let widths: [usize; N] = std::array::from_fn(|column| {
        let cells = rows.iter().map(|row| text::width(&row[column]));
        cells.max().unwrap_or(0).max(text::width(headings[column]))
    });
    let line = |cells: [&str; N]| {
        let padded: Vec<String> = cells.iter().zip(widths).map(|(cell, width)| pad(cell, width)).collect();
        padded.join("  ").trim_end().to_owned()
    };
    let heading = style::paint(FAINT, line(headings));
    let body = rows.iter().map(|row| line(row.each_ref().map(String::as_str)));
    std::iter::once(heading).chain(body).collect()
}

/// Lists names and values, with the values aligned.
pub(crate) fn pairs<N: AsRef<str>>(pairs: &[(N, String)]) -> Vec<String> {
    let widest = pairs.iter().map(|(name, _)| text::width(name.as_ref())).max().unwrap_or(0);
    let line = |(name, value): &(N, String)| {
        format!("  {}  {}", style::paint(FAINT, pad(name.as_ref(), widest)), one_line(value))
    };
    pairs.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [
            ["a".to_owned(), "日本".to_owned(), "x".to_owned()],
            ["long".to_owned(), "b".to_owned(), String::new()],
        ];
        let lines = table(["one", "two", "three"], &rows);
        let plain: Vec<String> =
            lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert_eq!(plain, ["one   two   three", "a     日本  x", "long  b"]);
    }
}
