//! Finds the value of a name: after a separator, in a sentence, between tags, or after only a space.

use std::ops::Range;

use super::REDACTED;
use super::names::SecretNameKind;
use super::random_values::is_mixed;

/// Maximum length of a value, in bytes.
pub(super) const LONGEST: usize = 256;
/// Maximum number of words between a name and its separator, as in `password for the vpn: …`.
const BETWEEN: usize = 7;
/// Verbs between a name and its value in a sentence.
const VERBS: [&str; 19] = [
    "is", "ist", "es", "est", "è", "é", "är", "er", "jest", "это", "lautet", "was", "has", "wurde", "será",
    "era", "je", "este", "adalah",
];
/// Words that may follow the verbs in `VERBS`.
const FILLERS: [&str; 14] = [
    "now",
    "still",
    "currently",
    "actually",
    "just",
    "simply",
    "set",
    "changed",
    "reset",
    "been",
    "to",
    "jetzt",
    "ahora",
    "maintenant",
];
/// Words that introduce the purpose of a secret after its name.
pub(super) const OF: [&str; 32] = [
    "for", "of", "to", "on", "at", "in", "from", "für", "fürs", "von", "vom", "zum", "zur", "beim", "der",
    "des", "del", "de", "da", "do", "para", "du", "pour", "per", "di", "van", "voor", "från", "för", "от",
    "для", "к",
];

/// The way in which a value follows its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValuePlacement {
    /// A value after a separator: `:` or `=`.
    Sign,
    /// A value in a sentence: `is`.
    Prose,
    /// A value between tags.
    Tag,
    /// A value after a space.
    Blank,
    /// A value on the next line.
    Line,
}

/// The bytes that names and other words may contain.
pub(super) const IN_NAMES: [bool; 256] = {
    let mut in_names = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let ascii = byte as u8;
        in_names[byte] = ascii.is_ascii_alphanumeric() || matches!(ascii, b'_' | b'-') || ascii >= 0x80;
        byte += 1;
    }
    in_names
};

/// Returns true if a mark of three bytes is at this position: a dash, a quote, an arrow, or Chinese or Japanese
/// punctuation.
pub(super) fn is_mark(bytes: &[u8], at: usize) -> bool {
    match (bytes[at], bytes.get(at + 1), bytes.get(at + 2)) {
        (0xe2, Some(0x80 | 0x86 | 0x87), _) | (0xe3, Some(0x80), _) => true,
        (0xef, Some(0xbc), Some(last)) => matches!(last, 0x81..=0x8f | 0x9a..=0xa0),
        _ => false,
    }
}

pub(super) fn skip(bytes: &[u8], from: usize, what: &[u8], most: usize) -> usize {
    from + bytes[from..].iter().take(most).take_while(|byte| what.contains(byte)).count()
}

/// Returns true if a word is a flag of a shell command.
pub(super) fn is_flag(bytes: &[u8], word: &Range<usize>) -> bool {
    bytes[word.start..].starts_with(b"--")
}

/// Returns true if a name is in the query of an address.
pub(super) fn is_asked(bytes: &[u8], word: &Range<usize>) -> bool {
    word.start > 0 && matches!(bytes[word.start - 1], b'?' | b'&')
}

/// Returns true if a letter with this first byte belongs to a language without spaces.
pub(super) fn is_dense(lead: u8) -> bool {
    matches!(lead, 0xe3..=0xed)
}

/// Returns the way in which a value follows its name, and the start of the value. A password may be alone on the next
/// line.
pub(super) fn sign(
    bytes: &[u8],
    word: &Range<usize>,
    name: SecretNameKind,
) -> Option<(ValuePlacement, usize)> {
    let (way, from) = on_line(bytes, word, name)?;
    let line = skip(bytes, from, b"\r", 1);
    match way {
        // After `=`, an empty value is followed by the next setting, so the next line is not the value.
        ValuePlacement::Sign if bytes.get(line) == Some(&b'\n') => {
            let is_password =
                matches!(name, SecretNameKind::Password | SecretNameKind::Code | SecretNameKind::Pass);
            (is_password && !bytes[word.end..from].contains(&b'='))
                .then(|| (ValuePlacement::Line, skip(bytes, line + 1, b" \t", 40)))
        }
        way => Some((way, from)),
    }
}

