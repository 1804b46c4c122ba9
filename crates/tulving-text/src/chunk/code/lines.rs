//! The lines of code, each with the cost of a cut directly before it.

/// The relation of a line to its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::chunk) enum CodeLineRole {
    /// An independent line.
    Plain,
    /// A comment or an attribute, which belongs to the next line.
    Lead,
    /// A line that closes or continues a construct from an earlier line, such as `}` or `else`.
    Closing,
}

/// A line that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::chunk) struct CodeLine {
    /// The offset of the line's first byte, including leading white space.
    pub(in crate::chunk) start: usize,
    /// The offset after the line's last byte, excluding trailing white space.
    pub(in crate::chunk) end: usize,
    /// The line number in the content, counted from 0. Blank lines count.
    pub(super) row: usize,
    /// The column of the first character that is not white space.
    pub(super) indent: usize,
    /// The number of nested parts that a cut before this line would split.
    pub(in crate::chunk) depth: u32,
    /// True if the line above is blank.
    pub(in crate::chunk) after_blank: bool,
    /// The line's relation to its neighbours.
    pub(in crate::chunk) sort: CodeLineRole,
}

/// Number of columns that a tab takes.
const TAB: usize = 4;

/// First words of lines that continue an earlier block at the same indentation.
const GO_ON: [&str; 20] = [
    "and", "case", "catch", "default", "do", "done", "elif", "else", "elseif", "elsif", "end", "ensure",
    "esac", "except", "fi", "finally", "in", "rescue", "then", "when",
];

/// Prefixes of comments and attributes, in any language.
const LEADS: [&str; 9] = ["//", "/*", "* ", "*/", "# ", "#[", "--", ";;", "@"];

/// Returns the lines of the content. The depth of each line is derived from its indentation.
pub(super) fn lines(content: &str) -> Vec<CodeLine> {
    let mut lines: Vec<CodeLine> = Vec::new();
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
        lines.push(CodeLine { start, end, row, indent, depth, after_blank, sort });
        after_blank = false;
    }
    lines
}

impl CodeLine {
    /// Returns the text of the line.
    pub(super) fn text<'a>(&self, content: &'a str) -> &'a str {
        content[self.start..self.end].trim_start()
    }
}

/// Returns the first comment or attribute directly above a line. If there is none, returns the line itself.
pub(super) fn with_leads(lines: &[CodeLine], line: usize) -> usize {
    let mut first = line;
    while is_led(lines, first) {
        first -= 1;
    }
    first
}

/// Returns true if a comment or an attribute is directly above a line.
pub(super) fn is_led(lines: &[CodeLine], line: usize) -> bool {
    line > 0 && !lines[line].after_blank && lines[line - 1].sort == CodeLineRole::Lead
}

/// Returns true if the line contains only symbols.
pub(super) fn is_signs(text: &str) -> bool {
    !text.contains(|c: char| c.is_alphanumeric() || c == '_')
}

/// Returns the word at the beginning of a text, or an empty text if it does not begin with a word.
pub(super) fn first_word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}

fn columns(line: &str) -> usize {
    let blank = line.chars().take_while(|c| c.is_whitespace());
    blank.map(|c| if c == '\t' { TAB } else { 1 }).sum()
}

fn sort(text: &str) -> CodeLineRole {
    // A line that begins with `@` may be an attribute or a variable.
    let lead = LEADS.iter().any(|mark| text.starts_with(mark)) || text == "#" || text == "*";
    if lead && !(text.starts_with('@') && text.contains(" = ")) {
        CodeLineRole::Lead
    } else if text.starts_with([')', ']', '}']) || is_signs(text) || GO_ON.contains(&first_word(text)) {
        CodeLineRole::Closing
    } else {
        CodeLineRole::Plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_how_deep_they_stand_and_what_they_are() {
        let text = "# why\r\nif a:\r\n    b\r\n\r\n    c\r\nelse:\r\n\td\r\n";
        let found: Vec<(&str, u32, bool, CodeLineRole)> = lines(text)
            .iter()
            .map(|line| (line.text(text), line.depth, line.after_blank, line.sort))
            .collect();
        let (plain, lead, closing) = (CodeLineRole::Plain, CodeLineRole::Lead, CodeLineRole::Closing);
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
