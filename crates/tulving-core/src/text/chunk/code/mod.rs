//! The outline of code and data: items such as functions and types are its headings, lines its smallest parts.
//!
//! What the items are comes from the [`syntax`] of a language or, where there is no grammar for it or the content is
//! not what it should be, from its [`indent`]ation. Sections begin where a line does.

pub(super) mod grammar;
mod guard;
pub(super) mod indent;
pub(super) mod lines;
mod syntax;

use std::ops::Range;

use self::indent::Headers;
use self::lines::{Line, Sort};
use super::TINY;
use super::form::Reading;
use super::outline::{Block, LEVELS, Outline, Section};
use super::pieces::{Language, WINDOW, pieces};

/// Something in code that has a name: a function, a type, an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Its lines, with the comments and attributes above it.
    pub(super) lines: Range<usize>,
    /// What it is called, such as `fn open`.
    pub(super) heading: String,
}

/// The lines of code and the items in it, each before those within it.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) lines: Vec<Line>,
    pub(super) items: Vec<Item>,
}

impl Code {
    /// Reads a content by the syntax of its language, where there is one and it says anything of it.
    pub(super) fn read(content: &str, reading: Reading) -> Self {
        match reading {
            Reading::Indented(headers) => indent::read(content, headers),
            Reading::Parsed(grammar) => syntax::read(content, grammar)
                .filter(|code| !code.items.is_empty())
                .unwrap_or_else(|| indent::read(content, Headers::Words)),
        }
    }

    /// Its sections. An item that fits into the window is one; a larger one is opened up into what is within it.
    pub(super) fn outline(&self, content: &str, language: Language) -> Outline {
        let mut sums = vec![0_u32];
        for line in &self.lines {
            let count = pieces(&content[line.start..line.end], language);
            sums.push(sums.last().copied().unwrap_or(0).saturating_add(count));
        }
        let mut builder = Builder {
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

/// An item that was opened up.
struct Open {
    heading: usize,
    /// Its lines.
    lines: Range<usize>,
    /// Pieces of its heading and of those above it.
    above: u32,
}

struct Builder<'a> {
    content: &'a str,
    code: &'a Code,
    language: Language,
    /// The pieces of all lines before each.
    sums: Vec<u32>,
    outline: Outline,
    /// Items that go on, from the outermost in.
    open: Vec<Open>,
    /// The first line that is in no section yet.
    at: usize,
}

impl Builder<'_> {
    fn take_in(&mut self, index: usize, item: &Item) {
        // What is within an item that stays whole is no section, nor is what would tear another one apart.
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
            self.open.push(Open { heading, lines: item.lines.clone(), above });
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

    /// The pieces of lines.
    fn count(&self, lines: &Range<usize>) -> u32 {
        self.sums[lines.end].saturating_sub(self.sums[lines.start])
    }

    /// What stands before a line and is in no item but the open one; `next` are the pieces of the item at that line.
    fn push_rest(&mut self, line: usize, next: u32) {
        let rest = self.at..line;
        if rest.is_empty() {
            return;
        }
        let text = |line: &Line| line.text(self.content);
        let heading = self.open.last().map(|open| open.heading);
        let begins = self.open.last().is_some_and(|open| open.lines.start == rest.start);
        let level = (self.open.len() + usize::from(!begins)).min(LEVELS);
        let lines = &self.code.lines[rest.clone()];
        let closing = |line: &Line| line.sort == Sort::Closing && text(line).chars().count() <= CLOSING_CHARS;
        if !begins && lines.iter().all(closing) && !self.outline.sections.is_empty() {
            // It closes what is above.
            self.at = line;
            return;
        }
        let told =
            lines.iter().filter(|line| line.sort != Sort::Lead && !lines::is_signs(text(line))).count();
        let own = self.count(&rest);
        let small = own <= TINY || own.saturating_add(next) <= WINDOW;
        self.push(rest, heading, level, begins && told <= 1 && small);
    }

    fn push(&mut self, lines: Range<usize>, heading: Option<usize>, level: usize, bare: bool) {
        let start = self.code.lines[lines.start].start;
        let end = self.code.lines[lines.end - 1].end;
        let blocks = if bare { Vec::new() } else { vec![Block { range: start..end, code: false }] };
        self.outline.sections.push(Section { range: start..end, heading, level, blocks });
        self.at = lines.end;
    }
}

/// Longest line that only closes something.
const CLOSING_CHARS: usize = 12;

#[cfg(test)]
mod tests;
