//! Builds lines and paragraphs from characters with positions.
//!
//! A page does not mark words or lines; only gaps between characters show them. Characters are processed in the order
//! in which they are drawn. In nearly all PDFs this is the reading order, and it separates columns without guessing.

use hayro_font::kurbo::{Point, Vec2};
use unicode_normalization::UnicodeNormalization as _;

use super::super::sink::ExtractTextBuilder;

/// A gap wider than this share of the letter size is a blank. A blank normally takes a quarter to a third of the letter
/// size, and half of that in a compressed line. The gaps between letters that are spread to fill a line are at most a
/// tenth.
const BLANK: f64 = 0.12;
/// A character is on another line if its distance from the line is larger than this share of its size. Superscripts and
/// subscripts have a smaller distance.
const OFF_THE_LINE: f64 = 0.55;
/// If a character is further back than this share of its size, it begins a new line, except in right-to-left scripts. A
/// smaller step back only moves the character closer to the last one.
const BACK: f64 = 0.6;
/// Two lines belong to different paragraphs if their distance is larger than this many times their size. Used if the
/// usual distance of the lines is not known.
const APART: f64 = 1.9;
/// Two lines belong to different paragraphs if their distance is larger than this many times the previous distance.
const FURTHER: f64 = 1.35;
/// Maximum length of a line, in letters. A longer line is split; no real page has one.
const LONGEST_LINE: usize = 20_000;
/// The minimum cosine of the angle between two related directions: the cosine of 25 degrees.
const SAME_DIRECTION: f64 = 0.9;

/// The position of a drawn character. Coordinates grow downwards and to the right.
#[derive(Clone, Copy, Debug)]
pub(super) struct GlyphPlacement {
    /// The start of the character.
    pub(super) at: Point,
    /// The vector from the start to the end of the character.
    pub(super) along: Vec2,
    /// The direction of the line that contains the character.
    pub(super) direction: Vec2,
    /// The height of the letters.
    pub(super) size: f64,
}

/// A character of a line, with its position along the line.
struct LineGlyph {
    text: String,
    start: f64,
    end: f64,
    /// True if a blank precedes the character.
    blank: bool,
}

impl LineGlyph {
    /// Combines this letter with an accent that is drawn over it, in either order. Returns true if they were combined.
    fn takes_in(&mut self, text: &str, start: f64, end: f64) -> bool {
        let overlap = self.end.min(end) - self.start.max(start);
        let is_over = overlap > 0.4 * (self.end - self.start).min(end - start);
        let is_letter = |text: &str| text.chars().next().is_some_and(char::is_alphabetic);
        let (letter, accent) = match (accent(&self.text), accent(text)) {
            (None, Some(over)) if is_letter(&self.text) && (is_over || over.1) => {
                (self.text.as_str(), over.0)
            }
            (Some(over), None) if is_letter(text) && is_over => (text, over.0),
            _ => return false,
        };
        let plain = letter.chars().map(|char| match char {
            'ı' => 'i',
            'ȷ' => 'j',
            char => char,
        });
        self.text = plain.chain([accent]).nfc().collect();
        (self.start, self.end) = (self.start.min(start), self.end.max(end));
        true
    }
}

/// Returns the combining form of an accent, and true if the character already is that form.
fn accent(text: &str) -> Option<(char, bool)> {
    let mut chars = text.chars();
    let (Some(char), None) = (chars.next(), chars.next()) else {
        return None;
    };
    let with_a_letter = match char {
        '`' | 'ˋ' => '\u{300}',
        '´' | 'ˊ' => '\u{301}',
        'ˆ' => '\u{302}',
        '˜' => '\u{303}',
        '¯' | 'ˉ' => '\u{304}',
        '˘' => '\u{306}',
        '˙' => '\u{307}',
        '¨' => '\u{308}',
        '˚' => '\u{30a}',
        '˝' => '\u{30b}',
        'ˇ' => '\u{30c}',
        '¸' => '\u{327}',
        '˛' => '\u{328}',
        '\u{300}'..='\u{36f}' => return Some((char, true)),
        _ => return None,
    };
    Some((with_a_letter, false))
}

