//! Finds the section of a chunk that a question matched.
//!
//! Small neighbouring sections are indexed as one chunk, so a chunk may have several headings. This module chooses a
//! section of the chunk by the words of the question, and the answer shows the section with its own headings and line
//! number. If the words do not decide, the answer shows the whole chunk with the headings that all its sections share.
//! Runs after the ranking, without side effects.

use std::collections::HashMap;
use std::ops::Range;

use tulving_text::chunk::{ContentForm, HeadedPart, parts_within};
use tulving_text::terms;

use super::phrase::words;

/// Minimum share of the question's words, by rarity, for a section to be chosen. With a smaller share, the chunk may
/// have matched by meaning, so the section is unknown.
const DECIDES: f64 = 0.5;
/// Minimum share of the best score at which another section with as many of the words also counts as matched.
const AS_WELL: f64 = 0.75;
/// The weights of a word in the section's own heading and in an outer heading. They are added to the weight of its
/// occurrences in the text.
const IN_HEADING: f64 = 1.0;
const IN_HEADING_ABOVE: f64 = 0.25;

/// The words of the question by which a section is chosen.
#[derive(Debug)]
pub(super) struct QuestionWords {
    /// All words, in the normal form for comparison with headings.
    all: String,
    /// The terms, each with its weight.
    terms: Vec<(String, f64)>,
}

/// A part of a content, with the headings that apply to the whole part.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MatchedSection {
    pub(super) range: Range<usize>,
    pub(super) heading_path: Vec<String>,
}

impl QuestionWords {
    /// Creates the words of a question. `rarities` are the rarities of the terms of the search, if known.
    pub(super) fn of(question: &str, looked_for: &str, rarities: &[f32]) -> Self {
        let mut terms: Vec<(String, f64)> = Vec::new();
        let all = terms::terms(looked_for);
        let known = rarities.len() == all.len();
        let most = rarities.iter().copied().fold(0.0, f32::max);
        for (at, term) in all.into_iter().enumerate() {
            if terms.iter().any(|(other, _)| *other == term) {
                continue;
            }
            // A term that occurs nowhere gets the maximum rarity.
            let rarity = if known && rarities[at] > 0.0 { rarities[at] } else { most };
            terms.push((term, if known && rarity > 0.0 { f64::from(rarity) } else { 1.0 }));
        }
        Self { all: words(question), terms }
    }

    /// Returns the section of a chunk that these words match; `None` if the chunk has at most one heading.
    pub(super) fn choose(
        &self,
        content: &str,
        form: ContentForm<'_>,
        chunk: &Range<usize>,
    ) -> Option<MatchedSection> {
        let parts = parts_within(content, form, chunk.clone());
        if parts.is_empty() {
            return None;
        }
        let chosen = self.contenders(content, &parts);
        Some(cover(&parts, &chosen, chunk))
    }

    /// Returns the parts that match as well as any other.
    fn contenders(&self, content: &str, parts: &[HeadedPart]) -> Vec<usize> {
        let every = || (0..parts.len()).collect();
        let named: Vec<usize> = every_where(parts, |part| self.is_heading(&part.path));
        if !named.is_empty() {
            return named;
        }
        let scores: Vec<SectionScore> = parts.iter().map(|part| self.score(content, part)).collect();
        let Some(best) = scores.iter().copied().max_by(|a, b| a.score.total_cmp(&b.score)) else {
            return every();
        };
        if best.share < DECIDES {
            return every();
        }
        let as_well = |one: &SectionScore| one.score >= AS_WELL * best.score && one.share >= best.share;
        scores.iter().enumerate().filter(|(_, one)| as_well(one)).map(|(at, _)| at).collect()
    }

    /// Returns true if the question is exactly this heading, with or without its parent headings.
    fn is_heading(&self, path: &[String]) -> bool {
        !self.all.is_empty() && (0..path.len()).any(|from| words(&path[from..].join(" ")) == self.all)
    }

    fn score(&self, content: &str, part: &HeadedPart) -> SectionScore {
        let counted = |text: &str| {
            let mut counts: HashMap<String, u32> = HashMap::new();
            terms::of_text(text).into_iter().for_each(|term| *counts.entry(term).or_default() += 1);
            counts
        };
        let own = counted(&content[part.range.clone()]);
        let heading = part.path.last().map(|heading| counted(heading)).unwrap_or_default();
        let above = counted(&part.path[..part.path.len().saturating_sub(1)].join("\n"));
        let (mut score, mut has, mut all) = (0.0, 0.0, 0.0);
        for (term, weight) in &self.terms {
            let times = own.get(term).copied().map_or(0.0, f64::from);
            let mut counts = times / (times + 1.0);
            counts += if heading.contains_key(term) { IN_HEADING } else { 0.0 };
            counts += if above.contains_key(term) { IN_HEADING_ABOVE } else { 0.0 };
            score += weight * counts;
            has += if counts > 0.0 { *weight } else { 0.0 };
            all += weight;
        }
        SectionScore { score, share: if all > 0.0 { has / all } else { 0.0 } }
    }
}

