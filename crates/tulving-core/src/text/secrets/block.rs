//! Private keys in PEM form.

use super::Found;
use crate::vocabulary::SecretKind;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &[u8] = b"-----";
const KEY: &[u8] = b"PRIVATE KEY";

/// Longest name of what a block holds.
const NAME: usize = 48;
/// Longest block.
const LONGEST: usize = 16_384;
/// Fewest letters of a key. A block with less shows only where a key would stand.
const FEWEST: usize = 40;

pub(super) fn find(text: &str, found: &mut Vec<Found>) {
    // Almost no text has one, and a single character is found much sooner than several.
    if !text.match_indices('-').any(|(at, _)| text.as_bytes()[at..].starts_with(BEGIN.as_bytes())) {
        return;
    }
    let mut from = 0;
    // Where the next end stands; looked for once, however many blocks begin before it.
    let mut next = text.find(END);
    while let Some(start) = text[from..].find(BEGIN).map(|at| from + at) {
        let named = start + BEGIN.len();
        from = named;
        let Some(head) = heading(&text.as_bytes()[named..]).map(|length| named + length) else {
            continue;
        };
        while let Some(end) = next.filter(|end| *end < head) {
            next = text[end + END.len()..].find(END).map(|at| end + END.len() + at);
        }
        let until = match next.filter(|end| end - head <= LONGEST) {
            Some(end) => end + ending(&text.as_bytes()[end..]),
            None => head + keyed(&text.as_bytes()[head..]),
        };
        let letters = text[head..until].bytes().filter(u8::is_ascii_alphanumeric).take(FEWEST).count();
        if letters >= FEWEST {
            found.push(Found { range: start..until, what: SecretKind::PrivateKey });
            from = until;
        }
    }
}

/// How long the rest of a heading is, where it names a private key.
fn heading(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().take(NAME).position(|byte| *byte == b'-')?;
    let named = rest[..end].windows(KEY.len()).any(|part| part == KEY);
    (named && rest[end..].starts_with(DASHES)).then_some(end + DASHES.len())
}

/// How long the line is that ends a block.
fn ending(rest: &[u8]) -> usize {
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || *byte == b' ';
    let name = END.len() + rest[END.len()..].iter().take(NAME).take_while(|byte| is_name(byte)).count();
    if rest[name..].starts_with(DASHES) { name + DASHES.len() } else { name }
}

/// How much of what follows can be a key whose end is missing: lines of its letters.
fn keyed(rest: &[u8]) -> usize {
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\n\r\\".contains(byte);
    rest.iter().take(LONGEST).take_while(|byte| is_key(byte)).count()
}
