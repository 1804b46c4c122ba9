//! Splits a text written by people and programs into entries, and formats new entries.
//!
//! An entry is a line with the lines that belong to it: the indented lines below it, also after empty lines, and a fenced
//! block directly after it. In a document, consecutive lines are a paragraph, which is one entry. Headings are separate
//! entries. Every line that is not empty belongs to exactly one entry.

use std::ops::Range;

use tulving_text::markdown::fence::FenceOpening;
use tulving_text::markdown::{self, list_mark};

use crate::model::error::{Field, Invalid};
use crate::model::file;
use crate::text::normalize;

/// The rule by which lines form entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryLayout {
    /// Each line is an entry.
    Journal,
    /// Each paragraph and each list item is an entry.
    Document,
}

/// An entry of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEntry {
    /// The number of the first line, from 1.
    pub line: u32,
    /// The byte range in the text, without the last line break.
    pub range: Range<usize>,
    /// The level of a heading; 0 for other entries.
    pub level: usize,
}

/// The indent of all lines of an entry except the first.
const INDENT: &str = "  ";

/// Formats a content for a journal. The first line stays unchanged and the others are indented. The result has no line break
/// at its end.
pub fn entry(content: &str, most: usize) -> Result<String, Invalid> {
    let content = normalize::content(content)?;
    let (got, limit) = (content.len(), most);
    if got == 0 {
        return Err(Invalid::Empty { field: Field::Content });
    }
    if got > limit {
        return Err(Invalid::TooLong { field: Field::Content, got, limit, unit: "bytes" });
    }
    let mut written = String::with_capacity(content.len());
    for (at, line) in content.split('\n').enumerate() {
        if at > 0 {
            written.push('\n');
            if !line.trim().is_empty() {
                written.push_str(INDENT);
            }
        }
        written.push_str(line.trim_end());
    }
    Ok(written)
}

/// Returns the text of an entry, without carriage returns and without the indent of its other lines.
pub fn said(raw: &str) -> String {
    let mut lines = raw.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
    let mut said = lines.next().unwrap_or_default().trim().to_owned();
    for line in lines {
        said.push('\n');
        said.push_str(line.strip_prefix(INDENT).unwrap_or(line).trim_end());
    }
    said.truncate(said.trim_end().len());
    said
}

/// Returns a digest that identifies an entry by its text, independent of the form of line breaks: SHA-256, hexadecimal.
pub fn digest(raw: &str) -> String {
    file::digest(said(raw).as_bytes())
}

/// Returns the [text](said) of an entry without its list marker.
pub fn unmarked(said: &str) -> &str {
    list_mark(said).map_or(said, |width| said[width..].trim_start())
}

/// Splits a text into entries, in order.
pub fn entries(text: &str, form: EntryLayout) -> Vec<TextEntry> {
    let lines = lines(text);
    let fences = ClosingFences::of(text, &lines);
    let mut entries: Vec<TextEntry> = Vec::new();
    // `open` is true if the previous line belongs to the last entry. `begun` is true if that entry may continue below empty
    // lines.
    let (mut open, mut begun) = (false, false);
    let mut at = 0;
    while at < lines.len() {
        let content = &text[lines[at].clone()];
        if content.trim().is_empty() {
            open = false;
            at += 1;
            continue;
        }
        let fence = FenceOpening::opened_by(content).and_then(|fence| fences.closing(at, fence));
        let last = fence.unwrap_or(at);
        let level = level(content);
        let continues = match (fence, level) {
            (_, 1..) => false,
            _ if begun && content.starts_with([' ', '\t']) => true,
            (Some(_), _) => open,
            (None, _) => open && form == EntryLayout::Document && list_mark(content).is_none(),
        };
        let end = lines[last].end;
        match entries.last_mut() {
            Some(entry) if continues => entry.range.end = end,
            _ => {
                let line = u32::try_from(at + 1).unwrap_or(u32::MAX);
                entries.push(TextEntry { line, range: lines[at].start..end, level });
            }
        }
        (open, begun) = (level == 0, level == 0 || form == EntryLayout::Journal);
        at = last + 1;
    }
    entries
}

