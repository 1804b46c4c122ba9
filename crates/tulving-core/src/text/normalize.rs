//! The normal form of stored text, and the hash that identifies duplicates.

use sha2::{Digest, Sha256};
use tulving_text::normalize::nfc;
pub(crate) use tulving_text::normalize::{composed, left_of_line, legible, made_line, trimmed, unified};

use crate::model::error::{Field, Invalid};
use crate::model::memory::ContentHash;
use crate::model::preview;

/// Normalizes a content for storage: line breaks become `\n`, and white space and byte order marks at the start and the end
/// are removed. Nothing else changes.
///
/// Refuses control characters except tabs and line breaks, because no terminal and no prompt should receive them.
pub(crate) fn content(text: &str) -> Result<String, Invalid> {
    refuse_control(Field::Content, text, &['\t', '\n', '\r'])?;
    let unified = unified(text);
    let trimmed = trimmed(&unified);
    Ok(if trimmed.len() == unified.len() { unified.into_owned() } else { trimmed.to_owned() })
}

/// Normalizes a text of one line for storage: removes white space at both ends and composes letters (NFC). Refuses control
/// characters and more than `limit` characters. The limit applies to the stored form, because composing may make a text
/// longer.
pub fn line(field: Field, text: &str, limit: usize) -> Result<String, Invalid> {
    path(field, &nfc(text), limit)
}

/// Like [`line`](fn@line), but does not compose letters: for a file system, composed letters may be a different name.
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
