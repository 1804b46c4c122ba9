//! How often answers are right, by the strength of their evidence: the table of docs/recall.md.
//!
//! Asks the questions of the LoCoMo file and of the daily set, and in addition questions that have no answer.

use std::collections::BTreeMap;
use std::path::Path;

use crate::daily;
use crate::locomo;
use crate::metrics::{self, Asked};
use crate::{Options, bed};

/// The strengths, strongest first.
const STRENGTHS: [&str; 3] = ["strong", "weak", "none"];

/// The answers of one strength.
#[derive(Default)]
struct StrengthCounts {
    /// The answers to questions that have an answer, those with a right memory first, and those with one among the first
    /// five.
    answered: usize,
    first: usize,
    in_five: usize,
    /// The answers to questions that have none.
    unanswerable: usize,
}

/// The counts by strength.
type Calibration = BTreeMap<String, StrengthCounts>;

/// Returns the table in Markdown.
pub(crate) fn table(options: &Options) -> anyhow::Result<String> {
    let foreign = Options { foreign: true, ..options.clone() };
    let swapped = Options { swapped: true, ..options.clone() };
    let mut conversations = Calibration::new();
    for asked in locomo::run(&options.path, options)?.iter().flat_map(|report| &report.asked) {
        let counts = conversations.entry(asked.evidence.clone()).or_default();
        counts.answered += 1;
        counts.first += usize::from(is_within(asked, 1));
        counts.in_five += usize::from(is_within(asked, 5));
    }
    let mut lines = Vec::new();
    for options in [&foreign, &swapped] {
        let mut unanswerable: BTreeMap<String, usize> = BTreeMap::new();
        let reports = locomo::run(&options.path, options)?;
        for asked in reports.iter().flat_map(|report| &report.asked) {
            *unanswerable.entry(asked.evidence.clone()).or_default() += 1;
        }
        let what = if options.foreign { "LoCoMo, another conversation" } else { "LoCoMo, another attribute" };
        lines.extend(rows(what, |strength| {
            let count = unanswerable.get(strength).copied().unwrap_or(0);
            StrengthCounts { unanswerable: count, ..StrengthCounts::default() }
        }));
    }
    let grades = daily::grade(bed::embedder(options)?, Path::new(env!("CARGO_TARGET_TMPDIR")), None)?;
    let mut everyday = Calibration::new();
    // A list is complete or not; it has no evidence that could be weighed.
    for one in grades.questions.iter().filter(|one| !one.is_list) {
        let counts = everyday.entry(one.evidence.to_owned()).or_default();
        if one.kind == "nothing" {
            counts.unanswerable += 1;
        } else {
            counts.answered += 1;
            counts.first += usize::from(one.first);
            counts.in_five += usize::from(one.in_five);
        }
    }
    let of = |counts: &mut Calibration, strength: &str| counts.remove(strength).unwrap_or_default();
    let head = [
        "| questions | evidence | have an answer | right first | right in five | have none |".to_owned(),
        "|---|---|---|---|---|---|".to_owned(),
    ];
    let known = rows("LoCoMo", |strength| of(&mut conversations, strength));
    let daily = rows("daily", |strength| of(&mut everyday, strength));
    Ok(head.into_iter().chain(known).chain(lines).chain(daily).collect::<Vec<_>>().join("\n"))
}

fn rows(what: &str, mut counts: impl FnMut(&str) -> StrengthCounts) -> Vec<String> {
    let row = |strength: &str| {
        let StrengthCounts { answered, first, in_five, unanswerable } = counts(strength);
        let share = |count: usize| match answered {
            0 => String::new(),
            _ => format!("{count} ({:.0} %)", 100.0 * count as f64 / answered as f64),
        };
        let some = |count: usize| if count == 0 { String::new() } else { count.to_string() };
        let (first, in_five) = (share(first), share(in_five));
        format!("| {what} | {strength} | {} | {first} | {in_five} | {} |", some(answered), some(unanswerable))
    };
    STRENGTHS.map(row).into()
}

fn is_within(asked: &Asked, k: usize) -> bool {
    metrics::any(asked, k) > 0.0
}
