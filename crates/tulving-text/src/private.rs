//! Finds the private passages of a text. A private passage is everything between `<private>` and `</private>`, in upper
//! or lower case. Passages may be nested. A start tag without an end tag makes the rest of the text private. A start
//! tag in code (`` ` ``) is plain text.
//!
//! The functions are pure, and linear in the length of the text. After a removal, the result contains no private
//! passages.

use std::borrow::Cow;
use std::ops::Range;

const OPEN: &[u8] = b"<private";
const CLOSE: &[u8] = b"</private";

/// Maximum length of inline code that is recognized, in bytes.
const CODE: usize = 400;
/// Maximum number of rounds of removal.
const ROUNDS: usize = 4;

/// Returns the private passages of a text, in order, including their tags. An end tag without a start tag is not a
/// private passage.
pub fn find(text: &str) -> Vec<Range<usize>> {
    parts(text, true)
}

/// Finds private passages. If `code` is false, a tag counts at any position, even in code.
fn parts(text: &str, code: bool) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let (mut depth, mut start, mut at) = (0usize, 0, 0);
    // Inside a private passage, code is ignored: any end tag ends the passage.
    while let Some(bracket) = next(bytes, at, code && depth == 0) {
        at = bracket + 1;
        if bytes[bracket] == b'`' {
            at = code_end(bytes, bracket);
        } else if let Some(end) = tag(bytes, bracket, OPEN) {
            start = if depth == 0 { bracket } else { start };
            depth += 1;
            at = end;
        } else if depth > 0
            && let Some(end) = tag(bytes, bracket, CLOSE)
        {
            depth -= 1;
            at = end;
            if depth == 0 {
                found.push(start..end);
            }
        }
    }
    if depth > 0 {
        found.push(start..text.len());
    }
    found
}

/// Returns the position of the next bracket or backtick.
fn next(bytes: &[u8], at: usize, code: bool) -> Option<usize> {
    let rest = &bytes[at..];
    if code { memchr::memchr2(b'<', b'`', rest) } else { memchr::memchr(b'<', rest) }.map(|next| at + next)
}

/// Returns the end of inline code that begins at this position. The closing backticks are on the same line, have the
/// same number, and enclose no white space next to them. Without closing backticks, the opening backticks are text,
/// because a single backtick must not expose a private passage.
fn code_end(bytes: &[u8], start: usize) -> usize {
    let signs = |from: usize| bytes[from..].iter().take_while(|byte| **byte == b'`').count();
    let inner = start + signs(start);
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
    let is_blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let tied = start.checked_sub(1).is_some_and(|before| is_word(&bytes[before]));
    if tied || is_blank(bytes.get(inner)) {
        return inner;
    }
    let mut at = inner;
    while let Some(close) = bytes[at..].iter().take(CODE).position(|byte| matches!(byte, b'`' | b'\n')) {
        let close = at + close;
        let end = close + signs(close);
        if bytes[close] == b'\n' || close - inner > CODE {
            return inner;
        }
        if end - close == inner - start {
            let loose = is_blank(bytes.get(close - 1)) || bytes.get(end).is_some_and(is_word);
            return if loose { inner } else { end };
        }
        at = end;
    }
    inner
}

/// Removes the private passages of a text. If no white space is around a passage, a space replaces it, so that the
/// words around it stay separate.
pub fn left_out(text: &str) -> Cow<'_, str> {
    settled(text, without)
}

/// Removes the private passages of a text, but preserves their line breaks.
pub fn blanked(text: &str) -> Cow<'_, str> {
    settled(text, in_lines)
}

/// Removes private passages until none is left. A removal may separate the beginning of code from its end, so the
/// remaining text is checked again.
fn settled(text: &str, leave: fn(&str, Vec<Range<usize>>) -> String) -> Cow<'_, str> {
    let mut public = Cow::Borrowed(text);
    for round in 0..=ROUNDS {
        let found = parts(&public, round < ROUNDS);
        if found.is_empty() || round == ROUNDS && find(&public).is_empty() {
            break;
        }
        public = Cow::Owned(leave(&public, found));
    }
    public
}

fn without(text: &str, found: Vec<Range<usize>>) -> String {
    let mut public = String::with_capacity(text.len());
    let mut at = 0;
    for part in found {
        push(&mut public, &text[at..part.start]);
        at = part.end;
    }
    push(&mut public, &text[at..]);
    public
}

