//! The normal form of stored text, and the hash that identifies duplicates.

use std::borrow::Cow;

use sha2::{Digest, Sha256};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::model::error::{Field, Invalid};
use crate::model::memory::ContentHash;
use crate::model::preview;

/// Normalizes a content for storage: line breaks become `\n`, and white space and byte order marks around it are removed.
/// Nothing else changes.
///
/// Refuses control characters other than tab and line breaks: no terminal and no prompt should receive them.
pub(crate) fn content(text: &str) -> Result<String, Invalid> {
    refuse_control(Field::Content, text, &['\t', '\n', '\r'])?;
    let unified = unified(text);
    let trimmed = trimmed(&unified);
    Ok(if trimmed.len() == unified.len() { unified.into_owned() } else { trimmed.to_owned() })
}

/// Removes white space and byte order marks around a content.
pub(crate) fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Converts all line breaks to `\n`.
pub(crate) fn unified(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(text),
    }
}

/// Normalizes a text of one line for storage: no white space around it, letters composed (NFC). Refuses control characters
/// and more than `limit` characters. The stored form counts, because composing may also make a text longer.
pub fn line(field: Field, text: &str, limit: usize) -> Result<String, Invalid> {
    path(field, &nfc(text), limit)
}

/// Normalizes a line that rules derived from other text, to the form of a given line: letters composed, one space between
/// words. Refuses nothing: control characters are dropped, and text beyond the limit is cut. `None` if nothing is left.
pub(crate) fn made_line(text: &str, limit: usize) -> Option<String> {
    Some(preview::cut(&nfc(text), limit)).filter(|line| !line.is_empty())
}

/// Normalizes a stored line again after parts of it were replaced. Text beyond the limit is cut. `None` if nothing is left.
pub(crate) fn left_of_line(left: &str, limit: usize) -> Option<String> {
    let left = composed(left.trim());
    if left.chars().nth(limit).is_some() {
        return made_line(&left, limit);
    }
    Some(left).filter(|left| !left.is_empty())
}

/// Like [`line`](fn@line), but letter for letter: to a file system, composed letters may be a different name.
pub(crate) fn path(field: Field, text: &str, limit: usize) -> Result<String, Invalid> {
    let text = text.trim();
    if text.is_empty() {
        return Err(Invalid::Empty { field });
    }
    refuse_control(field, text, &[])?;
    let got = text.chars().count();
    if got > limit {
        return Err(Invalid::TooLong { field, got, limit, unit: "characters" });
    }
    Ok(text.to_owned())
}

/// Composes the letters of a text (NFC), so that texts that look the same are the same.
pub fn composed(text: &str) -> String {
    nfc(text).into_owned()
}

fn nfc(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// Removes characters that only move a cursor or a printer. Vertical tabs and form feeds become line breaks. Overstruck
/// characters, escape sequences and other control characters are dropped. `None` if the text has none of these.
pub(crate) fn legible(text: &str) -> Option<String> {
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

/// Skips the rest of an escape sequence, according to ECMA-48.
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
        // A string for the terminal, such as its title, ends with a bell or a terminator, in its line.
        Some(']' | 'P' | '_' | '^' | 'X') => {
            let end = rest.as_str().find(['\u{7}', '\u{1b}', '\n']).unwrap_or(rest.as_str().len());
            *rest = rest.as_str()[end..].chars();
        }
        Some('@'..='_') => drop(rest.next()),
        _ => {}
    }
}

fn refuse_control(field: Field, text: &str, allowed: &[char]) -> Result<(), Invalid> {
    match text.char_indices().find(|(_, c)| c.is_control() && !allowed.contains(c)) {
        Some((at, c)) => Err(Invalid::Control { field, code: u32::from(c), at }),
        None => Ok(()),
    }
}

/// Returns the hash of a content in its stored form. Texts that differ only in Unicode composition have the same hash.
pub fn hash(content: &str) -> ContentHash {
    ContentHash(Sha256::digest(nfc(content).as_bytes()).into())
}

/// Checks the name of a space or principal: lower-case ASCII letters, digits, `-`, `_`, `.`, beginning with a letter or
/// digit, and not a valid id.
pub(crate) fn name(text: &str) -> Result<String, Invalid> {
    let good = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let fits = text.len() <= crate::model::limits::NAME_CHARS
        && text.starts_with(good)
        && text.chars().all(|c| good(c) || matches!(c, '-' | '_' | '.'))
        && uuid::Uuid::parse_str(text).is_err();
    if fits { Ok(text.to_owned()) } else { Err(Invalid::Name { got: preview::short(text) }) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    proptest! {
        #[test]
        fn the_normal_form_is_its_own_normal_form(text in "[\u{feff} \\t\\r\\na-c\u{301}é]{0,12}") {
            let once = content(&text).expect("nothing in it is refused");
            let twice = content(&once).expect("nor is anything in that");
            prop_assert_eq!(twice, once);
        }
    }

    #[test]
    fn line_breaks_and_outer_space_do_not_make_a_difference() {
        let a = content("one\r\ntwo\r\n").expect("good");
        let b = content("  one\ntwo").expect("good");
        assert_eq!((a.as_str(), hash(&a)), ("one\ntwo", hash(&b)));
    }

    #[test]
    fn composed_and_decomposed_letters_hash_alike() {
        assert_eq!(hash("caf\u{e9}"), hash("cafe\u{301}"));
        assert_ne!(hash("cafe"), hash("caf\u{e9}"));
    }

    #[test]
    fn keys_that_look_the_same_are_the_same_and_paths_stay_as_they_are() {
        let (composed, apart) = ("cl\u{e9}", "cle\u{301}");
        assert_eq!(line(Field::Key, apart, 9).as_deref(), Ok(composed));
        assert_eq!(path(Field::SourcePath, apart, 9).as_deref(), Ok(apart));
    }

    #[test]
    fn control_characters_are_refused_with_their_place() {
        let error = content("a\u{0}b").expect_err("a NUL");
        assert_eq!(error, Invalid::Control { field: Field::Content, code: 0, at: 1 });
        assert!(content("tab\tand\nbreak").is_ok());
        assert!(line(Field::Key, "a\nb", 10).is_err());
    }

    #[test]
    fn right_to_left_and_emoji_stay_as_they_are() {
        for text in ["שלום עולם", "مرحبا", "👩‍👩‍👧‍👦 family", "日本語のメモ"]
        {
            assert_eq!(content(text).as_deref(), Ok(text));
        }
    }

    #[test]
    fn names_are_safe_for_folders() {
        assert!(name("team-a").is_ok() && name("2026.notes_x").is_ok());
        assert!(name("0190b76d-a802-7008-a808-8195627568c4").is_err(), "an id is not a name");
        for wrong in ["", "..", ".hidden", "Team", "a/b", "a b", "ä", "a\n", &"x".repeat(65)] {
            assert!(name(wrong).is_err(), "{wrong}");
        }
    }
}
