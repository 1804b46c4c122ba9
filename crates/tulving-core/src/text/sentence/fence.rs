//! Finds fenced code blocks, as Markdown has them.

use std::ops::Range;

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Block {
    /// Lines outside of any fence.
    Prose(Range<usize>),
    /// A fenced block with its fences. One that is never closed goes on to the end.
    Code(Range<usize>),
}

/// The blocks of a text, in order, covering it.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Fence> = None;
    let (mut start, mut at) = (0, 0);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match open {
            None => {
                if let Some(fence) = Fence::opened_by(line) {
                    if start < at {
                        blocks.push(Block::Prose(start..at));
                    }
                    (start, open) = (at, Some(fence));
                }
            }
            Some(fence) if fence.is_closed_by(line) => {
                blocks.push(Block::Code(start..end));
                (start, open) = (end, None);
            }
            Some(_) => {}
        }
        at = end;
    }
    if start < text.len() {
        let rest = start..text.len();
        blocks.push(if open.is_some() { Block::Code(rest) } else { Block::Prose(rest) });
    }
    blocks
}

/// How a block was opened.
#[derive(Clone, Copy)]
struct Fence {
    mark: char,
    count: usize,
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let count = line.chars().take_while(|c| *c == mark).count();
        // Back-ticks later in the line make it a span of code within a line.
        (count >= 3 && !(mark == '`' && line[count..].contains('`'))).then_some(Self { mark, count })
    }

    fn is_closed_by(self, line: &str) -> bool {
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
        assert_eq!(blocks(text), [Block::Prose(0..2), Block::Code(2..20), Block::Prose(20..21)]);
    }

    #[test]
    fn an_open_block_goes_on_to_the_end() {
        assert_eq!(blocks("~~~\nx\n```"), [Block::Code(0..9)]);
    }

    #[test]
    fn code_within_a_line_is_no_block() {
        assert_eq!(blocks("```x``` is code"), [Block::Prose(0..15)]);
    }
}
