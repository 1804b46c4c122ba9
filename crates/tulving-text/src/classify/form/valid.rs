//! Checks that a text is valid JSON, YAML or TOML, and finds the error.
//!
//! No tree is built from the text, no alias is resolved and no function recurses, so depth and references cost no more
//! than the length of the text. The exception is TOML, which is parsed into a tree by a parser that limits the depth.

use std::fmt;

use saphyr_parser::{Event, Parser};
use serde::de::IgnoredAny;

use crate::classify::lexicon::listed;
use crate::preview;

/// Maximum number of characters of a parser's own message.
const WHY_CHARS: usize = 120;

/// A format of structured data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StructuredFormat {
    /// One JSON value.
    Json,
    /// One JSON value on each line.
    JsonLines,
    /// YAML with any number of documents.
    Yaml,
    /// TOML.
    Toml,
}

impl StructuredFormat {
    /// All formats.
    pub(super) const ALL: [Self; 4] = [Self::Json, Self::JsonLines, Self::Yaml, Self::Toml];

    /// Returns the format of files with this lower-case extension.
    pub(super) fn by_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| listed(format.extensions(), extension))
    }

    /// Returns the format with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.as_str().eq_ignore_ascii_case(name))
    }

    /// Returns the file extensions of the format.
    pub(super) const fn extensions(self) -> &'static str {
        match self {
            Self::Json => "json geojson ipynb webmanifest har jsonld avsc code-workspace",
            Self::JsonLines => "jsonl ndjson",
            Self::Yaml => "yaml yml cff",
            Self::Toml => "toml",
        }
    }

    /// Returns the name of the format in filters and tags.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonLines => "jsonl",
            Self::Yaml => "yaml",
            Self::Toml => "toml",
        }
    }

    /// Returns the media type of the format.
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::JsonLines => "application/x-ndjson",
            Self::Yaml => "application/yaml",
            Self::Toml => "application/toml",
        }
    }
}

impl fmt::Display for StructuredFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Json => "JSON",
            Self::JsonLines => "JSON Lines",
            Self::Yaml => "YAML",
            Self::Toml => "TOML",
        })
    }
}

/// The position of the first error, counted from 1, and the error message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FormatSyntaxError {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) why: String,
}

/// Returns the first error in a text of this format, or `None` if the text is valid.
pub(super) fn fault(format: StructuredFormat, text: &str) -> Option<FormatSyntaxError> {
    match format {
        StructuredFormat::Json => json(text),
        StructuredFormat::JsonLines => json_lines(text),
        StructuredFormat::Yaml => yaml(text),
        StructuredFormat::Toml => toml(text),
    }
}

fn json(text: &str) -> Option<FormatSyntaxError> {
    let error = serde_json::from_str::<IgnoredAny>(text).err()?;
    let described = error.to_string();
    let why = described.rsplit_once(" at line ").map_or(described.as_str(), |(why, _)| why);
    Some(FormatSyntaxError { line: error.line().max(1), column: error.column().max(1), why: short(why) })
}

fn json_lines(text: &str) -> Option<FormatSyntaxError> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .find_map(|(at, line)| json(line).map(|fault| FormatSyntaxError { line: at + 1, ..fault }))
}

fn yaml(text: &str) -> Option<FormatSyntaxError> {
    let error = Parser::new_from_str(text).find_map(Result::err)?;
    let mark = error.marker();
    Some(FormatSyntaxError { line: mark.line().max(1), column: mark.col() + 1, why: short(error.info()) })
}

fn toml(text: &str) -> Option<FormatSyntaxError> {
    let error = toml::from_str::<IgnoredAny>(text).err()?;
    // The error for a table that is nested too deep has no position.
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let last = before.rsplit('\n').next().unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    Some(FormatSyntaxError { line, column: last.chars().count() + 1, why: short(error.message()) })
}

fn short(why: &str) -> String {
    preview::cut(why, WHY_CHARS)
}

