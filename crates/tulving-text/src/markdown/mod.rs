//! Reads Markdown: the lines that begin a heading, a list item or a table, fenced code, and the markup within a text.
//!
//! Every rule looks at one line, and a line that fits no rule is text. So notes, conversations and broken Markdown are
//! read with the same rules, and nothing in them can hide the rest of a text.

pub mod fence;
pub(crate) mod inline;

/// Maximum level of a heading.
pub(crate) const LEVELS: usize = 6;

/// Returns the level and the text of a heading: `## Deploy`.
pub fn heading(line: &str) -> Option<(usize, &str)> {
    heading_with(line, '#')
}

/// Returns the level and the text of a heading with this ASCII mark. AsciiDoc and Org have marks of their own.
pub(crate) fn heading_with(line: &str, mark: char) -> Option<(usize, &str)> {
    let indented = line.trim_start_matches(' ');
    let rest = indented.trim_start_matches(mark);
    let level = indented.len() - rest.len();
    let fits = line.len() - indented.len() <= 3
        && (1..=LEVELS).contains(&level)
        && (rest.is_empty() || rest.starts_with(char::is_whitespace));
    fits.then(|| (level, closed(rest.trim(), mark)))
}

/// Returns a heading without its closing marks. "Notes on C#" keeps its last character.
fn closed(heading: &str, mark: char) -> &str {
    let bare = heading.trim_end_matches(mark);
    if bare.is_empty() || bare.ends_with(char::is_whitespace) { bare.trim_end() } else { heading }
}

/// Returns the level of the heading above a line that underlines a heading.
pub(crate) fn underline(line: &str) -> Option<usize> {
    let line = line.trim();
    let is_row = |mark: &char| line.len() >= 2 && line.chars().all(|c| c == *mark);
    ['=', '-'].iter().position(is_row).map(|at| at + 1)
}

/// Returns the length in bytes of the mark of a list item, with one blank after it: `- `, `12. `.
pub fn list_mark(line: &str) -> Option<usize> {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let width = match line.as_bytes().get(digits) {
        Some(b'.' | b')') if (1..=9).contains(&digits) => digits + 1,
        Some(b'-' | b'*' | b'+') if digits == 0 => 1,
        _ => return None,
    };
    line[width..].starts_with([' ', '\t']).then_some(width + 1)
}

/// Returns true if a line is the rule below the headings of a table: `|---|:---:|`.
pub(crate) fn is_table_rule(line: &str) -> bool {
    line.contains('|') && line.contains('-') && line.bytes().all(|byte| b"|-: \t".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_has_one_to_six_marks_and_a_blank() {
        assert_eq!(heading("   ## Notes on C# ##\r\n"), Some((2, "Notes on C#")));
        assert_eq!((heading("#"), heading("# Notes on C#")), (Some((1, "")), Some((1, "Notes on C#"))));
        for line in ["#tag", "####### seven", "    # code", "\t# code", "a # b", ""] {
            assert_eq!(heading(line), None, "{line}");
        }
        assert_eq!(heading_with("== Part ==", '='), Some((2, "Part")));
    }

    #[test]
    fn an_underline_is_a_row_of_one_mark() {
        assert_eq!([underline(" ===\n"), underline("--")], [Some(1), Some(2)]);
        assert_eq!([underline("="), underline("=-="), underline("")], [None; 3]);
    }

    #[test]
    fn a_list_mark_ends_with_a_blank() {
        assert_eq!([list_mark("- a"), list_mark("12)\ta"), list_mark("+ ")], [Some(2), Some(4), Some(2)]);
        assert_eq!([list_mark("-a"), list_mark("2026 was"), list_mark("1.5 a"), list_mark("-")], [None; 4]);
    }
}
