//! Converts values of other systems to Tulving's fields.

use tulving_core::model::vocabulary::MemoryType;
use tulving_core::{model::limits, model::preview};

/// Converts a word to a memory type, if Tulving has a type of that name, or else to a label.
pub(super) fn typed(word: Option<&str>) -> (Option<MemoryType>, Option<Vec<String>>) {
    let Some(word) = word.map(str::trim).filter(|word| !word.is_empty()) else { return (None, None) };
    match word.to_lowercase().parse() {
        Ok(known) => (Some(known), None),
        Err(_) => (None, Some(labels([word]))),
    }
}

/// Returns the labels that are short enough, up to the maximum number of labels.
pub(super) fn labels<'a>(words: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    let labels = words.into_iter().filter_map(|word| line(word, limits::TAG_CHARS));
    labels.take(limits::TAGS).collect()
}

/// Returns a text on one line, cut to the limit; `None` if the text is empty.
pub(super) fn line(text: &str, limit: usize) -> Option<String> {
    Some(preview::cut(text, limit)).filter(|line| !line.is_empty())
}

/// Limits a number to the range from 0 to 1, and removes the digits that the conversion from a shorter float has added;
/// `None` if it is not a number.
pub(super) fn unit(number: f64) -> Option<f64> {
    number.is_finite().then(|| (number.clamp(0.0, 1.0) * 1e6).round() / 1e6)
}

/// Converts a number to a count. A missing or negative number becomes zero.
pub(super) fn count(number: Option<i64>) -> u64 {
    number.and_then(|number| u64::try_from(number).ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_no_type_is_kept_as_a_label() {
        assert_eq!(typed(Some("Preference")), (Some(MemoryType::Preference), None));
        assert_eq!(typed(Some("lesson learned")), (None, Some(vec!["lesson learned".to_owned()])));
        assert_eq!(typed(Some(" ")), (None, None));
        assert_eq!(typed(None), (None, None));
    }

    #[test]
    fn numbers_are_brought_within_bounds() {
        assert_eq!(unit(f64::from(0.7_f32)), Some(0.7));
        assert_eq!((unit(1.5), unit(-3.0), unit(f64::NAN)), (Some(1.0), Some(0.0), None));
        assert_eq!((count(Some(-4)), count(Some(9)), count(None)), (0, 9, 0));
    }
}
