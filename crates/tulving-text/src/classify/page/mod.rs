//! A document as its reader sees it: headings, paragraphs, list items, code and tables, in order and without markup.
//!
//! The other rules of [`classify`](super) use this form. It supports the Markdown that these rules need, and treats
//! plain text as Markdown with little markup. In reStructuredText, AsciiDoc and Org, the headings are recognized.
//! A conversation becomes a page whose paragraphs are the turns.

mod lines;

use std::ops::Range;

use self::lines::PageParser;
use super::form::{DocumentForm, extension, file_name};
use super::talk;
use crate::front::{FrontMatterField, FrontMatterValue};
use crate::markdown::inline;
use crate::sentence;
use crate::vocabulary::ContentType;

/// Maximum number of bytes that are read from the beginning of a document: about thirty printed pages. More text is not
/// needed to classify a document, and the limit bounds the time for long content.
pub(super) const LOOKED_AT: usize = 96 << 10;

/// Maximum number of sentences that are read. Only lists of single words have more sentences within [`LOOKED_AT`].
const SENTENCES: usize = 3_000;

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PageBlock<'a> {
    /// A heading with its level. The outermost level is 1.
    Heading { level: usize, text: String },
    /// Running text. Wrapped lines are joined, and other lines stay separate.
    Paragraph(String),
    /// An item of a list.
    Item { mark: ListItemMark, text: String },
    /// Code, with the language that its fence names.
    Code { language: &'a str, text: &'a str },
    /// A table, row by row. The first row is the header.
    Table(Vec<Vec<String>>),
}

/// The mark at the beginning of a list item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListItemMark {
    Bullet,
    Number,
    Box,
}

/// The markup language of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MarkupLanguage {
    Markdown,
    Rst,
    AsciiDoc,
    Org,
}

impl MarkupLanguage {
    fn of(name: Option<&str>) -> Self {
        let lower = name.map(|name| file_name(name).to_lowercase()).unwrap_or_default();
        match extension(&lower) {
            Some("rst" | "rest") => Self::Rst,
            Some("adoc" | "asciidoc") => Self::AsciiDoc,
            Some("org") => Self::Org,
            _ => Self::Markdown,
        }
    }
}

/// The part of a document that is read.
#[derive(Debug, Default)]
pub(super) struct ParsedPage<'a> {
    /// The front matter fields above the text.
    pub(super) front: Vec<FrontMatterField>,
    /// The blocks, in order.
    pub(super) blocks: Vec<PageBlock<'a>>,
}

impl<'a> ParsedPage<'a> {
    /// Reads the beginning of a document. For code, data, links and files, the page is empty.
    pub(super) fn of(content: &'a str, form: &DocumentForm, name: Option<&str>) -> Self {
        match form.content_type {
            ContentType::Text | ContentType::Markdown => {
                PageParser::new(MarkupLanguage::of(name)).read(beginning(content))
            }
            ContentType::Chat | ContentType::Transcript => Self::of_talk(content),
            ContentType::Code | ContentType::Structured | ContentType::Link | ContentType::File => {
                Self::default()
            }
        }
    }

    fn of_talk(content: &'a str) -> Self {
        let title = beginning(content).lines().next().and_then(|line| line.strip_prefix("# "));
        let heading = title.filter(|_| talk::is_archive(beginning(content)));
        let heading = heading.map(|title| PageBlock::Heading { level: 1, text: inline::plain(title) });
        let turns = talk::turns(content, LOOKED_AT).into_iter();
        let turns = turns.map(|turn| PageBlock::Paragraph(inline::plain(&turn.text)));
        Self { front: Vec::new(), blocks: heading.into_iter().chain(turns).collect() }
    }

    /// Returns the value of a front matter field. The entries of a list are separated by spaces.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        let field = self.front.iter().find(|field| field.name.to_lowercase() == name)?;
        match &field.value {
            FrontMatterValue::One(text) => Some(text.trim().to_owned()),
            FrontMatterValue::Many(texts) => Some(texts.join(" ")),
            FrontMatterValue::Other => None,
        }
    }

    /// Returns the headings, with their levels.
    pub(super) fn headings(&self) -> impl Iterator<Item = (usize, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            PageBlock::Heading { level, text } => Some((*level, text.as_str())),
            _ => None,
        })
    }

    /// Returns the running text and the list items, each with its index among the blocks.
    pub(super) fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        self.blocks.iter().enumerate().filter_map(|(at, block)| match block {
            PageBlock::Paragraph(text) | PageBlock::Item { text, .. } => Some((at, text.as_str())),
            _ => None,
        })
    }

    /// Returns the sentences of the prose, in order, without copyright notices.
    pub(super) fn sentences(&self) -> impl Iterator<Item = &str> {
        self.prose()
            .filter(|(_, text)| !is_notice(text))
            .flat_map(|(_, text)| {
                let cut = move |range: Range<usize>| &text[range];
                sentence::sentences(text).into_iter().map(cut)
            })
            .take(SENTENCES)
    }
}

/// Returns the part of a document that is read.
fn beginning(content: &str) -> &str {
    &content[..content.floor_char_boundary(LOOKED_AT)]
}

/// Returns true if a heading is a version: `1.2.3 (2024-05-06)`, `Version 2.0`, `[Unreleased]`.
pub(super) fn is_version(heading: &str) -> bool {
    let lower = heading.to_lowercase();
    let bare = lower.trim_start_matches(['[', 'v', ' ']);
    let bare = ["version ", "release "].iter().find_map(|word| lower.strip_prefix(word)).unwrap_or(bare);
    let number = bare.split([' ', ']', '(', '-']).next().unwrap_or_default();
    let dotted = number.contains('.') && number.starts_with(|c: char| c.is_ascii_digit());
    lower.starts_with("[unreleased")
        || lower == "unreleased"
        || (dotted && number.split('.').all(|part| !part.is_empty()))
}

/// Returns true if a paragraph is a copyright or license notice, as at the top of files.
fn is_notice(text: &str) -> bool {
    let head: String = text.chars().take(80).collect::<String>().to_lowercase();
    [
        "copyright ",
        "copyright:",
        "(c) ",
        "© ",
        "spdx-license-identifier",
        "licensed under",
        "all rights reserved",
    ]
    .iter()
    .any(|notice| head.starts_with(notice))
}

#[cfg(test)]
mod tests;
