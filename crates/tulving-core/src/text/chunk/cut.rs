//! Cuts what is longer than the window, at the best places and into parts of similar size.

use std::ops::Range;

use super::outline::Block;
use super::pieces::{Counter, Language, pieces};
use crate::text::sentence::{sentences, trimmed};

/// Small sentences are put together until they have as many pieces: nobody needs a cut between any two of them, and
/// the search stays linear.
const ATOM: u32 = 12;

/// What a cut costs, where a chunk costs 1 and the square of the share of the window that it fills. The squares make
/// parts equal; to keep paragraphs whole may cost another chunk where that is not nearly empty.
const BETWEEN_PARAGRAPHS: f32 = 0.0;
const WITHIN_PARAGRAPH: f32 = 0.75;
const WITHIN_SENTENCE: f32 = 1.5;
const BELOW_HEADING: f32 = 2.0;

/// The smallest part of a text that is kept whole.
struct Atom {
    /// Where it begins; it ends where the next one does.
    start: usize,
    pieces: u32,
    /// What it costs to cut before it.
    cut: f32,
}

/// The places where a part of a content is cut so that each piece fits into `window`, code aside.
///
/// What is between the `blocks` are headings: each goes with the block below it.
pub(super) fn cuts(
    content: &str,
    part: Range<usize>,
    blocks: &[Block],
    language: Language,
    window: u32,
) -> Vec<usize> {
    let mut cutter = Cutter { content, language, window, atoms: Vec::new() };
    let mut at = part.start;
    for block in blocks {
        let mut cut = BETWEEN_PARAGRAPHS;
        if let Some(headings) = trimmed(content, at..block.range.start) {
            cutter.push_paragraph(headings, cut);
            cut = BELOW_HEADING;
        }
        if block.code {
            let pieces = pieces(&content[block.range.clone()], language);
            cutter.atoms.push(Atom { start: block.range.start, pieces, cut });
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

struct Cutter<'a> {
    content: &'a str,
    language: Language,
    window: u32,
    atoms: Vec<Atom>,
}

impl Cutter<'_> {
    fn push_paragraph(&mut self, range: Range<usize>, mut cut: f32) {
        let mut open = false;
        for sentence in sentences(&self.content[range.clone()]) {
            let sentence = range.start + sentence.start..range.start + sentence.end;
            let count = pieces(&self.content[sentence.clone()], self.language);
            match self.atoms.last_mut() {
                Some(last) if open && last.pieces < ATOM && count < self.window / 2 => last.pieces += count,
                _ if count > self.window => self.push_words(sentence, cut),
                _ => self.atoms.push(Atom { start: sentence.start, pieces: count, cut }),
            }
            (cut, open) = (WITHIN_PARAGRAPH, count <= self.window);
        }
    }

    /// Cuts a sentence that is longer than the window between words, and a word as long as that between characters.
    fn push_words(&mut self, range: Range<usize>, mut cut: f32) {
        let most = (self.window / 8).max(1);
        let (mut start, mut counter) = (range.start, Counter::new(self.language));
        let mut after_space = false;
        for (at, c) in self.content[range.clone()].char_indices() {
            let at = range.start + at;
            let count = counter.pieces();
            let full = count >= most && after_space && !c.is_whitespace();
            if at > start && (full || count >= 2 * most) {
                self.atoms.push(Atom { start, pieces: count, cut });
                (start, cut, counter) = (at, WITHIN_SENTENCE, Counter::new(self.language));
            }
            counter.push(c);
            after_space = c.is_whitespace();
        }
        self.atoms.push(Atom { start, pieces: counter.pieces().max(1), cut });
    }
}

/// The cheapest way to put atoms together, as the places where the parts after the first begin.
fn cheapest(atoms: &[Atom], window: u32) -> Vec<usize> {
    // The cost of the best way to cut the first n atoms, and where its last part begins.
    let mut best: Vec<(f32, usize)> = vec![(0.0, 0)];
    for end in 1..=atoms.len() {
        let mut total = 0_u32;
        let mut found = (f32::INFINITY, end - 1);
        for begin in (0..end).rev() {
            total = total.saturating_add(atoms[begin].pieces);
            if total > window && begin + 1 < end {
                break;
            }
            let filled = (total as f32 / window as f32).min(2.0);
            let cost = best[begin].0 + 1.0 + filled * filled + if begin > 0 { atoms[begin].cut } else { 0.0 };
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
