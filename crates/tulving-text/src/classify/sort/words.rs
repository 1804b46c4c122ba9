//! Converts text to words in a form in which cues can be searched.

use memchr::memmem;

use crate::classify::form::file_name;
use crate::when::MONTHS;

/// Returns a text in lower case, with one space before and after each word, without symbols. A hyphen becomes a space,
/// so that "trade-off" equals "trade off". An apostrophe is preserved.
pub(super) fn spaced(text: &str) -> String {
    let mut said = String::with_capacity(text.len() + 2);
    said.push(' ');
    for c in text.chars() {
        match c {
            '\'' | '’' if !said.ends_with(' ') => said.push('\''),
            c if c.is_alphanumeric() => said.extend(c.to_lowercase()),
            _ if said.ends_with(' ') => {}
            _ => said.push(' '),
        }
    }
    if !said.ends_with(' ') {
        said.push(' ');
    }
    said
}

/// Returns true if [`spaced`] words contain these words in sequence.
pub(super) fn holds(spaced: &str, words: &str) -> bool {
    places(spaced, words).next().is_some()
}

/// Counts the occurrences of these words in [`spaced`] words.
pub(super) fn count(spaced: &str, words: &str) -> usize {
    places(spaced, words).count()
}

fn places<'a>(spaced: &'a str, words: &'a str) -> impl Iterator<Item = usize> + 'a {
    let whole = |at: &usize| spaced[..*at].ends_with(' ') && spaced[at + words.len()..].starts_with(' ');
    memmem::find_iter(spaced.as_bytes(), words).filter(whole)
}

/// The words of a path.
#[derive(Debug, Default)]
pub(super) struct PathWords {
    /// The words of the file's name without its extension, [`spaced`].
    pub(super) file: String,
    /// The words of the nearest folders above the file.
    pub(super) folders: String,
}

/// Number of folders above a file whose names count.
const FOLDERS: usize = 3;

pub(super) fn of_path(path: &str) -> PathWords {
    let name = file_name(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem });
    let above = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).skip(1).take(FOLDERS);
    PathWords { file: spaced(&apart(stem)), folders: spaced(&above.map(apart).collect::<Vec<_>>().join(" ")) }
}

/// Splits a camel-case name: `designReview` becomes two words.
fn apart(name: &str) -> String {
    let mut said = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            said.push(' ');
        }
        said.push(if c == '_' { ' ' } else { c });
        before = c;
    }
    said
}

/// Returns true if [`spaced`] words name a day: `2025 03 04`, `4 march 2025`, `march 4`, `30 09 2024`.
pub(super) fn names_day(spaced: &str) -> bool {
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let number = |at: usize, most: u32| {
        let word = words.get(at).map(|word| {
            ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end)).unwrap_or(word)
        });
        word.filter(|word| word.len() <= 2)
            .and_then(|word| word.parse::<u32>().ok())
            .is_some_and(|n| (1..=most).contains(&n))
    };
    let year = |at: usize| {
        words.get(at).is_some_and(|word| {
            word.len() == 4
                && (word.starts_with("20") || word.starts_with("19"))
                && word.bytes().all(|b| b.is_ascii_digit())
        })
    };
    let month = |at: usize| {
        words.get(at).is_some_and(|word| {
            MONTHS.iter().any(|month| month == word || (word.len() == 3 && month.starts_with(word)))
        })
    };
    (0..words.len()).any(|at| {
        (year(at) && number(at + 1, 12) && number(at + 2, 31))
            || (number(at, 31) && number(at + 1, 12) && year(at + 2))
            || (number(at, 31) && month(at + 1))
            || (month(at) && number(at + 1, 31) && !year(at + 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_whole() {
        let said = spaced("We CHOSE it — a trade-off, isn't it?");
        assert_eq!(said, " we chose it a trade off isn't it ");
        assert!(
            holds(&said, "trade off")
                && holds(&said, "we chose")
                && !holds(&said, "hose")
                && !holds(&said, "trad")
        );
        assert_eq!(count(&spaced("a b a ba a"), "a"), 3);
    }

    #[test]
    fn a_path_is_words() {
        let words = of_path("docs/adr/0003-use_SQLite.md");
        assert_eq!((words.file.as_str(), words.folders.as_str()), (" 0003 use sqlite ", " adr docs "));
        assert_eq!(of_path("a\\designReview.txt").file, " design review ");
        assert_eq!(of_path(".env").file, " env ");
        assert_eq!(of_path("").file, " ");
    }

    #[test]
    fn a_day_is_named_in_its_usual_forms() {
        for text in ["2025-03-04", "4 March 2025", "March 4th", "30.09.2024", "May 27", "on 19 November 2024"]
        {
            assert!(names_day(&spaced(text)), "{text}");
        }
        for text in ["2025", "Roadmap 2025", "May we", "version 3.4.2025x", "sprint 18", "March 2025", ""] {
            assert!(!names_day(&spaced(text)), "{text}");
        }
    }
}
