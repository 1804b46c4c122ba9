//! Prepares text for comparison without regard to case.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Folds a text for comparison: every letter is converted to lower case, independently of its neighbours, and then
/// composed (NFC).
///
/// Composition is the last step, because some lower-case letters have a composed form while their capitals do not.
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let lower: String = text.chars().flat_map(lower).collect();
    match is_nfc_quick(lower.chars()) {
        IsNormalized::Yes => lower,
        _ => lower.nfc().collect(),
    }
}

/// Returns the byte offset of the letter at which the first match of a [`folded`] text begins. `None` if there is no
/// match, or if the letters of the match are composed differently in the text.
pub fn find(text: &str, needle: &str) -> Option<usize> {
    if text.is_ascii() {
        return text.to_ascii_lowercase().find(needle);
    }
    // Each letter is converted separately, so that each position in the lower-case text maps to a position in the
    // original. Composition would change the positions.
    let (mut lowered, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    for (at, letter) in text.char_indices() {
        for small in lower(letter) {
            places.resize(places.len() + small.len_utf8(), at);
            lowered.push(small);
        }
    }
    lowered.find(needle).and_then(|at| places.get(at).copied())
}

fn lower(letter: char) -> impl Iterator<Item = char> {
    letter.to_lowercase().map(|letter| if letter == 'ς' { 'σ' } else { letter })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_in_its_place() {
        for (text, needle, at) in [
            ("Prefers Dark mode", "DARK", 8),
            ("in KÖLN am Rhein", "köln", 3),
            ("ΟΔΟΣ ΣΑΣ", "σας", 9),
            ("İstanbul, Köln", "KÖLN", 11),
        ] {
            assert_eq!(find(text, &folded(needle)), Some(at), "{text}");
        }
        assert_eq!(find("abc", "x"), None);
    }
}
