//! Labels and terms at the beginning of a line: `Attendees: …`, `Lot — …`.

use crate::classify::lexicon::listed;

/// Maximum number of words of a label.
const WORDS: usize = 5;

/// Returns the label of a line, and the text after it.
pub(super) fn label(line: &str) -> Option<(&str, &str)> {
    let colon = line.find(':').filter(|at| {
        let after = &line[at + 1..];
        after.is_empty() || after.starts_with(char::is_whitespace)
    });
    let dash =
        [" — ", " – ", " - "].iter().filter_map(|dash| line.find(dash).map(|at| (at, dash.len()))).min();
    let (end, gap) = match (colon, dash) {
        (Some(colon), Some((dash, _))) if colon < dash => (colon, 1),
        (_, Some(dash)) => dash,
        (Some(colon), None) => (colon, 1),
        (None, None) => return None,
    };
    let label = line[..end].trim();
    let words = label.split_whitespace().count();
    ((1..=WORDS).contains(&words) && !label.contains(['.', '?', '!']))
        .then(|| (label, line[end + gap..].trim()))
}

/// Returns true if the text after a term defines it.
pub(super) fn is_definition(said: &str) -> bool {
    let mut words = said.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    let first = words.next().unwrap_or_default().to_lowercase();
    let more = words.count() >= 2;
    let opening = "a an the what how who where when one something anything everything any short see somebody someone used means \
        stands number share part";
    more && listed(opening, &first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_a_few_words_before_a_colon_or_a_dash() {
        assert_eq!(label("Attendees: Ann, Ben"), Some(("Attendees", "Ann, Ben")));
        assert_eq!(label("Lot — what was made"), Some(("Lot", "what was made")));
        assert_eq!(label("Status:"), Some(("Status", "")));
        for line in
            ["", "see https://a.example", "a b c d e f: g", "One. Two: three", "plain words", "std::fmt"]
        {
            assert_eq!(label(line), None, "{line}");
        }
    }

    #[test]
    fn a_definition_begins_like_one() {
        assert!(is_definition("a company that pays") && is_definition("The share of customers"));
        assert!(!is_definition("send the list to finance") && !is_definition("a") && !is_definition(""));
    }
}
