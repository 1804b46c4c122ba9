//! A document as its reader sees it: headings, paragraphs, items of lists, code, tables, in order and without marks.
//!
//! What the other rules of [`classify`](super) look at. Markdown is understood as far as it matters here, and plain text
//! as Markdown that uses little of it; reStructuredText, AsciiDoc and Org have their headings known. A conversation is a
//! page whose paragraphs are what was said.

mod inline;
mod lines;

use std::ops::Range;

use self::lines::Reader;
use super::form::{Form, extension, file_name};
use super::talk;
use crate::text::sentence;
use crate::vocabulary::ContentType;

/// Most bytes of a document that are looked at, from its beginning: about thirty printed pages. Nobody would read more of it
/// to say what it is, and the longest content takes no longer than this much of it.
pub(super) const LOOKED_AT: usize = 96 << 10;

/// Most sentences that are looked at. Only lists of single words have more within [`LOOKED_AT`].
const SENTENCES: usize = 3_000;

/// A part of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block<'a> {
    /// A heading, 1 for the outermost.
    Heading { level: usize, text: String },
    /// Running text. Lines that were only wrapped are put together, others are kept apart.
    Paragraph(String),
    /// An item of a list.
    Item { mark: Mark, text: String },
    /// Code, with the language that its fence names.
    Code { language: &'a str, text: &'a str },
    /// A table, row by row, its header first.
    Table(Vec<Vec<String>>),
}

/// What an item of a list begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Bullet,
    Number,
    Box,
}

/// How a document is marked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Markup {
    Markdown,
    Rst,
    AsciiDoc,
    Org,
}

impl Markup {
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

/// A document, as far as it is looked at.
#[derive(Debug, Default)]
pub(super) struct Page<'a> {
    /// The fields above the text, their names in small letters.
    pub(super) front: Vec<(String, String)>,
    /// The parts, in order.
    pub(super) blocks: Vec<Block<'a>>,
}

impl<'a> Page<'a> {
    /// The beginning of a document. Code, data, links and files have nothing to read in this way.
    pub(super) fn of(content: &'a str, form: &Form, name: Option<&str>) -> Self {
        match form.content_type {
            ContentType::Text | ContentType::Markdown => {
                Reader::new(Markup::of(name)).read(beginning(content))
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
        let heading = heading.map(|title| Block::Heading { level: 1, text: inline::plain(title) });
        let turns = talk::turns(content, LOOKED_AT).into_iter();
        let turns = turns.map(|turn| Block::Paragraph(inline::plain(&turn.text)));
        Self { front: Vec::new(), blocks: heading.into_iter().chain(turns).collect() }
    }

    /// A field above the text.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        self.front.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The headings, with their levels.
    pub(super) fn headings(&self) -> impl Iterator<Item = (usize, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Heading { level, text } => Some((*level, text.as_str())),
            _ => None,
        })
    }

    /// Running text and items, each with its place among the parts.
    pub(super) fn prose(&self) -> impl Iterator<Item = (usize, &str)> {
        self.blocks.iter().enumerate().filter_map(|(at, block)| match block {
            Block::Paragraph(text) | Block::Item { text, .. } => Some((at, text.as_str())),
            _ => None,
        })
    }

    /// The sentences of the prose, in order, without notices of rights.
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

/// As much of a document as is looked at.
fn beginning(content: &str) -> &str {
    &content[..content.floor_char_boundary(LOOKED_AT)]
}

/// Whether a heading is that of a version: `1.2.3 (2024-05-06)`, `Version 2.0`, `[Unreleased]`.
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

/// Whether a paragraph says who has which rights, as the heads of files do.
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
