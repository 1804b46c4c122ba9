//! Cuts text that is longer than the window into parts of similar size, at the best positions.

use std::ops::Range;

use super::code::lines::{CodeLine, CodeLineRole};
use super::outline::OutlineBlock;
use super::pieces::{PieceCounter, TextLanguage, pieces};
use crate::sentence::{sentences, trimmed};

/// Short sentences are joined until they have this many pieces. Cuts between such short sentences are not considered,
/// so that the search stays linear.
const ATOM: u32 = 12;

/// Costs of a cut. A chunk costs 1 plus the square of the share of the window that it fills. The squares favour parts
/// of equal size. Keeping paragraphs together may cost an additional chunk, unless that chunk would be nearly empty.
const BETWEEN_PARAGRAPHS: f32 = 0.0;
const WITHIN_PARAGRAPH: f32 = 0.75;
const WITHIN_SENTENCE: f32 = 1.5;
const BELOW_HEADING: f32 = 2.0;

/// Costs of a cut in code, in this order: for each surrounding part that the cut splits, up to a maximum; for a cut
/// without a blank line; for a cut below a comment or attribute; for a cut above a closing line; for a cut within a
/// line.
const TORN: f32 = 0.3;
const MOST_TORN: u32 = 4;
const NO_BLANK: f32 = 0.3;
const BELOW_LEAD: f32 = 1.0;
const ABOVE_CLOSING: f32 = 0.6;
const WITHIN_LINE: f32 = 2.5;

/// The smallest part of a text that is not cut.
struct TextAtom {
    /// The offset of the first byte. The part ends where the next one starts.
    start: usize,
    pieces: u32,
    /// The cost of a cut before this part.
    cut: f32,
}

/// Returns the positions at which to cut a part of content, other than code, so that each piece fits into `window`.
///
/// The text between the `blocks` consists of headings. Each heading belongs to the block below it.
pub(super) fn cuts(
    content: &str,
    part: Range<usize>,
    blocks: &[OutlineBlock],
    language: TextLanguage,
    window: u32,
) -> Vec<usize> {
    let mut cutter = TextCutter { content, language, window, atoms: Vec::new() };
    let mut at = part.start;
    for block in blocks {
        let mut cut = BETWEEN_PARAGRAPHS;
        if let Some(headings) = trimmed(content, at..block.range.start) {
            cutter.push_paragraph(headings, cut);
            cut = BELOW_HEADING;
        }
        if block.code {
            let pieces = pieces(&content[block.range.clone()], language);
            cutter.atoms.push(TextAtom { start: block.range.start, pieces, cut });
        } else {
            cutter.push_paragraph(block.range.clone(), cut);
        }
        at = block.range.end;
    }
    if let Some(headings) = trimmed(content, at..part.end) {
        cutter.push_paragraph(headings, BETWEEN_PARAGRAPHS);
    }
    cheapest(&cutter.atoms, window)
}

/// Returns the positions at which to cut a part of code, given as `lines`, so that each piece fits into `window`.
pub(super) fn line_cuts(
    content: &str,
    lines: &[CodeLine],
    language: TextLanguage,
    window: u32,
) -> Vec<usize> {
    let mut cutter = TextCutter { content, language, window, atoms: Vec::new() };
    let outermost = lines.iter().skip(1).map(|line| line.depth).min().unwrap_or(0);
    let mut above: Option<&CodeLine> = None;
    for line in lines {
        let mut cut = TORN * line.depth.saturating_sub(outermost).min(MOST_TORN) as f32;
        if !line.after_blank {
            let lead = above.is_some_and(|above| above.sort == CodeLineRole::Lead);
            cut += NO_BLANK + if lead { BELOW_LEAD } else { 0.0 };
        }
        if line.sort == CodeLineRole::Closing {
            cut += ABOVE_CLOSING;
        }
        let same = |above: &&CodeLine| above.depth == line.depth && above.sort == line.sort;
        let goes_on = !line.after_blank && above.filter(same).is_some();
        cutter.push_line(line.start..line.end, cut, goes_on);
        above = Some(line);
    }
    cheapest(&cutter.atoms, window)
}

