//! English stop words.

/// The stop words, sorted. The ranking constants were tuned with this list, so change the list only together with the
/// constants.
const WORDS: [&str; 75] = [
    "a", "about", "am", "an", "and", "are", "as", "at", "be", "been", "being", "but", "by", "can", "could",
    "did", "do", "does", "for", "from", "had", "has", "have", "he", "her", "him", "his", "how", "i", "if",
    "in", "is", "it", "its", "just", "me", "my", "no", "not", "of", "on", "or", "our", "she", "should", "so",
    "than", "that", "the", "their", "them", "then", "these", "they", "this", "those", "to", "too", "us",
    "very", "was", "we", "were", "what", "when", "where", "which", "who", "whom", "why", "will", "with",
    "would", "you", "your",
];

/// Returns true if a folded word is a stop word. "don't" is a stop word, because "do" is; "let's" is not.
pub(super) fn is_stop(word: &str) -> bool {
    match word {
        "can't" | "won't" => true,
        _ => WORDS.binary_search(&word.strip_suffix("n't").unwrap_or(word)).is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn a_denied_auxiliary_is_as_empty_as_the_auxiliary() {
        for word in ["don't", "can't", "won't", "isn't", "the", "very"] {
            assert!(is_stop(word), "{word}");
        }
        for word in ["wo", "deploy", "let", "ain", "n't", ""] {
            assert!(!is_stop(word), "{word}");
        }
    }
}