fn in_lines(text: &str, found: Vec<Range<usize>>) -> String {
    let mut public = String::with_capacity(text.len());
    let mut at = 0;
    for part in found {
        public.push_str(&text[at..part.start]);
        public.push(' ');
        public.extend(text[part.clone()].bytes().filter(|byte| *byte == b'\n').map(char::from));
        at = part.end;
    }
    public.push_str(&text[at..]);
    public
}

/// Adds the text after a private passage.
fn push(public: &mut String, next: &str) {
    let parted = public.is_empty() || public.ends_with(char::is_whitespace);
    if parted && !public.is_empty() && next.starts_with(' ') {
        return public.push_str(&next[1..]);
    }
    if !parted && !next.is_empty() && !next.starts_with(char::is_whitespace) {
        public.push(' ');
    }
    public.push_str(next);
}

/// Returns the end of a tag that begins with the bracket at this position. A tag without a closing bracket ends after
/// its name.
fn tag(bytes: &[u8], at: usize, name: &[u8]) -> Option<usize> {
    let end = at + name.len();
    let named = bytes.get(at..end)?.eq_ignore_ascii_case(name);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || *byte >= 0x80;
    if !named || bytes.get(end).is_some_and(is_name) {
        return None;
    }
    let close = bytes[end..].iter().position(|byte| matches!(byte, b'<' | b'>' | b'\n'));
    Some(match close {
        Some(length) if bytes[end + length] == b'>' => end + length + 1,
        _ => end,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_private_is_left_out() {
        for (text, public) in [
            ("a <private>b</private> c", "a c"),
            ("a <PRIVATE>b</Private>c", "a c"),
            ("a<private>b</private>c", "a c"),
            ("<private>b</private> c", " c"),
            ("a <private>b", "a "),
            ("a <private>b <private>c</private> d</private> e", "a e"),
            ("a <private>b <private>c</private> d", "a "),
            ("a <private reason=\"x\">b</private > c", "a c"),
            ("one\n<private>\ntwo\n</private>\nthree", "one\n\nthree"),
            ("<pri<private>x</private>vate>secret</private>", "<pri vate>secret</private>"),
            ("<private<private>x</private>>secret", ""),
            ("a <private>b</private>, c", "a , c"),
            ("it`s <private>b</private> and `code`", "it`s and `code`"),
            ("a ` <private>b</private> ` c", "a ` ` c"),
            ("a `b\n<private>c</private> d`", "a `b\nd`"),
            ("a <private>`b`</private> c", "a c"),
            ("a <private>b `</private> c", "a c"),
            ("`<private>` hides <private>b</private> c", "`<private>` hides c"),
            ("use the <private> tag in docs", "use the "),
        ] {
            assert_eq!(left_out(text), public, "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_it_stays() {
        for text in [
            "",
            "private matters",
            "Vec<privateer>",
            "<private-key>x</private-key>",
            "<privat>x</privat>",
            "text </private> and more",
            "a < private > b",
            "use the `<private>` tag in docs",
            "`<private>…</private>` is left out, (`Vec<private>`) too",
            "``a ` <private>`` in two",
        ] {
            assert_eq!(left_out(text), text);
        }
    }

    #[test]
    fn many_tags_take_linear_time() {
        for piece in [
            "<private>",
            "<private",
            "</private>",
            "<private>a</private>",
            "<",
            "<private\n",
            "`",
            "`a",
            " `<private> ``",
        ] {
            let _ = left_out(&piece.repeat(1_000_000 / piece.len()));
        }
    }

    proptest! {
        #[test]
        fn nothing_private_is_left(
            pieces in prop::collection::vec("<private>|</private>|<PRIVATE|<pri|vate>|<|>| |`|``|\n|é|[a-z]{1,3}|\\PC", 0..30),
        ) {
            let text = pieces.concat();
            let public = left_out(&text).into_owned();
            prop_assert!(find(&public).is_empty(), "{}", text);
            prop_assert_eq!(left_out(&public), public.as_str());
            prop_assert!(public.len() <= text.len());
            let lined = blanked(&text).into_owned();
            prop_assert!(find(&lined).is_empty(), "{}", text);
            prop_assert_eq!(lined.matches('\n').count(), text.matches('\n').count());
        }
    }
}
