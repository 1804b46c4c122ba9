//! Finds the words of a text and the chains that they form: `src/main.rs`, `snake_case`, `1.2.3`.

use std::ops::Range;

use super::script::{begins_word, continues_word, is_apostrophe, is_unspaced};

/// The link between a word and the one before it, from the closest to the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordLink {
    /// `-`, `_`, and the comma in `1,000`.
    Dash,
    /// `.`
    Dot,
    /// The separators in paths, addresses and qualified names.
    Path,
}

/// A run of letters and digits.
#[derive(Clone, Debug)]
pub(super) struct WordRun {
    /// The range of the word in the text.
    pub(super) range: Range<usize>,
    /// The link to the previous word. `None` for the first word of a chain.
    pub(super) link: Option<WordLink>,
    /// True if a part of the word is in a script without spaces between words.
    pub(super) unspaced: bool,
}

/// Calls `give` with every chain of words of a text. A word without a link is a chain of one.
pub(super) fn chains(text: &str, mut give: impl FnMut(&[WordRun])) {
    let mut chain: Vec<WordRun> = Vec::new();
    let mut at = 0;
    while let Some(mut run) = next_run(text, at) {
        at = run.range.end;
        run.link = match chain.last() {
            Some(last) if !last.unspaced && !run.unspaced => link(text, &last.range, &run.range),
            _ => None,
        };
        if run.link.is_none() && !chain.is_empty() {
            give(&chain);
            chain.clear();
        }
        chain.push(run);
    }
    if !chain.is_empty() {
        give(&chain);
    }
}

fn next_run(text: &str, from: usize) -> Option<WordRun> {
    let start = from + text[from..].find(begins_word)?;
    let mut chars = text[start..].char_indices().peekable();
    let (mut end, mut before, mut unspaced) = (start, ' ', false);
    while let Some((at, c)) = chars.next() {
        let inner = is_apostrophe(c)
            && before.is_alphabetic()
            && chars.peek().is_some_and(|(_, next)| next.is_alphabetic());
        if !inner && !continues_word(c) {
            break;
        }
        unspaced |= is_unspaced(c);
        end = start + at + c.len_utf8();
        before = c;
    }
    Some(WordRun { range: start..end, link: None, unspaced })
}

fn link(text: &str, before: &Range<usize>, after: &Range<usize>) -> Option<WordLink> {
    match &text[before.end..after.start] {
        "-" | "_" | "__" | "\u{2010}" | "\u{2011}" => Some(WordLink::Dash),
        "," => groups_digits(&text[before.clone()], &text[after.clone()]).then_some(WordLink::Dash),
        "." => Some(WordLink::Dot),
        "/" | "\\" | ":" | "@" | "?" | "=" | "&" | "#" | "%" | "+" | "~" | "$" => Some(WordLink::Path),
        "::" | "://" | "->" | "/." | "/_" | "/~" | "\\." => Some(WordLink::Path),
        _ => None,
    }
}

/// Returns true if a comma between the two texts only groups the digits of a number.
fn groups_digits(before: &str, after: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    before.len() <= 3 && after.len() == 3 && digits(before) && digits(after)
}
