//! Tags for a document that came without them: the phrases that it repeats and puts into its headings.

mod empty;
mod words;

use std::collections::HashMap;

use self::empty::is_general;
use self::words::{Word, runs};
use super::form::Form;
use super::page::{Block, Page};
use crate::text::terms::terms;
use crate::vocabulary::ContentType;

/// Most tags of one document.
const TAGS: usize = 5;

/// Most words of one tag.
const WORDS: usize = 3;

/// Most characters of one tag.
const TAG_CHARS: usize = 40;

/// A document of fewer words says too little to be filed under anything.
const LEAST_WORDS: usize = 40;

/// What a phrase of one, two or three words counts for: words that keep standing together say more than the same apart.
const LENGTHS: [f32; WORDS] = [1.0, 1.9, 2.2];

/// What a heading counts for, in places of the text.
const HEADING: f32 = 2.0;

/// What a name counts for, that is a word with a capital in the middle of a sentence.
const NAME: f32 = 1.25;

/// What a word counts for that is mostly something done: "running", "stored".
const DONE: f32 = 0.5;

/// Fewest places, by the weights above, of what is a tag.
const LEAST: f32 = 2.4;

/// At most [`TAGS`] key phrases of one to three words, best first, in small letters as they are written.
///
/// None for fewer than about forty words, and for data, links and files; for code its language. The same document has the
/// same tags, always.
pub(crate) fn tags(content: &str, form: &Form, name: Option<&str>) -> Vec<String> {
    match form.content_type {
        ContentType::Code => return form.language.map(str::to_owned).into_iter().collect(),
        ContentType::Structured | ContentType::Link | ContentType::File => return Vec::new(),
        ContentType::Text | ContentType::Markdown | ContentType::Chat | ContentType::Transcript => {}
    }
    if content.len() < 2 * LEAST_WORDS {
        return Vec::new();
    }
    let page = Page::of(content, form, name);
    let mut index = Index::default();
    for block in &page.blocks {
        match block {
            Block::Heading { text, .. } => index.take_in(text, true),
            Block::Paragraph(text) | Block::Item { text, .. } => index.take_in(text, false),
            Block::Table(rows) => rows.iter().flatten().for_each(|cell| index.take_in(cell, false)),
            Block::Code { .. } => {}
        }
    }
    if index.words < LEAST_WORDS {
        return Vec::new();
    }
    index.best()
}

/// A phrase, under its stems.
#[derive(Default)]
struct Phrase {
    /// Places in the text.
    places: f32,
    /// Whether it is in a heading.
    headed: bool,
    /// Where it comes first, in runs from the beginning.
    first: usize,
    /// Places that are within a longer phrase, and whether that is the one in the heading.
    within: f32,
    headed_within: bool,
    /// How many times its words are written as names.
    names: f32,
    /// How it is written, and how often so. Few, since all have the same stems.
    written: Vec<(String, u32)>,
}

#[derive(Default)]
struct Index {
    /// Words in all, also those that say nothing.
    words: usize,
    runs: usize,
    stems: HashMap<String, String>,
    phrases: HashMap<String, Phrase>,
}

impl Index {
    fn take_in(&mut self, text: &str, heading: bool) {
        self.words += runs(text, |run| self.add(run, heading));
    }

    fn add(&mut self, run: &[Word], heading: bool) {
        self.runs += 1;
        let stems: Vec<String> = run.iter().map(|word| self.stem(word)).collect();
        for start in 0..run.len() {
            for length in 1..=WORDS.min(run.len() - start) {
                let words = &run[start..start + length];
                let key = stems[start..start + length].join(" ");
                let phrase = self
                    .phrases
                    .entry(key)
                    .or_insert_with(|| Phrase { first: self.runs, ..Phrase::default() });
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

    fn stem(&mut self, word: &Word) -> String {
        if let Some(stem) = self.stems.get(&word.lower) {
            return stem.clone();
        }
        let stem = terms(&word.lower).into_iter().next().unwrap_or_else(|| word.lower.clone());
        self.stems.insert(word.lower.clone(), stem.clone());
        stem
    }

    /// Takes from each phrase what belongs to a longer one: where a text always says "dead letters", "letters" alone is
    /// nothing that it says.
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
        let mut scored: Vec<(f32, String, Phrase)> = self
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
            // A word is in one tag only: "health check" stands for "check" too.
            if tags.len() < TAGS && !key.split(' ').any(|stem| taken.iter().any(|known| known == stem)) {
                taken.extend(key.split(' ').map(str::to_owned));
                tags.push(phrase.as_written());
            }
        }
        tags
    }
}

impl Phrase {
    /// How well it names the document, if it may.
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
        // One place in a long text is chance, however it is weighed.
        (score >= LEAST && (self.places >= 2.0 || headed)).then_some(score)
    }

    /// As it is written most; of equals the shorter, which is the singular.
    fn as_written(&self) -> String {
        let best = self.written.iter().max_by(|(a, x), (b, y)| {
            x.cmp(y).then_with(|| b.chars().count().cmp(&a.chars().count())).then_with(|| b.cmp(a))
        });
        best.map(|(written, _)| written.clone()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
