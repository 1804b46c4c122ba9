//! Returns terms for text that does not split into words: identifiers, paths, addresses, versions.
//!
//! `save_all` yields the words `save` and `all`, and also the complete identifier `saveall`. Parts linked by `-` and
//! `_` are joined, so that `save_all`, `save-all`, `SaveAll` and `saveall` are one term, and a question in any of these
//! spellings finds them all. An identifier with looser links (`terms.rs`, `1.2.3`, `a/b`, `x@y.org`) keeps its
//! punctuation, so it never equals a word.

use super::scan::{WordLink, WordRun};
use super::script::{begins_word, folded, is_apostrophe};

/// Maximum length of a complete identifier, in bytes of text. A longer identifier is found by its parts.
const WHOLE_BYTES: usize = 256;

/// Minimum length of a word that is an identifier by itself, in bytes.
const NAME_BYTES: usize = 4;

/// Maximum number of parts of a word in mixed case. A word with more parts is encoded data.
const PARTS: usize = 8;

/// Maximum length of a word that is split into parts, in bytes.
const PARTED_BYTES: usize = 64;

/// Calls `give` with the parts of a word: those of `HTTPServer2`, `Python3` and `O'Brien`.
///
/// The word itself is already a term. Parts that are too short to have a meaning are skipped: parts of fewer than three
/// letters, and parts of two capitals (`userDB`).
pub(super) fn inside(word: &str, mut give: impl FnMut(&str)) {
    if word.len() > PARTED_BYTES || !word.starts_with(char::is_alphabetic) {
        return;
    }
    if let Some((before, after)) = word.rsplit_once(is_apostrophe) {
        // Shorter endings belong to contractions such as "she'll" and "they've".
        if after.chars().nth(2).is_some() {
            give(after);
            give(&format!("{before}{after}"));
        }
        return;
    }
    let parts = parts(word);
    if !(2..=PARTS).contains(&parts.len()) {
        return;
    }
    for part in parts.into_iter().filter(|part| part.starts_with(char::is_alphabetic)) {
        let letters = part.chars().count();
        if letters >= 3 || (letters == 2 && part.chars().all(char::is_uppercase)) {
            give(part);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum IdentifierCharacter {
    Upper,
    Lower,
    Digit,
}

/// Splits a word between letters and digits, and before a capital that begins a new word.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut start = 0;
    let mut before = None;
    let mut chars = word.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let Some(here) = sort(c) else { continue };
        let after = chars.peek().and_then(|(_, next)| sort(*next));
        let cut = match (before, here) {
            (None, _) => false,
            (Some(IdentifierCharacter::Upper), IdentifierCharacter::Upper) => {
                after == Some(IdentifierCharacter::Lower)
            }
            (Some(IdentifierCharacter::Upper), IdentifierCharacter::Lower) => false,
            (Some(before), here) => before != here,
        };
        if cut {
            parts.push(&word[start..at]);
            start = at;
        }
        before = Some(here);
    }
    parts.push(&word[start..]);
    parts
}

/// Returns the kind of a character, or `None` for a mark, which belongs to the previous letter.
fn sort(c: char) -> Option<IdentifierCharacter> {
    match c {
        c if c.is_uppercase() => Some(IdentifierCharacter::Upper),
        c if c.is_numeric() => Some(IdentifierCharacter::Digit),
        c if c.is_alphabetic() => Some(IdentifierCharacter::Lower),
        _ => None,
    }
}

/// Calls `give` with the compounds of a chain of words, from the closest link to the loosest: for `src/text/a_b.rs`
/// these are `ab`, `a_b.rs` and `src/text/a_b.rs`.
pub(super) fn wholes(text: &str, chain: &[WordRun], mut give: impl FnMut(String)) {
    for level in [WordLink::Dash, WordLink::Dot, WordLink::Path] {
        for group in chain.chunk_by(|_, next| next.link.is_some_and(|link| link <= level)) {
            // A group without a link of this level was already passed to `give`.
            if group[1..].iter().any(|run| run.link == Some(level)) {
                let written = &text[group[0].range.start..group[group.len() - 1].range.end];
                if written.len() <= WHOLE_BYTES {
                    give(whole(written, level));
                }
            }
        }
    }
    for run in chain {
        marked(text, run, &mut give);
    }
}

fn whole(written: &str, level: WordLink) -> String {
    let form = folded(written, WHOLE_BYTES);
    let joined = |form: &str| form.chars().filter(|c| c.is_alphanumeric()).collect();
    match level {
        WordLink::Dash if form.contains(char::is_alphabetic) => joined(&form),
        WordLink::Dash => form.replace(',', ""),
        WordLink::Dot
            if form
                .split('.')
                .all(|part| part.chars().count() == 1 && !part.starts_with(char::is_numeric)) =>
        {
            joined(&form)
        }
        WordLink::Dot => version(&form).unwrap_or(&form).to_owned(),
        WordLink::Path => {
            let bare = form.split_once("://").map_or(form.as_str(), |(_, rest)| rest);
            bare.strip_prefix("www.").unwrap_or(bare).to_owned()
        }
    }
}

/// Returns `0.27` for `v0.27`.
fn version(form: &str) -> Option<&str> {
    form.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Calls `give` with the texts of a chain that can only be identifiers: words in mixed case or with digits, and words that
/// are linked with digits, underscores, dots or slashes. Hyphenated words and plain numbers are none.
pub(super) fn names<'a>(text: &'a str, chain: &[WordRun], mut give: impl FnMut(&'a str)) {
    let written = |runs: &[WordRun]| &text[runs[0].range.start..runs[runs.len() - 1].range.end];
    for run in chain.iter().filter(|run| !run.unspaced) {
        let word = &text[run.range.clone()];
        let has = |test: fn(char) -> bool| word.chars().any(test);
        let mixed = !word.contains(is_apostrophe) && parts(word).len() > 1;
        if mixed && has(char::is_alphabetic) && word.len() >= NAME_BYTES && word.len() <= PARTED_BYTES {
            give(word);
        }
    }
    let joined = written(chain);
    let letters = joined.contains(char::is_alphabetic);
    let telling = joined.contains(|c: char| c.is_numeric() || matches!(c, '_' | '/' | '\\'))
        || joined.contains("::")
        || chain.iter().any(|run| run.link == Some(WordLink::Dot));
    if chain.len() > 1 && letters && telling && joined.len() <= WHOLE_BYTES {
        give(joined);
    }
}

/// Calls `give` with names that contain a symbol: `C++`, `C#`, `.NET`.
fn marked(text: &str, run: &WordRun, give: &mut impl FnMut(String)) {
    let written = &text[run.range.clone()];
    if run.unspaced || written.len() > WHOLE_BYTES || !written.chars().all(char::is_alphabetic) {
        return;
    }
    let (before, after) = (&text[..run.range.start], &text[run.range.end..]);
    let form = || folded(written, WHOLE_BYTES);
    if after.starts_with("++") {
        give(format!("{}++", form()));
    } else if written.chars().nth(1).is_none()
        && after.strip_prefix('#').is_some_and(|rest| !rest.starts_with(begins_word))
    {
        give(format!("{}#", form()));
    }
    let dotted = before.strip_suffix('.').is_some_and(|outer| {
        outer.chars().next_back().is_none_or(|c| !begins_word(c) && !matches!(c, '.' | ')' | '/'))
    });
    if dotted {
        give(format!(".{}", form()));
    }
}
