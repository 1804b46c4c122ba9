//! Converts ranked memories into hits. A hit contains the best section of the memory and an explanation; all hits
//! together fit into the token budget.

use crate::model::answer::{BestSection, Explanation, FurtherSection, Hit, LaneMark, ScorePart};
use crate::model::error::Error;
use crate::model::id::MemoryRef;
use crate::model::limits::BYTES_PER_TOKEN;
use crate::model::memory::Memory;
use crate::model::score::Score;
use crate::model::search::{SearchResults, Section};
use crate::rank::scoring::sum;

use super::further::MatchingSection;
use super::lanes::LaneResults;
use super::matched::{MatchedSection, QuestionWords};
use super::query_context::QueryContext;

/// Length, in bytes, to which a content is cut if it does not fit into an answer.
const SHORTENED: usize = 4_000;
/// Maximum length, in bytes, of a content that certainly has only one section.
pub(super) const SHORT: usize = 400;

/// A ranked memory.
pub(super) struct RankedMemory {
    pub(super) memory: Memory,
    /// The best item of the memory, if a lane of the index found one.
    pub(super) item: Option<usize>,
    /// The item that is the evidence for this memory: its own item, or the item of the memory that it updates.
    pub(super) evidence_item: Option<usize>,
    /// The weight of the evidence.
    pub(super) evidence: f64,
    pub(super) marks: Vec<LaneMark>,
    pub(super) parts: Vec<ScorePart>,
    /// The highest possible score.
    pub(super) most: f64,
    /// A memory with a better rank and the same content.
    pub(super) duplicate_of: Option<MemoryRef>,
    /// Other items of the memory that match well.
    pub(super) further: Vec<MatchingSection>,
}

impl RankedMemory {
    /// Returns the sum of the parts of the score.
    pub(super) fn score(&self) -> f64 {
        sum(&self.parts)
    }
}

/// Returns the first hits, up to the limit, and the number of those that do not fit into the token budget. If there is
/// a budget, a long content is cut to its best section, and the remaining room is used for further sections.
pub(super) fn hits(
    asked: &QueryContext<'_>,
    ranked: Vec<RankedMemory>,
    gathered: &LaneResults,
) -> Result<(Vec<Hit>, u64), Error> {
    let found = &gathered.found;
    let words = words(asked, gathered);
    let mut hits: Vec<Hit> = Vec::new();
    let (mut left, mut left_out) = (asked.ask.token_budget, 0);
    let (mut bytes, most) = (0, asked.parts.limits.answer_bytes);
    for mut ranked in ranked.into_iter().take(asked.plan.limit) {
        asked.whole(&mut ranked.memory)?;
        let Sections { best, further } = sections(asked, &ranked, found, &words)?;
        let mut cut = false;
        if let Some(left) = &mut left {
            let content = &mut ranked.memory.fields.text.content;
            let shown = best.as_ref().and_then(|section| content.get(section.start..section.end));
            let tokens = shown.unwrap_or(content).len().div_ceil(BYTES_PER_TOKEN);
            if tokens > *left {
                left_out += 1;
                continue;
            }
            *left -= tokens;
            if let Some(shown) = shown.map(str::to_owned) {
                (*content, cut) = (shown, true);
            }
        }
        let content = &mut ranked.memory.fields.text.content;
        if left.is_none() && bytes + content.len() > most && !hits.is_empty() {
            cut |= shorten(content, best.as_ref());
        }
        bytes += content.len();
        hits.push(hit(ranked, Sections { best, further }, cut));
    }
    if let Some(left) = &mut left {
        hits.iter_mut().for_each(|hit| hit.fit_further(left));
    }
    Ok((hits, left_out))
}

/// Cuts a content that does not fit into an answer to its best section, or its beginning. Returns true if it was cut.
fn shorten(content: &mut String, best: Option<&BestSection>) -> bool {
    let shown = best.and_then(|section| content.get(section.start..section.end));
    let shown = shown.unwrap_or(content.as_str());
    let shown = shown[..shown.floor_char_boundary(SHORTENED)].to_owned();
    let cut = shown.len() < content.len();
    *content = shown;
    cut
}

/// The sections of a content that match.
#[derive(Default)]
struct Sections {
    best: Option<BestSection>,
    /// Other sections, each with its score relative to the score of the best section.
    further: Vec<(BestSection, f64, String)>,
}

