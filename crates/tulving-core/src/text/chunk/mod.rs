//! Cuts a content into the parts that are embedded and indexed.
//!
//! A chunk fits the embedding model's window; see [`pieces::WINDOW`]. Headings come first: sections are kept apart, and
//! small neighbours put together. A section too long for the window is cut between its paragraphs, its sentences, and
//! only then its words, into parts of similar size. A fenced code block is never cut, however long.
//! Code has items such as functions and types for headings, and is cut between its lines; so is data, below its keys.
//! Every character but white space is in exactly one chunk.

mod code;
mod cut;
mod form;
mod outline;
mod pieces;

use std::ops::Range;

use self::code::Code;
pub use self::form::Form;
use self::form::Reading;
use self::outline::{LEVELS, Outline};
use self::pieces::{Language, WINDOW, pieces};
use super::sentence::trimmed;
use crate::memory::{Chunk, Text};

/// Fewest pieces that are left for the text, however long the headings above it are.
const LEAST: u32 = WINDOW / 2;

/// Code of so few pieces, such as a constant or an import, is no chunk of its own where it fits beside another.
const TINY: u32 = WINDOW / 8;

/// The chunks of a text.
pub fn of(text: &Text) -> Vec<Chunk> {
    split(&text.content, Form::of(text))
}

/// The chunks of a content, in order, covering it. A content that fits into the window is one chunk.
pub fn split(content: &str, form: Form<'_>) -> Vec<Chunk> {
    let language = Language::of(content);
    match form.reading(content) {
        None => split_prose(content, language),
        Some(reading) => split_code(content, reading, language),
    }
}

fn split_prose(content: &str, language: Language) -> Vec<Chunk> {
    let outline = Outline::of(content);
    let parts = parts(content, &outline, language);
    if parts.iter().fold(0_u32, |sum, part| sum.saturating_add(part.pieces)) <= WINDOW {
        let first = outline.sections.iter().find(|section| !section.blocks.is_empty());
        let heading = first.or(outline.sections.last()).and_then(|section| section.heading);
        return vec![whole(content, outline.path(heading))];
    }
    chunks(content, &outline, groups(parts, &outline, language, Packing::Prose), |group| {
        let sections = &outline.sections[group.sections.clone()];
        let blocks: Vec<_> = sections.iter().flat_map(|section| section.blocks.iter().cloned()).collect();
        cut::cuts(content, group.range.clone(), &blocks, language, group.window)
    })
}

fn split_code(content: &str, reading: Reading, language: Language) -> Vec<Chunk> {
    if pieces(content, language) <= WINDOW {
        return vec![whole(content, Vec::new())];
    }
    let code = Code::read(content, reading);
    let outline = code.outline(content, language);
    let parts = parts(content, &outline, language);
    chunks(content, &outline, groups(parts, &outline, language, Packing::Code), |group| {
        let line = |at: usize| code.lines.partition_point(|line| line.start < at);
        let lines = &code.lines[line(group.range.start)..line(group.range.end)];
        cut::line_cuts(content, lines, language, group.window)
    })
}

fn whole(content: &str, heading_path: Vec<String>) -> Chunk {
    Chunk { start: 0, end: content.len(), heading_path, embedding: None }
}

/// The chunks of groups, those cut that are too long, at the places that `cuts` says.
fn chunks(
    content: &str,
    outline: &Outline,
    groups: Vec<Group>,
    cuts: impl Fn(&Group) -> Vec<usize>,
) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for group in groups {
        let path = outline.path(group.heading);
        let mut start = group.range.start;
        let mut ends = if group.pieces > group.window { cuts(&group) } else { Vec::new() };
        ends.push(group.range.end);
        for end in ends {
            if let Some(range) = trimmed(content, start..end) {
                let (start, end) = (range.start, range.end);
                chunks.push(Chunk { start, end, heading_path: path.clone(), embedding: None });
            }
            start = end;
        }
    }
    chunks
}

/// The headings of a chunk that do not stand in its own text, outermost first.
///
/// The heading that a chunk begins with is part of its text already, and counts once.
pub(crate) fn headings_above<'a>(body: &'a str, heading_path: &'a [String]) -> impl Iterator<Item = &'a str> {
    let opening = || {
        body.lines().take(2 * LEVELS).map(|line| line.trim_matches(|c: char| c == '#' || c.is_whitespace()))
    };
    heading_path
        .iter()
        .map(String::as_str)
        .filter(move |heading| !opening().any(|line| line.starts_with(*heading)))
}

/// Sections that are in one chunk, or one section that is too long for it.
struct Group {
    /// Which sections.
    sections: Range<usize>,
    range: Range<usize>,
    /// The heading above its first text; in code, above the most.
    heading: Option<usize>,
    pieces: u32,
    /// Pieces of the section whose heading it has.
    most: u32,
    /// How many fit below its headings.
    window: u32,
    /// Pieces of the largest section at each level. Of the first section these are its own, because those below it come in
    /// one by one or not at all; a later one counts with all those below it, as it did when it was let in.
    largest: [u32; LEVELS + 1],
}

