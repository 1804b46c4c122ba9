//! Splits a text into the words, numbers and marks that are needed to read times.

use std::ops::Range;

/// A word, a number or a single mark.
pub(super) struct TimeToken {
    /// The kind of the token.
    pub(super) kind: TimeTokenKind,
    /// True if no space separates the token from the previous token.
    pub(super) glued: bool,
    /// True if the token begins with a capital.
    pub(super) capital: bool,
    /// The bytes of the token in the text.
    pub(super) range: Range<usize>,
}

/// The kind of a token.
pub(super) enum TimeTokenKind {
    /// Letters, in lower case. An apostrophe between letters is `'`.
    Word(String),
    /// Digits, with "st", "nd", "rd" or "th" if one of them follows.
    Number(NumberToken),
    /// Any other character.
    Mark(char),
}

/// A whole number as written.
#[derive(Clone, Copy)]
pub(super) struct NumberToken {
    /// The value of the number. It has no meaning if the number has ten or more digits.
    pub(super) value: u32,
    /// Number of digits.
    pub(super) digits: usize,
    /// True for "1st", "2nd" and so on.
    pub(super) ordinal: bool,
}

impl TimeToken {
    /// Returns the token's word, or an empty string if the token is not a word.
    pub(super) fn word(&self) -> &str {
        match &self.kind {
            TimeTokenKind::Word(word) => word,
            _ => "",
        }
    }

    /// Returns the token's number.
    pub(super) fn number(&self) -> Option<NumberToken> {
        match self.kind {
            TimeTokenKind::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the token's mark.
    pub(super) fn mark(&self) -> Option<char> {
        match self.kind {
            TimeTokenKind::Mark(mark) => Some(mark),
            _ => None,
        }
    }
}

pub(super) fn tokens(text: &str) -> Vec<TimeToken> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut glued = false;
    while let Some(c) = rest.chars().next() {
        if c.is_whitespace() {
            rest = &rest[c.len_utf8()..];
            glued = false;
            continue;
        }
        let (kind, length) = if c.is_ascii_digit() {
            number(rest)
        } else if c.is_alphabetic() {
            word(rest)
        } else {
            (TimeTokenKind::Mark(c), c.len_utf8())
        };
        let start = text.len() - rest.len();
        tokens.push(TimeToken { kind, glued, capital: c.is_uppercase(), range: start..start + length });
        rest = &rest[length..];
        glued = true;
    }
    tokens
}

fn number(text: &str) -> (TimeTokenKind, usize) {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let value = text[..digits.min(9)].parse().unwrap_or(0);
    let letters: usize =
        text[digits..].chars().take_while(|c| c.is_alphabetic()).take(3).map(char::len_utf8).sum();
    let suffix = text[digits..digits + letters].to_ascii_lowercase();
    let ordinal = matches!(suffix.as_str(), "st" | "nd" | "rd" | "th");
    let length = if ordinal { digits + letters } else { digits };
    (TimeTokenKind::Number(NumberToken { value, digits, ordinal }), length)
}

fn word(text: &str) -> (TimeTokenKind, usize) {
    let mut word = String::new();
    let mut length = 0;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let apostrophe = matches!(c, '\'' | '’') && chars.peek().is_some_and(|next| next.is_alphabetic());
        if !apostrophe && !c.is_alphabetic() {
            break;
        }
        if apostrophe {
            word.push('\'');
        } else {
            word.extend(c.to_lowercase());
        }
        length += c.len_utf8();
    }
    (TimeTokenKind::Word(word), length)
}