/// Returns the same as [`sign`], but searches only the line of the name.
fn on_line(bytes: &[u8], word: &Range<usize>, name: SecretNameKind) -> Option<(ValuePlacement, usize)> {
    if let Some(found) = owned(bytes, word.end) {
        return Some(found);
    }
    let end = skip(bytes, word.end, b"\"'`*]\\", 4);
    if bytes.get(end) == Some(&b'>') && bytes[..word.start].ends_with(b"<") {
        return Some((ValuePlacement::Tag, end + 1));
    }
    let at = skip(bytes, end, b" \t", 8);
    if let Some(found) = mark(bytes, at, at > end) {
        return Some(found);
    }
    if name == SecretNameKind::Said {
        return Some((ValuePlacement::Prose, at));
    }
    if at == end || at == bytes.len() {
        return None;
    }
    if matches!(name, SecretNameKind::Bearer | SecretNameKind::Login) || is_flag(bytes, word) {
        return Some((ValuePlacement::Blank, at));
    }
    verb(bytes, at).or_else(|| beyond(bytes, at)).or_else(|| {
        let bare = matches!(
            name,
            SecretNameKind::Key
                | SecretNameKind::Token
                | SecretNameKind::Password
                | SecretNameKind::Code
                | SecretNameKind::Pass
        );
        bare.then(|| (ValuePlacement::Blank, past_remark(bytes, at)))
    })
}

/// Returns the start of a value after a name and a contracted `is`: `the password's …`.
fn owned(bytes: &[u8], end: usize) -> Option<(ValuePlacement, usize)> {
    let verb = match &bytes[end..] {
        [b'\'', b's', b' ', ..] => 2,
        [0xe2, 0x80, 0x99, b's', b' ', ..] => 4,
        _ => return None,
    };
    Some((ValuePlacement::Blank, filled(bytes, end + verb)?))
}

/// Skips a short remark before the value: `[prod] …`, `to …`. The value itself may also be in brackets.
fn past_remark(bytes: &[u8], at: usize) -> usize {
    if word_at(bytes, at).eq_ignore_ascii_case(b"to") {
        return skip(bytes, at + 2, b" ", 4);
    }
    let close = match bytes[at] {
        b'[' if !bytes[at..].starts_with(REDACTED.as_bytes()) => b']',
        b'(' => b')',
        _ => return at,
    };
    let end = bytes[at..].iter().take(32).position(|byte| *byte == close || *byte == b'\n');
    match end.map(|length| at + length) {
        Some(end) if std::str::from_utf8(&bytes[at + 1..end]).is_ok_and(is_mixed) => at + 1,
        Some(end) if bytes[end] == close && bytes.get(end + 1) == Some(&b' ') => {
            skip(bytes, end + 1, b" ", 4)
        }
        _ => at,
    }
}

/// Returns the start of a value on separate lines, as in YAML: `password: |`.
fn in_block(bytes: &[u8], at: usize) -> usize {
    if !matches!(bytes.get(at), Some(b'|' | b'>')) {
        return at;
    }
    let line = skip(bytes, skip(bytes, at + 1, b"-+", 1), b" \r", 4);
    if bytes.get(line) == Some(&b'\n') { skip(bytes, line + 1, b" \t", 40) } else { at }
}

/// Reads a separator, and returns the start of the value after it. A dash counts only if a space precedes it.
fn mark(bytes: &[u8], at: usize, apart: bool) -> Option<(ValuePlacement, usize)> {
    let rest = &bytes[at..];
    let after = |way: ValuePlacement, length: usize| {
        let from = skip(bytes, at + length, b"*", 2);
        let from = skip(bytes, from, b" \t", 8);
        Some((way, if way == ValuePlacement::Sign { in_block(bytes, from) } else { from }))
    };
    match rest {
        // A comparison does not state a value.
        [b'=', b'=', ..] | [b':', b':', ..] => None,
        [b':' | b'=', ..] => after(ValuePlacement::Sign, skip(rest, 0, b":=>", 2)),
        [b'-', b'>', ..] | [b'-', b'-', b'>', ..] => after(ValuePlacement::Prose, skip(rest, 0, b"->", 3)),
        [b'-', b' ', ..] if apart => after(ValuePlacement::Prose, 1),
        // The separators `：` and `＝`, arrows and dashes.
        [0xef, 0xbc, 0x9a | 0x9d, ..] => after(ValuePlacement::Sign, 3),
        [0xe2, 0x86, 0x92, ..] | [0xe2, 0x87, 0x92, ..] => after(ValuePlacement::Prose, 3),
        [0xe2, 0x80, 0x93 | 0x94, b' ', ..] if apart => after(ValuePlacement::Prose, 3),
        _ => None,
    }
}

/// Returns the word that begins at this position.
pub(super) fn word_at(bytes: &[u8], at: usize) -> &[u8] {
    let length = bytes[at..].iter().take(32).take_while(|byte| IN_NAMES[usize::from(**byte)]).count();
    &bytes[at..at + length]
}

