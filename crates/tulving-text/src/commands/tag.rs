//! Finds the markers by which a host tells a model who is speaking. A memory does not need such markers.

use super::CommandMatch;
use super::phrase;
use super::word::{NumberedWords, WordGap};
use crate::visible::{FENCE, SPEAKERS};
use crate::vocabulary::CommandKind;

/// Markers that have no other meaning, in lower case. Markers of the form `<|name|>` are recognized by their form.
const MARKS: [&str; 6] = ["<<sys>>", "<</sys>>", "[inst]", "[/inst]", "<start_of_turn>", "<end_of_turn>"];
/// The marker whose name is also an abbreviation. It counts only if the text contains its end marker or another marker
/// of its template.
const TURN: &str = "[inst]";
/// Tags that models use for tool calls, each with the bytes that follow it in a real call.
const CALLS: [(&str, &[u8]); 4] =
    [("function_calls", b"<"), ("tool_call", b"{"), ("tool_calls", b"[{"), ("invoke", b" name")];
/// The vertical bar in DeepSeek's markers, and the brackets around it.
const WIDE_BAR: &str = "｜";
const WIDE_ENDS: [&str; 2] = [">", "›"];
/// Maximum length of a name in a marker.
const LONGEST_NAME: usize = 40;

/// Tags that count like [those of speakers](SPEAKERS) if the text after them addresses the reader. They are also plain
/// words and document elements, such as `<developer>` in a `pom.xml`. For this reason, such a tag does not count alone,
/// and its brackets are not replaced when the text is recalled.
const WORDS: [&str; 4] = ["developer", "admin", "important", "override"];

/// Number of tags that were opened but not closed, for each of [`tags`] and for the fence.
type OpenTagCounts = [u32; SPEAKERS.len() + WORDS.len() + 1];

fn tags() -> impl Iterator<Item = &'static &'static str> {
    SPEAKERS.iter().chain(&WORDS)
}

/// Maximum number of letters of a tag after its bracket.
const LONGEST: usize = 32;
/// The header that introduces instructions for some models.
const HEADER: &[u8] = b"### instruction:";

/// Maximum number of bytes, and maximum number of words, that are checked after a tag.
const AFTER: usize = 400;
const WORDS_AFTER: usize = 40;

pub(super) fn find(text: &str, words: &NumberedWords<'_>, found: &mut Vec<CommandMatch>) {
    let bytes = text.as_bytes();
    let mut open = OpenTagCounts::default();
    for at in memchr::memchr3_iter(b'<', b'[', b'#', bytes) {
        let lone = if bytes[at] == b'<' { lone_end(bytes, at, &mut open) } else { None };
        let end = match bytes[at] {
            b'#' => header(bytes, at),
            _ => mark(bytes, at).or_else(|| tag(bytes, at).filter(|end| speaks(words, *end))).or(lone),
        };
        if let Some(end) = end.filter(|end| !is_shown(bytes, at, *end)) {
            found.push(CommandMatch { range: at..end, what: CommandKind::FakeTag });
        }
    }
    wide(text, found);
    speakers(words, found);
}

