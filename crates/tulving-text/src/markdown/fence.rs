//! Finds fenced code blocks in Markdown.

use std::ops::Range;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FenceSegment {
    /// Lines outside of all fenced blocks.
    Prose(Range<usize>),
    /// A fenced block including its fences. A block that is never closed extends to the end of the text.
    Code(Range<usize>),
}

/// Splits a text into segments. The segments are in order and cover the text.
pub fn blocks(text: &str) -> Vec<FenceSegment> {
    let mut blocks = Vec::new();
    let mut open: Option<FenceOpening<'_>> = None;
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match open {
            None => {
                if let Some(fence) = FenceOpening::opened_by(line) {
                    if start < at {
                        blocks.push(FenceSegment::Prose(start..at));
                    }
                    (start, open) = (at, Some(fence));
                }
            }
            Some(fence) if fence.is_closed_by(line) => {
                blocks.push(FenceSegment::Code(start..end));
                (start, open) = (end, None);
            }
            Some(_) => {}
        }
        at = end;
    }
    if start < text.len() {
        let rest = start..text.len();
        blocks.push(if open.is_some() { FenceSegment::Code(rest) } else { FenceSegment::Prose(rest) });
    }
    blocks
}

/// Returns true if a line would open a fenced block.
pub fn begins(line: &str) -> bool {
    FenceOpening::opened_by(line).is_some()
}

/// Returns the line that would close a block, or `None` if the block is closed.
pub fn closing(block: &str) -> Option<String> {
    let fence = FenceOpening::opened_by(block.lines().next()?)?;
    let closed = block.lines().skip(1).last().is_some_and(|line| fence.is_closed_by(line));
    (!closed).then(|| fence.mark.to_string().repeat(fence.count))
}

/// Returns a text as a fenced code block in a language. The fence does not occur in the text.
pub fn around(text: &str, language: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    let marks = "`".repeat(3.max(longest + 1));
    let plain = |c: char| c.is_ascii_alphanumeric() || "+-#._".contains(c);
    let language = if language.chars().all(plain) { language } else { "" };
    format!("{marks}{language}\n{text}\n{marks}")
}

/// The opening fence of a block.
#[derive(Clone, Copy, Debug)]
pub struct FenceOpening<'a> {
    /// The mark: a backtick or a tilde.
    pub mark: char,
    /// Number of marks.
    pub count: usize,
    /// The text after the marks, which begins with the language of the code.
    pub info: &'a str,
}

impl<'a> FenceOpening<'a> {
    /// Returns the fence, if a line opens a block.
    pub fn opened_by(line: &'a str) -> Option<Self> {
        let line = line.trim();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let count = line.chars().take_while(|c| *c == mark).count();
        // Backticks later in the line show that it is inline code.
        let info = line[count..].trim_start();
        (count >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, count, info })
    }

    /// Returns true if a line closes the block.
    pub fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.count && line.chars().all(|c| c == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_closed_by_as_many_marks_as_opened_it() {
        let text = "a\n````md\n```\nx\n````\nb";
        assert_eq!(
            blocks(text),
            [FenceSegment::Prose(0..2), FenceSegment::Code(2..20), FenceSegment::Prose(20..21)]
        );
    }

    #[test]
    fn an_open_block_goes_on_to_the_end() {
        assert_eq!(blocks("~~~\nx\n```"), [FenceSegment::Code(0..9)]);
    }

    #[test]
    fn a_block_is_closed_with_the_marks_that_opened_it_and_text_is_put_between_longer_ones() {
        assert_eq!(closing("~~~~\nx\n~~~").as_deref(), Some("~~~~"));
        assert_eq!((closing("```\nx\n```"), closing("x")), (None, None));
        assert_eq!(closing("```").as_deref(), Some("```"));
        assert_eq!(around("a ``` b", "x y"), "````\na ``` b\n````");
    }

    #[test]
    fn code_within_a_line_is_no_block() {
        assert_eq!(blocks("```x``` is code"), [FenceSegment::Prose(0..15)]);
    }
}