fn groups(parts: Vec<Part>, outline: &Outline, language: Language, packing: Packing) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for part in parts {
        let above: u32 = outline.path(part.heading).iter().map(|text| pieces(text, language)).sum();
        let window = WINDOW.saturating_sub(above).max(LEAST);
        match groups.last_mut() {
            Some(group) if packing.joins(&part, group, window) => group.take_in(&part, window, packing),
            _ => {
                let mut largest = [0; LEVELS + 1];
                largest[part.level] = part.pieces;
                groups.push(Group {
                    sections: part.sections,
                    range: part.range,
                    heading: part.heading,
                    pieces: part.pieces,
                    most: part.pieces,
                    window,
                    largest,
                });
            }
        }
    }
    groups
}

impl Group {
    fn take_in(&mut self, part: &Part, window: u32, packing: Packing) {
        if packing == Packing::Code && part.pieces > self.most {
            (self.heading, self.most) = (part.heading, part.pieces);
            self.window = self.window.min(window);
        }
        self.sections.end = part.sections.end;
        self.range.end = part.range.end;
        self.pieces = self.pieces.saturating_add(part.pieces);
        let largest = &mut self.largest[part.level];
        *largest = part.subtree.max(*largest);
    }
}

/// How sections are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Packing {
    Prose,
    Code,
}

impl Packing {
    /// Whether a part may be in one chunk with the sections before it.
    fn joins(self, part: &Part, group: &Group, window: u32) -> bool {
        match self {
            Self::Prose => part.joins(group),
            Self::Code => {
                let window = window.min(group.window);
                let fits = group.pieces.saturating_add(part.pieces) <= window;
                let tiny = group.pieces <= TINY || part.subtree <= TINY;
                // What is cut anyway takes in what is tiny.
                let cut = group.pieces > window || part.pieces > window;
                (fits && (tiny || part.joins(group))) || (tiny && cut)
            }
        }
    }
}

/// A section with text, and the bare headings just above it.
struct Part {
    sections: Range<usize>,
    range: Range<usize>,
    heading: Option<usize>,
    /// The level of its first heading, and of the one above its text.
    enters: usize,
    level: usize,
    pieces: u32,
    /// Its pieces and those of all sections below its first heading.
    subtree: u32,
}

impl Part {
    /// Whether it may be in one chunk with the sections before it.
    ///
    /// It must fit. Beside a section of the same or a lower rank it must be small, and so must that one. A section
    /// below one in the group comes in as it is, unless it would be torn from its own subsections.
    fn joins(&self, group: &Group) -> bool {
        if group.pieces.saturating_add(self.pieces) > group.window {
            return false;
        }
        let small = if self.enters <= 2 { WINDOW / 3 } else { WINDOW / 2 };
        let beside = group.largest[self.enters..].iter().copied().max().unwrap_or(0);
        if beside > 0 {
            return self.subtree <= small && beside <= small && group.pieces + self.subtree <= group.window;
        }
        group.pieces + self.subtree <= group.window || group.pieces <= WINDOW / 3
    }
}

fn parts(content: &str, outline: &Outline, language: Language) -> Vec<Part> {
    let sections = &outline.sections;
    let own: Vec<u32> =
        sections.iter().map(|section| pieces(&content[section.range.clone()], language)).collect();
    let subtrees = subtrees(outline, &own);
    let mut parts: Vec<Part> = Vec::new();
    let mut first = 0;
    for (at, section) in sections.iter().enumerate() {
        let bare = section.blocks.is_empty();
        if bare && at + 1 < sections.len() {
            continue;
        }
        let range = sections[first].range.start..section.range.end;
        let total = own[first..=at].iter().fold(0_u32, |sum, one| sum.saturating_add(*one));
        match parts.last_mut() {
            // Headings at the end, with nothing below them.
            Some(last) if bare => {
                last.sections.end = at + 1;
                last.range.end = range.end;
                last.pieces = last.pieces.saturating_add(total);
            }
            _ => parts.push(Part {
                sections: first..at + 1,
                range,
                heading: section.heading,
                enters: sections[first..=at].iter().map(|section| section.level).min().unwrap_or(0),
                level: section.level,
                pieces: total,
                subtree: subtrees[first..=at].iter().copied().max().unwrap_or(total),
            }),
        }
        first = at + 1;
    }
    parts
}

/// The pieces of each section with all those below its heading.
fn subtrees(outline: &Outline, own: &[u32]) -> Vec<u32> {
    let mut subtrees = own.to_vec();
    // Sections that are still open, from the outermost in.
    let mut open: Vec<usize> = Vec::new();
    let level = |at: usize| outline.sections[at].level;
    let close = |open: &mut Vec<usize>, subtrees: &mut Vec<u32>| {
        if let Some(done) = open.pop()
            && let Some(above) = open.last()
        {
            subtrees[*above] = subtrees[*above].saturating_add(subtrees[done]);
        }
    };
    for at in 0..own.len() {
        while open.last().is_some_and(|last| level(*last) >= level(at)) {
            close(&mut open, &mut subtrees);
        }
        open.push(at);
    }
    while !open.is_empty() {
        close(&mut open, &mut subtrees);
    }
    subtrees
}

#[cfg(test)]
mod tests;
