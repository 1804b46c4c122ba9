//! Removes inline markup: emphasis, links and tags.

use std::ops::Range;

use pulldown_cmark::{BrokenLink, Event, LinkType, Options, Parser, Tag, TagEnd};

/// The text in front of a line, so that the parser reads the line as running text and not as a heading or an item.
const BEFORE: &str = ". ";

/// The white space that stands for a line break while the lines of a text are parsed as one.
const BREAK: char = '\u{b}';

/// Returns a text without its markup. Line breaks are preserved, and each other run of white space becomes one space.
pub(crate) fn plain(text: &str) -> String {
    let flat = text.chars().filter_map(|c| match c {
        '\n' => Some(BREAK),
        c if c.is_whitespace() => Some(' '),
        c => (!c.is_control()).then_some(c),
    });
    let line: String = BEFORE.chars().chain(flat).collect();
    let target = |link: BrokenLink<'_>| names_target(&link).then(|| ("".into(), "".into()));
    let options = Options::ENABLE_STRIKETHROUGH | Options::ENABLE_OLD_FOOTNOTES;
    let parser = Parser::new_with_broken_link_callback(&line, options, Some(target));
    let mut plain = PlainText(String::with_capacity(text.len()));
    let mut pictures = 0_usize;
    for (event, range) in parser.into_offset_iter() {
        match &event {
            Event::Start(Tag::Image { .. }) => pictures += 1,
            Event::End(TagEnd::Image) => pictures = pictures.saturating_sub(1),
            _ if pictures > 0 => {}
            Event::Text(text) if range.start == 0 => plain.push(text.get(BEFORE.len()..).unwrap_or_default()),
            Event::InlineHtml(tag) if tag.starts_with("<br") && is_tag(tag) => plain.push(" "),
            Event::InlineHtml(tag) if is_tag(tag) => {}
            Event::Text(text) | Event::Code(text) | Event::InlineHtml(text) => plain.push(text),
            Event::Start(Tag::Emphasis) | Event::End(TagEnd::Emphasis) => {
                plain.push(literal(&line, range, 1));
            }
            Event::Start(Tag::Strong | Tag::Strikethrough)
            | Event::End(TagEnd::Strong | TagEnd::Strikethrough) => plain.push(literal(&line, range, 2)),
            _ => {}
        }
    }
    plain.0.truncate(plain.0.trim_end().len());
    plain.0
}

struct PlainText(String);

impl PlainText {
    fn push(&mut self, text: &str) {
        for c in text.chars() {
            if c == BREAK {
                self.0.truncate(self.0.trim_end_matches(' ').len());
                self.0.push('\n');
            } else if c.is_whitespace() {
                if !self.0.is_empty() && !self.0.ends_with([' ', '\n']) {
                    self.0.push(' ');
                }
            } else if !c.is_control() {
                self.0.push(c);
            }
        }
    }
}

/// Returns true for a link that only names its target. Brackets around several words or around code are such a link.
/// `[x]` and `[1]` are not links.
fn names_target(link: &BrokenLink<'_>) -> bool {
    let name = &link.reference;
    link.link_type != LinkType::Shortcut
        || (name.contains([' ', '`']) && !name.contains([BREAK, '[']))
        || name.contains("::")
}

/// Returns the marks of an emphasis that is meant literally, as in `2*3*4`, `~5~` and `*.rs or src/*.toml`. Returns an
/// empty text for any other emphasis.
fn literal(line: &str, range: Range<usize>, count: usize) -> &str {
    let (before, marked) = (&line[..range.start], &line[range]);
    let count = if marked.starts_with('~') && !marked.starts_with("~~") { 1 } else { count };
    let is_literal = marked[count..].starts_with(['.', '/', ','])
        || (count == 1 && (marked.starts_with('~') || before.ends_with(char::is_alphanumeric)));
    if is_literal { &marked[..count] } else { "" }
}

/// Returns true for an HTML tag, and false for a type parameter.
fn is_tag(tag: &str) -> bool {
    let inner = tag.trim_matches(['<', '>']);
    let name = inner.trim_start_matches('/');
    let end = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
    let rest = &name[end..];
    TAGS.contains(&&name[..end]) && (rest.is_empty() || rest.starts_with([' ', '/', BREAK]))
}

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
            ("6&times; as `a`, `b *c` and *d*", "6× as a, b *c and d"),
            ("1. a\n# **b\nc**\n---\n    d", "1. a\n# b\nc\n---\nd"),
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
            "globs like **/*.rs or **/*.toml",
            "2*3*4 and ~5~ or ~6",
            "[ ] open",
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
