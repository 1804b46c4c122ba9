//! Finds text that Tulving itself inserted into a prompt, so that the text is never treated as a user's statement.

use std::ops::Range;

use crate::visible::FENCE;

/// The heading of the max dialect's summary, and the line below the heading.
const SUMMARY: &str = "## Long-Term Memory";
const SUMMARY_SAYS: &str = "These are things you've been asked to remember";
/// The heading of the long-term memory in the maven dialect.
const ALWAYS: &str = "# Long-term Memory";
/// The line that begins the recovery prompt.
const RECOVERED: &str = "[System: Session recovered]";
const RECOVERED_END: &str = "(End of recovery context";

/// Returns the ranges of injected text. A range without an end extends to the end of the text.
pub(super) fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut found = between(text, &format!("<{FENCE}>"), &format!("</{FENCE}>"));
    found.extend(between(text, RECOVERED, RECOVERED_END).into_iter().map(|range| to_line_end(text, range)));
    found.extend(text.find(ALWAYS).map(|start| start..text.len()));
    found.extend(each(text, SUMMARY, summary));
    found
}

fn between(text: &str, open: &str, close: &str) -> Vec<Range<usize>> {
    each(text, open, |rest| rest.find(close).map_or(rest.len(), |end| end + close.len()))
}

/// Returns the ranges that begin with a marker. `length` computes the length of a range from the text after its marker.
/// A marker inside a range is skipped, because calling `length` for each marker would take quadratic time.
fn each(text: &str, mark: &str, length: impl Fn(&str) -> usize) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for (start, _) in text.match_indices(mark) {
        if found.last().is_none_or(|last| start >= last.end) {
            found.push(start..start + length(&text[start..]));
        }
    }
    found
}

fn to_line_end(text: &str, range: Range<usize>) -> Range<usize> {
    let end = text[range.end..].find('\n').map_or(text.len(), |end| range.end + end);
    range.start..end
}

/// Returns the length of the summary at the beginning of a text: the heading, the introduction, the categories and
/// their lines.
fn summary(text: &str) -> usize {
    let of_it = |line: &str| {
        line.trim().is_empty()
            || line.starts_with(SUMMARY)
            || line.starts_with(SUMMARY_SAYS)
            || line.starts_with("**")
            // Continuation lines of a memory's content are indented.
            || line.starts_with("  ")
    };
    text.split_inclusive('\n').take_while(|line| of_it(line)).map(str::len).sum()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn left(text: &str) -> String {
        let gone = ranges(text);
        let stays = |(at, c): (usize, char)| (!gone.iter().any(|range| range.contains(&at))).then_some(c);
        text.char_indices().filter_map(stays).collect::<String>().trim().to_owned()
    }

    #[test]
    fn what_was_put_into_a_prompt_is_found_and_nothing_else() {
        assert_eq!(left("<memory>\n- I prefer tea\n</memory>\nI prefer coffee"), "I prefer coffee");
        assert_eq!(left("<memory>\n- I prefer tea, cut off"), "");
        assert_eq!(
            left(
                "## Long-Term Memory\nThese are things you've been asked to remember or have noted as important:\n\n**fact**:\n  - [#1] x\n    y\nI prefer tea"
            ),
            "I prefer tea"
        );
        assert_eq!(
            left(
                "[System: Session recovered] lost\n[tui] User: I prefer tea\n(End of recovery context. Wait.)\nHello"
            ),
            "Hello"
        );
        assert_eq!(left("My memory is bad."), "My memory is bad.");
    }

    #[test]
    fn a_text_of_headings_takes_linear_time() {
        let text = format!("{SUMMARY}\n").repeat(100_000);
        let started = Instant::now();
        let found = ranges(&text);
        assert!(found.len() == 1 && found[0].len() == text.len(), "{found:?}");
        assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    }
}
