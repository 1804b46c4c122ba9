//! Splits a text into sentences, and splits sentences into the segments that are embedded separately.
//!
//! A fenced code block counts as one sentence. Ranges are in order, do not overlap, have no white space at their ends,
//! and cover everything except white space.

mod end;

use std::ops::Range;

use crate::markdown::fence::{FenceSegment, blocks};

/// Maximum number of segments of one text.
pub(crate) const SEGMENTS: usize = 8;

/// Minimum number of words of a separate piece. A shorter piece joins its neighbour.
const WORDS: usize = 3;

/// Maximum length of code that is one segment, in bytes: about the model's window, at four bytes per word piece.
const CODE_BYTES: usize = 900;

/// Minimum length of a line that may have been wrapped within a sentence, in characters.
const WRAPPED_CHARS: usize = 60;

/// Splits a text into the segments that are embedded separately.
///
/// The segments are the sentences of the text, with three exceptions. A piece of fewer than three words joins the
/// previous piece (the first piece joins the next). If there are more than [`SEGMENTS`] pieces, they are packed into
/// that many segments of similar length. A code block longer than the model's window becomes several segments.
pub fn segments(text: &str) -> Vec<Range<usize>> {
    let pieces = sentences(text).into_iter().flat_map(|sentence| opened(text, sentence)).collect();
    packed(joined(text, pieces))
}

/// Splits a code block that is too long for the model's window between its lines. Returns any other sentence unchanged.
fn opened(text: &str, sentence: Range<usize>) -> Vec<Range<usize>> {
    let code = &text[sentence.clone()];
    if code.len() <= CODE_BYTES || !code.starts_with(['`', '~']) {
        return vec![sentence];
    }
    let mut parts = Vec::new();
    let (mut start, mut at) = (sentence.start, sentence.start);
    for line in code.split_inclusive('\n') {
        at += line.len();
        if at - start >= CODE_BYTES {
            push_trimmed(text, start..at, &mut parts);
            start = at;
        }
    }
    push_trimmed(text, start..at, &mut parts);
    parts
}

/// Splits a text into sentences. A line break also ends a sentence, unless a long line continues in lower case on the
/// next line.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for block in blocks(text) {
        match block {
            FenceSegment::Code(range) => push_trimmed(text, range, &mut found),
            FenceSegment::Prose(range) => {
                for line in lines(text, range) {
                    let mut start = line.start;
                    end::ends(&text[line.clone()], |at| {
                        push_trimmed(text, start..line.start + at, &mut found);
                        start = line.start + at;
                    });
                    push_trimmed(text, start..line.end, &mut found);
                }
            }
        }
    }
    found
}

/// Returns the range without white space at its ends, or `None` if the range contains only white space.
pub(crate) fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    let end = start + part.trim().len();
    (start < end).then_some(start..end)
}

fn push_trimmed(text: &str, range: Range<usize>, out: &mut Vec<Range<usize>>) {
    out.extend(trimmed(text, range));
}

/// Returns the lines of a part of a text. Lines of one wrapped sentence are joined.
fn lines(text: &str, part: Range<usize>) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    // Number of characters of the last line as written, before lines are joined.
    let mut last_chars = 0;
    let mut at = part.start;
    for written in text[part].split_inclusive('\n') {
        let range = at..at + written.len();
        at = range.end;
        match lines.last_mut() {
            Some(last) if last_chars >= WRAPPED_CHARS && goes_on(&text[last.clone()], written) => {
                last.end = range.end;
            }
            _ => lines.push(range),
        }
        last_chars = written.chars().count();
    }
    lines
}

fn goes_on(line: &str, next: &str) -> bool {
    line.trim_end().ends_with(|c: char| c.is_alphanumeric() || matches!(c, ',' | ';' | '-'))
        && next.starts_with(char::is_lowercase)
}

/// Counts words. In scripts without spaces, a pair of characters counts as one.
pub(crate) fn word_count(text: &str) -> usize {
    let mut words = 0;
    let mut unspaced = 0;
    for piece in text.split_whitespace() {
        let before = unspaced;
        unspaced += piece.chars().filter(|c| crate::terms::is_unspaced(*c)).count();
        words += usize::from(before == unspaced && piece.contains(char::is_alphanumeric));
    }
    words + unspaced.div_ceil(2)
}

/// Joins each sentence of fewer than [`WORDS`] words to a neighbour.
fn joined(text: &str, sentences: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(sentences.len());
    // Number of words of the first sentence, as long as it is the only one.
    let mut opening = 0;
    for sentence in sentences {
        let words = word_count(&text[sentence.clone()]);
        let alone = joined.len() == 1 && opening < WORDS;
        match joined.last_mut() {
            Some(last) if words < WORDS || alone => last.end = sentence.end,
            _ => joined.push(sentence),
        }
        opening += words;
    }
    joined
}

