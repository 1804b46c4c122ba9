//! Prepares texts for a terminal: no control characters, one line if needed, wrapped or cut by display width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::{self, FAINT};

/// Maximum length of a memory's content on one line without a terminal, in characters. `--json` prints the complete content.
const LINE_CHARACTERS: usize = 2_000;

const ELLIPSIS: &str = "…";
const JOINER: char = '\u{200d}';
const ESCAPE: char = '\u{1b}';
/// Ends all colours.
const RESET: &str = "\u{1b}[0m";

/// Puts a text on one line: white space becomes one space; control characters and characters that change the direction
/// of the line are removed.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() {
            if !line.is_empty() && !line.ends_with(' ') {
                line.push(' ');
            }
        } else if !turns_direction(c) {
            line.push(c);
        }
    }
    line.truncate(line.trim_end().len());
    line
}

/// Returns the text with its line breaks and tabs; other control characters are shown as `�`.
pub(crate) fn block(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }).collect()
}

/// Number of columns that the text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Cuts a text to this many columns, with `…` at the cut. Never cuts between a letter and its accents, nor inside a
/// joined emoji.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    // No character takes more columns than bytes, so such a text always fits.
    if text.len() <= columns || text.chars().take(columns + 1).count() <= columns && text.width() <= columns {
        return text.to_owned();
    }
    let mut end = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        let splits = c.width() == Some(0) || c == JOINER || before == Some(JOINER);
        if !splits {
            if text[..at].width() + 1 > columns {
                break;
            }
            end = at;
        }
        before = Some(c);
    }
    if text.width() <= columns {
        return text.to_owned();
    }
    format!("{}{ELLIPSIS}", text[..end].trim_end())
}

/// Maximum number of lines of a content on a terminal, before a pointer to the rest.
const CONTENT_LINES: usize = 5;
/// Minimum number of columns for a text next to its heading; on a narrower terminal the text is below the heading.
const LEAST_ROOM: usize = 24;
/// Indent of a text below its heading.
const INDENT: usize = 2;
/// Minimum assumed width of a terminal, in columns, because narrower lines would be single letters.
const NARROWEST: usize = 10;

/// A heading and the text next to it; further lines of the text are aligned with its first.
pub(crate) struct HangingText<'a> {
    /// The heading, which may be coloured, with the space after it.
    pub(crate) heading: &'a str,
    /// Number of columns that the heading takes.
    pub(crate) taken: usize,
    /// The width of the terminal.
    pub(crate) columns: usize,
}

impl HangingText<'_> {
    /// Lays out the whole text.
    pub(crate) fn lines(&self, text: &str) -> Vec<String> {
        self.placed(&mut wrap(text, self.room()))
    }

    /// Lays out the start of the text and a pointer to the rest; the whole text if that takes no more lines.
    pub(crate) fn beginning(&self, text: &str, rest: &str) -> Vec<String> {
        let mut whole = wrap(text, self.room());
        let mut shown: Vec<String> = whole.by_ref().take(CONTENT_LINES + 1).collect();
        if whole.next().is_some() {
            shown.truncate(CONTENT_LINES);
            shown.extend(wrap(&style::paint(FAINT, pointer(rest)), self.room()));
        }
        self.placed(&mut shown.into_iter())
    }

    /// Lays out at most this many lines of the text, with `…` if there are more.
    pub(crate) fn preview(&self, text: &str, lines: usize) -> Vec<String> {
        let mut whole = wrap(text, self.room());
        let mut shown: Vec<String> = whole.by_ref().take(lines).collect();
        if let (Some(last), true) = (shown.last_mut(), whole.next().is_some()) {
            let kept = cut(last, self.room().saturating_sub(1));
            *last = format!("{}{ELLIPSIS}", kept.trim_end_matches(ELLIPSIS));
        }
        self.placed(&mut shown.into_iter())
    }

    /// Lays out another text below the first.
    pub(crate) fn below(&self, text: &str) -> Vec<String> {
        let indent = if self.is_narrow() { INDENT } else { self.taken };
        wrap(text, self.room()).map(|line| format!("{}{line}", " ".repeat(indent))).collect()
    }

    fn is_narrow(&self) -> bool {
        self.taken > INDENT && self.columns < self.taken + LEAST_ROOM
    }

    fn room(&self) -> usize {
        let taken = if self.is_narrow() { INDENT } else { self.taken };
        self.columns.max(NARROWEST).saturating_sub(taken).max(1)
    }

    fn placed(&self, text: &mut dyn Iterator<Item = String>) -> Vec<String> {
        if self.is_narrow() {
            // Removes the spaces for alignment. A colour code after such spaces is not a word, so it gets no space
            // before it.
            let mut compact = String::new();
            for word in self.heading.split(' ').filter(|word| !word.is_empty()) {
                if !compact.is_empty() && clusters(word).any(|cluster| cluster.width > 0) {
                    compact.push(' ');
                }
                compact.push_str(word);
            }
            let heading = wrap(&compact, self.columns.max(NARROWEST)).collect::<Vec<_>>();
            return heading
                .into_iter()
                .chain(text.map(|line| format!("{}{line}", " ".repeat(INDENT))))
                .collect();
        }
        let first = format!("{}{}", self.heading, text.next().unwrap_or_default());
        let indent = " ".repeat(self.taken);
        std::iter::once(first).chain(text.map(|line| format!("{indent}{line}"))).collect()
    }
}

