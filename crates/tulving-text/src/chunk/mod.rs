//! Cuts content into the parts that are embedded and indexed.
//!
//! A chunk fits into the embedding model's window; see [`pieces::WINDOW`]. Headings have priority: different sections
//! become different chunks, and only small neighbouring sections are joined. A section too long for the window is cut
//! into parts of similar size, first between its paragraphs, then between its sentences, then between its words. A
//! fenced code block is never cut, regardless of its length. In code, items such as functions and types are the
//! headings, and cuts are between lines. Data is cut in the same way, and its keys are the headings. Every character
//! except white space is in exactly one chunk. [`parts_within`] finds the parts of a chunk that belong to different
//! headings.

mod code;
mod cut;
mod form;
mod inner_sections;
mod outline;
mod pieces;

use std::ops::Range;

use self::code::CodeStructure;
use self::form::CodeOutlineMethod;
pub use self::form::ContentForm;
pub use self::inner_sections::{HeadedPart, parts_within};
use self::outline::Outline;
use self::pieces::{TextLanguage, WINDOW, pieces};
use crate::markdown::LEVELS;
use crate::sentence::trimmed;

/// Minimum number of pieces that remain for the text, regardless of the length of the headings above it.
const LEAST: u32 = WINDOW / 2;

/// Maximum number of pieces of tiny code, such as a constant or an import. Tiny code joins a neighbouring chunk if it
/// fits.
const TINY: u32 = WINDOW / 8;

/// A part of content that is embedded and indexed: a range of its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextChunk {
    /// The offset of the first byte in the content.
    pub start: usize,
    /// The offset after the last byte in the content.
    pub end: usize,
    /// The headings above the chunk, outermost first.
    pub heading_path: Vec<String>,
}

/// Number of bytes of content that are read to find its first chunk.
const FIRST: usize = 16 << 10;

/// Returns the first chunk of content that has several chunks, or `None` if the content is one chunk. Reads only the
/// beginning of the content, so the end of the chunk may differ slightly from the stored chunk.
pub fn first<'a>(content: &'a str, form: ContentForm<'_>) -> Option<&'a str> {
    // A text never has more pieces than bytes.
    if content.len() <= WINDOW as usize {
        return None;
    }
    let beginning = &content[..content.floor_char_boundary(FIRST)];
    let chunks = split(beginning, form);
    let several = chunks.len() > 1 || beginning.len() < content.len();
    let first = chunks.first().filter(|_| several)?;
    beginning.get(first.start..first.end)
}

/// Cuts content into chunks. The chunks are in order and cover the content. Content that fits into the window is one
/// chunk.
pub fn split(content: &str, form: ContentForm<'_>) -> Vec<TextChunk> {
    let language = TextLanguage::of(content);
    match form.reading(content) {
        None => split_prose(content, language),
        Some(reading) => split_code(content, reading, language),
    }
}

fn split_prose(content: &str, language: TextLanguage) -> Vec<TextChunk> {
    let outline = Outline::of(content);
    let parts = parts(content, &outline, language);
    if parts.iter().fold(0_u32, |sum, part| sum.saturating_add(part.pieces)) <= WINDOW {
        let first = outline.sections.iter().find(|section| !section.blocks.is_empty());
        let heading = first.or(outline.sections.last()).and_then(|section| section.heading);
        return vec![whole(content, outline.path(heading))];
    }
    chunks(content, &outline, groups(parts, &outline, language, SectionPacking::Prose), |group| {
        let sections = &outline.sections[group.sections.clone()];
        let blocks: Vec<_> = sections.iter().flat_map(|section| section.blocks.iter().cloned()).collect();
        cut::cuts(content, group.range.clone(), &blocks, language, group.window)
    })
}

fn split_code(content: &str, reading: CodeOutlineMethod, language: TextLanguage) -> Vec<TextChunk> {
    if pieces(content, language) <= WINDOW {
        return vec![whole(content, Vec::new())];
    }
    let code = CodeStructure::read(content, reading);
    let outline = code.outline(content, language);
    let parts = parts(content, &outline, language);
    chunks(content, &outline, groups(parts, &outline, language, SectionPacking::Code), |group| {
        let line = |at: usize| code.lines.partition_point(|line| line.start < at);
        let lines = &code.lines[line(group.range.start)..line(group.range.end)];
        cut::line_cuts(content, lines, language, group.window)
    })
}

fn whole(content: &str, heading_path: Vec<String>) -> TextChunk {
    TextChunk { start: 0, end: content.len(), heading_path }
}

