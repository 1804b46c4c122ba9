//! Parses a document line by line.

use super::{ListItemMark, MarkupLanguage, PageBlock, ParsedPage};
use crate::front::fenced;
use crate::markdown::fence::FenceOpening;
use crate::markdown::{self, inline};

/// Minimum length of a line that may have been wrapped, in characters.
const WRAPPED_CHARS: usize = 50;

/// The kind of the block that is being read.
enum OpenPageBlock {
    Nothing,
    Paragraph,
    Item(ListItemMark),
}

pub(super) struct PageParser<'a> {
    markup: MarkupLanguage,
    page: ParsedPage<'a>,
    open: OpenPageBlock,
    /// The lines of the open block.
    lines: Vec<&'a str>,
    rows: Vec<Vec<String>>,
    /// True if the previous line was empty, or if there is no previous line.
    after_gap: bool,
    /// True if the rest of the text contains no end of a comment.
    unclosed: bool,
}

impl<'a> PageParser<'a> {
    pub(super) fn new(markup: MarkupLanguage) -> Self {
        let page = ParsedPage::default();
        Self {
            markup,
            page,
            open: OpenPageBlock::Nothing,
            lines: Vec::new(),
            rows: Vec::new(),
            after_gap: true,
            unclosed: false,
        }
    }

