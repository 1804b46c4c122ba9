//! Short forms of texts, for messages.

/// Maximum number of characters of a caller's text that a message repeats.
const SHORT: usize = 60;

/// Returns the text on one line, without control characters, cut to fit into a message.
pub fn short(text: &str) -> String {
    cut(text, SHORT)
}

/// Returns the text on one line, without control characters, cut to `limit` characters. If the text was cut, the last
/// character is `…`.
pub fn cut(text: &str, limit: usize) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut line = String::new();
    let mut used = 0;
    let mut whole = true;
    for word in words {
        let gap = usize::from(used > 0);
        let length = word.chars().count();
        if used + gap + length > limit {
            let room = limit.saturating_sub(used + gap);
            if room > 0 {
                line.extend((gap > 0).then_some(' '));
                line.extend(word.chars().take(room));
            }
            whole = false;
            break;
        }
        line.extend((gap > 0).then_some(' '));
        line.push_str(word);
        used += gap + length;
    }
    if !whole {
        while line.chars().count() >= limit.max(1) {
            line.pop();
        }
        line.push('…');
    }
    line
}

/// Returns the unchanged beginning of the text: at most `limit` characters, followed by `…` if the text is longer.
pub fn beginning(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns the singular or plural word for a count.
pub fn plural<'a>(count: usize, one: &'a str, several: &'a str) -> &'a str {
    if count == 1 { one } else { several }
}

/// Returns the indefinite article for a word: `a` or `an`.
pub fn article(word: &str) -> &'static str {
    if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_fits_stays_and_what_does_not_ends_with_an_ellipsis() {
        assert_eq!(cut("one two", 7), "one two");
        assert_eq!(cut("one two", 6), "one t…");
        assert_eq!(cut("a\nb\tc\u{1b}[31md", 20), "a b c [31md");
        assert_eq!(cut("", 5), "");
    }

    proptest! {
        #[test]
        fn never_longer_than_asked_and_never_a_control_character(text in "\\PC*|[\\x00-\\x7f]*", limit in 1usize..80) {
            let line = cut(&text, limit);
            prop_assert!(line.chars().count() <= limit);
            prop_assert!(!line.chars().any(char::is_control));
        }
    }

    #[test]
    fn a_beginning_keeps_its_lines() {
        assert_eq!(beginning("é\n b", 4), "é\n b");
        assert_eq!(beginning("é\n b", 3), "é\n …");
    }

    #[test]
    fn words_have_their_article() {
        assert_eq!(["admin", "writer", "reader"].map(article), ["an", "a", "a"]);
    }
}
