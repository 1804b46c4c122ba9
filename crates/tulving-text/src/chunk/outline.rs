//! The outline of content: its headings, and the paragraphs and code blocks below each heading.
//!
//! Reads ATX headings (`# Deploy`) and setext headings (underlined) outside of fenced code. Front matter at the top of
//! the content is treated as a paragraph.

use std::ops::Range;

use crate::front::fenced;
use crate::markdown::fence::{FenceSegment, blocks};
use crate::markdown::{self, LEVELS};

/// Maximum number of characters of a heading in a path.
const HEADING_CHARS: usize = 160;

/// A heading.
#[derive(Debug)]
pub(super) struct OutlineHeading {
    /// The text of the heading.
    text: String,
    /// The index of the parent heading.
    above: Option<usize>,
}

/// A paragraph or a code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OutlineBlock {
    /// The range of the block in the content.
    pub(super) range: Range<usize>,
    /// True if the block is fenced code, which is never cut.
    pub(super) code: bool,
}

/// The text from one heading to the next. The first section has no heading.
#[derive(Debug)]
pub(super) struct OutlineSection {
    /// The range from the section's heading to the next heading.
    pub(super) range: Range<usize>,
    /// The index of the section's heading.
    pub(super) heading: Option<usize>,
    /// The depth of the section: 0 for text above the first heading, 1 for the outermost level of code.
    pub(super) level: usize,
    /// The blocks below the heading, in order.
    pub(super) blocks: Vec<OutlineBlock>,
}

/// The sections of content. They are in order and cover the content.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) headings: Vec<OutlineHeading>,
    pub(super) sections: Vec<OutlineSection>,
}

impl Outline {
    pub(super) fn of(content: &str) -> Self {
        let mut reader =
            OutlineReader { content, outline: Self::default(), open: [None; LEVELS], paragraph: None };
        reader.outline.sections.push(OutlineSection {
            range: 0..0,
            heading: None,
            level: 0,
            blocks: Vec::new(),
        });
        let matter = fenced(content).map_or(0, |front| content.len() - front.body.len());
        if matter > 0 {
            reader.push_block(0..matter, false);
        }
        for block in blocks(&content[matter..]) {
            match block {
                FenceSegment::Prose(range) => reader.prose(matter + range.start..matter + range.end),
                FenceSegment::Code(range) => {
                    reader.end_paragraph();
                    reader.push_block(matter + range.start..matter + range.end, true);
                }
            }
        }
        reader.end_paragraph();
        reader.end_section(content.len());
        reader.outline.sections.retain(|section| !section.range.is_empty());
        reader.outline
    }

    /// Returns the texts of a heading and of the headings above it, outermost first.
    pub(super) fn path(&self, heading: Option<usize>) -> Vec<String> {
        self.places(heading).into_iter().map(|at| self.headings[at].text.clone()).collect()
    }

    /// Returns the indices of a heading and of the headings above it, outermost first.
    pub(super) fn places(&self, heading: Option<usize>) -> Vec<usize> {
        let mut places = Vec::new();
        let mut next = heading;
        while let Some((at, heading)) = next.and_then(|at| Some((at, self.headings.get(at)?))) {
            places.push(at);
            next = heading.above;
        }
        places.reverse();
        places
    }

    /// Adds a heading below another one, and returns its index.
    pub(super) fn push_heading(&mut self, text: &str, above: Option<usize>) -> usize {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.chars().take(HEADING_CHARS).collect();
        self.headings.push(OutlineHeading { text, above });
        self.headings.len() - 1
    }

    /// Extends the sections so that they cover content of this length.
    pub(super) fn cover(&mut self, length: usize) {
        let mut end = length;
        for section in self.sections.iter_mut().rev() {
            section.range.end = end;
            end = section.range.start;
        }
        if let Some(first) = self.sections.first_mut() {
            first.range.start = 0;
        }
    }
}

struct OutlineReader<'a> {
    content: &'a str,
    outline: Outline,
    /// The heading that is open at each level.
    open: [Option<usize>; LEVELS],
    /// The paragraph that is being read.
    paragraph: Option<Range<usize>>,
}

