//! Outlines code and data without a grammar, by indentation and the first words of lines.
//!
//! A line with more deeply indented lines below it opens a block. The block ends before the next line that is indented
//! no deeper and that itself opens a block. If the first line of the block looks like a heading, the block is an item.
//! The time is linear in the length of the content.

use super::lines::{self, CodeLine, CodeLineRole, first_word, is_signs};
use super::{CodeItem, CodeStructure};

/// The style of the lines that count as headings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chunk) enum HeadingStyle {
    /// Lines with a word such as `class` or `def`.
    Words,
    /// Keys in quotes.
    Json,
    /// Keys with a colon.
    Yaml,
    /// Names in brackets, at any indentation.
    Tables,
}

/// Words that introduce an item, in any language.
const ITEMS: [&str; 38] = [
    "actor",
    "class",
    "contract",
    "data",
    "def",
    "defmacro",
    "defmodule",
    "defp",
    "enum",
    "extension",
    "fn",
    "fun",
    "func",
    "function",
    "impl",
    "instance",
    "interface",
    "macro",
    "mod",
    "module",
    "namespace",
    "object",
    "package",
    "proc",
    "procedure",
    "protocol",
    "record",
    "resource",
    "section",
    "service",
    "struct",
    "sub",
    "table",
    "task",
    "test",
    "trait",
    "type",
    "union",
];

/// Words that may come before the words in `ITEMS`.
const MODIFIERS: [&str; 34] = [
    "abstract",
    "async",
    "case",
    "companion",
    "const",
    "create",
    "crate",
    "declare",
    "default",
    "export",
    "extern",
    "final",
    "global",
    "inline",
    "internal",
    "local",
    "mutating",
    "open",
    "or",
    "override",
    "partial",
    "private",
    "protected",
    "pub",
    "public",
    "readonly",
    "replace",
    "sealed",
    "static",
    "suspend",
    "temporary",
    "unsafe",
    "value",
    "virtual",
];

/// Maximum number of words at the start of a line in which a word of `ITEMS` is searched.
const LOOKED_AT: usize = 6;

impl HeadingStyle {
    /// Guesses the headings of data in an unknown format.
    pub(in crate::chunk) fn of_data(content: &str) -> Self {
        let first = content.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        match first {
            Some(line) if table(line).is_some() => Self::Tables,
            Some(line) if line.starts_with(['{', '[']) => Self::Json,
            _ => Self::Yaml,
        }
    }

    /// Returns the heading in a line, if the line has one.
    fn heading(self, line: &str) -> Option<&str> {
        match self {
            Self::Words => named(line),
            Self::Json => quoted_key(line),
            Self::Yaml => key(line),
            Self::Tables => table(line),
        }
    }

    /// Returns the indentation of a line. In YAML, list entries may be indented no deeper than the key above them.
    fn indent(self, content: &str, line: &CodeLine) -> usize {
        let entry = self == Self::Yaml && line.text(content).starts_with("- ");
        line.indent + usize::from(entry)
    }
}

/// Returns the lines and items of the content, derived from indentation.
pub(super) fn read(content: &str, headers: HeadingStyle) -> CodeStructure {
    let lines = lines::lines(content);
    let below = below(content, &lines, headers);
    let mut items: Vec<CodeItem> = Vec::new();
    // Open blocks, outermost first: the indentation and the item of each.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut with_leads = 0;
    for (at, line) in lines.iter().enumerate() {
        if !lines::is_led(&lines, at) {
            with_leads = at;
        }
        if line.sort == CodeLineRole::Lead && headers != HeadingStyle::Tables {
            continue;
        }
        let indent = headers.indent(content, line);
        let heading = headers.heading(line.text(content));
        let ends = |of: usize| match headers {
            HeadingStyle::Tables => heading.is_some(),
            _ => of > indent || (of == indent && line.sort != CodeLineRole::Closing),
        };
        let next = if line.sort == CodeLineRole::Closing { at } else { with_leads };
        while let Some((_, item)) = open.pop_if(|(of, _)| ends(*of)) {
            items[item].lines.end = next;
        }
        let opens = headers == HeadingStyle::Tables || below[at] > indent;
        if let Some(heading) = heading.filter(|_| opens) {
            open.push((indent, items.len()));
            items.push(CodeItem { lines: next..lines.len(), heading: heading.to_owned() });
        }
    }
    CodeStructure { lines, items }
}

/// Returns, for each line, the indentation of the next line that contains words and is not a comment or an attribute.
fn below(content: &str, lines: &[CodeLine], headers: HeadingStyle) -> Vec<usize> {
    let mut below = vec![0; lines.len()];
    let mut indent = 0;
    for (at, line) in lines.iter().enumerate().rev() {
        below[at] = indent;
        if line.sort != CodeLineRole::Lead && !is_signs(line.text(content)) {
            indent = headers.indent(content, line);
        }
    }
    below
}