struct TextCutter<'a> {
    content: &'a str,
    language: TextLanguage,
    window: u32,
    atoms: Vec<TextAtom>,
}

impl TextCutter<'_> {
    fn push_paragraph(&mut self, range: Range<usize>, mut cut: f32) {
        let mut open = false;
        for sentence in sentences(&self.content[range.clone()]) {
            let sentence = range.start + sentence.start..range.start + sentence.end;
            let count = pieces(&self.content[sentence.clone()], self.language);
            match self.atoms.last_mut() {
                Some(last) if open && last.pieces < ATOM && count < self.window / 2 => last.pieces += count,
                _ if count > self.window => {
                    self.push_words(sentence, cut, WITHIN_SENTENCE, char::is_whitespace);
                }
                _ => self.atoms.push(TextAtom { start: sentence.start, pieces: count, cut }),
            }
            (cut, open) = (WITHIN_PARAGRAPH, count <= self.window);
        }
    }

    /// Adds a line. Short lines that continue each other are joined without a possible cut between them.
    fn push_line(&mut self, range: Range<usize>, cut: f32, goes_on: bool) {
        let count = pieces(&self.content[range.clone()], self.language);
        match self.atoms.last_mut() {
            _ if count > self.window => {
                let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '{' | '}' | '>');
                self.push_words(range, cut, WITHIN_LINE, ends);
            }
            Some(last) if goes_on && last.pieces + count <= ATOM => last.pieces += count,
            _ => self.atoms.push(TextAtom { start: range.start, pieces: count, cut }),
        }
    }

    /// Splits text that is longer than the window after a character that ends a word. Splits a word that is too long at
    /// any character.
    fn push_words(&mut self, range: Range<usize>, mut cut: f32, within: f32, ends: impl Fn(char) -> bool) {
        let most = (self.window / 8).max(1);
        let (mut start, mut counter) = (range.start, PieceCounter::new(self.language));
        let mut after_end = false;
        for (at, c) in self.content[range.clone()].char_indices() {
            let at = range.start + at;
            let count = counter.pieces();
            let full = count >= most && after_end && !c.is_whitespace();
            if at > start && (full || count >= 2 * most) {
                self.atoms.push(TextAtom { start, pieces: count, cut });
                (start, cut, counter) = (at, within, PieceCounter::new(self.language));
            }
            counter.push(c);
            after_end = ends(c);
        }
        self.atoms.push(TextAtom { start, pieces: counter.pieces().max(1), cut });
    }
}

/// Returns the cheapest way to join the atoms, as the start positions of all parts except the first.
fn cheapest(atoms: &[TextAtom], window: u32) -> Vec<usize> {
    let square = |total: u32| {
        let filled = (total as f32 / window as f32).min(2.0);
        filled * filled
    };
    // Computed once, because content with short lines needs about a hundred million of these squares.
    let squares: Vec<f32> = (0..=window).map(square).collect();
    // For each number n: the cost of the best way to cut the first n atoms, and the start of the last part.
    let mut best: Vec<(f32, usize)> = vec![(0.0, 0)];
    for end in 1..=atoms.len() {
        let mut total = 0_u32;
        let mut found = (f32::INFINITY, end - 1);
        for begin in (0..end).rev() {
            total = total.saturating_add(atoms[begin].pieces);
            if total > window && begin + 1 < end {
                break;
            }
            let filled = squares.get(total as usize).copied().unwrap_or_else(|| square(total));
            let cost = best[begin].0 + 1.0 + filled + if begin > 0 { atoms[begin].cut } else { 0.0 };
            if cost < found.0 {
                found = (cost, begin);
            }
        }
        best.push(found);
    }
    let mut places = Vec::new();
    let mut end = atoms.len();
    while end > 0 {
        end = best[end].1;
        if end > 0 {
            places.push(atoms[end].start);
        }
    }
    places.reverse();
    places
}