impl OutlineReader<'_> {
    fn prose(&mut self, range: Range<usize>) {
        let mut at = range.start;
        for line in self.content[range].split_inclusive('\n') {
            let here = at..at + line.len();
            at = here.end;
            if let Some((level, text)) = markdown::heading(line) {
                self.end_paragraph();
                self.begin_section(here.start, level, text);
            } else if line.trim().is_empty() {
                self.end_paragraph();
            } else if let Some((level, title)) = self.underlined(line) {
                self.paragraph = None;
                self.begin_section(title.start, level, &self.content[title]);
            } else {
                let start = self.paragraph.take().map_or(here.start, |open| open.start);
                self.paragraph = Some(start..here.end);
            }
        }
    }

    /// If this line underlines the line above as a heading, returns the level and the range of the heading.
    fn underlined(&self, line: &str) -> Option<(usize, Range<usize>)> {
        let title = self.paragraph.clone()?;
        let level = markdown::underline(line)?;
        let text = self.content[title.clone()].trim_end();
        // The search starts at the end. From the start, a long first line above many rules would be read once for each
        // rule.
        let one_line = text.rfind('\n').is_none();
        let plain = one_line && !text.trim_start().starts_with(['-', '*', '+', '>', '|']);
        plain.then_some((level, title))
    }

    fn begin_section(&mut self, start: usize, level: usize, text: &str) {
        self.end_section(start);
        let above = self.open[..level - 1].iter().rev().find_map(|open| *open);
        let text = text.trim().chars().take(HEADING_CHARS).collect();
        let heading = self.outline.headings.len();
        self.outline.headings.push(OutlineHeading { text, above });
        self.open[level - 1] = Some(heading);
        self.open[level..].fill(None);
        let section =
            OutlineSection { range: start..start, heading: Some(heading), level, blocks: Vec::new() };
        self.outline.sections.push(section);
    }

    fn end_section(&mut self, end: usize) {
        if let Some(section) = self.outline.sections.last_mut() {
            section.range.end = end;
        }
    }

    fn end_paragraph(&mut self) {
        if let Some(range) = self.paragraph.take() {
            self.push_block(range, false);
        }
    }

    fn push_block(&mut self, range: Range<usize>, code: bool) {
        if let Some(section) = self.outline.sections.last_mut() {
            section.blocks.push(OutlineBlock { range, code });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(content: &str) -> Vec<String> {
        let outline = Outline::of(content);
        outline.sections.iter().map(|section| outline.path(section.heading).join(" > ")).collect()
    }

    #[test]
    fn headings_of_both_sorts_form_paths() {
        let text = "intro\n\n# A #\n\na\n\n### B\nb\n\nC\n---\nc\n\nD\n===\nd";
        assert_eq!(paths(text), ["", "A", "A > B", "A > C", "D"]);
    }

    #[test]
    fn what_only_looks_like_a_heading_is_none() {
        let text = "#tag\n\n```\n# comment\n```\n\n- item\n---\n\n####### seven\n\ntwo\nlines\n---\n";
        assert_eq!(paths(text), [""]);
    }

    #[test]
    fn a_long_line_above_many_rules_takes_linear_time() {
        for first in ["- ", ""] {
            let text = format!("{first}{}\nx\n{}", "x".repeat(1_500_000), "--\n".repeat(500_000));
            assert_eq!(paths(&text), [""]);
        }
    }

    #[test]
    fn a_front_matter_is_no_heading() {
        for matter in
            ["---\n# note\ntitle: x\n---\n", "---\r\n# note\r\n---\r\n", "+++\n# note\ntitle = \"x\"\n+++\n"]
        {
            assert_eq!(paths(&format!("{matter}# A\ntext")), ["", "A"]);
        }
    }

    #[test]
    fn blocks_are_paragraphs_and_code() {
        let text = "# A\none\ntwo\n\nthree\n```\nx\n\ny\n```\nfour\n";
        let outline = Outline::of(text);
        let found: Vec<(&str, bool)> = outline.sections[0]
            .blocks
            .iter()
            .map(|block| (text[block.range.clone()].trim(), block.code))
            .collect();
        assert_eq!(
            found,
            [("one\ntwo", false), ("three", false), ("```\nx\n\ny\n```", true), ("four", false)]
        );
    }
}
