//! The lines of code, each with what a cut before it would tear apart.

/// What a line is to those around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::text::chunk) enum Sort {
    /// It stands for itself.
    Plain,
    /// A comment or an attribute, which belongs to what follows.
    Lead,
    /// It closes or goes on with what was begun above, such as `}` or `else`.
    Closing,
}

/// A line that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::text::chunk) struct Line {
    /// Its first byte, white space included.
    pub(in crate::text::chunk) start: usize,
    /// The byte after its last, without white space.
    pub(in crate::text::chunk) end: usize,
    /// Its number in the content, from 0, blank lines counted.
    pub(super) row: usize,
    /// The column that its text begins in.
    pub(super) indent: usize,
    /// How much around it a cut before it tears apart.
    pub(in crate::text::chunk) depth: u32,
    /// Whether a blank line stands above it.
    pub(in crate::text::chunk) after_blank: bool,
    /// What it is to those around it.
    pub(in crate::text::chunk) sort: Sort,
}

/// How many columns a tab takes.
const TAB: usize = 4;

/// First words of lines that go on with what was begun above at the same indentation.
const GO_ON: [&str; 20] = [
    "and", "case", "catch", "default", "do", "done", "elif", "else", "elseif", "elsif", "end", "ensure",
    "esac", "except", "fi", "finally", "in", "rescue", "then", "when",
];

/// How comments and attributes begin, in one language or another.
const LEADS: [&str; 9] = ["//", "/*", "* ", "*/", "# ", "#[", "--", ";;", "@"];

/// The lines of a content. How deep each stands is told by its indentation.
pub(super) fn lines(content: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let (mut at, mut after_blank) = (0, false);
    for (row, written) in content.split_inclusive('\n').enumerate() {
        let start = at;
        at += written.len();
        let text = written.trim();
        if text.is_empty() {
            after_blank = true;
            continue;
        }
        let indent = columns(written);
        let sort = sort(text);
        while open.last().is_some_and(|last| *last >= indent) {
            open.pop();
        }
        let depth = u32::try_from(open.len()).unwrap_or(u32::MAX);
        open.push(indent);
        let end = start + written.trim_end().len();
        lines.push(Line { start, end, row, indent, depth, after_blank, sort });
        after_blank = false;
    }
    lines
}

impl Line {
    /// What it says.
    pub(super) fn text<'a>(&self, content: &'a str) -> &'a str {
        content[self.start..self.end].trim_start()
    }
}

/// The first of the comments and attributes that stand directly above a line, or itself.
pub(super) fn with_leads(lines: &[Line], line: usize) -> usize {
    let mut first = line;
    while is_led(lines, first) {
        first -= 1;
    }
    first
}

/// Whether a comment or an attribute stands directly above a line.
pub(super) fn is_led(lines: &[Line], line: usize) -> bool {
    line > 0 && !lines[line].after_blank && lines[line - 1].sort == Sort::Lead
}

/// Whether the line has nothing but signs.
pub(super) fn is_signs(text: &str) -> bool {
    !text.contains(|c: char| c.is_alphanumeric() || c == '_')
}

/// The first word of a text that begins with one.
pub(super) fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn columns(line: &str) -> usize {
    let blank = line.chars().take_while(|c| c.is_whitespace());
    blank.map(|c| if c == '\t' { TAB } else { 1 }).sum()
}

fn sort(text: &str) -> Sort {
    // What begins with `@` may be an attribute or a variable.
    let lead = LEADS.iter().any(|mark| text.starts_with(mark)) || text == "#" || text == "*";
    if lead && !(text.starts_with('@') && text.contains(" = ")) {
        Sort::Lead
    } else if text.starts_with([')', ']', '}']) || is_signs(text) || GO_ON.contains(&first_word(text)) {
        Sort::Closing
    } else {
        Sort::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_how_deep_they_stand_and_what_they_are() {
        let text = "# why\r\nif a:\r\n    b\r\n\r\n    c\r\nelse:\r\n\td\r\n";
        let found: Vec<(&str, u32, bool, Sort)> = lines(text)
            .iter()
            .map(|line| (line.text(text), line.depth, line.after_blank, line.sort))
            .collect();
        let (plain, lead, closing) = (Sort::Plain, Sort::Lead, Sort::Closing);
        assert_eq!(
            found,
            [
                ("# why", 0, false, lead),
                ("if a:", 0, false, plain),
                ("b", 1, false, plain),
                ("c", 1, true, plain),
                ("else:", 0, false, closing),
                ("d", 1, false, plain),
            ]
        );
    }

    #[test]
    fn comments_directly_above_a_line_belong_to_it() {
        let text = "/// a\n#[b]\nfn c() {}\n// d\n\nfn e() {}";
        let lines = lines(text);
        assert_eq!((with_leads(&lines, 2), with_leads(&lines, 4)), (0, 4));
    }
}