/// Returns the pointer to the rest of a text that was cut: `… (more: tulving get 12)`.
pub(crate) fn pointer(rest: &str) -> String {
    format!("{ELLIPSIS} (more: {rest})")
}

/// Limits a text on a line of a pipe, with a pointer to the rest if it is longer.
pub(crate) fn bounded(text: &str, rest: &str) -> String {
    let shown = cap(text, LINE_CHARACTERS);
    match shown.strip_suffix(ELLIPSIS).filter(|_| shown != text) {
        Some(start) => format!("{start}{}", pointer(rest)),
        None => shown,
    }
}

/// Wraps a text to this many columns; an iterator makes the lines on demand.
///
/// Lines break at spaces and between ideographs. A word moves to the next line whole; only one that is wider than a
/// line is broken, between letters as readers see them. Colour codes take no room and are never broken; each line ends
/// the active colours, and the next line starts with them.
pub(crate) fn wrap(text: &str, columns: usize) -> impl Iterator<Item = String> {
    Wrap { rest: text, columns: columns.max(1), on: String::new() }
}

struct Wrap<'a> {
    rest: &'a str,
    columns: usize,
    /// The colours that are active where the rest begins.
    on: String,
}

impl Wrap<'_> {
    /// Finds the end of the next line.
    fn end(&self) -> usize {
        let (mut taken, mut fits, mut before) = (0, None, None::<&str>);
        for Cluster { at, text, width } in clusters(self.rest) {
            if text == " " {
                if taken <= self.columns && before.is_some() {
                    fits = Some(at);
                }
            } else if width > 0 {
                if before.is_some_and(|before| breaks_between(before, text)) {
                    fits = Some(at);
                }
                if taken + width > self.columns && before.is_some() {
                    return fits.unwrap_or(at);
                }
            }
            if width > 0 {
                before = Some(text);
            }
            taken += width;
        }
        self.rest.len()
    }
}

impl Iterator for Wrap<'_> {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start_matches(' ');
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_at(self.end());
        self.rest = rest;
        let mut shown = format!("{}{}", self.on, line.trim_end_matches(' '));
        for Cluster { text, .. } in clusters(line).filter(|cluster| cluster.text.starts_with(ESCAPE)) {
            match text {
                RESET => self.on.clear(),
                color => self.on.push_str(color),
            }
        }
        if rest.trim_start_matches(' ') == RESET {
            self.rest = "";
            self.on.clear();
            shown.push_str(RESET);
        } else if !self.on.is_empty() {
            shown.push_str(RESET);
        }
        Some(shown)
    }
}

