//! Makes a summary from the sentences of the document that are most similar to the complete document.

use std::collections::HashMap;

use super::form::DocumentForm;
use super::lexicon::listed;
use super::page::ParsedPage;
use super::title::at_word;
use crate::preview;
use crate::terms::{is_stop_word, terms};

/// Maximum number of characters of a summary.
const SUMMARY_CHARS: usize = 300;

/// Minimum number of characters of content that gets a summary.
const LEAST_CHARS: usize = 400;

/// Maximum number of sentences of a summary.
const SENTENCES: usize = 3;

/// Minimum and maximum number of terms of a sentence that can be part of a summary.
const TERMS: std::ops::RangeInclusive<usize> = 4..=60;

/// Additional weight of an early sentence, because authors state their topic first.
const EARLY: f32 = 0.8;

/// Number of sentences after which half of the additional weight remains.
const EARLY_SENTENCES: f32 = 5.0;

/// Weight of a sentence that continues the previous sentence and is incomplete without it.
const GOING_ON: f32 = 0.5;

/// Weight of a question, which contains less information than a statement.
const ASKING: f32 = 0.6;

/// Minimum score of the second and third sentence, as a share of the best score.
const FURTHER: f32 = 0.45;

/// Similarity above which two sentences count as repetitions.
const SAME: f32 = 0.55;

/// Returns one to three sentences of a document, in their original order, with at most [`SUMMARY_CHARS`] characters.
///
/// Returns `None` for short content, and for code, data, links and files. Reads only the beginning of a long document;
/// see [`page`](super::page).
pub fn summary(content: &str, form: &DocumentForm, name: Option<&str>) -> Option<String> {
    content.chars().nth(LEAST_CHARS - 1)?;
    let page = ParsedPage::of(content, form, name);
    let sentences: Vec<String> =
        page.sentences().map(|sentence| preview::cut(sentence, usize::MAX)).collect();
    let space = DocumentVectors::of(&sentences);
    let mut chosen = space.chosen(&sentences);
    if chosen.is_empty() {
        // No sentence has a suitable length, so the first sentence with enough words is cut.
        let first = space.vectors.iter().position(|vector| vector.terms >= *TERMS.start())?;
        return Some(at_word(&sentences[first], SUMMARY_CHARS));
    }
    chosen.sort_unstable();
    let said: Vec<&str> = chosen.iter().map(|at| sentences[*at].as_str()).collect();
    Some(said.join(" "))
}

/// A sentence as a vector of term weights, in the order of the term numbers.
struct SentenceVector {
    weights: Vec<(u32, f32)>,
    length: f32,
    /// Number of terms, with repetitions.
    terms: usize,
}

impl SentenceVector {
    fn new(weights: Vec<(u32, f32)>, terms: usize) -> Self {
        let length = weights.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        Self { weights, length, terms }
    }

    fn cosine(&self, other: &Self) -> f32 {
        let (mut left, mut right) = (self.weights.iter().peekable(), other.weights.iter().peekable());
        let mut sum = 0.0;
        while let (Some((a, x)), Some((b, y))) = (left.peek(), right.peek()) {
            match a.cmp(b) {
                std::cmp::Ordering::Less => drop(left.next()),
                std::cmp::Ordering::Greater => drop(right.next()),
                std::cmp::Ordering::Equal => {
                    sum += x * y;
                    left.next();
                    right.next();
                }
            }
        }
        let lengths = self.length * other.length;
        if lengths > 0.0 { sum / lengths } else { 0.0 }
    }
}

/// The sentences of a document, and the complete document, as vectors.
struct DocumentVectors {
    vectors: Vec<SentenceVector>,
    /// The similarity of each sentence to the complete document.
    near: Vec<f32>,
}

