//! The keyword lane: BM25 of the question's terms, term at a time, over windows of docs.
//!
//! How rare a term is and how long items are comes from what is within the scope, as does all that is scored: what a
//! caller may not see changes no bit of the answer. The same sums in the same order are made wherever a doc lies, so that
//! base and tail give the same numbers to the last bit.

use std::collections::HashMap;
use std::ops::Range;

use tulving_core::search::Question;

use super::expand;
use super::segment::Postings;
use super::top::{Hit, Top};
use super::trouble::Damaged;
use super::visible::Visible;

/// How soon more of the same counts less.
const K1: f32 = 1.2;
/// How much the length counts. Anything from 0.5 to 0.75 measured as good.
const B: f32 = 0.6;
/// So many docs are scored at once: their scores stay in the nearest caches.
const WINDOW: usize = 16 * 1024;
/// Gains of docs with up to so many terms are looked up; the longer are few.
const SHORT: usize = 256;
/// Gains of terms that are there up to so often are looked up.
const SELDOM: usize = 3;
/// Of the terms that nothing visible has, so many are taken for others. To look through all terms takes a while.
const MOST_UNKNOWN: usize = 8;
/// Fewer postings are not worth a table.
const WORTH_A_TABLE: usize = 4_096;

/// A term to look for: one of the question, or one that it stands for.
pub(super) struct Word<'a> {
    /// Which of the different terms of the question it is for.
    pub(super) asked: usize,
    /// How much it counts: its rarity, by how often it was asked.
    pub(super) weight: f32,
    /// The docs that have it, part by part.
    pub(super) postings: Vec<Postings<'a>>,
}

/// The question's terms, made ready.
pub(super) struct Words<'a> {
    /// Those of one term of the question follow one another.
    pub(super) words: Vec<Word<'a>>,
    /// The rarity of each term of the question, in its order; 0 for one that stands for nothing.
    pub(super) rarities: Vec<f32>,
    /// What the different terms of the question are worth, each by how often it was asked. One that stands for nothing
    /// is as rare as can be: who asks for it misses it.
    pub(super) worth: Vec<f32>,
    pub(super) lengths: Lengths,
}

/// How a length counts against the mean of all.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lengths {
    slope: f32,
}

impl Lengths {
    pub(super) fn around(mean: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "a mean of lengths needs no more digits")]
        let mean = if mean > 0.0 { mean as f32 } else { 1.0 };
        Self { slope: K1 * B / mean }
    }

    /// What a word is worth that is there so often in a text of this length.
    pub(super) fn gain(self, weight: f32, count: f32, length: f32) -> f32 {
        let dampened = K1 * (1.0 - B) + self.slope * length;
        weight * (count * (K1 + 1.0) / (count + dampened))
    }
}

impl<'a> Words<'a> {
    pub(super) fn of(question: &Question, parts: &[Visible<'a>]) -> Result<Self, Damaged> {
        let terms = &question.terms;
        let items: f64 = parts.iter().map(|part| f64::from(part.tally.items)).sum();
        let length: f64 = parts.iter().map(|part| part.tally.length as f64).sum();
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
            let (share, found) = match expand::itself(term, parts)? {
                Some(itself) => (1.0, vec![itself]),
                None if unknown < most => (expand::SHARE, expand::others(term, parts)?),
                None => (0.0, Vec::new()),
            };
            unknown += usize::from(share < 1.0);
            let missing = if found.is_empty() { rarity(items, 0.0) } else { 0.0 };
            for (postings, seen) in found {
                let rarity = share * rarity(items, seen as f64);
                rarities[asked] = f32::max(rarities[asked], rarity);
                words.push(Word { asked, weight: times * rarity, postings });
            }
            worth.push(times * f32::max(missing, rarities[asked]));
        }
        let rarities = places.into_iter().map(|place| rarities[place]).collect();
        Ok(Self { words, rarities, worth, lengths: Lengths::around(length / items.max(1.0)) })
    }

    /// The best by their terms, and how many visible memories have any.
    pub(super) fn best(&self, parts: &[Visible<'_>], mut top: Top<'_>) -> (Vec<Hit>, u64) {
        let (mut scores, mut memories) = (Scores::new(), 0);
        for (part, visible) in (0_u32..).zip(parts) {
            for range in &visible.ranges {
                let mut left: Vec<Left<'_>> =
                    self.words.iter().filter_map(|word| Left::of(self.lengths, word, part, range)).collect();
                let mut counted = 0;
                // Windows begin where the next posting is, at a multiple of 64, as the words of bits do.
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

/// How rare a term is that so many of all items have.
fn rarity(items: f64, with: f64) -> f32 {
    #[expect(clippy::cast_possible_truncation, reason = "a rarity needs no more digits")]
    let rarity = ((items - with + 0.5) / (with + 0.5)).ln_1p() as f32;
    rarity
}

/// What is left of a word's postings in a range.
struct Left<'a> {
    docs: &'a [u32],
    counts: &'a [u8],
    weight: f32,
    lengths: Lengths,
    /// Gains by count and length, for the usual ones.
    table: Vec<f32>,
}

impl<'a> Left<'a> {
    fn of(lengths: Lengths, word: &Word<'a>, part: u32, range: &Range<u32>) -> Option<Self> {
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

    /// Adds what the docs before `end` gain.
    fn score(&mut self, start: u32, end: u32, lengths: &[u32], scores: &mut Scores) {
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

/// Scores of docs that follow one another.
struct Scores {
    scores: [f32; WINDOW],
    /// A bit for each doc that has one.
    touched: [u64; WINDOW / 64],
}

impl Scores {
    fn new() -> Box<Self> {
        Box::new(Self { scores: [0.0; WINDOW], touched: [0; WINDOW / 64] })
    }

    #[inline]
    fn add(&mut self, place: usize, gain: f32) {
        let place = place % WINDOW;
        self.scores[place] += gain;
        self.touched[place / 64] |= 1 << (place % 64);
    }

    /// Offers what is good enough, counts the memories that have any of the terms, and leaves all scores at nought.
    fn harvest(
        &mut self,
        part: u32,
        start: u32,
        visible: &Visible<'_>,
        top: &mut Top<'_>,
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
                    top.offer(Hit { score, part, doc: first + n });
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

/// How many memories the docs of these bits are of, without the one counted last.
fn count(visible: &Visible<'_>, first: u32, mut bits: u64, counted: &mut u32) -> u64 {
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