/// The lines of the page so far.
pub(super) struct PdfPageLayout<'s> {
    sink: &'s mut ExtractTextBuilder,
    letters: Vec<LineGlyph>,
    /// The position of the last character of the line.
    last: Option<GlyphPlacement>,
    /// The position of the first character of the line.
    first: Option<GlyphPlacement>,
    /// The distance between this line and the previous one.
    pitch: Option<f64>,
}

impl<'s> PdfPageLayout<'s> {
    pub(super) fn new(sink: &'s mut ExtractTextBuilder) -> Self {
        Self { sink, letters: Vec::new(), last: None, first: None, pitch: None }
    }

    pub(super) fn is_full(&self) -> bool {
        self.sink.is_full()
    }

    /// Adds a character. A character without text still takes up its space.
    pub(super) fn place(&mut self, text: Option<&str>, mark: GlyphPlacement) {
        let Some(mark) = sound(mark) else {
            return;
        };
        let text = text.unwrap_or_default();
        match self.last.map(|last| step(&last, &mark, &self.letters, text)) {
            None => self.first = Some(mark),
            Some(GlyphRelation::On { blank }) => {
                if self.letters.len() >= LONGEST_LINE {
                    self.end_line();
                }
                self.push(text, &mark, blank);
                self.last = Some(mark);
                return;
            }
            Some(GlyphRelation::NextLine(down)) => {
                self.end_line();
                let size = mark.size;
                let usual = self.pitch.filter(|pitch| *pitch > 0.7 * size && *pitch < 2.5 * size);
                let apart = usual.map_or(APART * size, |usual| FURTHER * usual);
                if down > apart || down < 0.0 {
                    self.sink.blank_line();
                    self.pitch = None;
                } else {
                    self.pitch = Some(down);
                }
                self.first = Some(mark);
            }
            Some(GlyphRelation::Elsewhere) => {
                self.end_line();
                self.sink.blank_line();
                (self.pitch, self.first) = (None, Some(mark));
            }
        }
        self.push(text, &mark, false);
        self.last = Some(mark);
    }

    fn push(&mut self, text: &str, mark: &GlyphPlacement, blank: bool) {
        let Some(first) = &self.first else {
            return;
        };
        let start = (mark.at - first.at).dot(first.direction);
        let end = start + mark.along.dot(first.direction);
        if let Some(last) = self.letters.last_mut()
            && last.takes_in(text, start, end)
        {
            return;
        }
        self.letters.push(LineGlyph { text: text.to_owned(), start, end, blank });
    }

    /// Ends the current line and writes it.
    fn end_line(&mut self) {
        let line = spelled(&std::mem::take(&mut self.letters));
        // At the end of a line a soft hyphen is a hyphen; elsewhere it is removed.
        let line = line.trim().replace('\u{ad}', if line.trim().ends_with('\u{ad}') { "-" } else { "" });
        if !line.is_empty() {
            self.sink.mend(&line);
            self.sink.push(&line);
            self.sink.line();
        }
    }

    /// Writes the last line.
    pub(super) fn finish(mut self) {
        self.end_line();
    }
}

/// Returns the position with a direction of length one; `None` if a value is not finite.
fn sound(mark: GlyphPlacement) -> Option<GlyphPlacement> {
    let length = mark.direction.length();
    let is_finite =
        [mark.at.x, mark.at.y, mark.along.x, mark.along.y, mark.size].iter().all(|x| x.is_finite());
    if !(is_finite && length.is_finite() && length > 0.0) {
        return None;
    }
    // Some fonts draw letters larger than their stated size.
    let size = mark.size.max(mark.along.length());
    Some(GlyphPlacement { direction: mark.direction / length, size, ..mark })
}

