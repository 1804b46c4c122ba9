//! Usual abbreviations of people who write programs, written out.
//!
//! A model that was trained on ordinary text does not know that a PR is a pull request, and no word is shared. Only
//! abbreviations with one usual meaning are listed. Those that are also ordinary words count only in capitals.

/// Abbreviations that count in any case.
const ANY_CASE: [(&str, &str); 21] = [
    ("auth", "authentication"),
    ("config", "configuration"),
    ("configs", "configurations"),
    ("db", "database"),
    ("dbs", "databases"),
    ("deps", "dependencies"),
    ("docs", "documentation"),
    ("e2e", "end-to-end"),
    ("env", "environment"),
    ("i18n", "internationalisation"),
    ("k8s", "kubernetes"),
    ("l10n", "localisation"),
    ("lib", "library"),
    ("libs", "libraries"),
    ("perf", "performance"),
    ("pg", "postgres"),
    ("prod", "production"),
    ("prs", "pull requests"),
    ("repo", "repository"),
    ("repos", "repositories"),
    ("specs", "specifications"),
];
/// Abbreviations that count only in capitals.
const CAPITALS: [(&str, &str); 6] = [
    ("MR", "merge request"),
    ("MRs", "merge requests"),
    ("PM", "product manager"),
    ("PR", "pull request"),
    ("PRs", "pull requests"),
    ("QA", "quality assurance"),
];

/// Returns the abbreviations of a text, written out, and the text with them in place of the abbreviations. `None` if it has
/// no abbreviation.
pub fn written_out(text: &str) -> Option<WrittenOut> {
    let (mut whole, mut added, mut at) = (String::with_capacity(text.len()), Vec::new(), 0);
    let words = text.split(|c: char| !c.is_alphanumeric());
    for word in words {
        let start = word.as_ptr() as usize - text.as_ptr() as usize;
        if let Some(meant) = meaning(word).filter(|_| !is_part(text, start, word.len())) {
            whole.push_str(&text[at..start]);
            whole.push_str(meant);
            at = start + word.len();
            added.push(meant);
        }
    }
    whole.push_str(&text[at..]);
    (!added.is_empty()).then(|| WrittenOut { whole, added: added.join(" ") })
}

/// A text without abbreviations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenOut {
    /// The text with the words in place of the abbreviations.
    pub whole: String,
    /// The words alone.
    pub added: String,
}

fn meaning(word: &str) -> Option<&'static str> {
    let of = |known: &[(&str, &'static str)], is: &dyn Fn(&str) -> bool| {
        known.iter().find(|(short, _)| is(short)).map(|(_, meant)| *meant)
    };
    of(&ANY_CASE, &|short| short.eq_ignore_ascii_case(word)).or_else(|| of(&CAPITALS, &|short| short == word))
}

/// Returns true if a word is a part of an identifier, a path or a time: `src/lib.rs`, `--env`, `5 PM`.
fn is_part(text: &str, start: usize, length: usize) -> bool {
    let links = |c: char| matches!(c, '/' | '\\' | '_' | '-' | ':' | '@' | '=' | '$');
    let (before, after) = (&text[..start], &text[start + length..]);
    let dotted = after.strip_prefix('.').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
    let linked = before.ends_with(links) || before.ends_with('.') || after.starts_with(links) || dotted;
    linked || before.trim_end().ends_with(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn whole(text: &str) -> String {
        written_out(text).map_or_else(|| text.to_owned(), |out| out.whole)
    }

    #[test]
    fn abbreviations_are_written_out() {
        assert_eq!(whole("whose PR is in the repo?"), "whose pull request is in the repository?");
        let out = written_out("Prod DB").expect("abbreviations");
        assert_eq!((out.whole.as_str(), out.added.as_str()), ("production database", "production database"));
    }

    #[test]
    fn words_times_and_parts_of_identifiers_stay() {
        for text in [
            "ask Mr Smith",
            "at 5 PM",
            "src/lib.rs",
            "the --env flag",
            "my.db.rs",
            "PROD_DB",
            "pm",
            "reporter",
        ] {
            assert_eq!(written_out(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text in "\\PC{0,60}") {
            let _ = written_out(&text);
        }
    }
}
