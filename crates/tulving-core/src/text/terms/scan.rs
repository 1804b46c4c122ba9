//! Finds the words of a text and the chains that they form: `src/main.rs`, `snake_case`, `1.2.3`.

use std::ops::Range;

use super::script::{begins_word, continues_word, is_apostrophe, is_unspaced};

/// How a word hangs on the word before it, from the closest to the loosest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Link {
    /// `-`, `_`, and the comma in `1,000`.
    Dash,
    /// `.`
    Dot,
    /// What joins the parts of paths, addresses and qualified names.
    Path,
}

/// A run of letters and digits.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// Where it is.
    pub(super) range: Range<usize>,
    /// How it hangs on the one before; `None` for the first of a chain.
    pub(super) link: Option<Link>,
    /// Whether some of it is in a script without spaces between words.
    pub(super) unspaced: bool,
}

/// Gives every chain of words of a text. A word that hangs on no other is a chain of one.
pub(super) fn chains(text: &str, mut give: impl FnMut(&[Run])) {
    let mut chain: Vec<Run> = Vec::new();
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

fn next_run(text: &str, from: usize) -> Option<Run> {
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
    Some(Run { range: start..end, link: None, unspaced })
}

fn link(text: &str, before: &Range<usize>, after: &Range<usize>) -> Option<Link> {
    match &text[before.end..after.start] {
        "-" | "_" | "__" | "\u{2010}" | "\u{2011}" => Some(Link::Dash),
        "," => groups_digits(&text[before.clone()], &text[after.clone()]).then_some(Link::Dash),
        "." => Some(Link::Dot),
        "/" | "\\" | ":" | "@" | "?" | "=" | "&" | "#" | "%" | "+" | "~" | "$" => Some(Link::Path),
        "::" | "://" | "->" | "/." | "/_" | "/~" | "\\." => Some(Link::Path),
        _ => None,
    }
}

/// Whether a comma between the two only makes a long number readable.
fn groups_digits(before: &str, after: &str) -> bool {
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    before.len() <= 3 && after.len() == 3 && digits(before) && digits(after)
}
