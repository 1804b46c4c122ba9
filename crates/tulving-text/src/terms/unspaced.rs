//! Returns the terms of text without spaces between words: overlapping pairs of characters.
//!
//! Pairs need no dictionary and find any word of two or more characters. A word of one character matches additional
//! terms: every Chinese character of a text, and the first syllable of a Korean word, because particles follow it. A
//! question searches for a single character only if the character is written separately.

use unicode_normalization::char::is_combining_mark;

use super::TermSource;
use super::script::{folded, is_han, is_hangul, is_unspaced};

/// Calls `give` with the parts of a word of mixed scripts. The flag is true for scripts without spaces.
pub(super) fn parts(word: &str, mut give: impl FnMut(&str, bool)) {
    let mut start = 0;
    let mut apart = word.starts_with(is_unspaced);
    for (at, c) in word.char_indices() {
        let here = is_unspaced(c);
        // Marks of no script belong to the previous letter.
        if here != apart && !is_combining_mark(c) {
            give(&word[start..at], apart);
            (start, apart) = (at, here);
        }
    }
    give(&word[start..], apart);
}

/// Adds the pairs of a part without spaces to the words, and its single characters to the extras.
pub(super) fn pairs(part: &str, side: TermSource, words: &mut Vec<String>, extras: &mut Vec<String>) {
    let form = folded(part, usize::MAX);
    let starts: Vec<usize> =
        form.char_indices().filter(|(at, c)| *at == 0 || !is_combining_mark(*c)).map(|(at, _)| at).collect();
    let end = |unit: usize| starts.get(unit + 1).copied().unwrap_or(form.len());
    if starts.len() < 2 {
        if !form.is_empty() {
            words.push(form);
        }
        return;
    }
    words.extend((1..starts.len()).map(|unit| form[starts[unit - 1]..end(unit)].to_owned()));
    let kind = |unit: usize| starts.get(unit).and_then(|at| form[*at..].chars().next());
    let han = |unit: usize| kind(unit).is_some_and(is_han);
    for unit in 0..starts.len() {
        let alone = han(unit) && !han(unit + 1) && (unit == 0 || !han(unit - 1));
        let asked = alone || (side == TermSource::Text && han(unit));
        let opens = unit == 0 && side == TermSource::Text && kind(unit).is_some_and(is_hangul);
        if asked || opens {
            extras.push(form[starts[unit]..end(unit)].to_owned());
        }
    }
}
