//! Finds the words of a text that may be part of a tag, in runs of adjacent words.

use super::empty::is_empty;
use crate::terms::is_stop_word;

/// A word that may be part of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TagWord {
    /// The word in lower case.
    pub(super) lower: String,
    /// True if the word has a capital and does not begin a sentence.
    pub(super) is_name: bool,
}

/// Calls `give` with every run of adjacent words that may be part of a tag. Returns the number of all words in the
/// text.
pub(super) fn runs(text: &str, mut give: impl FnMut(&[TagWord])) -> usize {
    let mut count = 0;
    let mut words: Vec<TagWord> = Vec::new();
    let mut begins = true;
    let mut end = |words: &mut Vec<TagWord>| {
        if !words.is_empty() {
            give(words);
            words.clear();
        }
    };
    for piece in text.split_whitespace() {
        let bare = piece.trim_matches(|c: char| !c.is_alphanumeric());
        if bare.contains(is_unspaced) {
            end(&mut words);
            count += bare.chars().count().div_ceil(2);
            unspaced(bare, |part| {
                let word = TagWord { lower: part.to_owned(), is_name: false };
                end(&mut vec![word]);
            });
            continue;
        }
        count += usize::from(!bare.is_empty());
        if !piece.starts_with(|c: char| c.is_alphanumeric()) {
            end(&mut words);
        }
        match word(bare, begins) {
            Some(word) => words.push(word),
            None => end(&mut words),
        }
        let closed = !piece.ends_with(|c: char| c.is_alphanumeric());
        begins = piece.ends_with(['.', '!', '?', ':']);
        if closed {
            end(&mut words);
        }
    }
    end(&mut words);
    count
}

/// Returns a word that may be part of a tag: letters with a meaning, possibly with digits and hyphens.
fn word(bare: &str, begins: bool) -> Option<TagWord> {
    let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")).unwrap_or(bare);
    let letters = bare.chars().filter(|c| c.is_alphabetic()).count();
    let short =
        letters < 3 && !(letters == 2 && bare.chars().all(|c| c.is_uppercase() || c.is_ascii_digit()));
    let fits = bare.starts_with(char::is_alphabetic)
        && bare.chars().all(|c| c.is_alphanumeric() || c == '-')
        && letters * 2 > bare.chars().count();
    if short || !fits {
        return None;
    }
    let lower = bare.to_lowercase();
    if is_stop_word(&lower) || is_empty(&lower) {
        return None;
    }
    Some(TagWord { is_name: !begins && bare.starts_with(char::is_uppercase), lower })
}

/// Returns true if a character belongs to a script without spaces between words.
fn is_unspaced(c: char) -> bool {
    matches!(script(c), WritingScript::Ideographs | WritingScript::Katakana | WritingScript::Hiragana)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WritingScript {
    Ideographs,
    Katakana,
    Hiragana,
    Other,
}

fn script(c: char) -> WritingScript {
    match c {
        '\u{3041}'..='\u{309f}' => WritingScript::Hiragana,
        '\u{30a0}'..='\u{30ff}' => WritingScript::Katakana,
        '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3134f}' => {
            WritingScript::Ideographs
        }
        _ => WritingScript::Other,
    }
}

/// Calls `give` with the parts of a text without spaces that may be words: adjacent ideographs or katakana. The
/// characters between such parts are mostly endings.
fn unspaced(text: &str, mut give: impl FnMut(&str)) {
    let mut start = 0;
    let mut last = WritingScript::Other;
    let ends = text.char_indices().map(|(at, c)| (at, script(c))).chain([(text.len(), WritingScript::Other)]);
    for (at, script) in ends {
        if script != last {
            let part = &text[start..at];
            if matches!(last, WritingScript::Ideographs | WritingScript::Katakana)
                && (2..=6).contains(&part.chars().count())
            {
                give(part);
            }
            (start, last) = (at, script);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn described(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        runs(text, |run| {
            let words: Vec<&str> = run.iter().map(|word| word.lower.as_str()).collect();
            found.push(words.join(" "));
        });
        found
    }

    #[test]
    fn stops_and_signs_end_a_run() {
        assert_eq!(
            described(
                "The health check of the API server, which runs in eu-west-1, uses Argon2id (see config.toml)."
            ),
            ["health check", "api server", "eu-west-1", "argon2id"]
        );
        assert_eq!(described("Ann's 12 cats; 3.5 of them"), ["ann", "cats"]);
        assert_eq!(described("東京タワーに行きました。東京は大きい"), ["東京", "タワー", "東京"]);
    }

    #[test]
    fn a_capital_at_the_beginning_is_no_name() {
        let mut names = Vec::new();
        runs("Postgres is fast. Redis and Postgres", |run| {
            names.extend(run.iter().filter(|word| word.is_name).map(|word| word.lower.clone()));
        });
        assert_eq!(names, ["postgres"]);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC{0,80}") {
            runs(&text, |run| assert!(!run.is_empty()));
        }
    }
}