/// Returns true if a text is a YAML mapping or list, and not a single long scalar. Any prose is a valid scalar.
pub(super) fn is_yaml_of_parts(text: &str) -> bool {
    let mut parts = false;
    for event in Parser::new_from_str(text) {
        match event {
            Ok((Event::MappingStart(..) | Event::SequenceStart(..), _)) => parts = true,
            Ok((Event::Scalar(..) | Event::Alias(_), _)) if !parts => return false,
            Ok(_) => {}
            Err(_) => return false,
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn place(format: StructuredFormat, text: &str) -> Option<(usize, usize)> {
        fault(format, text).map(|fault| (fault.line, fault.column))
    }

    #[test]
    fn what_is_valid_has_no_fault() {
        assert_eq!(fault(StructuredFormat::Json, " {\"a\": [1, 2.5e3, null, \"\\u00e9\"]}\n"), None);
        assert_eq!(fault(StructuredFormat::JsonLines, "{\"a\":1}\n\n[2]\n\"x\"\n"), None);
        assert_eq!(fault(StructuredFormat::Yaml, "a: 1\nb:\n  - x\n  - &n y\n  - *n\n---\nz\n"), None);
        assert_eq!(fault(StructuredFormat::Toml, "a = 1\n[b]\nc = [1, 2]\n"), None);
    }

    #[test]
    fn a_fault_has_its_line_and_column() {
        assert_eq!(place(StructuredFormat::Json, "{\n  \"a\": 1,\n}"), Some((3, 1)));
        assert_eq!(place(StructuredFormat::Json, "{} {}"), Some((1, 4)));
        assert_eq!(place(StructuredFormat::JsonLines, "{}\n{]\n{}"), Some((2, 2)));
        assert_eq!(place(StructuredFormat::Yaml, "a: [1, 2\nb: 3\n"), Some((2, 2)));
        assert_eq!(place(StructuredFormat::Yaml, "a: *nowhere\n"), Some((1, 4)));
        assert_eq!(place(StructuredFormat::Toml, "a = 1\nb = é\n"), Some((2, 5)));
        assert_eq!(place(StructuredFormat::Toml, "a = 1\na = 2\n").map(|(line, _)| line), Some(2));
        let why = fault(StructuredFormat::Json, "{\"a\" 1}").expect("no JSON").why;
        assert_eq!(why, "expected `:`");
    }

    #[test]
    fn depth_and_aliases_cost_no_more_than_length() {
        let n = 200_000;
        let mut bomb = String::from("a0: &a0 [x, x]\n");
        for at in 1..100 {
            let before = at - 1;
            bomb.push_str(&format!("a{at}: &a{at} [*a{before}, *a{before}]\n"));
        }
        let started = Instant::now();
        assert_eq!(fault(StructuredFormat::Json, &format!("{}{}", "[".repeat(n), "]".repeat(n))), None);
        assert!(fault(StructuredFormat::Json, &"[".repeat(n)).is_some());
        assert!(fault(StructuredFormat::Json, &"{\"a\":".repeat(n)).is_some());
        assert!(fault(StructuredFormat::Yaml, &"[".repeat(n)).is_some());
        assert!(fault(StructuredFormat::Yaml, &"{a: ".repeat(n)).is_some());
        assert_eq!(fault(StructuredFormat::Yaml, &format!("{}x", "- ".repeat(n))), None);
        assert_eq!(fault(StructuredFormat::Yaml, &bomb), None);
        assert!(fault(StructuredFormat::Toml, &format!("a = {}", "[".repeat(n))).is_some());
        assert!(fault(StructuredFormat::Toml, &format!("a = {}", "{a = ".repeat(n))).is_some());
        assert!(fault(StructuredFormat::Toml, &format!("{}a = 1", "a.".repeat(n))).is_some());
        assert!(fault(StructuredFormat::Toml, &format!("[{}a]", "a.".repeat(n))).is_some());
        assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    }

    #[test]
    fn prose_is_yaml_but_not_of_parts() {
        assert!(!is_yaml_of_parts("just some words\nover two lines"));
        assert!(is_yaml_of_parts("a: 1\nb: 2"));
        assert!(is_yaml_of_parts("- a\n- b"));
        assert!(!is_yaml_of_parts("a: [1") && !is_yaml_of_parts(""));
    }

    proptest! {
        #[test]
        fn no_text_panics_and_every_fault_has_a_place(text in "([\\[\\]{}:,\"'&*!|>%@`#=a1 \n\t-]|\\PC){0,80}") {
            for format in StructuredFormat::ALL {
                if let Some(fault) = fault(format, &text) {
                    prop_assert!(fault.line >= 1 && fault.column >= 1 && !fault.why.is_empty());
                    prop_assert!(fault.why.chars().count() <= WHY_CHARS);
                }
            }
            let _ = is_yaml_of_parts(&text);
        }
    }
}