    pub(super) fn read(mut self, content: &'a str) -> ParsedPage<'a> {
        let content = self.front(content);
        let mut rest = content;
        while !rest.is_empty() {
            let taken = self.special(rest).unwrap_or_else(|| {
                let line = first_line(rest);
                self.line(line.trim_end_matches(['\n', '\r']));
                line.len()
            });
            rest = &rest[taken..];
        }
        self.end();
        self.page
    }

    /// Reads the fields above the text, and returns the text after them.
    fn front(&mut self, content: &'a str) -> &'a str {
        let Some(front) = fenced(content) else { return content };
        self.page.front = front.fields().unwrap_or_default();
        front.body
    }

    /// Returns the length of fenced code, a comment or indented code at the beginning of the rest.
    fn special(&mut self, rest: &'a str) -> Option<usize> {
        let line = first_line(rest);
        let bare = line.trim_start();
        if bare.starts_with("<!--") {
            self.end();
            let start = line.len() - bare.len();
            let end = if self.unclosed { None } else { rest[start..].find("-->") };
            self.unclosed = end.is_none();
            // A comment without an end covers only this line; otherwise it would hide the rest of the document.
            return Some(end.map_or(line.len(), |end| start + end + 3));
        }
        if self.markup == MarkupLanguage::Rst && (line.starts_with(".. ") || line.starts_with("__ ")) {
            return Some(self.directive(rest, line));
        }
        if self.markup != MarkupLanguage::Rst
            && let Some(fence) = FenceOpening::opened_by(line)
        {
            return Some(self.fenced(rest, line.len(), fence));
        }
        let indented = |line: &str| line.starts_with("    ") || line.starts_with('\t');
        if indented(line)
            && self.after_gap
            && matches!(self.open, OpenPageBlock::Nothing)
            && self.is_code(line)
        {
            let mut taken = 0;
            while taken < rest.len() {
                let next = first_line(&rest[taken..]);
                if !next.trim().is_empty() && !indented(next) {
                    break;
                }
                taken += next.len();
            }
            self.page.blocks.push(PageBlock::Code { language: "", text: rest[..taken].trim_matches('\n') });
            self.after_gap = true;
            return Some(taken);
        }
        None
    }

    /// Returns the length of a directive, a target or a comment of reStructuredText, including the indented lines below
    /// it.
    fn directive(&mut self, rest: &'a str, line: &'a str) -> usize {
        self.end();
        let mut taken = line.len();
        while taken < rest.len() {
            let next = first_line(&rest[taken..]);
            if !next.trim().is_empty() && !next.starts_with([' ', '\t']) {
                break;
            }
            taken += next.len();
        }
        let language = line.strip_prefix(".. code-block::").or_else(|| line.strip_prefix(".. code::"));
        if let Some(language) = language.map(str::trim) {
            self.page
                .blocks
                .push(PageBlock::Code { language, text: rest[line.len()..taken].trim_matches('\n') });
        }
        self.after_gap = true;
        taken
    }

    /// Returns true if an indented line is code. A line after a list, which may be an indented item, and a sentence are
    /// not code.
    fn is_code(&self, line: &str) -> bool {
        let in_list = matches!(self.page.blocks.last(), Some(PageBlock::Item { .. }));
        let sentence = line.trim_end().ends_with('.') && line.split_whitespace().count() > 5;
        !in_list && !sentence && !line.trim().is_empty() && item(line.trim()).is_none()
    }

    fn fenced(&mut self, rest: &'a str, head: usize, fence: FenceOpening<'a>) -> usize {
        self.end();
        let mut at = head;
        while at < rest.len() {
            let line = first_line(&rest[at..]);
            if fence.is_closed_by(line) {
                break;
            }
            at += line.len();
        }
        let language = fence.info.split([' ', '{', ',']).next().unwrap_or_default();
        self.page.blocks.push(PageBlock::Code { language, text: rest[head..at].trim_end_matches('\n') });
        at + first_line(&rest[at..]).len()
    }

    fn line(&mut self, line: &'a str) {
        let bare = line.trim();
        let after_gap = std::mem::replace(&mut self.after_gap, bare.is_empty());
        if bare.is_empty() || is_target(bare) {
            self.end();
        } else if let Some((level, text)) = self.heading(line) {
            self.end();
            self.push_heading(level, text);
        } else if let Some(level) = self.underlines(bare) {
            let title = self.lines.first().copied().unwrap_or_default();
            self.lines.clear();
            self.open = OpenPageBlock::Nothing;
            self.push_heading(level, title);
        } else if is_rule(bare) {
            if bare.contains('|') && matches!(self.open, OpenPageBlock::Paragraph) && self.lines.len() == 1 {
                let head = self.lines.pop().map(cells).unwrap_or_default();
                self.open = OpenPageBlock::Nothing;
                self.rows.push(head);
            } else if !bare.contains('|') {
                self.end();
            }
        } else if bare.starts_with('|') || (!self.rows.is_empty() && bare.contains('|')) {
            if self.rows.is_empty() {
                self.end();
            }
            self.rows.push(cells(bare));
        } else if let Some((mark, text)) = item(bare) {
            self.end();
            (self.open, self.lines) = (OpenPageBlock::Item(mark), vec![text]);
        } else {
            let quoted = bare.trim_start_matches(['>', ' ']);
            if matches!(self.open, OpenPageBlock::Nothing) || (after_gap && !line.starts_with(' ')) {
                self.end();
                self.open = OpenPageBlock::Paragraph;
            }
            self.lines.push(quoted);
        }
    }

    fn push_heading(&mut self, level: usize, text: &str) {
        let text = inline::plain(text);
        if text.contains(char::is_alphanumeric) {
            self.page.blocks.push(PageBlock::Heading { level, text });
        }
    }

    /// Ends the open block.
    fn end(&mut self) {
        if !self.rows.is_empty() {
            self.page.blocks.push(PageBlock::Table(std::mem::take(&mut self.rows)));
        }
        let open = std::mem::replace(&mut self.open, OpenPageBlock::Nothing);
        let text = inline::plain(&joined(&std::mem::take(&mut self.lines)));
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        match open {
            OpenPageBlock::Nothing => {}
            OpenPageBlock::Paragraph => self.page.blocks.push(PageBlock::Paragraph(text)),
            OpenPageBlock::Item(mark) => self.page.blocks.push(PageBlock::Item { mark, text }),
        }
    }

    /// Returns the level and the text of a line that is a heading without an underline.
    fn heading<'b>(&self, line: &'b str) -> Option<(usize, &'b str)> {
        let mark = match self.markup {
            MarkupLanguage::Markdown => '#',
            MarkupLanguage::AsciiDoc => '=',
            MarkupLanguage::Org => '*',
            MarkupLanguage::Rst => return None,
        };
        if self.markup == MarkupLanguage::Org && line.to_ascii_lowercase().starts_with("#+title:") {
            return Some((1, line[8..].trim()));
        }
        markdown::heading_with(line, mark)
    }

    /// If this line underlines the line above, returns the level of that heading.
    fn underlines(&self, bare: &str) -> Option<usize> {
        let mark = bare.chars().next()?;
        // A numbered line such as "6. Tooling" above an underline is a title and not a list item.
        let numbered = matches!(self.open, OpenPageBlock::Item(ListItemMark::Number))
            && (mark == '=' || self.markup == MarkupLanguage::Rst);
        if !(matches!(self.open, OpenPageBlock::Paragraph) || numbered) || self.lines.len() != 1 {
            return None;
        }
        let is_deeper = self.markup == MarkupLanguage::Rst
            && bare.len() >= 3
            && "~^\"+*#".contains(mark)
            && bare.chars().all(|c| c == mark);
        let level = markdown::underline(bare).or(is_deeper.then_some(3))?;
        // A long line above a rule is a sentence and not a heading.
        (self.lines[0].chars().count() <= 120).then_some(level)
    }
}

/// Returns the first line of a text, with its line break.
fn first_line(text: &str) -> &str {
    &text[..text.find('\n').map_or(text.len(), |at| at + 1)]
}

/// Returns true if a line is a rule, or the rule below the header of a table.
fn is_rule(bare: &str) -> bool {
    let marks = bare.chars().filter(|c| matches!(c, '-' | '*' | '_' | '=')).count();
    let same = |mark: char| bare.chars().all(|c| c == mark || c == ' ');
    marks >= 3 && (same('-') || same('*') || same('_') || same('=')) || markdown::is_table_rule(bare)
}

/// Returns true if a line defines the target of a link: `[docs]: https://example.org`.
fn is_target(bare: &str) -> bool {
    bare.starts_with('[')
        && bare.find("]: ").is_some_and(|at| {
            let target = bare[at + 3..].trim_start();
            target.starts_with(['<', '/', '#', '.'])
                || target.split_whitespace().next().is_some_and(|word| word.contains("://"))
        })
}

fn cells(row: &str) -> Vec<String> {
    let row = row.trim().trim_start_matches('|').trim_end_matches('|');
    row.split('|').map(|cell| inline::plain(cell.trim())).collect()
}

/// Returns the mark and the text of a line that begins an item.
fn item(bare: &str) -> Option<(ListItemMark, &str)> {
    let printed = || ["• ", "– "].iter().find(|mark| bare.starts_with(**mark)).map(|mark| mark.len());
    let width = markdown::list_mark(bare).or_else(printed)?;
    let text = bare[width..].trim_start();
    if bare.starts_with(|c: char| c.is_ascii_digit()) {
        // A number of more than three digits is a year at the end of a sentence.
        return (width <= 5).then_some((ListItemMark::Number, text));
    }
    let ticked = ["[ ] ", "[x] ", "[X] "].iter().find_map(|mark| text.strip_prefix(mark));
    Some(ticked.map_or((ListItemMark::Bullet, text), |text| (ListItemMark::Box, text)))
}

/// Joins lines into one text. A line that is long enough to have been wrapped continues on the next line.
fn joined(lines: &[&str]) -> String {
    let mut text = String::new();
    let mut wraps = false;
    for (at, line) in lines.iter().enumerate() {
        let line = line.trim();
        if at > 0 {
            text.push(if wraps { ' ' } else { '\n' });
        }
        text.push_str(line);
        wraps = line.chars().count() >= WRAPPED_CHARS;
    }
    text
}