/// The relation of a character to the previous one.
enum GlyphRelation {
    /// The character continues the line.
    On {
        /// True if a blank precedes the character.
        blank: bool,
    },
    /// The character begins a new line, at this distance below the previous one.
    NextLine(f64),
    /// The character is unrelated to the previous one.
    Elsewhere,
}

fn step(last: &GlyphPlacement, mark: &GlyphPlacement, letters: &[LineGlyph], text: &str) -> GlyphRelation {
    if last.direction.dot(mark.direction) < SAME_DIRECTION {
        return GlyphRelation::Elsewhere;
    }
    let size = last.size.max(mark.size);
    let gap = mark.at - (last.at + last.along);
    let along = gap.dot(last.direction);
    // The gap perpendicular to the text direction. For lines that go to the right, this is downwards.
    let down = gap.dot(Vec2::new(-last.direction.y, last.direction.x));
    if down.abs() > OFF_THE_LINE * size {
        return GlyphRelation::NextLine(down);
    }
    if along >= -BACK * size {
        return GlyphRelation::On { blank: along > BLANK * last.size.min(mark.size) };
    }
    // Right-to-left scripts may also be drawn from right to left.
    let leftwards = -along - last.along.dot(last.direction) - mark.along.dot(last.direction);
    let is_leftwards =
        letters.last().is_some_and(|letter| is_right_to_left(&letter.text)) || is_right_to_left(text);
    if is_leftwards && leftwards > -BACK * size && leftwards < 2.0 * size {
        return GlyphRelation::On { blank: leftwards > BLANK * size };
    }
    GlyphRelation::NextLine(-1.0)
}

/// Returns true if a text belongs to a right-to-left script.
fn is_right_to_left(text: &str) -> bool {
    let to_the_left =
        |char| matches!(char, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}');
    text.chars().next().is_some_and(to_the_left)
}

/// Returns the text of a line. Right-to-left letters that were drawn from left to right are reversed, and ligatures are
/// split.
fn spelled(letters: &[LineGlyph]) -> String {
    let mut line = String::new();
    let mut at = 0;
    while at < letters.len() {
        let run = leftward_run(&letters[at..]);
        if run < 2 {
            add(&mut line, &letters[at], letters[at].blank);
            at += 1;
            continue;
        }
        let run = &letters[at..at + run];
        let was_turned = run[run.len() - 1].start > run[0].start;
        if was_turned {
            if run[0].blank {
                line.push(' ');
            }
            for (index, letter) in run.iter().enumerate().rev() {
                add(&mut line, letter, false);
                if letter.blank && index > 0 {
                    line.push(' ');
                }
            }
        } else {
            run.iter().for_each(|letter| add(&mut line, letter, letter.blank));
        }
        at += run.len();
    }
    line
}

/// Number of letters at the start that belong to a right-to-left script, including the blanks and marks between them.
fn leftward_run(letters: &[LineGlyph]) -> usize {
    let mut run = 0;
    for (index, letter) in letters.iter().enumerate() {
        if is_right_to_left(&letter.text) {
            run = index + 1;
        } else if run == 0 || letter.text.chars().any(char::is_alphanumeric) {
            break;
        }
    }
    run
}

fn add(line: &mut String, letter: &LineGlyph, blank: bool) {
    if blank {
        line.push(' ');
    }
    for char in letter.text.chars() {
        match char {
            '\u{fb00}' => line.push_str("ff"),
            '\u{fb01}' => line.push_str("fi"),
            '\u{fb02}' => line.push_str("fl"),
            '\u{fb03}' => line.push_str("ffi"),
            '\u{fb04}' => line.push_str("ffl"),
            '\u{fb05}' | '\u{fb06}' => line.push_str("st"),
            '\u{f0b7}' => line.push('•'),
            char => line.push(char),
        }
    }
}
