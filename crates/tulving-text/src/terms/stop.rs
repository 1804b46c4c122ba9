//! English stop words, and German stop words for questions in German.

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

/// German stop words, folded and sorted. They are removed only from questions in German, because some of them are
/// English words too. Texts keep them, so that the rarity of words stays the same in all languages.
const GERMAN: [&str; 103] = [
    "aber", "alle", "als", "am", "an", "auch", "auf", "aus", "bei", "beim", "bis", "bist", "da", "das",
    "dass", "dein", "deine", "dem", "den", "denn", "der", "des", "die", "dich", "dir", "du", "ein", "eine",
    "einem", "einen", "einer", "eines", "er", "es", "fur", "gibt", "hat", "habe", "haben", "hast", "ich",
    "ihm", "ihn", "ihr", "ihre", "im", "in", "ins", "ist", "ja", "kann", "kein", "keine", "man", "mein",
    "meine", "meinem", "meinen", "meiner", "mich", "mir", "mit", "muss", "nach", "nicht", "noch", "nur",
    "ob", "oder", "sich", "sie", "sind", "so", "soll", "um", "und", "uns", "unser", "unsere", "vom", "von",
    "vor", "wann", "war", "waren", "warum", "was", "welche", "welchem", "welchen", "welcher", "welches",
    "wem", "wen", "wenn", "wer", "werden", "wie", "wir", "wird", "wo", "zu", "zum",
];
/// Minimum number of German stop words in a question that counts as German. The question must also have fewer English
/// stop words.
const GERMAN_BY: usize = 2;

/// Returns true if a word is a German stop word.
pub(super) fn is_german_stop(word: &str) -> bool {
    GERMAN.contains(&word)
}

/// Returns true if a folded question is in German.
pub(super) fn is_german(question: &str) -> bool {
    let (mut german, mut english) = (0, 0);
    for word in question.split(|c: char| !c.is_alphanumeric()) {
        match (is_german_stop(word), is_stop(word)) {
            (true, false) => german += 1,
            (false, true) => english += 1,
            _ => {}
        }
    }
    german >= GERMAN_BY && german > english
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order() {
        assert!(WORDS.is_sorted());
    }

    #[test]
    fn a_question_in_german_is_known_by_its_small_words() {
        assert!(is_german("bis wann muss ich die rechnungen von der reise abgeben"));
        assert!(is_german("wer springt im sommer fur katrin ein"));
        assert!(!is_german("what was the war in which he died") && !is_german("die hard"));
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
