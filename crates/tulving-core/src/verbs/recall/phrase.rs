//! Exact phrases: words between quotation marks, which a memory must contain in this order.
//!
//! Runs after [`lanes`](super::lanes), only for the keyword lane of rank fusion, without side effects.

use tulving_text::fold;

/// The pairs of quotation marks around a phrase.
const MARKS: [(char, char); 4] = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')];
/// The first character of the scripts that have no spaces between words.
const UNSPACED: char = '\u{2e80}';

/// Returns the phrases of a question, each of two words or more, in the form that [`says`] compares.
pub(super) fn quoted(question: &str) -> Vec<String> {
    let mut phrases = Vec::new();
    let mut rest = question;
    while let Some(at) = rest.find(|c| MARKS.iter().any(|(open, _)| *open == c)) {
        let open = rest[at..].chars().next().expect("a mark was found");
        let inside = &rest[at + open.len_utf8()..];
        let closes = |c: char| MARKS.contains(&(open, c));
        let Some(end) = inside.find(closes) else { break };
        let phrase = words(&inside[..end]);
        if phrase.contains(' ') || phrase.contains(|c| c >= UNSPACED) {
            phrases.push(phrase);
        }
        let close = inside[end..].chars().next().map_or(0, char::len_utf8);
        rest = &inside[end + close..];
    }
    phrases
}

/// Returns true if a text contains all of these phrases.
pub(super) fn says(text: &str, phrases: &[String]) -> bool {
    let text = format!(" {} ", words(text));
    phrases.iter().all(|phrase| match phrase.contains(|c| c >= UNSPACED) {
        true => text.contains(phrase.as_str()),
        false => text.contains(&format!(" {phrase} ")),
    })
}

/// Returns the words of a text, case folded, with one space between them.
pub(super) fn words(text: &str) -> String {
    let folded = fold::folded(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_two_words_or_more_between_marks() {
        assert_eq!(quoted("what of \"Blue Green\" and “a  red-hot one”?"), ["blue green", "a red hot one"]);
        assert!(quoted("the \"blue\" one, it's \"open").is_empty());
        assert!(quoted("\"\" \" \"").is_empty());
        assert_eq!(quoted("„grüner Tee“"), ["grüner tee"]);
        assert_eq!(quoted("\"東京\""), ["東京"]);
    }

    #[test]
    fn a_text_says_a_phrase_where_its_words_stand_in_order() {
        let phrases = quoted("\"blue green\"");
        assert!(says("We deploy: Blue/green, as always", &phrases));
        for other in ["green blue", "blue and green", "skyblue green", "blue greenish"] {
            assert!(!says(other, &phrases), "{other}");
        }
        assert!(says("私は東京に住む", &quoted("\"東京\"")));
    }
}
