//! Detects the form of a text that has no name. If the form is not certain, the text is plain.
//!
//! A memory usually has one or two sentences, so every rule needs more than one sign. A text without signs is plain
//! text.

use super::language::{self, ProgrammingLanguage};
use super::valid::{StructuredFormat, fault, is_yaml_of_parts};
use crate::markdown::{self, fence};

/// Maximum number of lines that are read.
const LINES: usize = 400;

/// Maximum length of an address, in bytes.
const URL_BYTES: usize = 8_192;

/// Returns true if a text consists of exactly one web address.
pub(super) fn is_link(text: &str) -> bool {
    let text = text.trim();
    let scheme = ["https://", "http://"]
        .iter()
        .find(|scheme| text.get(..scheme.len()).is_some_and(|head| head.eq_ignore_ascii_case(scheme)));
    let Some(rest) = scheme.map(|scheme| &text[scheme.len()..]) else { return false };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or(host);
    text.len() <= URL_BYTES
        && host.contains(char::is_alphanumeric)
        && host.chars().all(|c| c.is_alphanumeric() || ".-_:[]%".contains(c))
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"'))
}

/// Returns the format of a text that is a JSON object or list, a sequence of JSON lines, or a structured TOML or YAML
/// file.
pub(super) fn format(text: &str) -> Option<StructuredFormat> {
    let text = text.trim();
    if text.starts_with(['{', '[']) {
        let valid = |format| fault(format, text).is_none().then_some(format);
        if let Some(format) = valid(StructuredFormat::Json) {
            // Prose uses "[1]" and "[x]" as citations and checkboxes. A list of data contains a quote, a comma or an
            // object.
            return text.contains(['"', ',', '{']).then_some(format);
        }
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        if text.starts_with('{')
            && lines.clone().count() > 1
            && lines.clone().all(|line| line.starts_with('{'))
        {
            return valid(StructuredFormat::JsonLines);
        }
    }
    if is_like_toml(text) && fault(StructuredFormat::Toml, text).is_none() {
        return Some(StructuredFormat::Toml);
    }
    (is_like_yaml(text) && is_yaml_of_parts(text)).then_some(StructuredFormat::Yaml)
}

/// Returns true if a text has a table in brackets and a key with a value.
fn is_like_toml(text: &str) -> bool {
    let (mut table, mut keys) = (false, 0);
    for line in text.lines().map(str::trim).take(LINES) {
        table |= line.starts_with('[') && line.ends_with(']');
        keys += usize::from(line.split_once('=').is_some_and(|(key, _)| is_key(key.trim())));
    }
    table && keys > 0
}

/// Returns true if a text has three or more lower-case keys, at least one key with content below it, and no line of
/// prose.
fn is_like_yaml(text: &str) -> bool {
    let (mut keys, mut below) = (0, text.starts_with("---\n") && !text.contains("\n---\n"));
    for line in text.lines().take(LINES) {
        let bare = line.trim();
        if bare.is_empty() || bare.starts_with('#') || bare == "---" {
            continue;
        }
        let entry = bare.strip_prefix("- ").unwrap_or(bare);
        let key = entry.split_once(':').filter(|(key, value)| {
            is_key(key)
                && !key.starts_with(char::is_uppercase)
                && (value.is_empty() || value.starts_with(' '))
        });
        match key {
            Some((_, value)) => {
                keys += 1;
                below |= value.trim().is_empty();
            }
            None if line.starts_with([' ', '-', '\t']) => {}
            None => return false,
        }
    }
    keys >= 3 && below
}

fn is_key(key: &str) -> bool {
    !key.is_empty()
        && key.len() <= 64
        && key.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '"' | '$'))
}

/// Returns true if a text is Markdown: a heading, fenced code or a table, or two other signs of it.
pub(super) fn is_markdown(text: &str) -> bool {
    let mut signs = 0;
    let mut fences = 0;
    let mut before = "";
    for line in text.lines().take(LINES) {
        let bare = line.trim();
        fences += usize::from(fence::begins(line));
        if fences % 2 == 0 {
            let heading = markdown::heading(line).is_some_and(|(_, text)| !text.is_empty());
            let table = before.contains('|') && bare.contains("---") && markdown::is_table_rule(bare);
            if heading || table {
                return true;
            }
            let link = bare.find("](").is_some_and(|at| bare[..at].contains('[') && bare[at..].contains(')'));
            let bold = bare.matches("**").count() >= 2;
            signs += usize::from(link) + usize::from(bold) + usize::from(bare.starts_with("- [ ] "));
        }
        before = bare;
    }
    signs >= 2 || (fences >= 2 && fences % 2 == 0)
}

/// Returns the programming language of a text that is certainly code.
pub(super) fn code(text: &str) -> Option<&'static ProgrammingLanguage> {
    let start = text.trim_start();
    if let Some(language) = language::by_its_first_line(start) {
        return Some(language);
    }
    let opens = |mark: &str| start.get(..mark.len()).is_some_and(|head| head.eq_ignore_ascii_case(mark));
    for (mark, name) in [
        ("<!doctype html", "html"),
        ("<html", "html"),
        ("<svg ", "svg"),
        ("<?xml", "xml"),
        ("<?php", "php"),
        ("diff --git ", "diff"),
    ] {
        if opens(mark) {
            return language::named(name);
        }
    }
    by_its_lines(text)
}