#[derive(Clone, Copy)]
struct SectionScore {
    score: f64,
    /// The share of the words that the part contains.
    share: f64,
}

fn every_where(parts: &[HeadedPart], holds: impl Fn(&HeadedPart) -> bool) -> Vec<usize> {
    parts.iter().enumerate().filter(|(_, part)| holds(part)).map(|(at, _)| at).collect()
}

/// Returns the smallest section that contains all chosen parts. It includes all text of the chunk below its heading,
/// and the parent headings that have no text of their own.
pub(super) fn cover(parts: &[HeadedPart], chosen: &[usize], chunk: &Range<usize>) -> MatchedSection {
    let first = &parts[chosen[0]];
    let common = chosen.iter().fold(first.headings.len(), |common, at| {
        let same = first.headings.iter().zip(&parts[*at].headings).take_while(|(a, b)| a == b).count();
        common.min(same)
    });
    let heading_path = first.path[..common].to_vec();
    let below = match first.headings[..common].last() {
        Some(heading) => every_where(parts, |part| part.headings.contains(heading)),
        // The chosen part is the text above the first heading of a document.
        None if chosen.len() == 1 => chosen.to_vec(),
        None => Vec::new(),
    };
    let range = match (below.first(), below.last()) {
        (Some(first), Some(last)) => {
            let leads = |part: &&HeadedPart| part.bare && parts[*first].headings.starts_with(&part.headings);
            let above = parts[..*first].iter().rev().take_while(leads).last();
            above.unwrap_or(&parts[*first]).range.start..parts[*last].range.end
        }
        _ => chunk.clone(),
    };
    MatchedSection { range, heading_path }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Boat\n\nA short intro.\n\n## Engine\n\nStart it cold.\n\n### Oil\n\nChange the oil in May.\n\n\
                        ## Sails\n\nThe oil of the winch is in the blue tin.\n\n```sh\n# Anchor\nmake sail\n```\n\n\
                        Anchor\n------\n\nTen metres of chain.";

    fn chosen(question: &str) -> (String, &'static str) {
        let words = QuestionWords::of(question, question, &[]);
        let MatchedSection { range, heading_path } =
            words.choose(TEXT, ContentForm::PROSE, &(0..TEXT.len())).expect("several headings");
        (heading_path.join(" > "), &TEXT[range])
    }

    #[test]
    fn an_exact_heading_is_its_own_section_with_what_stands_below_it() {
        assert_eq!(chosen("Anchor"), ("Boat > Anchor".to_owned(), "Anchor\n------\n\nTen metres of chain."));
        assert_eq!(chosen("OIL?"), ("Boat > Engine > Oil".to_owned(), "### Oil\n\nChange the oil in May."));
        let (path, text) = chosen("boat / engine");
        assert!(
            path == "Boat > Engine" && text.starts_with("## Engine") && text.ends_with("in May."),
            "{text}"
        );
        assert_eq!(chosen("boat"), ("Boat".to_owned(), TEXT));
    }

    #[test]
    fn headings_without_text_stay_above_the_section_that_they_lead_to() {
        let text = "# Boat\n\n## Deck\n\n### Paint\n\nIt is white.\n\n### Planks\n\nThey are oak.";
        let chosen = |question: &str| {
            let words = QuestionWords::of(question, question, &[]);
            let found = words.choose(text, ContentForm::PROSE, &(0..text.len())).expect("several headings");
            (found.heading_path.join(" > "), &text[found.range])
        };
        let paint = "# Boat\n\n## Deck\n\n### Paint\n\nIt is white.";
        assert_eq!(chosen("paint"), ("Boat > Deck > Paint".to_owned(), paint));
        assert_eq!(chosen("planks"), ("Boat > Deck > Planks".to_owned(), "### Planks\n\nThey are oak."));
        assert_eq!(chosen("deck"), ("Boat > Deck".to_owned(), text));
    }

    #[test]
    fn words_in_the_text_choose_the_section_that_they_stand_in() {
        assert_eq!(chosen("how many metres of chain?").0, "Boat > Anchor");
        assert_eq!(chosen("what does make sail do").0, "Boat > Sails");
        assert_eq!(chosen("engine oil change").0, "Boat > Engine > Oil");
    }

    #[test]
    fn where_the_words_do_not_decide_all_of_the_chunk_is_shown_below_what_it_has_in_common() {
        assert_eq!(chosen("what is the colour of the hull and the deck?"), ("Boat".to_owned(), TEXT));
        assert_eq!(chosen(""), ("Boat".to_owned(), TEXT));
        assert_eq!(chosen("cold chain").0, "Boat", "one word here, the other there");
    }
}
