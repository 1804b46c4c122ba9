//! Finds comments in pages that address an assistant. People who read the page do not see such comments.

use super::CommandMatch;
use super::phrase;
use super::word::NumberedWords;
use crate::vocabulary::CommandKind;

const OPEN: &str = "<!--";
const CLOSE: &str = "-->";

/// Maximum length of a comment that is checked, in bytes.
const LONGEST: usize = 4_000;

pub(super) fn find(text: &str, words: &NumberedWords<'_>, found: &mut Vec<CommandMatch>) {
    let mut from = 0;
    // The end of the next comment. It is searched only once, even if many comments begin before it.
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
            found.push(CommandMatch { range: start..from, what: CommandKind::Address });
        }
    }
}