/// Returns the end of a closing tag of a fence or a speaker, if it has no opening tag and text follows it. Counts opening
/// tags.
fn lone_end(bytes: &[u8], at: usize, open: &mut OpenTagCounts) -> Option<usize> {
    let rest = &bytes[at + 1..bytes.len().min(at + LONGEST)];
    let signs = rest.iter().take_while(|byte| byte.is_ascii_whitespace() || b"/\\".contains(byte)).count();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let length = rest[signs..].iter().take_while(is_name).count();
    let name = &rest[signs..signs + length];
    let mut names = tags().chain([&FENCE]);
    let which = names.position(|tag| name.eq_ignore_ascii_case(tag.as_bytes()))?;
    if !rest[..signs].contains(&b'/') {
        open[which] += 1;
        return None;
    }
    if open[which] > 0 {
        open[which] -= 1;
        return None;
    }
    let blanks = rest[signs + length..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let close = signs + length + blanks;
    let end = at + 1 + close + usize::from(rest.get(close) == Some(&b'>'));
    // A tag directly after the closing tag shows that the text is the rest of a truncated document.
    let after = bytes[end..].trim_ascii_start();
    let said = after.iter().take(AFTER).any(u8::is_ascii_alphabetic) && !after.starts_with(b"<");
    said.then_some(end)
}

/// Returns the end of a header at the beginning of a line.
fn header(bytes: &[u8], at: usize) -> Option<usize> {
    let begins = at == 0 || bytes[at - 1] == b'\n';
    let end = at + HEADER.len();
    (begins && bytes.get(at..end)?.eq_ignore_ascii_case(HEADER)).then_some(end)
}

fn mark(bytes: &[u8], at: usize) -> Option<usize> {
    let same = |mark: &&&str| {
        bytes.get(at..at + mark.len()).is_some_and(|part| part.eq_ignore_ascii_case(mark.as_bytes()))
    };
    let listed = MARKS.iter().find(same).filter(|mark| **mark != TURN || in_template(bytes, at));
    listed.map(|mark| at + mark.len()).or_else(|| piped(bytes, at)).or_else(|| call(bytes, at))
}

/// Returns true if the turn marker at this position belongs to a template: the text has an end marker or a system
/// marker.
fn in_template(bytes: &[u8], at: usize) -> bool {
    let after = &bytes[at..bytes.len().min(at + 2 * AFTER)];
    let has = |mark: &[u8]| after.windows(mark.len()).any(|part| part.eq_ignore_ascii_case(mark));
    has(b"[/inst]") || has(b"<<sys>>") || after.len() < TURN.len() + 2
}

/// Returns the end of a marker such as `<|im_start|>`.
fn piped(bytes: &[u8], at: usize) -> Option<usize> {
    let name = bytes.get(at..)?.strip_prefix(b"<|")?;
    let length = name
        .iter()
        .take(LONGEST_NAME)
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
        .count();
    (length > 1 && name[length..].starts_with(b"|>")).then_some(at + 2 + length + 2)
}

/// Returns the end of a tag that starts a tool call.
fn call(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = bytes.get(at..)?.strip_prefix(b"<")?;
    let rest = rest.strip_prefix(b"antml:").unwrap_or(rest);
    let (name, follows) = CALLS.iter().find(|(name, _)| {
        let whole = rest.get(name.len()).is_some_and(|byte| *byte == b'>' || byte.is_ascii_whitespace());
        whole && rest[..name.len()].eq_ignore_ascii_case(name.as_bytes())
    })?;
    let rest = &rest[name.len()..];
    let length = rest.iter().take(2 * LONGEST_NAME).position(|byte| *byte == b'>')?;
    let used = match follows {
        [b' ', attribute @ ..] => rest.starts_with(b" ") && rest.trim_ascii_start().starts_with(attribute),
        first => length == 0 && rest[1..].trim_ascii_start().first().is_some_and(|byte| first.contains(byte)),
    };
    used.then_some(bytes.len() - rest.len() + length + 1)
}

/// Finds markers with full-width bars, such as `<｜User｜>`.
fn wide(text: &str, found: &mut Vec<CommandMatch>) {
    for (at, _) in text.match_indices(WIDE_BAR) {
        let Some(open) = text[..at].chars().next_back().filter(|c| matches!(c, '<' | '‹')) else {
            continue;
        };
        let start = at - open.len_utf8();
        let name = &text[at + WIDE_BAR.len()..];
        let Some((close, _)) = name.char_indices().take(LONGEST_NAME).find(|(_, c)| *c == '｜') else {
            continue;
        };
        let rest = &name[close + WIDE_BAR.len()..];
        let Some(end) = WIDE_ENDS.iter().find(|end| rest.starts_with(**end)) else { continue };
        let end = text.len() - rest.len() + end.len();
        if close > 0 && !is_shown(text.as_bytes(), start, end) {
            found.push(CommandMatch { range: start..end, what: CommandKind::FakeTag });
        }
    }
}

/// Returns the end of a tag that contains only one of the names: `<system>`, `[SYSTEM]`.
fn tag(bytes: &[u8], at: usize) -> Option<usize> {
    let close = if bytes[at] == b'<' { b'>' } else { b']' };
    let length = bytes[at + 1..].iter().take(24).position(|byte| *byte == close)?;
    let name = bytes[at + 1..at + 1 + length].to_ascii_lowercase();
    let name = name.trim_ascii();
    tags().any(|tag| name == tag.as_bytes()).then_some(at + length + 2)
}

/// Returns true if the text after a tag addresses the reader.
fn speaks(words: &NumberedWords<'_>, end: usize) -> bool {
    let places = words.within(&(end..end + AFTER));
    words.all[places].iter().take(WORDS_AFTER).any(|word| phrase::ADDRESSED.contains(&word.number))
}

/// Returns true if a marker is shown as code and not used: the marker is quoted, or begins inline code in its line.
pub(super) fn is_shown(bytes: &[u8], at: usize, end: usize) -> bool {
    let quote = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'`' | b'"' | b'\''));
    let before = at.checked_sub(1).and_then(|before| bytes.get(before));
    let line = bytes[end..].iter().take(LONGEST_NAME).take_while(|byte| **byte != b'\n');
    let coded = before == Some(&b'`') && line.clone().any(|byte| *byte == b'`');
    coded || (quote(before) && quote(bytes.get(end)))
}

/// Finds lines that begin with `System:` and give an order.
fn speakers(words: &NumberedWords<'_>, found: &mut Vec<CommandMatch>) {
    for (place, word) in words.all.iter().enumerate() {
        if word.number != *phrase::SYSTEM
            || word.gap < WordGap::Clause
            || !begins_line(words.text, word.start)
        {
            continue;
        }
        let rest = &words.text[word.end..];
        let colon = rest.trim_start_matches(['*', '_', ']', ' ']).starts_with(':');
        let next = words.all.get(place + 1).filter(|next| phrase::ORDERED.contains(&next.number));
        if let Some(next) = next.filter(|_| colon) {
            found.push(CommandMatch { range: word.start..next.end, what: CommandKind::FakeTag });
        }
    }
}

/// Returns true if only markup precedes this position in its line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text[..at].bytes().rev().take_while(|byte| *byte != b'\n').take(12);
    let marks: Vec<u8> = before.collect();
    marks.len() < 12 && marks.iter().all(|byte| b"#*_> [\t".contains(byte))
}
