//! Removes inline markup: emphasis, links and tags.

/// Maximum distance to the end of a mark, in bytes. The limit makes the work linear for any text.
const REACH: usize = 600;

/// Maximum nesting of marks that are removed.
const DEPTH: usize = 3;

/// Returns a text without its markup. Line breaks are preserved, and each other run of white space becomes one space.
pub(crate) fn plain(text: &str) -> String {
    let mut out = InlineMarkupStripper { said: String::with_capacity(text.len()), drop: Vec::new() };
    out.take_in(text, 0);
    let end = out.said.trim_end().len();
    out.said.truncate(end);
    out.said
}

struct InlineMarkupStripper {
    said: String,
    /// End positions of marks whose beginning was removed, innermost last.
    drop: Vec<usize>,
}

impl InlineMarkupStripper {
    fn take_in(&mut self, text: &str, depth: usize) {
        let outer = std::mem::take(&mut self.drop);
        let mut at = 0;
        let mut before = ' ';
        while let Some(c) = text[at..].chars().next() {
            let rest = &text[at..];
            let length = self.mark(rest, before, at, depth).unwrap_or_else(|| {
                self.push(c);
                c.len_utf8()
            });
            before = rest[..length].chars().next_back().unwrap_or(c);
            at += length;
        }
        self.drop = outer;
    }

    /// Returns the length of the mark at the beginning of the text.
    fn mark(&mut self, rest: &str, before: char, at: usize, depth: usize) -> Option<usize> {
        match rest.as_bytes().first()? {
            b'\\' => {
                let next = rest[1..].chars().next().filter(char::is_ascii_punctuation)?;
                self.push(next);
                Some(2)
            }
            b'`' => Some(self.code(rest).unwrap_or_else(|| self.keep(rest, '`'))),
            b'!' if rest.starts_with("![") => link(&rest[1..]).map(|(_, length)| 1 + length),
            b'[' => {
                let (said, length) = link(rest)?;
                if depth < DEPTH {
                    self.take_in(said, depth + 1);
                } else {
                    self.said.push_str(said);
                }
                Some(length)
            }
            b'<' => self.tag(rest),
            b'&' => {
                let (entity, c) = ENTITIES.iter().find(|(entity, _)| rest.starts_with(entity))?;
                self.push(*c);
                Some(entity.len())
            }
            mark @ (b'*' | b'_' | b'~') => {
                Some(self.emphasis(rest, before, at).unwrap_or_else(|| self.keep(rest, char::from(*mark))))
            }
            _ => None,
        }
    }

    fn push(&mut self, c: char) {
        if c == '\n' {
            let end = self.said.trim_end_matches(' ').len();
            self.said.truncate(end);
            self.said.push('\n');
        } else if c.is_whitespace() {
            if !self.said.is_empty() && !self.said.ends_with([' ', '\n']) {
                self.said.push(' ');
            }
        } else if !c.is_control() {
            self.said.push(c);
        }
    }

    /// Adds a run of marks without meaning in one step, because checking the run at each of its positions would be
    /// quadratic.
    fn keep(&mut self, rest: &str, mark: char) -> usize {
        let length = run(rest, mark);
        self.said.push_str(&rest[..length]);
        length
    }

    fn code(&mut self, rest: &str) -> Option<usize> {
        let ticks = run(rest, '`');
        let inner = near(rest).get(ticks..)?;
        let end = inner.find(&rest[..ticks])?;
        inner[..end].trim().chars().for_each(|c| self.push(c));
        Some(ticks + end + ticks)
    }

    fn tag(&mut self, rest: &str) -> Option<usize> {
        let inner = &near(rest)[1..];
        let end = inner.find('>')?;
        let inner = &inner[..end];
        if inner.starts_with("http://") || inner.starts_with("https://") {
            self.said.push_str(inner);
        } else if is_tag(inner) {
            if inner.starts_with("br") {
                self.push(' ');
            }
        } else {
            return None;
        }
        Some(end + 2)
    }

    /// Removes a run of marks that begins or ends an emphasis.
    fn emphasis(&mut self, rest: &str, before: char, at: usize) -> Option<usize> {
        let mark = rest.chars().next()?;
        let length = run(rest, mark);
        if self.drop.last() == Some(&at) {
            self.drop.pop();
            return Some(length);
        }
        let opens = (!before.is_alphanumeric() || (mark == '*' && length == 2))
            && rest[length..]
                .chars()
                .next()
                .is_some_and(|next| !next.is_whitespace() && !matches!(next, '.' | '/' | ','));
        if !opens || length > 3 || (mark == '~' && length != 2) {
            return None;
        }
        let reach = near(rest);
        let inner = reach.get(length..)?;
        let close = &rest[..length];
        let end = inner.match_indices(close).map(|(end, _)| end).find(|end| {
            let after = inner[end + length..].chars().next();
            let inside = inner[..*end].chars().next_back();
            inside.is_some_and(|c| !c.is_whitespace() && c != mark)
                && after != Some(mark)
                && (mark == '*' || after.is_none_or(|c| !c.is_alphanumeric()))
        })?;
        self.drop.push(at + length + end);
        Some(length)
    }
}

