//! Turns what was ranked into hits: the best section of each, why it is here, within the token budget.

use crate::answer::{BestSection, Explanation, Hit, LaneMark, Part};
use crate::error::Error;
use crate::id::MemoryRef;
use crate::limits::BYTES_PER_TOKEN;
use crate::memory::Memory;
use crate::rank::evidence;
use crate::rank::recipe::sum;
use crate::score::Score;
use crate::search::Found;

use super::asked::Asked;

/// Contents up to so many bytes are one section for sure.
const SHORT: usize = 400;

/// A memory in its place.
pub(super) struct Ranked {
    pub(super) memory: Memory,
    /// Its best item, where a lane of the index found it.
    pub(super) item: Option<usize>,
    pub(super) marks: Vec<LaneMark>,
    pub(super) parts: Vec<Part>,
    /// The most that the score could be.
    pub(super) most: f64,
    /// Who says the same, further up.
    pub(super) twin_of: Option<MemoryRef>,
}

impl Ranked {
    /// The sum of the parts.
    pub(super) fn score(&self) -> f64 {
        sum(&self.parts)
    }
}

/// The first hits, as many as were asked for, and how many of them the token budget has no room for. Within a budget, a
/// long content is cut to its best section.
pub(super) fn hits(asked: &Asked<'_>, ranked: Vec<Ranked>, found: &Found) -> Result<(Vec<Hit>, u64), Error> {
    let mut hits: Vec<Hit> = Vec::new();
    let (mut left, mut left_out) = (asked.ask.token_budget, 0);
    for mut ranked in ranked.into_iter().take(asked.plan.limit) {
        let chunk = ranked.item.map(|at| found.items[at].chunk as usize);
        let section = section(asked, &ranked.memory, chunk)?;
        let mut cut = false;
        if let Some(left) = &mut left {
            let content = &mut ranked.memory.edition.text.content;
            let shown = section.as_ref().and_then(|section| content.get(section.start..section.end));
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
        let evidence = ranked.item.map_or(0.0, |at| evidence::weight(&found.items[at]));
        hits.push(hit(ranked, section, cut, evidence));
    }
    Ok((hits, left_out))
}

/// The section that fits best, where the content has several.
fn section(asked: &Asked<'_>, memory: &Memory, chunk: Option<usize>) -> Result<Option<BestSection>, Error> {
    // The sections are those of the text of today.
    let of_today = asked.ask.as_of.is_none_or(|then| memory.usage.updated_at <= then);
    let Some(chunk) = chunk.filter(|_| of_today && memory.edition.text.content.len() > SHORT) else {
        return Ok(None);
    };
    let mut sections = asked.parts.store.sections(&asked.caller.viewer, memory.id)?;
    let fits = sections.len() > 1 && chunk < sections.len();
    // An edit since the load may have made the content shorter; then the whole is shown.
    let length = memory.edition.text.content.len();
    Ok(fits.then(|| sections.swap_remove(chunk)).filter(|section| section.range.end <= length).map(
        |section| {
            let (start, end) = (section.range.start, section.range.end);
            BestSection { start, end, heading_path: section.heading_path }
        },
    ))
}

fn hit(ranked: Ranked, section: Option<BestSection>, cut: bool, evidence: f64) -> Hit {
    let score = ranked.score();
    let relevance_score = Score::share(score, ranked.most);
    let why = why(&ranked, score);
    let Ranked { memory, marks, parts, twin_of, .. } = ranked;
    let explanation = Some(Explanation { score, lanes: marks, parts, evidence, twin_of });
    Hit { memory, relevance_score, why, section, cut, explanation }
}

/// The explanation in one line: the places in the lanes, the parts, their sum.
fn why(ranked: &Ranked, score: f64) -> String {
    let lanes: Vec<String> =
        ranked.marks.iter().map(|mark| format!("{} #{}", mark.lane.as_str(), mark.rank)).collect();
    let lanes = match ranked.item {
        _ if !lanes.is_empty() => lanes.join(", "),
        Some(_) => "beside what was found".to_owned(),
        None => "by its links".to_owned(),
    };
    let mut sum = String::new();
    for part in ranked.parts.iter().filter(|part| part.value.abs() >= 0.0005) {
        let (sign, first) = (if part.value < 0.0 { "− " } else { "+ " }, sum.is_empty());
        let sign = if first && part.value >= 0.0 { "" } else { sign };
        let gap = if first { "" } else { " " };
        sum.push_str(&format!("{gap}{sign}{} {:.3}", part.name.as_str(), part.value.abs()));
    }
    let twin = ranked.twin_of.map_or_else(String::new, |of| format!(", behind {of} which says the same"));
    format!("{lanes}: {sum} = {score:.3}{twin}")
}
