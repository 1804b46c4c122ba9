//! Normalizes text: converts line breaks, composes letters, and removes characters that only move a cursor.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::preview;

/// Removes white space and byte order marks at both ends of the text.
pub fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Converts all line breaks to `\n`.
pub fn unified(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(text),
    }
}

/// Normalizes a line that rules derived from other text to the same form as a line from a caller: letters are composed,
/// and words are separated by one space. The function rejects no text: it drops control characters, and cuts text
/// beyond the limit. Returns `None` if nothing is left.
pub fn made_line(text: &str, limit: usize) -> Option<String> {
    Some(preview::cut(&nfc(text), limit)).filter(|line| !line.is_empty())
}

/// Normalizes a stored line again after parts of the line were replaced. Text beyond the limit is cut. `None` if
/// nothing is left.
pub fn left_of_line(left: &str, limit: usize) -> Option<String> {
    let left = composed(left.trim());
    if left.chars().nth(limit).is_some() {
        return made_line(&left, limit);
    }
    Some(left).filter(|left| !left.is_empty())
}

/// Composes the letters of a text (NFC), so that texts that look equal are equal.
pub fn composed(text: &str) -> String {
    nfc(text).into_owned()
}

/// Composes the letters of a text (NFC). Borrows the text if its letters are composed already.
pub fn nfc(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// Removes characters that only move a cursor or a printer. Vertical tabs and form feeds become line breaks. Overstruck
/// characters, escape sequences and other control characters are dropped. `None` if the text contains no such
/// characters.
pub fn legible(text: &str) -> Option<String> {
    let allowed = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r');
    if text.chars().all(allowed) {
        return None;
    }
    let mut legible = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            '\u{b}' | '\u{c}' => legible.push('\n'),
            '\u{8}' if !legible.ends_with('\n') => drop(legible.pop()),
            '\u{1b}' => escape(&mut rest),
            c if allowed(c) => legible.push(c),
            _ => {}
        }
    }
    Some(legible)
}

/// Skips the rest of an escape sequence, as defined by ECMA-48.
fn escape(rest: &mut std::str::Chars<'_>) {
    match rest.clone().next() {
        Some('[') => {
            rest.next();
            let length = rest.as_str().find(|c| !matches!(c, ' '..='?')).unwrap_or(rest.as_str().len());
            *rest = rest.as_str()[length..].chars();
            if rest.clone().next().is_some_and(|c| matches!(c, '@'..='~')) {
                rest.next();
            }
        }
        // A string for the terminal, such as a window title, ends with a bell or a terminator on the same line.
        Some(']' | 'P' | '_' | '^' | 'X') => {
            let end = rest.as_str().find(['\u{7}', '\u{1b}', '\n']).unwrap_or(rest.as_str().len());
            *rest = rest.as_str()[end..].chars();
        }
        Some('@'..='_') => drop(rest.next()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_moves_a_printer_is_left_out() {
        for (text, legible_as) in [
            ("a page\u{c}\nthe next", Some("a page\n\nthe next")),
            ("\u{1b}[1;31mred\u{1b}[0m error", Some("red error")),
            ("N\u{8}NA\u{8}AM\u{8}ME\u{8}E, _\u{8}x", Some("NAME, x")),
            ("\u{1b}]0;a title\u{7}text\u{1b}(B", Some("text(B")),
            ("a line\n\u{8}\u{0}b\u{7f}\u{85}", Some("a line\nb")),
            ("\u{1b}[", Some("")),
            ("\u{1b}", Some("")),
            ("plain\ttext\r\n", None),
        ] {
            assert_eq!(legible(text).as_deref(), legible_as, "{text:?}");
        }
    }
}
