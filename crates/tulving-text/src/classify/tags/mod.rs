//! Makes tags for a document that has none, from the phrases that it repeats and uses in its headings.

mod empty;
mod words;

use std::collections::HashMap;

use self::empty::is_general;
use self::words::{TagWord, runs};
use super::form::DocumentForm;
use super::page::{PageBlock, ParsedPage};
use crate::terms::terms;
use crate::vocabulary::ContentType;

/// Maximum number of tags of one document.
const TAGS: usize = 5;

/// Maximum number of words of one tag.
const WORDS: usize = 3;

/// Maximum number of characters of one tag.
const TAG_CHARS: usize = 40;

/// Minimum number of words of a document that gets tags.
const LEAST_WORDS: usize = 40;

/// Weights of phrases of one, two and three words. Words that occur together mean more than the same words separately.
const LENGTHS: [f32; WORDS] = [1.0, 1.9, 2.2];

/// Number of occurrences in the text that a heading counts as.
const HEADING: f32 = 2.0;

/// Weight of a name, which is a word with a capital in the middle of a sentence.
const NAME: f32 = 1.25;

/// Weight of a word that is probably a form of a verb: "running", "stored".
const DONE: f32 = 0.5;

/// Minimum score of a tag, in weighted occurrences.
const LEAST: f32 = 2.4;

/// Returns at most [`TAGS`] key phrases of one to three words, in lower case. The best phrase comes first.
///
/// Returns no phrases for a text of fewer than about forty words, and for data, links and files. Returns the language
/// for code. The same document always has the same tags.
pub fn tags(content: &str, form: &DocumentForm, name: Option<&str>) -> Vec<String> {
    match form.content_type {
        ContentType::Code => return form.language.map(str::to_owned).into_iter().collect(),
        ContentType::Structured | ContentType::Link | ContentType::File => return Vec::new(),
        ContentType::Text | ContentType::Markdown | ContentType::Chat | ContentType::Transcript => {}
    }
    if content.len() < 2 * LEAST_WORDS {
        return Vec::new();
    }
    let page = ParsedPage::of(content, form, name);
    let mut index = TagPhraseIndex::default();
    for block in &page.blocks {
        match block {
            PageBlock::Heading { text, .. } => index.take_in(text, true),
            PageBlock::Paragraph(text) | PageBlock::Item { text, .. } => index.take_in(text, false),
            PageBlock::Table(rows) => rows.iter().flatten().for_each(|cell| index.take_in(cell, false)),
            PageBlock::Code { .. } => {}
        }
    }
    if index.words < LEAST_WORDS {
        return Vec::new();
    }
    index.best()
}

/// A phrase, identified by its stems.
#[derive(Default)]
struct TagPhrase {
    /// Number of occurrences in the text.
    places: f32,
    /// True if the phrase occurs in a heading.
    headed: bool,
    /// The number of the run in which the phrase first occurs, counted from the beginning of the document.
    first: usize,
    /// Number of occurrences within a longer phrase, and true if the longer phrase occurs in a heading.
    within: f32,
    headed_within: bool,
    /// Number of occurrences outside headings in which all words are written as names.
    names: f32,
    /// The spellings of the phrase, each with its count. The list is short, because all spellings have the same stems.
    written: Vec<(String, u32)>,
}

#[derive(Default)]
struct TagPhraseIndex {
    /// Number of all words, including words without meaning.
    words: usize,
    runs: usize,
    stems: HashMap<String, String>,
    phrases: HashMap<String, TagPhrase>,
}

impl TagPhraseIndex {
    fn take_in(&mut self, text: &str, heading: bool) {
        self.words += runs(text, |run| self.add(run, heading));
    }

