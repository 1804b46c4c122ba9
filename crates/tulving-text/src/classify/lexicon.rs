//! Helpers for word lists. The lists are written as text, so that they are easy to read.

use std::collections::HashSet;

/// Returns the words of a list.
pub(super) fn words(list: &'static str) -> HashSet<&'static str> {
    list.split_whitespace().collect()
}

/// Returns the phrases of a list, separated by commas.
pub(super) fn phrases(list: &str) -> impl Iterator<Item = &str> {
    list.split(", ").map(str::trim)
}

/// Returns true if a word is in a short list.
pub(super) fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}