/// Returns the words of the question, as the keyword lane searched for them.
fn words(asked: &QueryContext<'_>, gathered: &LaneResults) -> QuestionWords {
    QuestionWords::of(&asked.ask.question, &gathered.words, &gathered.found.rarities)
}

/// Returns the best section and other sections that match well, if the content has several sections. If a chunk has
/// several sections, uses the section that the question matched.
fn sections(
    asked: &QueryContext<'_>,
    ranked: &RankedMemory,
    found: &SearchResults,
    words: &QuestionWords,
) -> Result<Sections, Error> {
    let memory = &ranked.memory;
    let content = memory.fields.text.content.as_str();
    // The index contains only the sections of the current text.
    let of_today = asked.ask.as_of.is_none_or(|then| memory.usage.updated_at <= then);
    let Some(item) = ranked.item.filter(|_| of_today && content.len() > SHORT) else {
        return Ok(Sections::default());
    };
    let sections = asked.parts.store.sections(&asked.caller.viewer, memory.id)?;
    // An edit after the load may have shortened the content; then the whole content is shown.
    let section = |item: usize| {
        let Section { range, heading_path } = sections.get(found.items[item].chunk as usize)?;
        content.get(range.clone())?;
        let whole = || MatchedSection { range: range.clone(), heading_path: heading_path.clone() };
        let matched = words.choose(content, memory.fields.text.form(), range).unwrap_or_else(whole);
        Some(best_section(content, matched))
    };
    let best = section(item).filter(|_| sections.len() > 1);
    let mut described: Vec<&str> = best.iter().map(|best| &content[best.start..best.end]).collect();
    let mut further = Vec::new();
    for MatchingSection { at, share } in best.iter().flat_map(|_| &ranked.further) {
        let Some(section) = section(*at) else { continue };
        let text = &content[section.start..section.end];
        if !described.contains(&text) {
            described.push(text);
            further.push((section, *share, text.to_owned()));
        }
    }
    Ok(Sections { best, further })
}

/// Returns a section with the line in which it begins.
pub(super) fn best_section(content: &str, matched: MatchedSection) -> BestSection {
    let MatchedSection { range, heading_path } = matched;
    let line = content[..range.start].bytes().filter(|byte| *byte == b'\n').count() + 1;
    BestSection { start: range.start, end: range.end, line, heading_path }
}

fn hit(ranked: RankedMemory, sections: Sections, cut: bool) -> Hit {
    let score = ranked.score();
    let relevance_score = Score::share(score, ranked.most);
    let why = why(&ranked, score);
    let RankedMemory { memory, evidence, marks, parts, duplicate_of, .. } = ranked;
    let explanation = Some(Explanation { score, lanes: marks, parts, evidence, duplicate_of });
    let further = sections.further.into_iter().map(|(section, share, content)| {
        let relevance_score = Score::share(relevance_score.get() * share, 1.0);
        FurtherSection { section, relevance_score, content }
    });
    Hit { memory, relevance_score, why, section: sections.best, further: further.collect(), cut, explanation }
}

/// Scores below this are shown with one more digit.
const SMALL: f64 = 0.1;

/// Returns the explanation in one line: the ranks in the lanes, the parts of the score, and their sum.
fn why(ranked: &RankedMemory, score: f64) -> String {
    let lanes: Vec<String> =
        ranked.marks.iter().map(|mark| format!("{} #{}", mark.lane.as_str(), mark.rank)).collect();
    let lanes = match ranked.item {
        _ if !lanes.is_empty() => lanes.join(", "),
        Some(_) => "next to a result".to_owned(),
        None if ranked.evidence_item.is_some() => "in place of a result".to_owned(),
        None => "by its links".to_owned(),
    };
    // Scores from rank fusion are small: with fewer digits, the rounded parts would not add up to the displayed sum.
    let places = if score.abs() < SMALL { 4 } else { 3 };
    let mut sum = String::new();
    for part in ranked.parts.iter().filter(|part| part.value.abs() >= 0.0005) {
        let (sign, first) = (if part.value < 0.0 { "− " } else { "+ " }, sum.is_empty());
        let sign = if first && part.value >= 0.0 { "" } else { sign };
        let gap = if first { "" } else { " " };
        sum.push_str(&format!("{gap}{sign}{} {:.places$}", part.name.as_str(), part.value.abs()));
    }
    let duplicate =
        ranked.duplicate_of.map_or_else(String::new, |of| format!(", behind {of} which says the same"));
    format!("{lanes}: {sum} = {score:.places$}{duplicate}")
}
