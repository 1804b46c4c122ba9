//! Marks by which a host tells a model who speaks. In a memory nobody needs them.

use super::Found;
use super::phrase;
use super::word::{Gap, Words};
use crate::text::visible::{FENCE, SPEAKERS};
use crate::vocabulary::CommandKind;

/// Marks that mean nothing else, in lower case.
const MARKS: [&str; 16] = [
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|user|>",
    "<|assistant|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|begin_of_text|>",
    "<<sys>>",
    "<</sys>>",
    "[inst]",
    "[/inst]",
    "<start_of_turn>",
    "<end_of_turn>",
];

/// Names of tags that count as [those of speakers](SPEAKERS) do, where what follows speaks to the reader. They are also plain
/// words and elements of documents, such as `<developer>` of a `pom.xml`: by themselves they mean nothing, and keep their
/// brackets when they are recalled.
const WORDS: [&str; 4] = ["developer", "admin", "important", "override"];

/// How often each tag was begun and not ended: those of [`tags`], and the fence.
type Open = [u32; SPEAKERS.len() + WORDS.len() + 1];

fn tags() -> impl Iterator<Item = &'static &'static str> {
    SPEAKERS.iter().chain(&WORDS)
}

/// How many letters after a bracket may be the tag.
const LONGEST: usize = 32;
/// The header by which some models are told what to do.
const HEADER: &[u8] = b"### instruction:";

/// So many bytes after a tag are looked at, and so many words in them.
const AFTER: usize = 400;
const WORDS_AFTER: usize = 40;

pub(super) fn find(text: &str, words: &Words<'_>, found: &mut Vec<Found>) {
    let bytes = text.as_bytes();
    let mut open = Open::default();
    for at in memchr::memchr3_iter(b'<', b'[', b'#', bytes) {
        let lone = if bytes[at] == b'<' { lone_end(bytes, at, &mut open) } else { None };
        let end = match bytes[at] {
            b'#' => header(bytes, at),
            _ => mark(bytes, at).or_else(|| tag(bytes, at).filter(|end| speaks(words, *end))).or(lone),
        };
        if let Some(end) = end.filter(|end| !is_shown(bytes, at, *end)) {
            found.push(Found { range: at..end, what: CommandKind::FakeTag });
        }
    }
    speakers(words, found);
}

/// Where the end of a fence, or of what a host says, ends that nothing has begun and that something is said after. Notes what
/// begins.
fn lone_end(bytes: &[u8], at: usize, open: &mut Open) -> Option<usize> {
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
    // The rest of a cut document goes on with another tag.
    let after = bytes[end..].trim_ascii_start();
    let said = after.iter().take(AFTER).any(u8::is_ascii_alphabetic) && !after.starts_with(b"<");
    said.then_some(end)
}

/// Where a header ends that stands at the beginning of a line.
fn header(bytes: &[u8], at: usize) -> Option<usize> {
    let begins = at == 0 || bytes[at - 1] == b'\n';
    let end = at + HEADER.len();
    (begins && bytes.get(at..end)?.eq_ignore_ascii_case(HEADER)).then_some(end)
}

fn mark(bytes: &[u8], at: usize) -> Option<usize> {
    let same = |mark: &&&str| {
        bytes.get(at..at + mark.len()).is_some_and(|part| part.eq_ignore_ascii_case(mark.as_bytes()))
    };
    MARKS.iter().find(same).map(|mark| at + mark.len())
}

/// Where a tag of one of the names ends: `<system>`, `[SYSTEM]`, with nothing else in it.
fn tag(bytes: &[u8], at: usize) -> Option<usize> {
    let close = if bytes[at] == b'<' { b'>' } else { b']' };
    let length = bytes[at + 1..].iter().take(24).position(|byte| *byte == close)?;
    let name = bytes[at + 1..at + 1 + length].to_ascii_lowercase();
    let name = name.trim_ascii();
    tags().any(|tag| name == tag.as_bytes()).then_some(at + length + 2)
}

/// Whether what follows a tag speaks to the reader.
fn speaks(words: &Words<'_>, end: usize) -> bool {
    let places = words.within(&(end..end + AFTER));
    words.all[places].iter().take(WORDS_AFTER).any(|word| phrase::ADDRESSED.contains(&word.number))
}

/// Whether a mark is shown as code, and not used.
fn is_shown(bytes: &[u8], at: usize, end: usize) -> bool {
    let quote = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b'`' | b'"' | b'\''));
    quote(at.checked_sub(1).and_then(|before| bytes.get(before))) && quote(bytes.get(end))
}

/// Lines that begin with `System:` and give an order.
fn speakers(words: &Words<'_>, found: &mut Vec<Found>) {
    for (place, word) in words.all.iter().enumerate() {
        if word.number != *phrase::SYSTEM || word.gap < Gap::Clause || !begins_line(words.text, word.start) {
            continue;
        }
        let rest = &words.text[word.end..];
        let colon = rest.trim_start_matches(['*', '_', ']', ' ']).starts_with(':');
        let next = words.all.get(place + 1).filter(|next| phrase::ORDERED.contains(&next.number));
        if let Some(next) = next.filter(|_| colon) {
            found.push(Found { range: word.start..next.end, what: CommandKind::FakeTag });
        }
    }
}

/// Whether only marks stand between the beginning of a line and this place.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text[..at].bytes().rev().take_while(|byte| *byte != b'\n').take(12);
    let marks: Vec<u8> = before.collect();
    marks.len() < 12 && marks.iter().all(|byte| b"#*_> [\t".contains(byte))
}