/// Packs pieces into at most [`SEGMENTS`] segments of similar length, in order.
fn packed(pieces: Vec<Range<usize>>) -> Vec<Range<usize>> {
    if pieces.len() <= SEGMENTS {
        return pieces;
    }
    let mut rest: usize = pieces.iter().map(Range::len).sum();
    let mut packed: Vec<Range<usize>> = Vec::with_capacity(SEGMENTS);
    let mut at = 0;
    for open in (1..=SEGMENTS).rev() {
        let target = rest / open;
        let mut taken = pieces[at].len();
        let start = pieces[at].start;
        at += 1;
        // The last segment takes all remaining pieces. Each other segment leaves one piece for each segment after it.
        while at < pieces.len()
            && (open == 1 || (pieces.len() - at >= open && taken + pieces[at].len() / 2 <= target))
        {
            taken += pieces[at].len();
            at += 1;
        }
        rest = rest.saturating_sub(taken);
        packed.push(start..pieces[at - 1].end);
    }
    packed
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|range| &text[range]).collect()
    }

    fn segmented(text: &str) -> Vec<&str> {
        segments(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn sentences_end_where_a_reader_would_say_so() {
        assert_eq!(cut("I left. It rained! Did you? Yes…"), ["I left.", "It rained!", "Did you?", "Yes…"]);
        assert_eq!(cut("He said \"Go!\" Then he left."), ["He said \"Go!\"", "Then he left."]);
        assert_eq!(cut("今日は雨。明日は？たぶん晴れ！"), ["今日は雨。", "明日は？", "たぶん晴れ！"]);
        assert_eq!(cut("i was home. it was nice."), ["i was home.", "it was nice."]);
    }

    #[test]
    fn a_dot_inside_something_ends_nothing() {
        for whole in [
            "See e.g. the docs of Dr. Smith and J. R. R. Tolkien vs. others.",
            "It costs 3.5 in v1.2.3, see https://example.com/a.html?x=1 for more.",
            "We met at 5 p.m. on Monday (or so…) and left.",
            "\"Really?\" she asked.",
            "well... maybe not",
            "1. First item",
        ] {
            assert_eq!(cut(whole), [whole]);
        }
    }

    #[test]
    fn a_line_break_ends_a_sentence_unless_it_is_a_wrap() {
        assert_eq!(cut("Look at this\na photo of a dog"), ["Look at this", "a photo of a dog"]);
        let wrapped =
            "This line is so long that whoever wrote it broke it in the middle of a\nsentence that goes on.";
        assert_eq!(cut(wrapped), [wrapped]);
    }

    #[test]
    fn a_code_block_is_one_sentence() {
        let text = "Run this. Now:\n```sh\nmake. all\n\nmake test\n```\nDone.";
        assert_eq!(cut(text), ["Run this.", "Now:", "```sh\nmake. all\n\nmake test\n```", "Done."]);
    }

    #[test]
    fn short_pieces_join_their_neighbours() {
        assert_eq!(
            segmented("Hi! I went to the park. Nice. It rained a lot."),
            ["Hi! I went to the park. Nice.", "It rained a lot."]
        );
        assert_eq!(segmented("Wow. Yes. No."), ["Wow. Yes. No."]);
        assert_eq!(segmented("猫が好きです。犬も好きです。"), ["猫が好きです。", "犬も好きです。"]);
    }

    #[test]
    fn many_sentences_are_packed_into_eight_of_similar_length() {
        let text: String = (0..20).map(|n| format!("This is sentence number {n:02}. ")).collect();
        let lengths: Vec<usize> = segments(&text).iter().map(Range::len).collect();
        assert_eq!(lengths.len(), SEGMENTS);
        assert!(lengths.iter().all(|length| (54..=84).contains(length)), "{lengths:?}");
    }

    #[test]
    fn one_long_sentence_among_many_does_not_starve_the_others() {
        let long = "word ".repeat(200);
        let text = format!("{long}. {}", "Three short words. ".repeat(9));
        assert_eq!(segments(&text).len(), SEGMENTS);
    }

    #[test]
    fn a_long_code_block_is_several_segments() {
        let text = format!("```\n{}```", "let x = call(y);\n".repeat(200));
        assert_eq!(sentences(&text).len(), 1);
        let parts = segmented(&text);
        assert!((3..=4).contains(&parts.len()) && parts.iter().all(|part| part.len() < 1_000));
    }

    #[test]
    fn nothing_gives_nothing() {
        assert!(segments("").is_empty() && segments(" \n ").is_empty());
    }

    #[test]
    fn a_long_text_of_anything_takes_linear_time() {
        for piece in ["a", ".", "a. ", "?)", "```\n", "\n", "a.b.c. ", "。", "e.g. ", "…\")", "x\ny, "] {
            let text = piece.repeat(100_000 / piece.len());
            assert!(segments(&text).len() <= SEGMENTS);
        }
    }

    proptest! {
        #[test]
        fn everything_but_space_is_in_exactly_one_segment(
            text in "([a-zA-Z .!?…。\n`(){}\"']|\\PC){0,120}",
        ) {
            for ranges in [sentences(&text), segments(&text)] {
                let mut at = 0;
                for range in ranges {
                    prop_assert!(at <= range.start && range.start < range.end);
                    prop_assert!(text[at..range.start].trim().is_empty());
                    prop_assert_eq!(text[range.clone()].trim(), &text[range.clone()]);
                    at = range.end;
                }
                prop_assert!(text[at..].trim().is_empty());
            }
        }

        #[test]
        fn there_are_never_too_many_segments(text in "([a-c]{1,9}[ .]{1,2}){0,200}") {
            prop_assert!(segments(&text).len() <= SEGMENTS);
        }
    }
}
