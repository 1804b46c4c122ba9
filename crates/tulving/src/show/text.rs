//! Texts made fit for a terminal: no control characters, one line where one is wanted, cut by display width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

const ELLIPSIS: &str = "…";
const JOINER: char = '\u{200d}';

/// The text on one line: white space becomes one space, control characters go, so does what turns the direction of
/// the line around.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !turns_direction(c) {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// The text with its line breaks and tabs; other control characters are shown as `�`.
pub(crate) fn block(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }).collect()
}

/// How many columns the text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// The text cut to so many columns, with `…` where it was cut. Never cut between a letter and its accents, nor inside
/// an emoji that is joined of several.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    // A text of so many bytes fits whatever is in it.
    if text.len() <= columns || text.chars().take(columns + 1).count() <= columns && text.width() <= columns {
        return text.to_owned();
    }
    let mut end = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let splits = c.width() == Some(0) || c == JOINER || before == Some(JOINER);
        if !splits {
            if text[..at].width() + 1 > columns {
                break;
            }
            end = at;
        }
        before = Some(c);
    }
    if text.width() <= columns {
        return text.to_owned();
    }
    format!("{}{ELLIPSIS}", text[..end].trim_end())
}

/// The text followed by spaces up to so many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// A count with a comma between thousands.
pub(crate) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 memory`, `2 memories`: a count with its word.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// `2 new, 1 updated`: each count that is not nought with its word.
pub(crate) fn counts(counts: &[(u64, &str)]) -> String {
    let told = counts.iter().filter(|(count, _)| *count > 0);
    told.map(|(count, word)| format!("{} {word}", thousands(*count))).collect::<Vec<_>>().join(", ")
}

/// The text cut to so many characters, with `…` where it was cut. Much faster than [`cut`] on long texts.
pub(crate) fn cap(text: &str, characters: usize) -> String {
    if text.chars().nth(characters).is_none() {
        return text.to_owned();
    }
    let room = characters.saturating_sub(1);
    let joined = |(_, c): &(usize, char)| c.width() == Some(0);
    // Back to where a letter begins, so that none loses its accents.
    let mut ends: Vec<(usize, char)> = text.char_indices().take(room + 1).collect();
    while ends.len() > 1 && ends.last().is_some_and(joined) {
        ends.pop();
    }
    let end = ends.last().map_or(0, |(at, _)| *at);
    format!("{}{ELLIPSIS}", text[..end].trim_end())
}

/// Embeddings, overrides and isolates, which could make a line read otherwise than it is.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_no_breaks_and_no_escapes() {
        assert_eq!(one_line("  a\n\n b\t\u{1b}[31mc\u{0} "), "a b [31mc");
        assert_eq!(one_line("safe\u{202e}txt"), "safetxt");
        assert_eq!(block("a\nb\u{1b}c"), "a\nb\u{fffd}c");
    }

    #[test]
    fn what_fits_stays() {
        assert_eq!(cut("hello", 5), "hello");
        assert_eq!(cut("", 0), "");
        assert_eq!(cut("日本語", 6), "日本語");
    }

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!(cut("日本語のメモ", 7), "日本語…");
        assert_eq!(cut("日本語のメモ", 6), "日本…");
        assert_eq!(cut("hello world", 6), "hello…");
    }

    #[test]
    fn letters_keep_their_accents_and_emoji_their_parts() {
        assert_eq!(cut("cafe\u{301}s are open", 5), "cafe\u{301}…");
        let family = "👩‍👩‍👧‍👦";
        assert_eq!(cut(&format!("{family} family"), 4), format!("{family}…"));
        assert_eq!(cut(&format!("ab{family}"), 3), "ab…");
    }

    #[test]
    fn nothing_is_wider_than_asked() {
        let texts = [
            "plain ascii text that is long",
            "日本語のメモがここに",
            "e\u{301}e\u{301}e\u{301}e\u{301}",
            "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦",
        ];
        for text in texts {
            for columns in 1..20 {
                let shown = cut(text, columns);
                assert!(width(&shown) <= columns, "{shown:?} in {columns}");
            }
        }
    }

    #[test]
    fn caps_count_characters() {
        assert_eq!(cap("hello", 5), "hello");
        assert_eq!(cap("hello world", 6), "hello…");
        assert_eq!(cap("日本語のメモ", 4), "日本語…");
        assert_eq!(cap("cafe\u{301}s", 5), "caf…");
        assert_eq!(cap(&"x".repeat(5_000), 2_000).chars().count(), 2_000);
    }

    #[test]
    fn only_what_there_is_is_counted() {
        assert_eq!(counts(&[(2, "new"), (0, "moved"), (1_000, "known")]), "2 new, 1,000 known");
        assert_eq!(counts(&[(0, "new")]), "");
    }

    #[test]
    fn thousands_are_parted() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