impl DocumentVectors {
    fn of(sentences: &[String]) -> Self {
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut within: Vec<u32> = Vec::new();
        let counted: Vec<(Vec<(u32, f32)>, usize)> = sentences
            .iter()
            .map(|sentence| {
                let terms = terms(sentence);
                let count = terms.len();
                let mut ids: Vec<u32> = terms
                    .into_iter()
                    .map(|term| {
                        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                        *numbers.entry(term).or_insert(next)
                    })
                    .collect();
                ids.sort_unstable();
                within.resize(numbers.len(), 0);
                let mut weights: Vec<(u32, f32)> = Vec::with_capacity(ids.len());
                for id in ids {
                    match weights.last_mut() {
                        Some((last, count)) if *last == id => *count += 1.0,
                        _ => {
                            within[id as usize] += 1;
                            weights.push((id, 1.0));
                        }
                    }
                }
                (weights, count)
            })
            .collect();
        // A term that occurs in every sentence does not distinguish the sentences.
        let rarity = |id: u32| (1.0 + sentences.len() as f32 / within[id as usize] as f32).ln();
        let mut all = vec![0.0_f32; within.len()];
        let mut vectors = Vec::with_capacity(counted.len());
        for (mut weights, terms) in counted {
            for (id, weight) in &mut weights {
                *weight *= rarity(*id);
                all[*id as usize] += *weight;
            }
            vectors.push(SentenceVector::new(weights, terms));
        }
        let whole = SentenceVector::new((0..).zip(all).collect(), 0);
        let near = vectors.iter().map(|vector| near(vector, &whole)).collect();
        Self { vectors, near }
    }

    /// Returns the sentences of the summary, best first.
    fn chosen(&self, sentences: &[String]) -> Vec<usize> {
        let lengths: Vec<usize> = sentences.iter().map(|sentence| sentence.chars().count()).collect();
        let scores: Vec<f32> = (0..sentences.len())
            .map(|at| {
                let fits = TERMS.contains(&self.vectors[at].terms)
                    && lengths[at] <= SUMMARY_CHARS
                    && is_said(&sentences[at]);
                let early = 1.0 + EARLY / (1.0 + at as f32 / EARLY_SENTENCES);
                let asks = if sentences[at].trim_end().ends_with('?') { ASKING } else { 1.0 };
                let whole = if goes_on(&sentences[at]) { GOING_ON } else { 1.0 };
                if fits { self.near[at] * early * asks * whole } else { 0.0 }
            })
            .collect();
        let mut chosen: Vec<usize> = Vec::new();
        let mut room = SUMMARY_CHARS;
        while chosen.len() < SENTENCES {
            let least = chosen.first().map_or(0.0, |best| scores[*best] * FURTHER);
            let fits = |at: &usize| {
                let same =
                    || chosen.iter().any(|other| self.vectors[*at].cosine(&self.vectors[*other]) > SAME);
                scores[*at] > least && lengths[*at] <= room && !chosen.contains(at) && !same()
            };
            // Among equal scores the first sentence wins, so that the result is the same each time.
            let best = (0..sentences.len())
                .filter(fits)
                .max_by(|a, b| scores[*a].total_cmp(&scores[*b]).then(b.cmp(a)));
            let Some(best) = best else { break };
            room = room.saturating_sub(lengths[best] + 1);
            chosen.push(best);
        }
        chosen
    }
}

/// Returns the similarity of a sentence to the complete document. The similarity grows with the length of the sentence,
/// so the effect of the length is partly divided out.
fn near(vector: &SentenceVector, whole: &SentenceVector) -> f32 {
    let terms = vector.terms.max(1) as f32;
    vector.cosine(whole) / terms.powf(0.15)
}

/// First words of a sentence that continues the previous sentence.
const LEADS_ON: &str = "also and but hence however it its likewise moreover or otherwise so such that then therefore they thus which";

/// Returns true if a sentence cannot be understood without the previous sentence.
fn goes_on(sentence: &str) -> bool {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut words = sentence.split_whitespace().map(bare);
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    match (first.as_str(), second.as_str()) {
        ("for", "example" | "instance") | ("in", "addition" | "particular") => true,
        // "This page" refers to the document, and "this is why" refers to the previous sentence.
        ("this" | "these" | "those", second) => is_stop_word(second) || second.ends_with('s'),
        (first, _) if listed(LEADS_ON, first) => true,
        (first, _) => sentence.starts_with(char::is_lowercase) && is_stop_word(first),
    }
}

