//! What is private in a text: all that stands between `<private>` and `</private>`, in any case, one within another, and
//! from a beginning without an end to the end of the text.
//!
//! Pure, and linear in the length of the text. A text without its private parts has none.

use std::borrow::Cow;
use std::ops::Range;

const OPEN: &[u8] = b"<private";
const CLOSE: &[u8] = b"</private";

/// The private parts of a text, in order, with the tags around them. An end without a beginning is none.
pub fn find(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut depth, mut start, mut at) = (0usize, 0, 0);
    while let Some(bracket) = text[at..].find('<').map(|next| at + next) {
        let bytes = text.as_bytes();
        at = bracket + 1;
        if let Some(end) = tag(bytes, bracket, OPEN) {
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

/// The text without its private parts. Where one was, a blank stands if there is none already, so that what is left does
/// not grow together.
pub fn left_out(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut public = String::with_capacity(text.len());
    let mut at = 0;
    for part in found {
        push(&mut public, &text[at..part.start]);
        at = part.end;
    }
    push(&mut public, &text[at..]);
    Cow::Owned(public)
}

/// The same line for line: of a private part its line breaks stay.
pub fn blanked(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut public = String::with_capacity(text.len());
    let mut at = 0;
    for part in found {
        public.push_str(&text[at..part.start]);
        public.push(' ');
        public.extend(text[part.clone()].bytes().filter(|byte| *byte == b'\n').map(char::from));
        at = part.end;
    }
    public.push_str(&text[at..]);
    Cow::Owned(public)
}

/// Adds what follows a private part.
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

/// Where a tag ends that begins at a bracket. One that is not ended by a bracket of its own ends after its name.
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
        ] {
            assert_eq!(left_out(text), text);
        }
    }

    #[test]
    fn many_tags_take_linear_time() {
        for piece in ["<private>", "<private", "</private>", "<private>a</private>", "<", "<private\n"] {
            let _ = left_out(&piece.repeat(1_000_000 / piece.len()));
        }
    }

    proptest! {
        #[test]
        fn nothing_private_is_left(
            pieces in prop::collection::vec("<private>|</private>|<PRIVATE|<pri|vate>|<|>| |\n|é|[a-z]{1,3}|\\PC", 0..30),
        ) {
            let text = pieces.concat();
            let public = left_out(&text).into_owned();
            prop_assert!(find(&public).is_empty(), "{}", text);
            prop_assert_eq!(left_out(&public), public.as_str());
            prop_assert!(public.len() <= text.len());
        }
    }
}
