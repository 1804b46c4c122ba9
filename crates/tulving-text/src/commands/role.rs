//! Finds chat messages written as JSON: `{"role": "system", "content": …}`. A host that inserts a text between its own
//! messages could pass such a message on as the message of another speaker. A message counts only if it gives an order.

use super::CommandMatch;
use super::phrase;
use super::word::NumberedWords;
use crate::vocabulary::CommandKind;

const ROLE: &[u8] = b"\"role\"";
const CONTENT: &[u8] = b"\"content\"";
/// Maximum number of bytes between the role and its content.
const BETWEEN: usize = 60;
/// Maximum length of content that is checked, in bytes.
const LONGEST: usize = 2_000;

pub(super) fn find(words: &NumberedWords<'_>, found: &mut Vec<CommandMatch>) {
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
            found.push(CommandMatch { range: start..end, what: CommandKind::FakeTag });
        }
    }
}

/// Returns the range of the text value after a key that ends at this position, and the end of the value including its
/// quote.
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

/// Returns true if a message is in code: its line has a backtick, an assignment or a call before the message.
fn is_code(bytes: &[u8], at: usize) -> bool {
    let line = bytes[..at].iter().rev().take(BETWEEN).take_while(|byte| **byte != b'\n');
    line.into_iter().any(|byte| matches!(byte, b'`' | b'=' | b'('))
}
