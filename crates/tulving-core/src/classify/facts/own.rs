//! What of a turn its speaker says: without code, quotes, marked-up blocks and what Tulving itself put into a prompt.
//!
//! What is not the speaker's is blanked, byte for byte, so that places in what is left are places in the turn.

use std::ops::Range;

use super::injected;
use crate::text::sentence::fence::{Block, blocks};

/// A quote of so many words is what somebody said, and not a name.
const SAYING: usize = 3;
/// What stands for a letter of code or of a quote.
const BLANK: u8 = b'x';

/// A turn, with what is not its speaker's blanked.
pub(super) struct Own {
    /// The text, as long as the turn.
    pub(super) text: String,
    /// Where somebody else's words stand.
    quotes: Vec<Range<usize>>,
}

impl Own {
    pub(super) fn of(turn: &str) -> Self {
        let mut bytes = turn.as_bytes().to_vec();
        for gone in fenced(turn).into_iter().chain(injected::ranges(turn)).chain(marked_up(turn)) {
            clear(&mut bytes, gone);
        }
        for line in lines(turn).filter(|line| turn[line.clone()].trim_start().starts_with('>')) {
            clear(&mut bytes, line);
        }
        let mut quotes = Vec::new();
        for code in pairs(&text(&bytes), '`', '`') {
            blank(&mut bytes, code);
        }
        for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')] {
            for quote in pairs(&text(&bytes), open, close) {
                if turn[quote.clone()].split_whitespace().count() >= SAYING {
                    quotes.push(quote.clone());
                }
                blank(&mut bytes, quote);
            }
        }
        Self { text: text(&bytes), quotes }
    }

    /// Whether somebody else speaks in a part of it.
    pub(super) fn quotes_in(&self, part: &Range<usize>) -> bool {
        self.quotes.iter().any(|quote| quote.start < part.end && part.start < quote.end)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Makes a part white space. Whole characters, so what is left is text.
fn clear(bytes: &mut [u8], part: Range<usize>) {
    for byte in &mut bytes[part] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Makes the words of a part words that say nothing.
fn blank(bytes: &mut [u8], part: Range<usize>) {
    bytes[part].fill(BLANK);
}

fn fenced(turn: &str) -> Vec<Range<usize>> {
    let code = |block: Block| match block {
        Block::Code(range) => Some(range),
        Block::Prose(_) => None,
    };
    blocks(turn).into_iter().filter_map(code).collect()
}

fn lines(turn: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    turn.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        start..at
    })
}

/// What stands between two marks on one line.
fn pairs(text: &str, open: char, close: char) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut begun: Option<usize> = None;
    for (at, c) in text.char_indices() {
        match begun {
            _ if c == '\n' => begun = None,
            Some(start) if c == close => {
                found.push(start..at);
                begun = None;
            }
            None if c == open => begun = Some(at + c.len_utf8()),
            _ => {}
        }
    }
    found
}

/// Blocks between tags, such as a host puts around what it adds: `<context>…</context>`.
fn marked_up(turn: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (start, _) in turn.match_indices('<') {
        if found.last().is_some_and(|last| start < last.end) {
            continue;
        }
        let rest = &turn[start + 1..];
        let length =
            rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte)).count();
        let name = &rest[..length];
        let closed = rest[length..].find('>').filter(|_| !name.is_empty());
        if let Some(end) = closed.and_then(|_| rest.find(&format!("</{name}>"))) {
            found.push(start..start + 1 + end + name.len() + 3);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(turn: &str) -> String {
        let own = Own::of(turn);
        assert_eq!(own.text.len(), turn.len());
        own.text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn code_quotes_and_blocks_are_blanked() {
        assert_eq!(own("a\n```\nI prefer tabs\n```\nb"), "a b");
        assert_eq!(own("it is in `apps/web` now"), "it is in `xxxxxxxx` now");
        assert_eq!(own("> I prefer tea\nso he says"), "so he says");
        assert_eq!(own("<context>I prefer tea</context> and you?"), "and you?");
        assert_eq!(own("called “Ünal” here"), "called “xxxxx” here");
        assert_eq!(own("a < b and I prefer tea"), "a < b and I prefer tea");
    }

    #[test]
    fn a_short_quote_is_a_name_and_a_long_one_somebodys_words() {
        assert!(!Own::of("it is called \"Blue Fish\"").quotes_in(&(0..10)));
        let own = Own::of("he said \"I prefer tea\" again");
        assert!(own.quotes_in(&(0..28)) && !own.quotes_in(&(23..28)));
    }
}