/// Returns the lines of a text, without their line breaks.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut lines = Vec::new();
    let mut start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for piece in text[start..].split_inclusive('\n') {
        let bare = piece.strip_suffix('\n').unwrap_or(piece);
        let bare = bare.strip_suffix('\r').unwrap_or(bare);
        lines.push(start..start + bare.len());
        start += piece.len();
    }
    lines
}

/// The lines that may end a fenced block.
struct ClosingFences<'a> {
    /// The number and the fence of each closing line, in order.
    ends: Vec<(usize, FenceOpening<'a>)>,
    /// For each position in `ends`, the longest fence from there on, of backticks and of tildes.
    ahead: Vec<[usize; 2]>,
}

impl<'a> ClosingFences<'a> {
    fn of(text: &'a str, lines: &[Range<usize>]) -> Self {
        let end = |(at, line): (usize, &Range<usize>)| {
            let fence = FenceOpening::opened_by(&text[line.clone()])?;
            fence.info.is_empty().then_some((at, fence))
        };
        let ends: Vec<_> = lines.iter().enumerate().filter_map(end).collect();
        let mut ahead = vec![[0; 2]; ends.len() + 1];
        for (at, (_, fence)) in ends.iter().enumerate().rev() {
            ahead[at] = ahead[at + 1];
            let most = &mut ahead[at][usize::from(fence.mark == '~')];
            *most = (*most).max(fence.count);
        }
        Self { ends, ahead }
    }

    /// Returns the line that closes the block that a fence opens. Returns `None` if no line closes the block; the lines are
    /// then not a block. Only lines within the block are searched, so all calls together take linear time.
    fn closing(&self, from: usize, open: FenceOpening<'_>) -> Option<usize> {
        let next = self.ends.partition_point(|(at, _)| *at <= from);
        if self.ahead[next][usize::from(open.mark == '~')] < open.count {
            return None;
        }
        let closes = |(_, end): &&(usize, FenceOpening<'_>)| end.mark == open.mark && end.count >= open.count;
        self.ends[next..].iter().find(closes).map(|(at, _)| *at)
    }
}

/// Returns the level of a heading, or 0 if the line is not a heading.
pub(crate) fn level(line: &str) -> usize {
    markdown::heading(line).filter(|_| line.starts_with('#')).map_or(0, |(level, _)| level)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, form: EntryLayout) -> Vec<(u32, String)> {
        entries(text, form).into_iter().map(|entry| (entry.line, said(&text[entry.range]))).collect()
    }

    fn owned(expected: &[(u32, &str)]) -> Vec<(u32, String)> {
        expected.iter().map(|(line, text)| (*line, (*text).to_owned())).collect()
    }

    #[test]
    fn a_journal_has_an_entry_on_each_line_with_what_is_indented_below() {
        let text = "first\nsecond\n  goes on\n\n  and on\n\nthird\n- fourth\n\t- below\n";
        let expected =
            [(1, "first"), (2, "second\ngoes on\n\nand on"), (7, "third"), (8, "- fourth\n\t- below")];
        assert_eq!(read(text, EntryLayout::Journal), owned(&expected));
    }

    #[test]
    fn a_document_has_paragraphs_and_items() {
        let text = "# Title\none\ntwo\n\nthree\n- a\n- b\n  more\n\n## Next\nlast";
        let expected = [
            (1, "# Title"),
            (2, "one\ntwo"),
            (5, "three"),
            (6, "- a"),
            (7, "- b\nmore"),
            (10, "## Next"),
            (11, "last"),
        ];
        assert_eq!(read(text, EntryLayout::Document), owned(&expected));
    }

