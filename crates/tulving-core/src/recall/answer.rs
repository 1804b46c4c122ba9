//! Turns what was ranked into hits: the best section of each, why it is here, within the token budget.

use crate::answer::{BestSection, Explanation, FurtherSection, Hit, LaneMark, Part};
use crate::error::Error;
use crate::id::MemoryRef;
use crate::limits::BYTES_PER_TOKEN;
use crate::memory::Memory;
use crate::rank::evidence;
use crate::rank::recipe::sum;
use crate::score::Score;
use crate::search::{Found, Section};

use super::asked::Asked;
use super::further::Further;
use super::lanes::Gathered;

/// To how many bytes a content is cut that an answer has no room for.
const SHORTENED: usize = 4_000;
/// Contents up to so many bytes are one section for sure.
const SHORT: usize = 400;

/// A memory in its place.
pub(super) struct Ranked {
    pub(super) memory: Memory,
    /// Its best item, where a lane of the index found it.
    pub(super) item: Option<usize>,
    /// The item that speaks for it: its own, or that of what it updates.
    pub(super) witness: Option<usize>,
    pub(super) marks: Vec<LaneMark>,
    pub(super) parts: Vec<Part>,
    /// The most that the score could be.
    pub(super) most: f64,
    /// Who says the same, further up.
    pub(super) twin_of: Option<MemoryRef>,
    /// Its other items that fit well.
    pub(super) further: Vec<Further>,
}

impl Ranked {
    /// The sum of the parts.
    pub(super) fn score(&self) -> f64 {
        sum(&self.parts)
    }
}

/// The first hits, as many as were asked for, and how many of them the token budget has no room for. Within a budget, a
/// long content is cut to its best section, and what is left after all hits is for further ones.
pub(super) fn hits(
    asked: &Asked<'_>,
    ranked: Vec<Ranked>,
    gathered: &Gathered,
) -> Result<(Vec<Hit>, u64), Error> {
    let found = &gathered.found;
    let mut hits: Vec<Hit> = Vec::new();
    let (mut left, mut left_out) = (asked.ask.token_budget, 0);
    let (mut bytes, most) = (0, asked.parts.limits.answer_bytes);
    for mut ranked in ranked.into_iter().take(asked.plan.limit) {
        asked.whole(&mut ranked.memory)?;
        let Sections { best, further } = sections(asked, &ranked, found)?;
        let mut cut = false;
        if let Some(left) = &mut left {
            let content = &mut ranked.memory.edition.text.content;
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
        let content = &mut ranked.memory.edition.text.content;
        if left.is_none() && bytes + content.len() > most && !hits.is_empty() {
            cut |= shorten(content, best.as_ref());
        }
        bytes += content.len();
        let evidence =
            ranked.witness.map_or(0.0, |at| evidence::weight_in(&found.items[at], &gathered.aspects));
        hits.push(hit(ranked, Sections { best, further }, cut, evidence));
    }
    if let Some(left) = &mut left {
        hits.iter_mut().for_each(|hit| hit.fit_further(left));
    }
    Ok((hits, left_out))
}

/// Cuts a content that an answer has no room for to its best section, or its beginning. Says whether it did.
fn shorten(content: &mut String, best: Option<&BestSection>) -> bool {
    let shown = best.and_then(|section| content.get(section.start..section.end));
    let shown = shown.unwrap_or(content.as_str());
    let shown = shown[..shown.floor_char_boundary(SHORTENED)].to_owned();
    let cut = shown.len() < content.len();
    *content = shown;
    cut
}

/// The sections of a content that fit.
#[derive(Default)]
struct Sections {
    best: Option<BestSection>,
    /// Others, each with its score as a share of the best one's.
    further: Vec<(BestSection, f64, String)>,
}

/// The section that fits best and those that fit well beside it, where the content has several.
fn sections(asked: &Asked<'_>, ranked: &Ranked, found: &Found) -> Result<Sections, Error> {
    let memory = &ranked.memory;
    let content = memory.edition.text.content.as_str();
    // The sections are those of the text of today.
    let of_today = asked.ask.as_of.is_none_or(|then| memory.usage.updated_at <= then);
    let Some(item) = ranked.item.filter(|_| of_today && content.len() > SHORT) else {
        return Ok(Sections::default());
    };
    let sections = asked.parts.store.sections(&asked.caller.viewer, memory.id)?;
    // An edit since the load may have made the content shorter; then the whole is shown.
    let section = |item: usize| {
        let Section { range, heading_path } = sections.get(found.items[item].chunk as usize)?;
        let above = content.get(..range.start)?;
        content.get(range.clone())?;
        let line = above.bytes().filter(|byte| *byte == b'\n').count() + 1;
        Some(BestSection { start: range.start, end: range.end, line, heading_path: heading_path.clone() })
    };
    let best = section(item).filter(|_| sections.len() > 1);
    let mut told: Vec<&str> = best.iter().map(|best| &content[best.start..best.end]).collect();
    let mut further = Vec::new();
    for Further { at, share } in best.iter().flat_map(|_| &ranked.further) {
        let Some(section) = section(*at) else { continue };
        let text = &content[section.start..section.end];
        if !told.contains(&text) {
            told.push(text);
            further.push((section, *share, text.to_owned()));
        }
    }
    Ok(Sections { best, further })
}

fn hit(ranked: Ranked, sections: Sections, cut: bool, evidence: f64) -> Hit {
    let score = ranked.score();
    let relevance_score = Score::share(score, ranked.most);
    let why = why(&ranked, score);
    let Ranked { memory, marks, parts, twin_of, .. } = ranked;
    let explanation = Some(Explanation { score, lanes: marks, parts, evidence, twin_of });
    let further = sections.further.into_iter().map(|(section, share, content)| {
        let relevance_score = Score::share(relevance_score.get() * share, 1.0);
        FurtherSection { section, relevance_score, content }
    });
    Hit { memory, relevance_score, why, section: sections.best, further: further.collect(), cut, explanation }
}

/// Scores below this are told with a digit more.
const SMALL: f64 = 0.1;

/// The explanation in one line: the places in the lanes, the parts, their sum.
fn why(ranked: &Ranked, score: f64) -> String {
    let lanes: Vec<String> =
        ranked.marks.iter().map(|mark| format!("{} #{}", mark.lane.as_str(), mark.rank)).collect();
    let lanes = match ranked.item {
        _ if !lanes.is_empty() => lanes.join(", "),
        Some(_) => "beside what was found".to_owned(),
        None if ranked.witness.is_some() => "in the place of what was found".to_owned(),
        None => "by its links".to_owned(),
    };
    // What ranks add up to is small: with a digit less the sum would look wrong.
    let places = if score.abs() < SMALL { 4 } else { 3 };
    let mut sum = String::new();
    for part in ranked.parts.iter().filter(|part| part.value.abs() >= 0.0005) {
        let (sign, first) = (if part.value < 0.0 { "− " } else { "+ " }, sum.is_empty());
        let sign = if first && part.value >= 0.0 { "" } else { sign };
        let gap = if first { "" } else { " " };
        sum.push_str(&format!("{gap}{sign}{} {:.places$}", part.name.as_str(), part.value.abs()));
    }
    let twin = ranked.twin_of.map_or_else(String::new, |of| format!(", behind {of} which says the same"));
    format!("{lanes}: {sum} = {score:.places$}{twin}")
}
