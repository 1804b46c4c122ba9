//! Cuts a content into the parts that are embedded and indexed.
//!
//! A chunk fits the embedding model's window; see [`pieces::WINDOW`]. Headings come first: sections are kept apart, and
//! small neighbours put together. A section too long for the window is cut between its paragraphs, its sentences, and
//! only then its words, into parts of similar size. A fenced code block is never cut, however long.
//! Every character but white space is in exactly one chunk.

mod cut;
mod outline;
mod pieces;

use std::ops::Range;

use self::outline::{LEVELS, Outline};
use self::pieces::{Language, WINDOW, pieces};
use super::sentence::trimmed;
use crate::memory::Chunk;

/// Fewest pieces that are left for the text, however long the headings above it are.
const LEAST: u32 = WINDOW / 2;

/// The chunks of a content, in order, covering it. A content that fits into the window is one chunk.
pub fn split(content: &str) -> Vec<Chunk> {
    let language = Language::of(content);
    let outline = Outline::of(content);
    let parts = parts(content, &outline, language);
    if parts.iter().fold(0_u32, |sum, part| sum.saturating_add(part.pieces)) <= WINDOW {
        let first = outline.sections.iter().find(|section| !section.blocks.is_empty());
        let heading = first.or(outline.sections.last()).and_then(|section| section.heading);
        let heading_path = outline.path(heading);
        return vec![Chunk { start: 0, end: content.len(), heading_path, embedding: None }];
    }
    let mut chunks: Vec<Chunk> = Vec::new();
    for group in groups(parts, &outline, language) {
        let path = outline.path(group.heading);
        let mut start = group.range.start;
        let sections = &outline.sections[group.sections.clone()];
        let mut ends = if group.pieces > group.window {
            let blocks: Vec<_> = sections.iter().flat_map(|section| section.blocks.iter().cloned()).collect();
            cut::cuts(content, group.range.clone(), &blocks, language, group.window)
        } else {
            Vec::new()
        };
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
pub fn headings_above<'a>(body: &'a str, heading_path: &'a [String]) -> impl Iterator<Item = &'a str> {
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
    /// The heading above its first text.
    heading: Option<usize>,
    pieces: u32,
    /// How many fit below its headings.
    window: u32,
    /// Pieces of the largest section at each level.
    largest: [u32; LEVELS + 1],
}

fn groups(parts: Vec<Part>, outline: &Outline, language: Language) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for part in parts {
        match groups.last_mut() {
            Some(group) if part.joins(group) => {
                group.sections.end = part.sections.end;
                group.range.end = part.range.end;
                group.pieces += part.pieces;
                let largest = &mut group.largest[part.level];
                *largest = part.subtree.max(*largest);
            }
            _ => {
                let above: u32 = outline.path(part.heading).iter().map(|text| pieces(text, language)).sum();
                let mut largest = [0; LEVELS + 1];
                largest[part.level] = part.pieces;
                groups.push(Group {
                    sections: part.sections,
                    range: part.range,
                    heading: part.heading,
                    pieces: part.pieces,
                    window: WINDOW.saturating_sub(above).max(LEAST),
                    largest,
                });
            }
        }
    }
    groups
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
        if group.pieces + self.pieces > group.window {
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
                enters: sections[first..=at].iter().map(|section| outline.level(section)).min().unwrap_or(0),
                level: outline.level(section),
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
    let level = |at: usize| outline.level(&outline.sections[at]);
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
