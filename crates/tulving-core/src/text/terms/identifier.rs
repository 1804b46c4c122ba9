//! Terms for what does not fall into words: identifiers, paths, addresses, versions.
//!
//! `save_all` gives the words `save` and `all` and, beside them, the whole: `saveall`. Letters that hang together by
//! `-` and `_` are joined, so that `save_all`, `save-all`, `SaveAll` and `saveall` are one term, which a question in
//! any of the four spellings finds. A whole that hangs together by anything looser (`terms.rs`, `1.2.3`, `a/b`,
//! `x@y.org`) keeps its punctuation and so never is the same as a word.

use super::scan::{Link, Run};
use super::script::{begins_word, folded, is_apostrophe};

/// Longest whole, in bytes of text. A longer one is found by its parts.
const WHOLE_BYTES: usize = 256;

/// Most parts of a word in mixed case; more of them are encoded data.
const PARTS: usize = 8;

/// Longest word that is looked into for parts, in bytes.
const PARTED_BYTES: usize = 64;

/// Gives the parts of a word by themselves: those of `HTTPServer2`, `Python3` and `O'Brien`.
///
/// The word itself is a term already. Parts too short to mean anything are not given: less than three letters, or two
/// where they are capitals (`userDB`).
pub(super) fn inside(word: &str, mut give: impl FnMut(&str)) {
    if word.len() > PARTED_BYTES || !word.starts_with(char::is_alphabetic) {
        return;
    }
    if let Some((before, after)) = word.rsplit_once(is_apostrophe) {
        // Shorter ends are those of "she'll" and "they've".
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
enum Sort {
    Upper,
    Lower,
    Digit,
}

/// Cuts a word where letters and digits meet, and before a capital that begins a new word.
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
            (Some(Sort::Upper), Sort::Upper) => after == Some(Sort::Lower),
            (Some(Sort::Upper), Sort::Lower) => false,
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

/// What is cut from what; `None` for a mark, which goes with the letter before.
fn sort(c: char) -> Option<Sort> {
    match c {
        c if c.is_uppercase() => Some(Sort::Upper),
        c if c.is_numeric() => Some(Sort::Digit),
        c if c.is_alphabetic() => Some(Sort::Lower),
        _ => None,
    }
}

/// Gives the wholes of a chain of words, from the closest to the loosest: for `src/text/a_b.rs` these are `ab`,
/// `a_b.rs` and `src/text/a_b.rs`.
pub(super) fn wholes(text: &str, chain: &[Run], mut give: impl FnMut(String)) {
    for level in [Link::Dash, Link::Dot, Link::Path] {
        for group in chain.chunk_by(|_, next| next.link.is_some_and(|link| link <= level)) {
            // A group without a link of this level was given before.
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

fn whole(written: &str, level: Link) -> String {
    let form = folded(written, WHOLE_BYTES);
    let joined = |form: &str| form.chars().filter(|c| c.is_alphanumeric()).collect();
    match level {
        Link::Dash if form.contains(char::is_alphabetic) => joined(&form),
        Link::Dash => form.replace(',', ""),
        Link::Dot
            if form
                .split('.')
                .all(|part| part.chars().count() == 1 && !part.starts_with(char::is_numeric)) =>
        {
            joined(&form)
        }
        Link::Dot => version(&form).unwrap_or(&form).to_owned(),
        Link::Path => {
            let bare = form.split_once("://").map_or(form.as_str(), |(_, rest)| rest);
            bare.strip_prefix("www.").unwrap_or(bare).to_owned()
        }
    }
}

/// `0.27` of `v0.27`.
fn version(form: &str) -> Option<&str> {
    form.strip_prefix('v').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Names of which a sign is a part: `C++`, `C#`, `.NET`.
fn marked(text: &str, run: &Run, give: &mut impl FnMut(String)) {
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