/// Returns the language that has enough matching lines, and more matching lines than any other language, in a text with
/// almost no prose.
fn by_its_lines(text: &str) -> Option<&'static ProgrammingLanguage> {
    let (mut lines, mut prose) = (0_usize, 0_usize);
    let mut counts = [0_usize; TELLTALES.len()];
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()).take(LINES) {
        lines += 1;
        prose += usize::from(is_prose(line));
        for (count, (_, tells)) in counts.iter_mut().zip(TELLTALES) {
            *count += usize::from(tells(line));
        }
    }
    let best = counts.iter().copied().max()?;
    let sure = best >= 3 && lines >= 4 && best * 6 >= lines && prose * 8 <= lines;
    let mut winners = counts.iter().zip(TELLTALES).filter(|(count, _)| **count == best);
    let (_, (name, _)) = winners.next().filter(|_| sure)?;
    winners.next().is_none().then(|| language::named(name)).flatten()
}

/// Returns true if a line is prose and not code or a comment.
fn is_prose(line: &str) -> bool {
    let comment = ["//", "#", "/*", "*", "--", ";;", "\"\"\""].iter().any(|mark| line.starts_with(mark));
    let signs = line.contains(['{', '}', ';', '=', '<', '>', '(', ')', '[', ']']);
    !comment && !signs && line.split_whitespace().count() >= 6
}

type LinePredicate = fn(&str) -> bool;

/// Patterns that almost never occur outside of code of the given language.
const TELLTALES: &[(&str, LinePredicate)] = &[
    ("rust", |line| {
        begins(
            line,
            &[
                "fn ",
                "pub fn ",
                "pub(crate) fn ",
                "impl ",
                "impl<",
                "#[",
                "let mut ",
                "pub struct ",
                "pub enum ",
            ],
        ) || (begins(line, &["use ", "mod ", "pub use "]) && line.ends_with(';') && !line.contains('\''))
            || line.contains("&mut ")
            || line.contains(".unwrap()")
    }),
    ("python", |line| {
        (begins(line, &["def ", "class ", "async def ", "elif ", "for ", "with ", "except ", "if __name__"])
            && line.ends_with(':'))
            || matches!(line, "try:" | "else:" | "except:" | "finally:")
            || (line.starts_with("from ") && line.contains(" import "))
            || (line.starts_with("import ") && !line.ends_with(';') && !line.contains(['"', '\'']))
            || begins(line, &["self.", "return self.", "@property", "@staticmethod"])
    }),
    ("typescript", |line| {
        begins(line, &["export interface ", "export type ", "interface ", "export enum ", "declare "])
            || (begins(
                line,
                &[
                    "const ",
                    "let ",
                    "export const ",
                    "function ",
                    "export function ",
                    "private ",
                    "readonly ",
                ],
            ) && [": string", ": number", ": boolean", ": void", "Promise<"]
                .iter()
                .any(|word| line.contains(word)))
    }),
    ("javascript", |line| {
        begins(
            line,
            &[
                "const ",
                "function ",
                "export default ",
                "module.exports",
                "async function ",
                "export function ",
            ],
        ) && !line.contains(": string")
            || (line.starts_with("import ") && line.contains(" from ") && line.contains(['"', '\'']))
            || line.contains("=> {")
            || line.contains("require(")
            || line.contains("console.log(")
    }),
    ("go", |line| {
        (begins(line, &["package ", "func ", "import ("]) && !line.ends_with(';'))
            || (line.contains(" := ") && !line.ends_with(';'))
            || line == "if err != nil {"
    }),
    ("java", |line| {
        (begins(
            line,
            &[
                "public class ",
                "public static ",
                "private final ",
                "public interface ",
                "@Override",
                "private static ",
            ],
        )) || (begins(line, &["import java", "package ", "import org.", "import com."])
            && line.ends_with(';'))
            || line.contains("System.out.")
    }),
    ("csharp", |line| {
        (begins(line, &["using ", "namespace "])
            && (line.ends_with(';') || line.ends_with('{'))
            && !line.contains("std"))
            || line.contains("{ get; ")
            || line.contains("Console.Write")
    }),
    ("cpp", |line| {
        line.contains("std::") && !line.contains("use ")
            || begins(line, &["template <", "template<", "using namespace "])
    }),
    ("c", |line| {
        begins(
            line,
            &[
                "#include <",
                "#include \"",
                "#define ",
                "#ifdef ",
                "#ifndef ",
                "#endif",
                "int main(",
                "typedef struct",
                "static int ",
            ],
        ) || line.contains("printf(\"")
    }),
    ("sql", |line| {
        // The words must be in capitals, because in lower case they are common words.
        let clauses = [
            "SELECT ",
            "INSERT INTO ",
            "ALTER TABLE ",
            "FROM ",
            "WHERE ",
            "ORDER BY ",
            "GROUP BY ",
            "LEFT JOIN ",
        ];
        begins(line, &clauses)
            || begins(line, &["CREATE TABLE ", "CREATE INDEX ", "PRIMARY KEY"])
            || begins(line, &["create table ", "insert into ", "alter table "])
    }),
    ("ruby", |line| {
        (begins(line, &["def ", "class ", "module ", "attr_reader ", "require "])
            && !line.ends_with([':', ';', '{']))
            || line == "end"
            || line.ends_with(" do")
    }),
    ("css", |line| {
        line.ends_with(';')
            && line.split_once(": ").is_some_and(|(property, _)| {
                property.bytes().all(|b| b.is_ascii_lowercase() || b == b'-') && !property.is_empty()
            })
    }),
];

fn begins(line: &str, words: &[&str]) -> bool {
    words.iter().any(|word| line.starts_with(word))
}