/// Makes chunks from groups of sections. A group that is too long is cut at the positions that `cuts` returns.
fn chunks(
    content: &str,
    outline: &Outline,
    groups: Vec<SectionGroup>,
    cuts: impl Fn(&SectionGroup) -> Vec<usize>,
) -> Vec<TextChunk> {
    let mut chunks: Vec<TextChunk> = Vec::new();
    for group in groups {
        let path = outline.path(group.heading);
        let mut start = group.range.start;
        let mut ends = if group.pieces > group.window { cuts(&group) } else { Vec::new() };
        ends.push(group.range.end);
        for end in ends {
            if let Some(range) = trimmed(content, start..end) {
                let (start, end) = (range.start, range.end);
                chunks.push(TextChunk { start, end, heading_path: path.clone() });
            }
            start = end;
        }
    }
    chunks
}

/// Sections that share a chunk, or one section that is too long for a chunk.
struct SectionGroup {
    /// The indices of the sections.
    sections: Range<usize>,
    range: Range<usize>,
    /// The heading above the first text of the group. In code, the heading above the largest section.
    heading: Option<usize>,
    pieces: u32,
    /// Number of pieces in the section that the heading belongs to.
    most: u32,
    /// Number of pieces that fit below the headings.
    window: u32,
    /// Number of pieces in the largest section at each level. The first section is measured without the sections below
    /// it, because those are added one by one or not at all. A later section is measured with all sections below it,
    /// because it was added together with them.
    largest: [u32; LEVELS + 1],
}

fn groups(
    parts: Vec<PackingUnit>,
    outline: &Outline,
    language: TextLanguage,
    packing: SectionPacking,
) -> Vec<SectionGroup> {
    let mut groups: Vec<SectionGroup> = Vec::new();
    for part in parts {
        let above: u32 = outline.path(part.heading).iter().map(|text| pieces(text, language)).sum();
        let window = WINDOW.saturating_sub(above).max(LEAST);
        match groups.last_mut() {
            Some(group) if packing.joins(&part, group, window) => group.take_in(&part, window, packing),
            _ => {
                let mut largest = [0; LEVELS + 1];
                largest[part.level] = part.pieces;
                groups.push(SectionGroup {
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

impl SectionGroup {
    fn take_in(&mut self, part: &PackingUnit, window: u32, packing: SectionPacking) {
        if packing == SectionPacking::Code && part.pieces > self.most {
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

/// The method for joining sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SectionPacking {
    Prose,
    Code,
}

impl SectionPacking {
    /// Returns true if a part may share a chunk with the sections before it.
    fn joins(self, part: &PackingUnit, group: &SectionGroup, window: u32) -> bool {
        match self {
            Self::Prose => part.joins(group),
            Self::Code => {
                let window = window.min(group.window);
                let fits = group.pieces.saturating_add(part.pieces) <= window;
                let tiny = group.pieces <= TINY || part.subtree <= TINY;
                // A group that must be cut in any case absorbs tiny parts.
                let cut = group.pieces > window || part.pieces > window;
                (fits && (tiny || part.joins(group))) || (tiny && cut)
            }
        }
    }
}

/// A section with text, and the headings without text directly above it.
struct PackingUnit {
    sections: Range<usize>,
    range: Range<usize>,
    heading: Option<usize>,
    /// The level of the first heading, and the level of the heading above the text.
    enters: usize,
    level: usize,
    pieces: u32,
    /// Number of pieces in the section and in all sections below its first heading.
    subtree: u32,
}

impl PackingUnit {
    /// Returns true if this part may share a chunk with the sections before it.
    ///
    /// The part must fit into the chunk. If the neighbouring section has the same or a lower rank, both must be small.
    /// A part below a section in the group is added, unless that would separate the part from its own subsections.
    fn joins(&self, group: &SectionGroup) -> bool {
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

fn parts(content: &str, outline: &Outline, language: TextLanguage) -> Vec<PackingUnit> {
    let sections = &outline.sections;
    let own: Vec<u32> =
        sections.iter().map(|section| pieces(&content[section.range.clone()], language)).collect();
    let subtrees = subtrees(outline, &own);
    let mut parts: Vec<PackingUnit> = Vec::new();
    let mut first = 0;
    for (at, section) in sections.iter().enumerate() {
        let bare = section.blocks.is_empty();
        if bare && at + 1 < sections.len() {
            continue;
        }
        let range = sections[first].range.start..section.range.end;
        let total = own[first..=at].iter().fold(0_u32, |sum, one| sum.saturating_add(*one));
        match parts.last_mut() {
            // Headings at the end of the content that have no text below them.
            Some(last) if bare => {
                last.sections.end = at + 1;
                last.range.end = range.end;
                last.pieces = last.pieces.saturating_add(total);
            }
            _ => parts.push(PackingUnit {
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

/// Returns, for each section, the number of pieces in the section and in all sections below its heading.
fn subtrees(outline: &Outline, own: &[u32]) -> Vec<u32> {
    let mut subtrees = own.to_vec();
    // Open sections, outermost first.
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