/// A letter as readers see it: with its accents, or an emoji with everything joined to it; or an escape sequence.
struct Cluster<'a> {
    at: usize,
    text: &'a str,
    width: usize,
}

fn clusters(text: &str) -> impl Iterator<Item = Cluster<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (start, rest) = (at, &text[at..]);
        let first = rest.chars().next()?;
        if first == ESCAPE {
            at += escape(rest);
            return Some(Cluster { at: start, text: &text[start..at], width: 0 });
        }
        let (mut before, mut flag) = (first, is_flag_letter(first));
        at += first.len_utf8();
        for c in rest.chars().skip(1) {
            let second = flag && is_flag_letter(c);
            // A colour sequence always begins a cluster.
            let joins =
                c != ESCAPE && (c.width() == Some(0) || before == JOINER || is_skin_tone(c) || second);
            if !joins {
                break;
            }
            flag = false;
            before = c;
            at += c.len_utf8();
        }
        let cluster = &text[start..at];
        Some(Cluster { at: start, text: cluster, width: cluster.width() })
    })
}

/// Length of the escape sequence at the start of a text: up to its final letter.
fn escape(text: &str) -> usize {
    let body = text.char_indices().skip(2);
    let end = body.take_while(|(_, c)| c.is_ascii()).find(|(_, c)| ('@'..='~').contains(c));
    end.map_or(ESCAPE.len_utf8(), |(at, c)| at + c.len_utf8())
}

/// True if a line may break between two letters without a space: next to ideographs, except for marks that belong to
/// the letter before or after them.
fn breaks_between(before: &str, after: &str) -> bool {
    let (before, after) = (before.chars().next().unwrap_or(' '), after.chars().next().unwrap_or(' '));
    (is_ideograph(before) || is_ideograph(after))
        && before != ' '
        && !NOT_AT_THE_START.contains(after)
        && !NOT_AT_THE_END.contains(before)
}

/// Marks that never start a line.
const NOT_AT_THE_START: &str =
    "、。，．：；？！」』）】〉》〕］｝・ー々ゝゞっゃゅょァィゥェォッャュョ.,:;?!)]}%”’…";
/// Marks that never end a line.
const NOT_AT_THE_END: &str = "「『（【〈《〔［｛([{“‘";

/// True for Chinese, Japanese and Korean letters, which are written without spaces between words.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe4f}'
        | '\u{ff00}'..='\u{ff60}' | '\u{20000}'..='\u{3ffff}')
}

/// True for regional indicators; two of them make a flag.
fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

fn is_skin_tone(c: char) -> bool {
    matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
}

/// Pads a text with spaces to this many columns.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

/// Formats a count with a comma between thousands.
pub(crate) fn thousands(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Formats a count with its word: `1 memory`, `2 memories`.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", thousands(count), if count == 1 { one } else { many })
}

/// Formats each count that is not zero with its word: `2 new, 1 updated`.
pub(crate) fn counts(counts: &[(u64, &str)]) -> String {
    let described = counts.iter().filter(|(count, _)| *count > 0);
    described.map(|(count, word)| format!("{} {word}", thousands(*count))).collect::<Vec<_>>().join(", ")
}

/// Cuts a text to this many characters, with `…` at the cut. Much faster than [`cut`] on long texts.
pub(crate) fn cap(text: &str, characters: usize) -> String {
    if text.chars().nth(characters).is_none() {
        return text.to_owned();
    }
    let room = characters.saturating_sub(1);
    let joined = |(_, c): &(usize, char)| c.width() == Some(0);
    // Back to the start of a letter, so that no letter loses its accents.
    let mut ends: Vec<(usize, char)> = text.char_indices().take(room + 1).collect();
    while ends.len() > 1 && ends.last().is_some_and(joined) {
        ends.pop();
    }
    let end = ends.last().map_or(0, |(at, _)| *at);
    format!("{}{ELLIPSIS}", text[..end].trim_end())
}