/// Returns true if a sentence consists mostly of words, and does not only introduce the next sentence.
fn is_said(sentence: &str) -> bool {
    let letters = sentence.chars().filter(|c| c.is_alphabetic() || c.is_whitespace()).count();
    letters * 10 >= sentence.chars().count() * 7 && !sentence.ends_with(':')
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;
    use crate::classify::form::of_text;

    fn summed(name: Option<&str>, content: &str) -> Option<String> {
        summary(content, &of_text(name, content), name)
    }

    const LONG: &str = "# Queue\n\n\
        The queue keeps jobs in a table of the database and hands them to workers. \
        Each worker takes one job at a time and holds it under a lease of a minute.\n\n\
        ```sql\nselect * from jobs for update skip locked;\n```\n\n\
        | column | meaning |\n|---|---|\n| lease | until when the job is held |\n\n\
        ## Failure\n\n\
        A worker that dies loses its lease, and the job is handed to another worker. \
        Jobs that fail five times are marked dead and stay in the table. \
        The weather in Graz is nice in May.\n\n\
        Thanks to everybody who read this. Would you like to know more about it?\n";

    #[test]
    fn a_summary_is_the_sentences_nearest_to_the_whole() {
        let said = summed(Some("queue.md"), LONG).expect("a summary");
        assert!(
            said.starts_with("The queue keeps jobs in a table of the database and hands them to workers."),
            "{said}"
        );
        for foreign in ["weather", "Thanks", "select", "column", "Queue\n", "Would you"] {
            assert!(!said.contains(foreign), "{foreign}: {said}");
        }
    }

    #[test]
    fn what_is_short_or_no_prose_has_none() {
        assert_eq!(summed(None, "The user prefers dark mode."), None);
        assert_eq!(summed(Some("a.rs"), &"fn main() {}\n".repeat(100)), None);
        assert_eq!(summed(Some("a.json"), &format!("[{}1]", "1, ".repeat(400))), None);
        assert_eq!(summed(Some("a.md"), &"```\nlet a = 1;\n```\n".repeat(100)), None);
        assert_eq!(summed(Some("a.md"), &"| a | b |\n".repeat(100)), None);
    }

    #[test]
    fn sentences_that_say_the_same_are_said_once() {
        let content = "The lease of a job ends after one minute of silence. ".repeat(20);
        assert_eq!(
            summed(None, &content).as_deref(),
            Some("The lease of a job ends after one minute of silence.")
        );
    }

    #[test]
    fn a_sentence_without_an_end_is_cut() {
        let content = "word after word and ".repeat(60);
        let said = summed(None, &content).expect("a summary");
        assert!(said.ends_with('…') && said.chars().count() <= SUMMARY_CHARS, "{said}");
    }

    #[test]
    fn a_conversation_is_summed_up_without_its_times() {
        let content: String = (10..50)
            .map(|at| {
                let speaker = if at % 2 == 0 { "Ann" } else { "Ben" };
                format!(
                    "[10:{at}] {speaker}: the export of tenant {at} is slow because the index is missing\n"
                )
            })
            .collect();
        let said = summed(None, &content).expect("a summary");
        assert!(
            said.contains("the export of tenant") && !said.contains("[10:") && !said.contains("Ann:"),
            "{said}"
        );
    }

    #[test]
    fn the_longest_content_takes_no_time() {
        let content: String =
            (0..60_000).map(|at| format!("Sentence {at} speaks of thing{at} and others. ")).collect();
        assert!(content.len() > 2_500_000);
        let started = Instant::now();
        assert!(summed(Some("a.md"), &content).is_some());
        // An optimised build takes a few milliseconds. Tests are not optimised, and the machine may be busy.
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn a_summary_is_short_and_made_of_the_document(
            words in proptest::collection::vec("[a-zäöü]{1,12}[.,:?!]{0,1}|\\PC{1,4}|\n|\n\n|# |- |`", 60..220),
        ) {
            let content = words.join(" ");
            if let Some(said) = summed(None, &content) {
                prop_assert!(said.chars().count() <= SUMMARY_CHARS && !said.is_empty(), "{}", said);
                prop_assert!(!said.chars().any(char::is_control));
                prop_assert!(content.chars().count() >= LEAST_CHARS);
            }
            prop_assert_eq!(summed(None, &content), summed(None, &content));
        }
    }
}
