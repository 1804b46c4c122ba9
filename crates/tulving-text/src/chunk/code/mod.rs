//! The outline of code and data. Items such as functions and types are the headings. Lines are the smallest parts.
//!
//! The items come from the language's [`syntax`]. If the language has no grammar, or parsing fails, the items come from
//! the indentation ([`indent`]). A section always begins at the start of a line.

pub(super) mod grammar;
mod guard;
pub(super) mod indent;
pub(super) mod lines;
mod syntax;

use std::ops::Range;

use self::indent::HeadingStyle;
use self::lines::{CodeLine, CodeLineRole};
use super::TINY;
use super::form::CodeOutlineMethod;
use super::outline::{Outline, OutlineBlock, OutlineSection};
use super::pieces::{TextLanguage, WINDOW, pieces};
use crate::markdown::LEVELS;

/// A named part of code: a function, a type, an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CodeItem {
    /// The item's lines, including the comments and attributes above the item.
    pub(super) lines: Range<usize>,
    /// The item's name, such as `fn open`.
    pub(super) heading: String,
}

/// The lines and items of code. Each item comes before the items inside it.
#[derive(Debug, Default)]
pub(super) struct CodeStructure {
    pub(super) lines: Vec<CodeLine>,
    pub(super) items: Vec<CodeItem>,
}

impl CodeStructure {
    /// Reads content by its language's syntax. Falls back to indentation if the syntax yields no items.
    pub(super) fn read(content: &str, reading: CodeOutlineMethod) -> Self {
        match reading {
            CodeOutlineMethod::Indented(headers) => indent::read(content, headers),
            CodeOutlineMethod::Parsed(grammar) => syntax::read(content, grammar)
                .filter(|code| !code.items.is_empty())
                .unwrap_or_else(|| indent::read(content, HeadingStyle::Words)),
        }
    }

    /// Returns the sections of the code. An item that fits into the window is one section. A larger item is split into
    /// the items inside it.
    pub(super) fn outline(&self, content: &str, language: TextLanguage) -> Outline {
        let mut sums = vec![0_u32];
        for line in &self.lines {
            let count = pieces(&content[line.start..line.end], language);
            sums.push(sums.last().copied().unwrap_or(0).saturating_add(count));
        }
        let mut builder = CodeOutlineBuilder {
            content,
            code: self,
            language,
            sums,
            outline: Outline::default(),
            open: Vec::new(),
            at: 0,
        };
        for (at, item) in self.items.iter().enumerate() {
            builder.take_in(at, item);
        }
        builder.close(self.lines.len());
        builder.push_rest(self.lines.len(), 0);
        let mut outline = builder.outline;
        outline.cover(content.len());
        outline
    }
}

/// An item that is split into smaller sections.
struct OpenCodeItem {
    heading: usize,
    /// The item's lines.
    lines: Range<usize>,
    /// Number of pieces of the item's heading and of the headings above it.
    above: u32,
}

struct CodeOutlineBuilder<'a> {
    content: &'a str,
    code: &'a CodeStructure,
    language: TextLanguage,
    /// For each line, the number of pieces in all lines before it.
    sums: Vec<u32>,
    outline: Outline,
    /// Open items, outermost first.
    open: Vec<OpenCodeItem>,
    /// The first line that does not belong to a section yet.
    at: usize,
}

impl CodeOutlineBuilder<'_> {
    fn take_in(&mut self, index: usize, item: &CodeItem) {
        // Skip items inside an item that is not split, and items that would split another item.
        if item.lines.start < self.at {
            return;
        }
        self.close(item.lines.start);
        let (start, end) = (item.lines.start, item.lines.end);
        if self.open.last().is_some_and(|open| open.lines.start == start || open.lines.end < end) {
            return;
        }
        self.push_rest(item.lines.start, self.count(&item.lines));
        let above = self.open.last().map_or(0, |open| open.above) + pieces(&item.heading, self.language);
        let parent = self.open.last().map(|open| open.heading);
        let level = (self.open.len() + 1).min(LEVELS);
        let heading = self.outline.push_heading(&item.heading, parent);
        let within = self.code.items.get(index + 1).is_some_and(|next| next.lines.start < item.lines.end);
        if within && level < LEVELS && self.count(&item.lines).saturating_add(above) > WINDOW {
            self.at = item.lines.start;
            self.open.push(OpenCodeItem { heading, lines: item.lines.clone(), above });
        } else {
            self.push(item.lines.clone(), Some(heading), level, false);
        }
    }

    /// Closes the items that end before a line.
    fn close(&mut self, line: usize) {
        while let Some(end) = self.open.last().map(|open| open.lines.end).filter(|end| *end <= line) {
            self.push_rest(end, 0);
            self.open.pop();
        }
    }

    /// Returns the number of pieces in the given lines.
    fn count(&self, lines: &Range<usize>) -> u32 {
        self.sums[lines.end].saturating_sub(self.sums[lines.start])
    }

    /// Adds the lines before `line` that belong to no item other than the open one. `next` is the number of pieces in
    /// the item that begins at `line`.
    fn push_rest(&mut self, line: usize, next: u32) {
        let rest = self.at..line;
        if rest.is_empty() {
            return;
        }
        let text = |line: &CodeLine| line.text(self.content);
        let heading = self.open.last().map(|open| open.heading);
        let begins = self.open.last().is_some_and(|open| open.lines.start == rest.start);
        let level = (self.open.len() + usize::from(!begins)).min(LEVELS);
        let lines = &self.code.lines[rest.clone()];
        let closing = |line: &CodeLine| {
            line.sort == CodeLineRole::Closing && text(line).chars().count() <= CLOSING_CHARS
        };
        if !begins && lines.iter().all(closing) && !self.outline.sections.is_empty() {
            // These lines only close the section above, so they belong to it.
            self.at = line;
            return;
        }
        let described = lines
            .iter()
            .filter(|line| line.sort != CodeLineRole::Lead && !lines::is_signs(text(line)))
            .count();
        let own = self.count(&rest);
        let small = own <= TINY || own.saturating_add(next) <= WINDOW;
        self.push(rest, heading, level, begins && described <= 1 && small);
    }

    fn push(&mut self, lines: Range<usize>, heading: Option<usize>, level: usize, bare: bool) {
        let start = self.code.lines[lines.start].start;
        let end = self.code.lines[lines.end - 1].end;
        let blocks = if bare { Vec::new() } else { vec![OutlineBlock { range: start..end, code: false }] };
        self.outline.sections.push(OutlineSection { range: start..end, heading, level, blocks });
        self.at = lines.end;
    }
}

/// Maximum length of a line that only closes a block, in characters.
const CLOSING_CHARS: usize = 12;

#[cfg(test)]
mod tests;
