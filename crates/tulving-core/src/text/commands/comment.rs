//! Comments in pages that speak to an assistant. Who looks at the page does not see them.

use super::Found;
use super::phrase;
use super::word::Words;
use crate::vocabulary::CommandKind;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Longest comment that is looked at.
const LONGEST: usize = 4_000;

pub(super) fn find(text: &str, words: &Words<'_>, found: &mut Vec<Found>) {
    let mut from = 0;
    // Where the next comment ends; looked for once, however many begin before it.
    let mut next = text.find(CLOSE);
    while let Some(start) = text[from..].find(OPEN).map(|at| from + at) {
        let inner = start + OPEN.len();
        from = inner;
        while let Some(end) = next.filter(|end| *end < inner) {
            next = text[end + CLOSE.len()..].find(CLOSE).map(|at| end + CLOSE.len() + at);
        }
        let Some(end) = next else { return };
        if end - inner > LONGEST {
            continue;
        }
        from = end + CLOSE.len();
        let places = words.within(&(inner..end));
        if phrase::speaks_to_assistant(&words.all[places]) {
            found.push(Found { range: start..from, what: CommandKind::Address });
        }
    }
}
