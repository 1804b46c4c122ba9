//! The keyword lane: BM25 of the question's terms, term at a time, over windows of docs.
//!
//! The rarity of terms and the length of items are computed only within the scope, and only items within the scope are
//! scored. So hidden memories cannot change the answer. The gains of every doc are added in the same order, so base and
//! tail give exactly the same scores.

use std::collections::HashMap;
use std::ops::Range;

use tulving_core::model::search::SearchQuery;

use super::errors::DamagedIndexFile;
use super::expand;
use super::segment::Postings;
use super::top::{ScoredDoc, TopDocs};
use super::visible::VisibleDocs;

/// BM25's parameter k1: the saturation of repeated terms.
const K1: f32 = 1.2;
/// BM25's parameter b: the influence of the length. In measurements, all values from 0.5 to 0.75 gave good results.
const B: f32 = 0.6;
/// Number of docs that are scored at once. Their scores fit into the CPU's fastest caches.
const WINDOW: usize = 16 * 1024;
/// Docs with fewer terms get their gains (what a term adds to a score) from a table. Few docs are longer.
const SHORT: usize = 256;
/// Maximum number of times that a term may occur in a doc whose gain comes from the table.
const SELDOM: usize = 3;
/// Maximum number of unknown terms that are expanded. Each expansion searches all terms, which takes a while.
const MOST_UNKNOWN: usize = 8;
/// Minimum number of postings for which a table of gains is worth computing.
const WORTH_A_TABLE: usize = 4_096;

/// A term to search for: a term of the question, or a term of an expansion.
pub(super) struct WeightedTerm<'a> {
    /// The index of the question's term that this term belongs to, among the different terms of the question.
    pub(super) asked: usize,
    /// The weight of the term: its rarity times its number of occurrences in the question.
    pub(super) weight: f32,
    /// The docs that contain the term, part by part.
    pub(super) postings: Vec<Postings<'a>>,
}

/// The question's terms, prepared for scoring.
pub(super) struct QueryTerms<'a> {
    /// The terms to search for, grouped by the term of the question.
    pub(super) words: Vec<WeightedTerm<'a>>,
    /// The rarity of each term of the question, in the order of the question; 0 for a term without any match.
    pub(super) rarities: Vec<f32>,
    /// The worth of each different term of the question: its rarity times its number of occurrences. A term without any
    /// match has the highest rarity, because the answer lacks it.
    pub(super) worth: Vec<f32>,
    pub(super) lengths: LengthNormalization,
}

/// The effect of an item's length relative to the mean length of all items.
#[derive(Clone, Copy, Debug)]
pub(super) struct LengthNormalization {
    slope: f32,
}

impl LengthNormalization {
    pub(super) fn around(mean: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a mean of lengths needs no more precision than f32"
        )]
        let mean = if mean > 0.0 { mean as f32 } else { 1.0 };
        Self { slope: K1 * B / mean }
    }

    /// The gain of a term with this count in a text of this length.
    pub(super) fn gain(self, weight: f32, count: f32, length: f32) -> f32 {
        let dampened = K1 * (1.0 - B) + self.slope * length;
        weight * (count * (K1 + 1.0) / (count + dampened))
    }
}

