//! Terms of a question that occur nowhere, and the known terms that may be meant: by their beginning, by a part, or
//! because of a typing error.

/// Minimum number of letters of a word whose beginning or part may be meant. A shorter word is more often another word.
const LONG: usize = 4;
/// Minimum number of letters of a word that may have one typing error, and of a word that may have two.
const ONE_ERROR: usize = 4;
const TWO_ERRORS: usize = 8;

/// Returns true if an unknown term may be the beginning or a part of the term that is meant: if it is long enough, or
/// looks like an identifier, or is not written in Latin letters.
pub fn may_be_part(term: &str) -> bool {
    term.len() >= LONG || !term.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns true if an unknown term may have a typing error.
pub fn may_be_misspelt(term: &str) -> bool {
    term.len() >= ONE_ERROR && term.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns true if a term differs from a known one by a typing error or two: a missing, additional or wrong letter, or
/// two letters in the wrong order. The first letter is hardly ever wrong.
pub fn is_misspelt(term: &str, known: &str) -> bool {
    let most = if term.len() >= TWO_ERRORS { 2 } else { 1 };
    may_be_misspelt(term)
        && known.len() >= ONE_ERROR
        && known.len().abs_diff(term.len()) <= most
        && term.as_bytes().first() == known.as_bytes().first()
        && known.bytes().all(|byte| byte.is_ascii_alphabetic())
        && strsim::osa_distance(term, known) <= most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typing_error_is_told_from_another_word() {
        for (term, known) in [
            ("pakag", "packag"),
            ("hafl", "half"),
            ("keyclok", "keycloak"),
            ("kubernets", "kubernetes"),
            ("typscript", "typescript"),
        ] {
            assert!(is_misspelt(term, known), "{term} {known}");
        }
        for (term, known) in
            [("cat", "car"), ("deploy", "employ"), ("test", "text2"), ("house", "mouse"), ("form", "farmer")]
        {
            assert!(!is_misspelt(term, known), "{term} {known}");
        }
    }

    #[test]
    fn a_short_word_is_no_part_unless_it_looks_like_an_identifier() {
        assert!(["depl", "v1", "东京", "x-y"].iter().all(|term| may_be_part(term)));
        assert!(["am", "dep"].iter().all(|term| !may_be_part(term)));
    }
}