/// True for embeddings, overrides and isolates, which could make a line read differently from its content.
fn turns_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_has_no_breaks_and_no_escapes() {
        assert_eq!(one_line("  a\n\n b\t\u{1b}[31mc\u{0} "), "a b [31mc");
        assert_eq!(one_line("safe\u{202e}txt"), "safetxt");
        assert_eq!(block("a\nb\u{1b}c"), "a\nb\u{fffd}c");
    }

    #[test]
    fn what_fits_stays() {
        assert_eq!(cut("hello", 5), "hello");
        assert_eq!(cut("", 0), "");
        assert_eq!(cut("日本語", 6), "日本語");
    }

    #[test]
    fn wide_letters_count_twice() {
        assert_eq!(cut("日本語のメモ", 7), "日本語…");
        assert_eq!(cut("日本語のメモ", 6), "日本…");
        assert_eq!(cut("hello world", 6), "hello…");
    }

    #[test]
    fn letters_keep_their_accents_and_emoji_their_parts() {
        assert_eq!(cut("cafe\u{301}s are open", 5), "cafe\u{301}…");
        let family = "👩‍👩‍👧‍👦";
        assert_eq!(cut(&format!("{family} family"), 4), format!("{family}…"));
        assert_eq!(cut(&format!("ab{family}"), 3), "ab…");
    }

    #[test]
    fn nothing_is_wider_than_asked() {
        let texts = [
            "plain ascii text that is long",
            "日本語のメモがここに",
            "e\u{301}e\u{301}e\u{301}e\u{301}",
            "👩‍👩‍👧‍👦👩‍👩‍👧‍👦👩‍👩‍👧‍👦",
        ];
        for text in texts {
            for columns in 1..20 {
                let shown = cut(text, columns);
                assert!(width(&shown) <= columns, "{shown:?} in {columns}");
            }
        }
    }

    fn wrapped(text: &str, columns: usize) -> Vec<String> {
        wrap(text, columns).collect()
    }

    #[test]
    fn lines_break_at_spaces_and_words_stay_whole() {
        assert_eq!(wrapped("", 10), [""; 0]);
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 13), ["one two three"]);
        assert_eq!(wrapped("one two  three ", 8), ["one two", "three"]);
        assert_eq!(wrapped("see https://example.org/a/b now", 24), ["see", "https://example.org/a/b", "now"]);
    }

    #[test]
    fn only_what_is_wider_than_a_line_is_broken() {
        assert_eq!(wrapped("a https://example.org", 10), ["a", "https://ex", "ample.org"]);
        assert_eq!(wrapped("abcdef gh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("日本", 1), ["日", "本"]);
    }

    #[test]
    fn ideographs_break_anywhere_but_before_and_after_their_marks() {
        assert_eq!(wrapped("日本語のメモです。", 8), ["日本語の", "メモで", "す。"]);
        assert_eq!(wrapped("これは「東京」です", 8), ["これは", "「東京」", "です"]);
        assert_eq!(wrapped("use 日本語 text", 8), ["use 日本", "語 text"]);
    }

    #[test]
    fn letters_are_not_parted_from_what_belongs_to_them() {
        assert_eq!(wrapped("e\u{301}e\u{301}e\u{301}", 2), ["e\u{301}e\u{301}", "e\u{301}"]);
        let (family, waving, flag) = ("👩‍👩‍👧‍👦", "👋🏽", "🇩🇪");
        assert_eq!(wrapped(&family.repeat(3), 4), [family.repeat(2), family.to_owned()]);
        assert_eq!(wrapped(&waving.repeat(3), 4), [waving.repeat(2), waving.to_owned()]);
        assert_eq!(wrapped(&flag.repeat(3), 5), [flag.repeat(2), flag.to_owned()]);
    }

    #[test]
    fn colours_take_no_room_and_are_not_broken() {
        let text = format!("{} beta", style::paint(FAINT, "alpha gamma"));
        let plain = |line: &String| anstream::adapter::strip_str(line).to_string();
        let lines = wrapped(&text, 6);
        assert_eq!(lines.iter().map(plain).collect::<Vec<_>>(), ["alpha", "gamma", "beta"]);
        assert_eq!(lines, ["\u{1b}[2malpha\u{1b}[0m", "\u{1b}[2mgamma\u{1b}[0m", "beta"]);
        assert_eq!(wrapped(&style::paint(FAINT, "alpha"), 5), ["\u{1b}[2malpha\u{1b}[0m"]);
        let painted = style::paint(FAINT, "abcdefgh");
        assert_eq!(wrapped(&painted, 4), ["\u{1b}[2mabcd\u{1b}[0m", "\u{1b}[2mefgh\u{1b}[0m"]);
    }

    #[test]
    fn nothing_is_wider_than_the_line_and_nothing_is_lost() {
        let texts = [
            "plain ascii text that is long and has https://example.org/with/a/path/that/is/long in it",
            "日本語のメモがここに、そして (english) 混ざる。",
            "e\u{301}e\u{301} café 👩‍👩‍👧‍👦👩‍👩‍👧‍👦 flags 🇩🇪🇫🇷 한국어 텍스트",
            "שלום עולם مرحبا بالعالم",
        ];
        for text in texts {
            for columns in 2..40 {
                let lines = wrapped(text, columns);
                assert!(lines.iter().all(|line| width(line) <= columns), "{lines:?} in {columns}");
                let without = |text: &str| text.replace(' ', "");
                assert_eq!(without(&lines.concat()), without(text), "in {columns}");
            }
        }
    }

    #[test]
    fn a_text_hangs_beside_its_heading_or_below_it_where_there_is_no_room() {
        let hanging = |columns| HangingText { heading: "#1  fact  ", taken: 10, columns };
        assert_eq!(
            hanging(34).lines("one two three four five six"),
            ["#1  fact  one two three four five", "          six"]
        );
        assert_eq!(hanging(20).lines("one two three four"), ["#1 fact", "  one two three four"]);
        assert_eq!(hanging(0).lines("one two three"), ["#1 fact", "  one two", "  three"]);
        assert_eq!(hanging(80).lines(""), ["#1  fact  "]);
    }

    #[test]
    fn a_long_text_ends_with_where_the_rest_is() {
        let hanging = HangingText { heading: "- ", taken: 2, columns: 12 };
        let plain = |lines: Vec<String>| {
            lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect::<Vec<_>>()
        };
        let six = "aaaaaaaaa ".repeat(6);
        assert_eq!(plain(hanging.beginning(&six, "get 1")).len(), 6, "all of it takes as many lines");
        let lines = plain(hanging.beginning(&"aaaaaaaaa ".repeat(7), "get 1"));
        assert_eq!(lines[4..], ["  aaaaaaaaa", "  … (more:", "  get 1)"]);
    }

    #[test]
    fn a_line_of_a_pipe_says_where_the_rest_is() {
        assert_eq!(bounded("short …", "get 1"), "short …");
        assert_eq!(bounded(&"x".repeat(2_000), "get 1"), "x".repeat(2_000));
        let long = bounded(&"x".repeat(2_001), "get 1");
        assert_eq!(long, format!("{}… (more: get 1)", "x".repeat(1_999)));
    }

    #[test]
    fn caps_count_characters() {
        assert_eq!(cap("hello", 5), "hello");
        assert_eq!(cap("hello world", 6), "hello…");
        assert_eq!(cap("日本語のメモ", 4), "日本語…");
        assert_eq!(cap("cafe\u{301}s", 5), "caf…");
        assert_eq!(cap(&"x".repeat(5_000), 2_000).chars().count(), 2_000);
    }

    #[test]
    fn only_what_there_is_is_counted() {
        assert_eq!(counts(&[(2, "new"), (0, "moved"), (1_000, "known")]), "2 new, 1,000 known");
        assert_eq!(counts(&[(0, "new")]), "");
    }

    #[test]
    fn thousands_are_parted() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }
}