    #[test]
    fn a_fenced_block_stays_whole_and_one_without_an_end_is_none() {
        let text = "run this:\n```sh\nmake\n\nmake test\n```\nnext\n```\nopen";
        let expected =
            [(1, "run this:\n```sh\nmake\n\nmake test\n```"), (7, "next"), (8, "```"), (9, "open")];
        assert_eq!(read(text, EntryLayout::Journal), owned(&expected));
    }

    #[test]
    fn many_blocks_without_an_end_are_soon_read() {
        let text = "```a\n".repeat(200_000);
        assert_eq!(entries(&text, EntryLayout::Journal).len(), 200_000);
        let text = format!("{}~~~\n", "````\n```\n".repeat(50_000));
        assert!(!entries(&text, EntryLayout::Document).is_empty());
    }

    #[test]
    fn line_breaks_of_other_systems_and_marks_of_order_do_no_harm() {
        let text = "\u{feff}one\r\ntwo\r\n  more\r\nthree";
        assert_eq!(read(text, EntryLayout::Journal), owned(&[(1, "one"), (2, "two\nmore"), (4, "three")]));
        assert_eq!(read("", EntryLayout::Journal), owned(&[]));
        assert_eq!(read("\n \n\t\n", EntryLayout::Journal), owned(&[]));
    }

    #[test]
    fn an_entry_is_one_entry_again() {
        for content in [
            "plain",
            "two\nlines",
            "gap\n\n\nafter",
            "code:\n```\nx\n```\n",
            "a\n\tb\n    c",
            "# heading? no\nbody",
        ] {
            let written = entry(content, 1_000).expect("good");
            let expected = normalize::content(content).expect("good");
            let text = format!("before\n{written}\nafter\n");
            assert_eq!(read(&text, EntryLayout::Journal)[1].1, expected, "{content:?}");
        }
        assert!(entry(" \n ", 10).is_err() && entry("too long", 3).is_err() && entry("a\0b", 10).is_err());
    }

    #[test]
    fn a_block_after_a_gap_stays_in_its_entry() {
        for content in ["code:\n\n```\nx\n```", "code:\n\n  ```sh\n  x\n  ```\nmore"] {
            let text = format!("before\n{}\nafter\n", entry(content, 1_000).expect("good"));
            let expected = [(1, "before"), (2, content), (content.lines().count() as u32 + 2, "after")];
            assert_eq!(read(&text, EntryLayout::Journal), owned(&expected));
        }
    }

    #[test]
    fn the_mark_of_an_item_goes() {
        for (marked, bare) in [
            ("- tea", "tea"),
            ("12. tea", "tea"),
            ("* [ ] tea", "[ ] tea"),
            ("-tea", "-tea"),
            ("2026 was", "2026 was"),
        ] {
            assert_eq!(unmarked(marked), bare);
        }
    }

    proptest! {
        #[test]
        fn every_line_that_is_not_empty_is_in_one_entry(text in "[ab \\t\\r\\n#`~*-]{0,60}") {
            for form in [EntryLayout::Journal, EntryLayout::Document] {
                let found = entries(&text, form);
                let mut end = 0;
                for entry in &found {
                    prop_assert!(entry.range.start >= end, "in order");
                    prop_assert!(text[end..entry.range.start].trim().is_empty(), "nothing between");
                    end = entry.range.end;
                }
                prop_assert!(text[end..].trim().is_empty(), "nothing after");
            }
        }

        #[test]
        fn what_is_appended_is_the_last_entry(lines in proptest::collection::vec("[a-z]{1,6}( [a-z]{1,6}){0,2}", 1..5)) {
            let content = lines.join("\n");
            let text = format!("one\n{}\n", entry(&content, 1_000).expect("good"));
            let found = read(&text, EntryLayout::Journal);
            prop_assert_eq!(&found.last().expect("an entry").1, &content);
            prop_assert_eq!(found.len(), 2);
        }
    }
}
