//! Code and data without a grammar: what stands where is told by indentation and the first words of lines.
//!
//! A line with deeper ones below it opens a block, which goes on to the next line that is not deeper and opens
//! something of its own. Where the line looks like a heading, the block is an item. Linear, whatever the content is.

use super::lines::{self, Line, Sort, first_word, is_signs};
use super::{Code, Item};

/// Which lines are headings of what stands below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::text::chunk) enum Headers {
    /// Those with a word such as `class` or `def`.
    Words,
    /// Keys in quotes.
    Json,
    /// Keys with a colon.
    Yaml,
    /// Names in brackets, whatever their indentation.
    Tables,
}

/// Words that name something of its own, in one language or another.
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

/// Words that may stand before those.
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

/// Most words that are looked at for one that names something.
const LOOKED_AT: usize = 6;

impl Headers {
    /// What the headings of data are, where nobody said what it is written in.
    pub(in crate::text::chunk) fn of_data(content: &str) -> Self {
        let first = content.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
        match first {
            Some(line) if table(line).is_some() => Self::Tables,
            Some(line) if line.starts_with(['{', '[']) => Self::Json,
            _ => Self::Yaml,
        }
    }

    /// What a line says as a heading.
    fn heading(self, line: &str) -> Option<&str> {
        match self {
            Self::Words => named(line),
            Self::Json => quoted_key(line),
            Self::Yaml => key(line),
            Self::Tables => table(line),
        }
    }

    /// How far a line is indented: the entries of a list in YAML may stand as far out as the key above them.
    fn indent(self, content: &str, line: &Line) -> usize {
        let entry = self == Self::Yaml && line.text(content).starts_with("- ");
        line.indent + usize::from(entry)
    }
}

/// The lines and items of a content, by its indentation.
pub(super) fn read(content: &str, headers: Headers) -> Code {
    let lines = lines::lines(content);
    let below = below(content, &lines, headers);
    let mut items: Vec<Item> = Vec::new();
    // Blocks that go on, from the outermost in: how far each is indented, and which item it is.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut with_leads = 0;
    for (at, line) in lines.iter().enumerate() {
        if !lines::is_led(&lines, at) {
            with_leads = at;
        }
        if line.sort == Sort::Lead && headers != Headers::Tables {
            continue;
        }
        let indent = headers.indent(content, line);
        let heading = headers.heading(line.text(content));
        let ends = |of: usize| match headers {
            Headers::Tables => heading.is_some(),
            _ => of > indent || (of == indent && line.sort != Sort::Closing),
        };
        let next = if line.sort == Sort::Closing { at } else { with_leads };
        while let Some((_, item)) = open.pop_if(|(of, _)| ends(*of)) {
            items[item].lines.end = next;
        }
        let opens = headers == Headers::Tables || below[at] > indent;
        if let Some(heading) = heading.filter(|_| opens) {
            open.push((indent, items.len()));
            items.push(Item { lines: next..lines.len(), heading: heading.to_owned() });
        }
    }
    Code { lines, items }
}

/// For each line, how far the first line below it is indented that has words in it and does not go on with it.
fn below(content: &str, lines: &[Line], headers: Headers) -> Vec<usize> {
    let mut below = vec![0; lines.len()];
    let mut indent = 0;
    for (at, line) in lines.iter().enumerate().rev() {
        below[at] = indent;
        if line.sort != Sort::Lead && !is_signs(line.text(content)) {
            indent = headers.indent(content, line);
        }
    }
    below
}

/// The word that names something, with the name: `fun open` of `private fun open(path: Path): Store {`.
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

    /// Each item with its first and last line.
    fn items(content: &str, headers: Headers) -> Vec<(String, &str, &str)> {
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
            items(kotlin, Headers::Words),
            [
                item("class Store", "/** Keeps. */", "}"),
                item("fun open", "private suspend fun open(a: Int): Int {", "}")
            ]
        );
        let elixir =
            "defmodule Shop.Cart do\n  @doc false\n  def add(cart, item) do\n    [item | cart]\n  end\nend\n";
        assert_eq!(
            items(elixir, Headers::Words),
            [
                item("defmodule Shop.Cart", "defmodule Shop.Cart do", "end"),
                item("def add", "@doc false", "end")
            ]
        );
        let allman = "public sealed class A\n{\n    int b;\n}\n";
        assert_eq!(items(allman, Headers::Words), [item("class A", "public sealed class A", "}")]);
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
            items(json, Headers::Json),
            [item("deps", "\"deps\": {", "},"), item("b", "\"b\": [", "]")]
        );
        let yaml = "# of all\na: 1\non:\n- push\n- x: 2\n  y: 3\njobs:\n  test:\n    runs: 'x: y'\n";
        assert_eq!(
            items(yaml, Headers::Yaml),
            [
                item("on", "on:", "y: 3"),
                item("x", "- x: 2", "y: 3"),
                item("jobs", "jobs:", "runs: 'x: y'"),
                item("test", "test:", "runs: 'x: y'"),
            ]
        );
        let toml = "a = 1\n# of b\n[b.c]\nd = [\n  1,\n]\n[[e]]\nf = 2";
        assert_eq!(items(toml, Headers::Tables), [item("b.c", "# of b", "]"), item("e", "[[e]]", "f = 2")]);
    }

    #[test]
    fn what_data_is_written_in_is_told_by_its_beginning() {
        assert_eq!(Headers::of_data("# x\n[a]\nb = 1"), Headers::Tables);
        assert_eq!(Headers::of_data("[\n1]"), Headers::Json);
        assert_eq!(Headers::of_data("{"), Headers::Json);
        assert_eq!(Headers::of_data("a: 1"), Headers::Yaml);
    }
}