/// Returns the text of the link at the beginning, and the length of the link. The text of a footnote link is empty.
fn link(rest: &str) -> Option<(&str, usize)> {
    let reach = near(rest);
    let close = closing(reach, b'[', b']')?;
    let said = &rest[1..close];
    if said.starts_with('^') {
        return Some(("", close + 1));
    }
    let after = near(&rest[close + 1..]);
    match after.as_bytes().first() {
        Some(b'(') => Some((said, close + 2 + closing(after, b'(', b')')?)),
        Some(b'[') => Some((said, close + 2 + closing(after, b'[', b']')?)),
        // Brackets around several words or around code are a link to a named target. `[x]` and `[1]` are not links.
        _ => (said.contains([' ', '`']) && !said.contains(['\n', '[']) || said.contains("::"))
            .then_some((said, close + 1)),
    }
}

/// Returns the position at which the first bracket is closed.
fn closing(text: &str, open: u8, close: u8) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|b| {
        depth += usize::from(b == open);
        if b == close {
            depth -= 1;
        }
        b == close && depth == 0
    })
}

/// Returns the beginning of a text, up to the distance in which the end of a mark is searched.
fn near(text: &str) -> &str {
    &text[..text.floor_char_boundary(REACH)]
}

fn run(text: &str, mark: char) -> usize {
    text.bytes().take_while(|b| char::from(*b) == mark).count()
}

/// Returns true if the text between angle brackets is an HTML tag and not a type parameter.
fn is_tag(inner: &str) -> bool {
    let name = inner.trim_start_matches('/');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let rest = &name[end..];
    TAGS.contains(&&name[..end]) && (rest.is_empty() || rest.starts_with([' ', '/', '\n']))
}

/// HTML entities and their characters.
const ENTITIES: &[(&str, char)] = &[
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&nbsp;", ' '),
    ("&ensp;", ' '),
    ("&emsp;", ' '),
    ("&mdash;", '—'),
    ("&ndash;", '–'),
];

const TAGS: &[&str] = &[
    "a",
    "b",
    "blockquote",
    "br",
    "center",
    "code",
    "details",
    "div",
    "em",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "input",
    "kbd",
    "label",
    "li",
    "ol",
    "p",
    "picture",
    "pre",
    "s",
    "section",
    "small",
    "source",
    "span",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "u",
    "ul",
    "video",
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn marks_go_and_words_stay() {
        for (marked, said) in [
            ("**bold** and *thin* and ***both***", "bold and thin and both"),
            ("__bold__ and _thin_", "bold and thin"),
            ("see __init__.py", "see init.py"),
            ("**Term**: what it *is*", "Term: what it is"),
            ("see [the docs](https://a.example/x_(y)) now", "see the docs now"),
            ("see [the **docs**][ref] now", "see the docs now"),
            ("![badge](https://a.example/b.svg) words", "words"),
            ("[![badge](x)](y) words", "words"),
            ("run `make *all*` twice", "run make *all* twice"),
            ("a ``b ` c`` d", "a b ` c d"),
            ("<https://a.example> and <b>this</b><br>that", "https://a.example and this that"),
            ("~~old~~ new", "old new"),
            ("1\\. not \\*thin\\*", "1. not *thin*"),
            ("a   b\t c\n  d", "a b c\nd"),
            ("footnote[^1] here", "footnote here"),
            ("the [time zone database] of [std::time]", "the time zone database of std::time"),
            ("this &amp; that&nbsp;too", "this & that too"),
        ] {
            assert_eq!(plain(marked), said, "{marked}");
        }
    }

    #[test]
    fn what_is_no_mark_stays() {
        for text in [
            "snake_case_name and _private stay",
            "2 * 3 * 4",
            "Vec<String> and HashMap<K, V>",
            "files like *.rs or src/*.toml",
            "[x] and [1] and a[0]",
            "an open **bold",
            "a < b and b > c",
            "~ five",
        ] {
            assert_eq!(plain(text), text);
        }
    }

    #[test]
    fn a_long_text_of_marks_takes_linear_time() {
        for piece in ["*", "**a", "[", "![", "`", "<", "_a", "[a](", "~~", "\\", "<b", "``a"] {
            let text = piece.repeat(60_000 / piece.len());
            assert!(plain(&text).len() <= text.len(), "{piece}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics_and_nothing_is_made_up(text in "([\\[\\]()*_~`!<>\\\\ab \n/]|\\PC){0,80}") {
            let said = plain(&text);
            prop_assert!(said.len() <= text.len());
            prop_assert!(!said.contains("  ") && !said.chars().any(|c| c.is_control() && c != '\n'));
        }
    }
}