    fn add(&mut self, run: &[TagWord], heading: bool) {
        self.runs += 1;
        let stems: Vec<String> = run.iter().map(|word| self.stem(word)).collect();
        for start in 0..run.len() {
            for length in 1..=WORDS.min(run.len() - start) {
                let words = &run[start..start + length];
                let key = stems[start..start + length].join(" ");
                let phrase = self
                    .phrases
                    .entry(key)
                    .or_insert_with(|| TagPhrase { first: self.runs, ..TagPhrase::default() });
                phrase.places += 1.0;
                phrase.headed |= heading;
                phrase.names += f32::from(u8::from(!heading && words.iter().all(|word| word.is_name)));
                let written = words.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" ");
                match phrase.written.iter_mut().find(|(known, _)| *known == written) {
                    Some((_, count)) => *count += 1,
                    None => phrase.written.push((written, 1)),
                }
            }
        }
    }

    fn stem(&mut self, word: &TagWord) -> String {
        if let Some(stem) = self.stems.get(&word.lower) {
            return stem.clone();
        }
        let stem = terms(&word.lower).into_iter().next().unwrap_or_else(|| word.lower.clone());
        self.stems.insert(word.lower.clone(), stem.clone());
        stem
    }

    /// Subtracts from each phrase its occurrences within a longer phrase. In a text that always writes "dead letters",
    /// "letters" alone is not a topic.
    fn explain(&mut self) {
        let longer: Vec<(String, f32, bool)> = self
            .phrases
            .iter()
            .filter(|(key, phrase)| key.contains(' ') && (phrase.places >= 2.0 || phrase.headed))
            .map(|(key, phrase)| (key.clone(), phrase.places, phrase.headed))
            .collect();
        for (key, places, headed) in longer {
            let stems: Vec<&str> = key.split(' ').collect();
            for length in 1..stems.len() {
                for part in stems.windows(length) {
                    if let Some(phrase) = self.phrases.get_mut(&part.join(" ")) {
                        phrase.within = phrase.within.max(places);
                        phrase.headed_within |= headed;
                    }
                }
            }
        }
    }

    fn best(mut self) -> Vec<String> {
        self.explain();
        let total = self.runs.max(1) as f32;
        let mut scored: Vec<(f32, String, TagPhrase)> = self
            .phrases
            .into_iter()
            .filter_map(|(key, phrase)| {
                let score = phrase.score(&key, total)?;
                Some((score, key, phrase))
            })
            .collect();
        scored.sort_by(|a, b| {
            b.0.total_cmp(&a.0).then_with(|| a.2.first.cmp(&b.2.first)).then_with(|| a.1.cmp(&b.1))
        });
        let mut tags: Vec<String> = Vec::new();
        let mut taken: Vec<String> = Vec::new();
        for (_, key, phrase) in scored {
            // A word occurs in one tag only: the tag "health check" also covers "check".
            if tags.len() < TAGS && !key.split(' ').any(|stem| taken.iter().any(|known| known == stem)) {
                taken.extend(key.split(' ').map(str::to_owned));
                tags.push(phrase.as_written());
            }
        }
        tags
    }
}

impl TagPhrase {
    /// Returns the score of the phrase as a tag, if the phrase qualifies.
    fn score(&self, key: &str, runs: f32) -> Option<f32> {
        let length = key.split(' ').count();
        let written = &self.written.first()?.0;
        let headed = self.headed && !self.headed_within;
        let places = self.places - self.within + if headed { HEADING } else { 0.0 };
        if written.chars().count() > TAG_CHARS || written.split(' ').all(is_general) {
            return None;
        }
        let done = length == 1 && (written.ends_with("ing") || written.ends_with("ed"));
        let name = 1.0 + (NAME - 1.0) * self.names / self.places;
        let early = 1.0 + 0.3 * (1.0 - self.first as f32 / runs);
        let score = places * LENGTHS[length - 1] * name * early * if done { DONE } else { 1.0 };
        // A single occurrence in a long text may be chance, regardless of its weight.
        (score >= LEAST && (self.places >= 2.0 || headed)).then_some(score)
    }

    /// Returns the most frequent spelling of the phrase. Among equally frequent spellings, returns the shorter one,
    /// which is usually the singular.
    fn as_written(&self) -> String {
        let best = self.written.iter().max_by(|(a, x), (b, y)| {
            x.cmp(y).then_with(|| b.chars().count().cmp(&a.chars().count())).then_with(|| b.cmp(a))
        });
        best.map(|(written, _)| written.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
