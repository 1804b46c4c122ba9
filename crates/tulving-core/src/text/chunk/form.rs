//! What form a content has, as far as cutting it cares.

use super::code::grammar::Grammar;
use super::code::indent::Headers;
use crate::memory::Text;
use crate::vocabulary::ContentType;

/// What a content is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form<'a> {
    /// What form it has.
    pub content_type: ContentType,
    /// The language that code or data is written in, such as `rust` or `yaml`.
    pub language: Option<&'a str>,
}

impl<'a> Form<'a> {
    /// Text for people, with or without Markdown in it.
    pub const PROSE: Self = Self { content_type: ContentType::Text, language: None };

    /// The form of a text.
    pub fn of(text: &'a Text) -> Self {
        Self { content_type: text.content_type, language: text.language.as_deref() }
    }

    /// How a content of this form is read as code; `None` where it is prose.
    pub(super) fn reading(self, content: &str) -> Option<Reading> {
        let language = self.language.map(str::trim).unwrap_or_default().to_ascii_lowercase();
        let data = match self.content_type {
            ContentType::Code => false,
            ContentType::Structured => true,
            _ => return None,
        };
        Some(match language.as_str() {
            "markdown" | "md" | "mdx" | "text" | "plaintext" => return None,
            "json" | "jsonc" | "json5" => Reading::Indented(Headers::Json),
            "yaml" | "yml" => Reading::Indented(Headers::Yaml),
            "toml" | "ini" => Reading::Indented(Headers::Tables),
            _ if data => Reading::Indented(Headers::of_data(content)),
            word => Grammar::named(word).map_or(Reading::Indented(Headers::Words), Reading::Parsed),
        })
    }
}

/// How code and data are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// By the syntax of the language.
    Parsed(Grammar),
    /// By indentation and blank lines, below what looks like a heading there.
    Indented(Headers),
}
