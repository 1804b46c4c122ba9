//! The output of every reader: a text of limited size, with normalised blanks, lines and paragraphs.
//!
//! A break is written only when more text follows. Of several consecutive breaks only the widest is written, so that
//! readers may add breaks anywhere. Marks of headings and list items also wait for the text that follows them.

/// The break between two pieces of text. The variants are ordered from the narrowest to the widest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TextBreak {
    None,
    Space,
    Tab,
    Line,
    Blank,
}

impl TextBreak {
    const fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Space => " ",
            Self::Tab => "\t",
            Self::Line => "\n",
            Self::Blank => "\n\n",
        }
    }
}

/// The mark of the deepest heading in Markdown.
const DEEPEST: &str = "######";

/// Builds the text.
#[derive(Debug)]
pub(super) struct ExtractTextBuilder {
    text: String,
    pending: TextBreak,
    mark: &'static str,
    /// True if the next cell is the first one of its row.
    first_cell: bool,
    most: usize,
    cut: bool,
}

impl ExtractTextBuilder {
    /// Creates an empty text with a limit of `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Self { text: String::new(), pending: TextBreak::None, mark: "", first_cell: false, most, cut: false }
    }

    /// Adds a piece of text. White space in it becomes breaks, and unwanted characters are left out.
    pub(super) fn push(&mut self, piece: &str) {
        for char in piece.chars() {
            match char {
                '\n' | '\r' | '\u{b}' | '\u{2028}' => self.line(),
                '\u{c}' | '\u{2029}' => self.blank_line(),
                '\t' => self.tab(),
                char if char.is_whitespace() => self.space(),
                char if is_noise(char) => {}
                char => self.put(char),
            }
            if self.cut {
                return;
            }
        }
    }

    /// Writes the waiting mark and then a piece of text on the same line. Line breaks in the piece become blanks.
    pub(super) fn say(&mut self, piece: &str) {
        if !self.mark.is_empty() && !piece.trim().is_empty() {
            let mark = std::mem::take(&mut self.mark);
            self.push(mark);
            self.space();
        }
        self.push(&piece.replace(['\n', '\r', '\t'], " "));
    }

    /// Sets the mark before the next text that is added with [`say`](Self::say), such as `-`. An empty text means no
    /// mark.
    pub(super) fn mark(&mut self, mark: &'static str) {
        self.mark = mark;
    }

    /// Makes the next text a heading of this depth, counted from 1.
    pub(super) fn heading(&mut self, depth: usize) {
        self.mark(&DEEPEST[..depth.clamp(1, DEEPEST.len())]);
    }

    /// Begins a row of cells.
    pub(super) fn row(&mut self) {
        self.line();
        self.first_cell = true;
    }

    /// Begins a cell of the current row.
    pub(super) fn cell(&mut self) {
        if !std::mem::take(&mut self.first_cell) {
            self.tab();
        }
    }

    fn put(&mut self, char: char) {
        let before = if self.text.is_empty() { "" } else { self.pending.as_str() };
        if self.text.len() + before.len() + char.len_utf8() > self.most {
            self.cut = true;
            return;
        }
        self.text.push_str(before);
        self.text.push(char);
        self.pending = TextBreak::None;
    }

    /// Makes sure that at least a blank precedes the next text.
    pub(super) fn space(&mut self) {
        self.pending = self.pending.max(TextBreak::Space);
    }

    /// Makes sure that at least a tab precedes the next text, as between the cells of a row.
    pub(super) fn tab(&mut self) {
        self.pending = self.pending.max(TextBreak::Tab);
    }

    /// Makes the next text begin on a new line.
    pub(super) fn line(&mut self) {
        self.pending = self.pending.max(TextBreak::Line);
    }

    /// Puts a blank line before the next text.
    pub(super) fn blank_line(&mut self) {
        self.pending = TextBreak::Blank;
    }

    /// Joins a word that was hyphenated at the end of the previous line.
    pub(super) fn mend(&mut self, line: &str) {
        let hyphen = ['-', '\u{2010}'];
        let Some(before) = self.text.strip_suffix(hyphen) else {
            return;
        };
        let is_word = before.ends_with(char::is_lowercase) && line.starts_with(char::is_lowercase);
        if self.pending == TextBreak::Line && is_word {
            self.text.truncate(before.len());
            self.pending = TextBreak::None;
        }
    }

    /// Returns true if no more text is accepted.
    pub(super) fn is_full(&self) -> bool {
        self.cut
    }

    /// Stops accepting text.
    pub(super) fn close(&mut self) {
        self.cut = true;
    }

    /// Returns the text, and true if some text was cut off.
    pub(super) fn finish(self) -> (String, bool) {
        (self.text, self.cut)
    }
}

/// Returns true for characters that do not belong in a text: control characters, soft hyphens, byte order marks, and
/// private characters of a font.
fn is_noise(char: char) -> bool {
    char.is_control()
        || matches!(char, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{fff9}'..='\u{ffff}')
        || matches!(char, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(most: usize, work: impl FnOnce(&mut ExtractTextBuilder)) -> (String, bool) {
        let mut sink = ExtractTextBuilder::new(most);
        work(&mut sink);
        sink.finish()
    }

    #[test]
    fn of_several_breaks_the_widest_counts_and_none_is_at_the_ends() {
        let made = text(100, |sink| {
            sink.blank_line();
            sink.push("  one \t two ");
            sink.line();
            sink.space();
            sink.push("\r\nthree\0\u{ad}\u{e000}");
            sink.line();
            sink.blank_line();
            sink.line();
            sink.push("four\u{a0}five\n\n");
        });
        assert_eq!(made, ("one\ttwo\nthree\n\nfour five".to_owned(), false));
    }

    #[test]
    fn what_is_too_much_is_cut_between_characters() {
        assert_eq!(text(5, |sink| sink.push("éééé")), ("éé".to_owned(), true));
        assert_eq!(text(4, |sink| sink.push("éé")), ("éé".to_owned(), false));
    }

    #[test]
    fn a_mark_waits_for_words_and_goes_no_deeper_than_markdown() {
        let made = text(100, |sink| {
            sink.heading(9);
            sink.say(" \n ");
            sink.say("one\ntwo");
            sink.say("\tthree");
            sink.line();
            sink.mark("-");
            sink.mark("");
            sink.say("four");
        });
        assert_eq!(made.0, "###### one two three\nfour");
    }

    #[test]
    fn cells_have_tabs_between_them() {
        let made = text(100, |sink| {
            for row in [["a", "b"], ["c", "d"]] {
                sink.row();
                for cell in row {
                    sink.cell();
                    sink.say(cell);
                }
            }
        });
        assert_eq!(made.0, "a\tb\nc\td");
    }

    #[test]
    fn a_word_that_was_broken_is_put_together_and_others_are_not() {
        let two_lines = |first: &str, second: &str| {
            text(100, |sink| {
                sink.push(first);
                sink.line();
                sink.mend(second);
                sink.push(second);
            })
            .0
        };
        assert_eq!(two_lines("an exam-", "ple of it"), "an example of it");
        assert_eq!(two_lines("pages 3-", "4"), "pages 3-\n4");
        assert_eq!(two_lines("Smith-", "Jones"), "Smith-\nJones");
        assert_eq!(two_lines("a list: -", "one"), "a list: -\none");
    }
}
