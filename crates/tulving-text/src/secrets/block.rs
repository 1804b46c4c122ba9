//! Finds private keys in PEM form.

use super::SecretMatch;
use crate::vocabulary::SecretKind;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &[u8] = b"-----";
const KEY: &[u8] = b"PRIVATE KEY";

/// Maximum length of the label of a block, in bytes.
const NAME: usize = 48;
/// Maximum length of a block, in bytes.
const LONGEST: usize = 16_384;
/// Minimum number of letters of a key. A smaller block only shows the place of a key.
const FEWEST: usize = 40;

pub(super) fn find(text: &str, found: &mut Vec<SecretMatch>) {
    // Almost no text contains a block, and searching for a single character is much faster than searching for several.
    if !text.match_indices('-').any(|(at, _)| text.as_bytes()[at..].starts_with(BEGIN.as_bytes())) {
        return;
    }
    let mut from = 0;
    // The next end marker. It is searched only once, even if many blocks begin before it.
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
            found.push(SecretMatch { range: start..until, what: SecretKind::PrivateKey });
            from = until;
        }
    }
}

/// Returns the length of the rest of a header line, if the line names a private key.
fn heading(rest: &[u8]) -> Option<usize> {
    let end = rest.iter().take(NAME).position(|byte| *byte == b'-')?;
    let named = rest[..end].windows(KEY.len()).any(|part| part == KEY);
    (named && rest[end..].starts_with(DASHES)).then_some(end + DASHES.len())
}

/// Returns the length of the line that ends a block.
fn ending(rest: &[u8]) -> usize {
    let is_name = |byte: &u8| byte.is_ascii_uppercase() || *byte == b' ';
    let name = END.len() + rest[END.len()..].iter().take(NAME).take_while(|byte| is_name(byte)).count();
    if rest[name..].starts_with(DASHES) { name + DASHES.len() } else { name }
}

/// Returns the number of bytes that can belong to a key without an end marker: lines of characters that occur in keys.
fn keyed(rest: &[u8]) -> usize {
    let is_key = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=\n\r\\".contains(byte);
    rest.iter().take(LONGEST).take_while(|byte| is_key(byte)).count()
}
