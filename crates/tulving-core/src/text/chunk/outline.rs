//! The outline of a content: its headings, and the paragraphs and code blocks below each.
//!
//! Understands ATX (`# Deploy`) and setext (underlined) headings outside of fenced code. A front matter between `---`
//! lines at the top is a paragraph.

use std::ops::Range;

use crate::text::sentence::fence::{self, blocks};

/// Most characters of a heading that a path shows.
const HEADING_CHARS: usize = 160;

/// Deepest level of a heading.
pub(super) const LEVELS: usize = 6;

/// A heading.
#[derive(Debug)]
pub(super) struct Heading {
    /// What it says.
    text: String,
    /// The heading above it, by its place in the outline.
    above: Option<usize>,
}

/// A paragraph or a code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Where it is.
    pub(super) range: Range<usize>,
    /// Whether it is fenced code, which is never cut.
    pub(super) code: bool,
}

/// What stands below one heading, up to the next; the first has none.
#[derive(Debug)]
pub(super) struct Section {
    /// From its heading to the next one.
    pub(super) range: Range<usize>,
    /// Its heading, by its place in the outline.
    pub(super) heading: Option<usize>,
    /// How deep it stands: 0 for what stands above the first heading of a text, 1 for what is outermost in code.
    pub(super) level: usize,
    /// What is below the heading, in order.
    pub(super) blocks: Vec<Block>,
}

/// The sections of a content, in order, covering it.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) headings: Vec<Heading>,
    pub(super) sections: Vec<Section>,
}

impl Outline {
    pub(super) fn of(content: &str) -> Self {
        let mut reader = Reader { content, outline: Self::default(), open: [None; LEVELS], paragraph: None };
        reader.outline.sections.push(Section { range: 0..0, heading: None, level: 0, blocks: Vec::new() });
        let matter = front_matter(content);
        if matter > 0 {
            reader.push_block(0..matter, false);
        }
        for block in blocks(&content[matter..]) {
            match block {
                fence::Block::Prose(range) => reader.prose(matter + range.start..matter + range.end),
                fence::Block::Code(range) => {
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

    /// The headings down to one, outermost first.
    pub(super) fn path(&self, heading: Option<usize>) -> Vec<String> {
        let mut path = Vec::new();
        let mut next = heading;
        while let Some(heading) = next.and_then(|at| self.headings.get(at)) {
            path.push(heading.text.clone());
            next = heading.above;
        }
        path.reverse();
        path
    }

    /// Adds a heading below another one, and gives its place.
    pub(super) fn push_heading(&mut self, text: &str, above: Option<usize>) -> usize {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.chars().take(HEADING_CHARS).collect();
        self.headings.push(Heading { text, above });
        self.headings.len() - 1
    }

    /// Stretches the sections so that they cover a content of this length.
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

/// Bytes of the front matter at the top of a content.
fn front_matter(content: &str) -> usize {
    let Some(rest) = content.strip_prefix("---\n") else { return 0 };
    let mut at = content.len() - rest.len();
    for line in rest.split_inclusive('\n') {
        at += line.len();
        if line.trim_end() == "---" {
            return at;
        }
    }
    0
}

struct Reader<'a> {
    content: &'a str,
    outline: Outline,
    /// The heading that is open at each level.
    open: [Option<usize>; LEVELS],
    /// The paragraph that is being read.
    paragraph: Option<Range<usize>>,
}

impl Reader<'_> {
    fn prose(&mut self, range: Range<usize>) {
        let mut at = range.start;
        for line in self.content[range].split_inclusive('\n') {
            let here = at..at + line.len();
            at = here.end;
            if let Some((level, text)) = atx(line) {
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

    /// The line above, where this line underlines it as a heading.
    fn underlined(&self, line: &str) -> Option<(usize, Range<usize>)> {
        let title = self.paragraph.clone()?;
        let line = line.trim();
        let level = match line.as_bytes() {
            [b'=', b'=', ..] if line.bytes().all(|b| b == b'=') => 1,
            [b'-', b'-', ..] if line.bytes().all(|b| b == b'-') => 2,
            _ => return None,
        };
        let text = self.content[title.clone()].trim_end();
        // Looked for from the end: a long first line above many rules would else be read for each of them.
        let one_line = text.rfind('\n').is_none();
        let plain = one_line && !text.trim_start().starts_with(['-', '*', '+', '>', '|']);
        plain.then_some((level, title))
    }

    fn begin_section(&mut self, start: usize, level: usize, text: &str) {
        self.end_section(start);
        let above = self.open[..level - 1].iter().rev().find_map(|open| *open);
        let text = text.trim().chars().take(HEADING_CHARS).collect();
        let heading = self.outline.headings.len();
        self.outline.headings.push(Heading { text, above });
        self.open[level - 1] = Some(heading);
        self.open[level..].fill(None);
        let section = Section { range: start..start, heading: Some(heading), level, blocks: Vec::new() };
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
            section.blocks.push(Block { range, code });
        }
    }
}

/// Level and text of a line that is an ATX heading.
fn atx(line: &str) -> Option<(usize, &str)> {
    let indent = line.bytes().take_while(|b| *b == b' ').count();
    let marks = line[indent..].bytes().take_while(|b| *b == b'#').count();
    let rest = &line[indent + marks..];
    let fits = indent <= 3
        && (1..=LEVELS).contains(&marks)
        && (rest.is_empty() || rest.starts_with(char::is_whitespace));
    fits.then(|| (marks, closed(rest.trim())))
}

/// A heading without the marks that may close it.
fn closed(text: &str) -> &str {
    let bare = text.trim_end_matches('#');
    if bare.len() < text.len() && (bare.is_empty() || bare.ends_with(char::is_whitespace)) {
        bare.trim_end()
    } else {
        text
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
        assert_eq!(paths("---\ntitle: x\n---\n# A\ntext"), ["", "A"]);
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
