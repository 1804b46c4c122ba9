//! Messages of a chat written as JSON: `{"role": "system", "content": …}`. A host that puts a text between its own messages
//! would pass one on as a message of somebody else. Only those count that give an order.

use super::Found;
use super::phrase;
use super::word::Words;
use crate::vocabulary::CommandKind;

const ROLE: &[u8] = b"\"role\"";
const CONTENT: &[u8] = b"\"content\"";
/// Between the role and its content are at the most so many bytes.
const BETWEEN: usize = 60;
/// Longest content that is looked at.
const LONGEST: usize = 2_000;

pub(super) fn find(words: &Words<'_>, found: &mut Vec<Found>) {
    let bytes = words.text.as_bytes();
    for start in memchr::memmem::find_iter(bytes, ROLE) {
        let Some((role, at)) = value(bytes, start + ROLE.len()) else { continue };
        let near = &bytes[at..bytes.len().min(at + BETWEEN)];
        let Some(content) = memchr::memmem::find(near, CONTENT) else { continue };
        let Some((said, end)) = value(bytes, at + content + CONTENT.len()) else { continue };
        let orders = match &bytes[role] {
            b"system" | b"developer" => &*phrase::ROLE_ORDERS,
            b"assistant" | b"tool" => &*phrase::ROLE_LOOT,
            _ => continue,
        };
        let places = words.within(&said);
        let gives = words.all[places].iter().any(|word| orders.contains(&word.number));
        if gives && !is_code(bytes, start) {
            found.push(Found { range: start..end, what: CommandKind::FakeTag });
        }
    }
}

/// Where the text is that a name before this place has, and where it ends with its quote.
fn value(bytes: &[u8], at: usize) -> Option<(std::ops::Range<usize>, usize)> {
    let blank =
        |at: usize| at + bytes[at..].iter().take(8).take_while(|byte| byte.is_ascii_whitespace()).count();
    let colon = blank(at);
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let quote = blank(colon + 1);
    if bytes.get(quote) != Some(&b'"') {
        return None;
    }
    let start = quote + 1;
    let mut end = start;
    while *bytes.get(end)? != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
        if end > start + LONGEST {
            return None;
        }
    }
    Some((start..end, end + 1))
}

/// Tells whether a message stands in code: after a backtick, an assignment or a call in its line.
fn is_code(bytes: &[u8], at: usize) -> bool {
    let line = bytes[..at].iter().rev().take(BETWEEN).take_while(|byte| **byte != b'\n');
    line.into_iter().any(|byte| matches!(byte, b'`' | b'=' | b'('))
}