pub(super) fn is_one(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// Returns the start of a value in a sentence. The verb is at this position.
fn verb(bytes: &[u8], at: usize) -> Option<(ValuePlacement, usize)> {
    let word = word_at(bytes, at);
    if !is_one(&VERBS, word) {
        return None;
    }
    Some((ValuePlacement::Prose, filled(bytes, at + word.len())?))
}

/// Returns the start of a value after a verb and filler words.
fn filled(bytes: &[u8], at: usize) -> Option<usize> {
    let mut from = at;
    for _ in 0..4 {
        let colon = skip(bytes, from, b":", 1);
        let next = skip(bytes, colon, b" \t", 4);
        if next == colon || next == bytes.len() {
            return None;
        }
        from = next;
        let filler = word_at(bytes, next);
        if !is_one(&FILLERS, filler) {
            break;
        }
        from += filler.len();
    }
    Some(from)
}

/// Returns the start of a value if the purpose of the secret precedes the value: `password for the vpn: …`.
fn beyond(bytes: &[u8], at: usize) -> Option<(ValuePlacement, usize)> {
    let mut at = at;
    if !is_one(&OF, word_at(bytes, at)) && !matches!(bytes[at], b'(' | b'[') {
        return None;
    }
    for place in 0..BETWEEN {
        at = skip(bytes, at, b"\"'`*([", 2);
        let in_word = |byte: &u8| IN_NAMES[usize::from(*byte)] || b".'/@#&+".contains(byte);
        let end = at + bytes[at..].iter().take(64).take_while(|byte| in_word(byte)).count();
        if end == at || bytes[end - 1] == b'.' {
            return None;
        }
        let close = skip(bytes, end, b"\"'`*)]", 3);
        let next = skip(bytes, close, b" \t", 4);
        if let Some(found) = mark(bytes, next, next > close) {
            return Some(found);
        }
        if next == close || next == bytes.len() {
            return None;
        }
        if place > 0
            && let Some(found) = verb(bytes, next)
        {
            return Some(found);
        }
        at = next;
    }
    None
}

/// Returns the range of a value.
pub(super) fn extent(
    text: &str,
    word: &Range<usize>,
    way: ValuePlacement,
    from: usize,
) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest = bytes.get(from..)?;
    let quoted = |start: usize, end: Option<usize>| end.filter(|end| *end > start).map(|end| start..end);
    match rest {
        [quote @ (b'"' | b'\'' | b'`'), ..] => {
            return quoted(from + 1, closing(bytes, from + 1, *quote));
        }
        [b'\\', quote @ (b'"' | b'\''), ..] => {
            return quoted(from + 2, escaped_closing(bytes, from + 2, *quote));
        }
        _ => {}
    }
    // The value begins with an opening quote of three bytes.
    let start = if matches!(rest, [0xe2, 0x80, 0x98..=0x9f, ..] | [0xe3, 0x80, 0x8c..=0x8f, ..]) {
        from + 3
    } else {
        from
    };
    let asked = is_asked(bytes, word);
    let dense = bytes[word.clone()].iter().any(|byte| is_dense(*byte));
    let ends = |at: usize| match (bytes[at], way) {
        (byte, ValuePlacement::Tag) => byte == b'<' || byte == b'\n',
        (b';', _) => is_setting(&bytes[at + 1..]),
        (b'&', _) => asked,
        (byte @ 0xe2.., _) => is_mark(bytes, at) || dense && is_dense(byte),
        (byte, _) => byte.is_ascii_whitespace() || b"\"'`".contains(&byte),
    };
    let length = (start..bytes.len()).take(LONGEST).take_while(|at| !ends(*at)).count();
    if length == LONGEST {
        return None;
    }
    let trailing = |byte: &&u8| b".,;:)]}*\\".contains(*byte);
    let length = length - bytes[start..start + length].iter().rev().take_while(trailing).count();
    (length > 0).then_some(start..start + length)
}

/// Returns true if a value is the only text on its line.
pub(super) fn is_alone(bytes: &[u8], value: &Range<usize>) -> bool {
    let end = skip(bytes, value.end, b"\"'`*.,;", 4);
    matches!(bytes.get(skip(bytes, end, b" \t\r", 8)), None | Some(b'\n'))
}

/// Returns the end of a quoted text. A quote after a backslash is part of the text, unless no other quote ends the
/// text.
fn closing(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let most = bytes.len().min(start + LONGEST);
    let plain = (start..most).find(|at| bytes[*at] == quote || bytes[*at] == b'\n').unwrap_or(most);
    let mut at = start;
    while at < most && bytes[at] != b'\n' {
        match bytes[at] {
            b'\\' if quote != b'`' => at += 2,
            byte if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    (plain < start + LONGEST).then_some(plain)
}

/// Returns the end of a text whose quotes are escaped with backslashes, as in JSON within JSON.
fn escaped_closing(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let most = bytes.len().min(start + LONGEST);
    let mut at = start;
    while at < most && bytes[at] != b'\n' {
        match (bytes[at], bytes.get(at + 1)) {
            (b'\\', Some(b'\\')) => at += 4,
            (b'\\', Some(next)) if *next == quote => return Some(at),
            (byte, _) if byte == quote => return Some(at),
            _ => at += 1,
        }
    }
    None
}

/// Returns true if the next setting of a connection string begins at this position: `Name=`.
fn is_setting(rest: &[u8]) -> bool {
    let name = rest.iter().take(32).take_while(|byte| byte.is_ascii_alphabetic() || **byte == b' ').count();
    name > 1 && rest.get(name) == Some(&b'=')
}
