//! Turns what was ranked into hits: the best section of each, why it is here, within the token budget.

use crate::access::Parts;
use crate::answer::{BestSection, Explanation, Hit, LaneMark, Part};
use crate::error::Error;
use crate::memory::Memory;
use crate::rank::evidence;
use crate::rank::recipe::sum;
use crate::request::{Ask, Caller};
use crate::score::Score;
use crate::search::Found;

/// Contents up to so many bytes are one section for sure.
const SHORT: usize = 400;
/// A token is about so many bytes of text.
const BYTES_PER_TOKEN: usize = 4;

/// A memory in its place.
pub(super) struct Ranked {
    pub(super) memory: Memory,
    /// Its best item, where a lane of the index found it.
    pub(super) item: Option<usize>,
    pub(super) marks: Vec<LaneMark>,
    pub(super) parts: Vec<Part>,
    /// The most that the score could be.
    pub(super) most: f64,
}

impl Ranked {
    /// The sum of the parts.
    pub(super) fn score(&self) -> f64 {
        sum(&self.parts)
    }
}

/// The first hits, as many as were asked for and as the token budget allows, and at least one.
pub(super) fn hits(
    parts: &Parts,
    caller: &Caller,
    ranked: Vec<Ranked>,
    found: &Found,
    limit: usize,
    ask: &Ask,
) -> Result<Vec<Hit>, Error> {
    let mut hits: Vec<Hit> = Vec::new();
    let mut left = ask.token_budget;
    for ranked in ranked.into_iter().take(limit) {
        let chunk = ranked.item.map(|at| found.items[at].chunk as usize);
        let section = section(parts, caller, &ranked.memory, chunk)?;
        if let Some(left) = &mut left {
            let bytes =
                section.as_ref().map_or(ranked.memory.edition.text.content.len(), |s| s.end - s.start);
            let tokens = bytes.div_ceil(BYTES_PER_TOKEN);
            if tokens > *left && !hits.is_empty() {
                break;
            }
            *left = left.saturating_sub(tokens);
        }
        let evidence = ranked.item.map_or(0.0, |at| evidence::weight(&found.items[at]));
        hits.push(hit(ranked, section, evidence));
    }
    Ok(hits)
}

/// The section that fits best, where the content has several.
fn section(
    parts: &Parts,
    caller: &Caller,
    memory: &Memory,
    chunk: Option<usize>,
) -> Result<Option<BestSection>, Error> {
    let Some(chunk) = chunk.filter(|_| memory.edition.text.content.len() > SHORT) else {
        return Ok(None);
    };
    let mut sections = parts.store.sections(&caller.viewer, memory.id)?;
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

fn hit(ranked: Ranked, section: Option<BestSection>, evidence: f64) -> Hit {
    let score = ranked.score();
    let relevance_score = Score::share(score, ranked.most);
    let why = why(&ranked.marks, &ranked.parts, score);
    let explanation = Some(Explanation { score, lanes: ranked.marks, parts: ranked.parts, evidence });
    Hit { memory: ranked.memory, relevance_score, why, section, explanation }
}

/// The explanation in one line: the places in the lanes, the parts, their sum.
fn why(marks: &[LaneMark], parts: &[Part], score: f64) -> String {
    let lanes: Vec<String> =
        marks.iter().map(|mark| format!("{} #{}", mark.lane.as_str(), mark.rank)).collect();
    let lanes = if lanes.is_empty() { "by its links".to_owned() } else { lanes.join(", ") };
    let mut sum = String::new();
    for part in parts.iter().filter(|part| part.value.abs() >= 0.0005) {
        let (sign, first) = (if part.value < 0.0 { "− " } else { "+ " }, sum.is_empty());
        let sign = if first && part.value >= 0.0 { "" } else { sign };
        let gap = if first { "" } else { " " };
        sum.push_str(&format!("{gap}{sign}{} {:.3}", part.name.as_str(), part.value.abs()));
    }
    format!("{lanes}: {sum} = {score:.3}")
}
