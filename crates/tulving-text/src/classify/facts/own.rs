//! The speaker's own words in a turn, without code, quotes, marked-up blocks and text that Tulving itself inserted into
//! a prompt.
//!
//! All other text is blanked byte by byte, so that positions in the result are also positions in the turn.

use std::ops::Range;

use super::injected;
use crate::markdown::fence::{FenceSegment, blocks};

/// Minimum number of words of a quote that counts as another person's statement. A shorter quote counts as a name.
const SAYING: usize = 3;
/// The byte that replaces each byte of code or of a quote.
const BLANK: u8 = b'x';

/// A turn in which everything except the speaker's own words is blanked.
pub(super) struct SpeakerText {
    /// The blanked text. It has the same length as the turn.
    pub(super) text: String,
    /// The ranges of other people's words.
    quotes: Vec<Range<usize>>,
}

impl SpeakerText {
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

    /// Returns true if a part contains somebody else's words.
    pub(super) fn quotes_in(&self, part: &Range<usize>) -> bool {
        self.quotes.iter().any(|quote| quote.start < part.end && part.start < quote.end)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Replaces a part with white space. A part consists of complete characters, so the result is valid UTF-8.
fn clear(bytes: &mut [u8], part: Range<usize>) {
    for byte in &mut bytes[part] {
        if *byte != b'\n' {
            *byte = b' ';
        }
    }
}

/// Replaces the words of a part with words that have no meaning.
fn blank(bytes: &mut [u8], part: Range<usize>) {
    bytes[part].fill(BLANK);
}

fn fenced(turn: &str) -> Vec<Range<usize>> {
    let code = |block: FenceSegment| match block {
        FenceSegment::Code(range) => Some(range),
        FenceSegment::Prose(_) => None,
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

/// Returns the ranges between two marks on one line.
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

/// Returns the blocks between tags that a host puts around text that it adds: `<context>…</context>`.
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
        let own = SpeakerText::of(turn);
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
        assert!(!SpeakerText::of("it is called \"Blue Fish\"").quotes_in(&(0..10)));
        let own = SpeakerText::of("he said \"I prefer tea\" again");
        assert!(own.quotes_in(&(0..28)) && !own.quotes_in(&(23..28)));
    }
}
