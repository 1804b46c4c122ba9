//! The parts of a document that describe its text: its name, its title, its headings and the labels of its lines.

use super::cues::KindCue;
use super::label::label;
use super::words::{PathWords, holds, names_day, spaced};
use crate::classify::page::{PageBlock, ParsedPage};
use crate::vocabulary::Kind;
use crate::when::WEEKDAYS;

/// Maximum number of characters of a first line that is a title without being marked as a title.
const TITLE_CHARS: usize = 80;

/// Returns the cues of a list that occur in the words. A cue that is part of a longer matching cue does not count.
pub(super) fn longest<'a>(
    cues: &'static [KindCue],
    words: &'a str,
) -> impl Iterator<Item = (Kind, f32)> + 'a {
    let found: Vec<&KindCue> = cues.iter().filter(|(cue, ..)| holds(words, cue)).collect();
    let whole: Vec<(Kind, f32)> = found
        .iter()
        .filter(|(cue, ..)| {
            !found.iter().any(|(other, ..)| other.len() > cue.len() && holds(&format!(" {other} "), cue))
        })
        .map(|(_, kind, weight)| (*kind, *weight))
        .collect();
    whole.into_iter()
}

/// Returns the weight of a day in the title or in the file's name, as a sign that the text is about
/// that day.
pub(super) fn days(title: &str, path: &PathWords) -> f32 {
    let weekday = || WEEKDAYS.iter().any(|day| title.starts_with(&format!(" {day} ")));
    let titled = if names_day(title) {
        2.0
    } else if weekday() || names_week(title) {
        1.5
    } else {
        0.0
    };
    let named = match names_day(&path.file) {
        // The name of a journal is only the day.
        true if path.file.split_whitespace().count() == 3 => 3.5,
        true => 1.0,
        false => 0.0,
    };
    titled + named
}

/// Returns true if words contain a numbered week.
fn names_week(words: &str) -> bool {
    let numbered = |rest: &str| rest.split(' ').next().is_some_and(|word| word.parse::<u8>().is_ok());
    words.split(" week ").skip(1).any(numbered)
}

/// Returns the title of a page: its own title, or a short first line above other text.
pub(super) fn title(page: &ParsedPage<'_>) -> String {
    if let Some(title) = page.field("title") {
        return title;
    }
    match page.blocks.first() {
        Some(PageBlock::Heading { text, .. }) => text.clone(),
        Some(PageBlock::Paragraph(text)) => {
            let first = text.lines().next().unwrap_or_default();
            let more = page.blocks.len() > 1 || text.lines().nth(1).is_some();
            let short = first.chars().count() <= TITLE_CHARS && !first.ends_with('.');
            if more && short {
                return first.to_owned();
            }
            // A short first sentence that is a question or names its topic also counts as a title.
            let end = first.find(['?', '.']).map_or(0, |at| at + 1);
            let opening = &first[..end];
            let announces =
                end <= TITLE_CHARS && (opening.ends_with('?') || spaced(opening).starts_with(" on "));
            let lead = label(first).map(|(label, _)| label).unwrap_or_default();
            if announces { opening.to_owned() } else { lead.to_owned() }
        }
        _ => String::new(),
    }
}

/// Returns headings other than the title, and labels at the beginning of lines.
pub(super) fn headings(page: &ParsedPage<'_>) -> Vec<String> {
    let first = matches!(page.blocks.first(), Some(PageBlock::Heading { .. }));
    let mut found: Vec<String> =
        page.headings().skip(usize::from(first)).map(|(_, text)| text.to_owned()).collect();
    let lines = page.prose().flat_map(|(_, text)| text.lines());
    found.extend(lines.filter_map(label).map(|(label, _)| label.to_owned()));
    found
}
