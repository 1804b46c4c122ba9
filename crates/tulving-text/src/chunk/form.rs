//! The properties of content that determine how it is cut.

use super::code::grammar::Grammar;
use super::code::indent::HeadingStyle;
use crate::vocabulary::ContentType;

/// The form of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentForm<'a> {
    /// The type of the content.
    pub content_type: ContentType,
    /// The language that code or data is written in, such as `rust` or `yaml`.
    pub language: Option<&'a str>,
}

impl ContentForm<'_> {
    /// Text for people, with or without Markdown.
    pub const PROSE: Self = Self { content_type: ContentType::Text, language: None };

    /// Returns the method for reading content of this form as code, or `None` if the content is prose.
    pub(super) fn reading(self, content: &str) -> Option<CodeOutlineMethod> {
        let language = self.language.map(str::trim).unwrap_or_default().to_ascii_lowercase();
        let data = match self.content_type {
            ContentType::Code => false,
            ContentType::Structured => true,
            _ => return None,
        };
        Some(match language.as_str() {
            "markdown" | "md" | "mdx" | "text" | "plaintext" => return None,
            "json" | "jsonc" | "json5" => CodeOutlineMethod::Indented(HeadingStyle::Json),
            "yaml" | "yml" => CodeOutlineMethod::Indented(HeadingStyle::Yaml),
            "toml" | "ini" => CodeOutlineMethod::Indented(HeadingStyle::Tables),
            _ if data => CodeOutlineMethod::Indented(HeadingStyle::of_data(content)),
            word => Grammar::named(word)
                .map_or(CodeOutlineMethod::Indented(HeadingStyle::Words), CodeOutlineMethod::Parsed),
        })
    }
}

/// The method for reading code and data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CodeOutlineMethod {
    /// Parse by the syntax of the language.
    Parsed(Grammar),
    /// Use indentation and blank lines. Lines that look like headings begin the items.
    Indented(HeadingStyle),
}