impl<'a> QueryTerms<'a> {
    pub(super) fn of(question: &SearchQuery, parts: &[VisibleDocs<'a>]) -> Result<Self, DamagedIndexFile> {
        let terms = &question.terms;
        let items: f64 = parts.iter().map(|part| f64::from(part.counts.items)).sum();
        let length: f64 = parts.iter().map(|part| part.counts.length as f64).sum();
        let mut known: HashMap<&str, usize> = HashMap::with_capacity(terms.len());
        let (mut different, mut times): (Vec<&str>, Vec<f32>) = (Vec::new(), Vec::new());
        let mut places = Vec::with_capacity(terms.len());
        for term in terms {
            let place = *known.entry(term).or_insert(different.len());
            if place == different.len() {
                different.push(term);
                times.push(0.0);
            }
            times[place] += 1.0;
            places.push(place);
        }
        let (mut words, mut rarities) = (Vec::new(), vec![0.0; different.len()]);
        let (mut worth, mut unknown) = (Vec::with_capacity(different.len()), 0);
        let most = if question.exact { 0 } else { MOST_UNKNOWN };
        for (asked, (term, times)) in different.iter().zip(times).enumerate() {
            let itself = expand::itself(term, parts)?;
            let beginning = question.beginning.as_ref().filter(|begun| places.get(begun.at) == Some(&asked));
            let begun = match beginning {
                Some(beginning) => expand::begun(beginning, term, parts)?,
                None => Vec::new(),
            };
            let is_begun = !begun.is_empty();
            // All words with this beginning are one word that is as common as all of them together.
            let together: usize = begun.iter().map(|(_, seen)| seen).sum();
            let by_beginning = expand::SHARE * rarity(items, (together as f64).min(items));
            for (postings, _) in begun {
                rarities[asked] = f32::max(rarities[asked], by_beginning);
                words.push(WeightedTerm { asked, weight: times * by_beginning, postings });
            }
            let (share, found) = match itself {
                Some(itself) => (1.0, vec![itself]),
                None if is_begun => (1.0, Vec::new()),
                None if unknown < most => (expand::SHARE, expand::others(term, parts)?),
                None => (0.0, Vec::new()),
            };
            unknown += usize::from(share < 1.0);
            let missing = if found.is_empty() && !is_begun { rarity(items, 0.0) } else { 0.0 };
            for (postings, seen) in found {
                let rarity = share * rarity(items, seen as f64);
                rarities[asked] = f32::max(rarities[asked], rarity);
                words.push(WeightedTerm { asked, weight: times * rarity, postings });
            }
            worth.push(times * f32::max(missing, rarities[asked]));
        }
        let rarities = places.into_iter().map(|place| rarities[place]).collect();
        Ok(Self { words, rarities, worth, lengths: LengthNormalization::around(length / items.max(1.0)) })
    }

    /// The best docs by their terms, and the number of visible memories that contain any of the terms.
    pub(super) fn best(&self, parts: &[VisibleDocs<'_>], mut top: TopDocs<'_>) -> (Vec<ScoredDoc>, u64) {
        let (mut scores, mut memories) = (ScoreWindow::new(), 0);
        for (part, visible) in (0_u32..).zip(parts) {
            for range in &visible.ranges {
                let mut left: Vec<PostingsCursor<'_>> = self
                    .words
                    .iter()
                    .filter_map(|word| PostingsCursor::of(self.lengths, word, part, range))
                    .collect();
                let mut counted = 0;
                // A window begins at a multiple of 64 at or before the next posting, because the bits are stored in
                // words of 64.
                while let Some(first) = left.iter().filter_map(|word| word.docs.first()).min() {
                    let start = first & !63;
                    let end = start.saturating_add(WINDOW as u32).min(range.end);
                    for word in &mut left {
                        word.score(start, end, visible.view.lengths, &mut scores);
                    }
                    memories += scores.harvest(part, start, visible, &mut top, &mut counted);
                }
            }
        }
        (top.into_hits(), memories)
    }
}

/// The rarity of a term that `with` of all `items` contain.
fn rarity(items: f64, with: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a rarity needs no more precision than f32")]
    let rarity = ((items - with + 0.5) / (with + 0.5)).ln_1p() as f32;
    rarity
}

/// The postings of a term in a range that are not scored yet.
struct PostingsCursor<'a> {
    docs: &'a [u32],
    counts: &'a [u8],
    weight: f32,
    lengths: LengthNormalization,
    /// The gains by count and length, for small counts and lengths. Empty if there are few postings.
    table: Vec<f32>,
}

impl<'a> PostingsCursor<'a> {
    fn of(
        lengths: LengthNormalization,
        word: &WeightedTerm<'a>,
        part: u32,
        range: &Range<u32>,
    ) -> Option<Self> {
        let Postings { docs, counts } = word.postings[part as usize];
        let from = docs.partition_point(|&doc| doc < range.start);
        let to = from + docs[from..].partition_point(|&doc| doc < range.end);
        let weight = word.weight;
        let table = if to - from < WORTH_A_TABLE {
            Vec::new()
        } else {
            let gain = |n: usize| lengths.gain(weight, (n / SHORT + 1) as f32, (n % SHORT) as f32);
            (0..SELDOM * SHORT).map(gain).collect()
        };
        (from < to).then(|| Self { docs: &docs[from..to], counts: &counts[from..to], weight, lengths, table })
    }

    /// Adds the gains of the docs before `end`.
    fn score(&mut self, start: u32, end: u32, lengths: &[u32], scores: &mut ScoreWindow) {
        let now = self.docs.partition_point(|&doc| doc < end);
        let (docs, later) = self.docs.split_at(now);
        let (counts, later_counts) = self.counts.split_at(now);
        (self.docs, self.counts) = (later, later_counts);
        for (&doc, &count) in docs.iter().zip(counts) {
            let (length, times) = (lengths[doc as usize], count as usize);
            let gain = if length < SHORT as u32 && times <= SELDOM && !self.table.is_empty() {
                self.table[(times - 1) * SHORT + length as usize]
            } else {
                self.lengths.gain(self.weight, f32::from(count), length as f32)
            };
            scores.add((doc - start) as usize, gain);
        }
    }
}

/// Scores of consecutive docs.
struct ScoreWindow {
    scores: [f32; WINDOW],
    /// A bit for each doc with a score.
    touched: [u64; WINDOW / 64],
}

impl ScoreWindow {
    fn new() -> Box<Self> {
        Box::new(Self { scores: [0.0; WINDOW], touched: [0; WINDOW / 64] })
    }

    #[inline]
    fn add(&mut self, place: usize, gain: f32) {
        let place = place % WINDOW;
        self.scores[place] += gain;
        self.touched[place / 64] |= 1 << (place % 64);
    }

    /// Offers the good scores to the list of the best, counts the memories with any of the terms, and resets all scores
    /// to zero.
    fn harvest(
        &mut self,
        part: u32,
        start: u32,
        visible: &VisibleDocs<'_>,
        top: &mut TopDocs<'_>,
        counted: &mut u32,
    ) -> u64 {
        let mut memories = 0;
        let chunks = self.scores.chunks_exact_mut(64).zip(&mut self.touched);
        for (first, (scores, touched)) in (start..).step_by(64).zip(chunks) {
            if *touched == 0 {
                continue;
            }
            let mut seen = *touched & visible.word(first);
            memories += count(visible, first, seen, counted);
            let mut least = top.least();
            while seen != 0 {
                let n = seen.trailing_zeros();
                let score = scores[n as usize % 64];
                if score >= least {
                    top.offer(ScoredDoc { score, part, doc: first + n });
                    least = top.least();
                }
                seen &= seen - 1;
            }
            *touched = 0;
            scores.fill(0.0);
        }
        memories
    }
}

/// Number of memories of the docs whose bits are set, without the memory counted last.
fn count(visible: &VisibleDocs<'_>, first: u32, mut bits: u64, counted: &mut u32) -> u64 {
    if visible.view.continued.is_empty() {
        return u64::from(bits.count_ones());
    }
    let mut memories = 0;
    while bits != 0 {
        let doc = first + bits.trailing_zeros();
        if doc >= *counted {
            *counted = visible.view.memory_end(doc);
            memories += 1;
        }
        bits &= bits - 1;
    }
    memories
}