/// Returns the word that introduces an item, with the name that follows: `fun open` for `private fun open(path: Path):
/// Store {`.
fn named(line: &str) -> Option<&str> {
    let mut rest = line;
    for _ in 0..LOOKED_AT {
        let word = first_word(rest);
        if ITEMS.contains(&word) {
            let after = &rest[word.len()..];
            let end = after.find(['(', '{', '=', ';', ':', '<']).unwrap_or(after.len());
            let heading = rest[..word.len() + end].trim_end();
            let heading = heading.strip_suffix(" do").unwrap_or(heading);
            return (after.starts_with(char::is_whitespace) && heading.len() > word.len()).then_some(heading);
        }
        if !MODIFIERS.contains(&word) {
            return None;
        }
        rest = rest[word.len()..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')'));
    }
    None
}

fn quoted_key(line: &str) -> Option<&str> {
    let (key, rest) = line.strip_prefix('"')?.split_once('"')?;
    (rest.trim_start().starts_with(':') && !key.trim().is_empty()).then_some(key)
}

fn key(line: &str) -> Option<&str> {
    let line = line.trim_start_matches("- ");
    let at = line.find(':').filter(|at| line[at + 1..].is_empty() || line[at + 1..].starts_with(' '))?;
    let key = line[..at].trim().trim_matches(['"', '\'']);
    (!key.is_empty() && !key.contains(['{', '[', '#'])).then_some(key)
}

fn table(line: &str) -> Option<&str> {
    let line = line.split(" #").next().unwrap_or(line).trim_end();
    let name = line.strip_prefix('[')?.strip_suffix(']')?;
    let name = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name).trim();
    let plain = |c: char| c.is_alphanumeric() || "_-./: \"'".contains(c);
    (name.contains(char::is_alphabetic) && name.chars().all(plain)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns each item with its first and last line.
    fn items(content: &str, headers: HeadingStyle) -> Vec<(String, &str, &str)> {
        let code = read(content, headers);
        let line = |at: usize| code.lines[at].text(content);
        let found = code.items.iter();
        found.map(|item| (item.heading.clone(), line(item.lines.start), line(item.lines.end - 1))).collect()
    }

    fn item<'a>(heading: &str, first: &'a str, last: &'a str) -> (String, &'a str, &'a str) {
        (heading.to_owned(), first, last)
    }

    #[test]
    fn words_and_indentation_tell_items() {
        let kotlin = "package a.b\n\n/** Keeps. */\n@Single\nclass Store(\n    val path: Path,\n) {\n    private suspend fun open(a: Int): Int {\n        if (a > 1) {\n            b()\n        } else {\n            c()\n        }\n    }\n}\n\nval x = 1\n";
        assert_eq!(
            items(kotlin, HeadingStyle::Words),
            [
                item("class Store", "/** Keeps. */", "}"),
                item("fun open", "private suspend fun open(a: Int): Int {", "}")
            ]
        );
        let elixir =
            "defmodule Shop.Cart do\n  @doc false\n  def add(cart, item) do\n    [item | cart]\n  end\nend\n";
        assert_eq!(
            items(elixir, HeadingStyle::Words),
            [
                item("defmodule Shop.Cart", "defmodule Shop.Cart do", "end"),
                item("def add", "@doc false", "end")
            ]
        );
        let allman = "public sealed class A\n{\n    int b;\n}\n";
        assert_eq!(items(allman, HeadingStyle::Words), [item("class A", "public sealed class A", "}")]);
    }

    #[test]
    fn what_only_looks_like_an_item_is_none() {
        for line in ["typed = 1", "class", "type: x", "functional(", "x = class Foo", "return function b"] {
            assert_eq!(named(line), None, "{line}");
        }
        assert_eq!(named("pub(crate) async fn open<T>(a: T) {"), Some("fn open"));
        assert_eq!(named("CREATE TABLE"), None);
        assert_eq!(named("create or replace function sum(a int)"), Some("function sum"));
    }

    #[test]
    fn keys_of_data_are_headings_of_what_is_below_them() {
        let json = "{\n  \"a\": 1,\n  \"deps\": {\n    \"b\": [\n      2\n    ]\n  },\n  \"c\": 3\n}";
        assert_eq!(
            items(json, HeadingStyle::Json),
            [item("deps", "\"deps\": {", "},"), item("b", "\"b\": [", "]")]
        );
        let yaml = "# of all\na: 1\non:\n- push\n- x: 2\n  y: 3\njobs:\n  test:\n    runs: 'x: y'\n";
        assert_eq!(
            items(yaml, HeadingStyle::Yaml),
            [
                item("on", "on:", "y: 3"),
                item("x", "- x: 2", "y: 3"),
                item("jobs", "jobs:", "runs: 'x: y'"),
                item("test", "test:", "runs: 'x: y'"),
            ]
        );
        let toml = "a = 1\n# of b\n[b.c]\nd = [\n  1,\n]\n[[e]]\nf = 2";
        assert_eq!(
            items(toml, HeadingStyle::Tables),
            [item("b.c", "# of b", "]"), item("e", "[[e]]", "f = 2")]
        );
    }

    #[test]
    fn what_data_is_written_in_is_told_by_its_beginning() {
        assert_eq!(HeadingStyle::of_data("# x\n[a]\nb = 1"), HeadingStyle::Tables);
        assert_eq!(HeadingStyle::of_data("[\n1]"), HeadingStyle::Json);
        assert_eq!(HeadingStyle::of_data("{"), HeadingStyle::Json);
        assert_eq!(HeadingStyle::of_data("a: 1"), HeadingStyle::Yaml);
    }
}
