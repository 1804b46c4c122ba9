//! The speaker's name before a statement: `Ann: …`, `<ann> …`, `**Ann:** …`.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::classify::lexicon::words;

/// Maximum length of a name, in bytes.
const NAME_BYTES: usize = 48;

/// A name, or another label in the position of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SpeakerLabel<'a> {
    pub(super) name: &'a str,
    /// True if the label is a word that begins notes, fields and log lines, and not the name of a person.
    pub(super) is_field: bool,
    /// True if the label has a number instead of a name: `Speaker 1`.
    pub(super) is_numbered: bool,
}

/// Returns the label at the beginning of a line, and the text after the label. In a line with a time, the name may be
/// in lower case.
pub(super) fn label(line: &str, timed: bool) -> Option<(SpeakerLabel<'_>, &str)> {
    if let Some((nick, text)) = line.strip_prefix('<').and_then(|rest| rest.split_once("> ")) {
        let fits = nick.len() <= NAME_BYTES && !nick.is_empty() && !nick.contains(['<', '/', '"', '=']);
        return fits.then(|| (plain(nick.trim_start_matches(['@', '+', ' '])), text.trim()));
    }
    let (before, text) = cut(line)?;
    let bare = before.trim_matches(['*', '_']);
    let label = if timed { any(bare) } else { name(bare).or_else(|| role(bare).then(|| plain(bare))) }?;
    Some((label, text))
}

/// Splits a line at the colon after its first words.
fn cut(line: &str) -> Option<(&str, &str)> {
    let colon = line[..line.floor_char_boundary(NAME_BYTES)].find(':')?;
    let text = &line[colon + 1..];
    // "https://", "std::fmt", "10:32" and ":smile:" are not labels.
    let text = text.strip_prefix("**").or_else(|| text.strip_prefix('*')).unwrap_or(text);
    (text.is_empty() || text.starts_with(char::is_whitespace)).then(|| (line[..colon].trim(), text.trim()))
}

/// Reads a name in its usual form: one to four capitalized words.
pub(super) fn name(text: &str) -> Option<SpeakerLabel<'_>> {
    let text = text.trim();
    if text.is_empty() || text.len() > NAME_BYTES {
        return None;
    }
    let parts: Vec<&str> = text.split_whitespace().collect();
    let numbered = parts.len() == 2 && parts[1].bytes().all(|b| b.is_ascii_digit());
    if parts.len() > 4 {
        return None;
    }
    let fits = parts.iter().enumerate().all(|(at, word)| {
        let word = word.trim_matches(['(', ')']);
        let letters =
            word.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '\'' | '’' | '_' | '@'));
        let begins = word.starts_with(|c: char| c.is_uppercase() || is_caseless(c));
        let joins =
            at > 0 && (matches!(word, "de" | "van" | "von" | "der" | "da" | "di" | "bin" | "al") || numbered);
        letters && (begins || joins)
    });
    let digits = text.contains(|c: char| c.is_ascii_digit());
    (fits && (!digits || numbered)).then(|| SpeakerLabel { is_numbered: numbered, ..plain(text) })
}

/// Returns true for a letter of a script without capitals.
fn is_caseless(c: char) -> bool {
    c.is_alphabetic() && !c.is_lowercase() && !c.is_uppercase()
}

/// Reads any text that may be the name of an account.
fn any(text: &str) -> Option<SpeakerLabel<'_>> {
    name(text).or_else(|| {
        let fits = !text.is_empty()
            && text.split_whitespace().count() <= 2
            && text.chars().all(|c| c.is_alphanumeric() || " ._-@~".contains(c))
            && text.contains(char::is_alphabetic);
        fits.then(|| plain(text))
    })
}

fn plain(name: &str) -> SpeakerLabel<'_> {
    SpeakerLabel { name, is_field: is_field(name), is_numbered: false }
}

/// Returns true if a name is a role in a conversation with a model.
pub(super) fn role(name: &str) -> bool {
    ["user", "assistant", "system", "human", "ai", "bot", "model", "agent"]
        .iter()
        .any(|role| name.eq_ignore_ascii_case(role))
}

/// Words before a colon that are not names.
static FIELDS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    words(
        "\
        a about abstract action actions address after age agenda aim also alternatives amount answer \
        attendees author background bcc because before benefits blocked blockers bonus bug but category \
        cause caution cc changed changes city cons consequences context copyright cost country currently \
        danger date day debug decision decisions default definition description details done due \
        duration edit email end error evening example examples expected fact fatal features file files \
        fixed for from goal goals hint how id idea impact important info input instructions issue key \
        last later learned lesson license link links location lunch method morning motivation name next \
        no note notes notice now number on open option options order outcome output owner participants \
        path phone place plan present price priority problem pros purpose q question questions rationale \
        reason recommendation references remember remove removed result results return returns reviewers \
        risk risks role rule scope see severity size so solution source start state status step steps \
        subject summary tags task tasks team test tests the then time timeline tip title to today todo \
        tomorrow topic topics total trace type update updated url usage value version warn warning week \
        what when where who why yes yesterday",
    )
});

fn is_field(name: &str) -> bool {
    let lower = name.to_lowercase();
    FIELDS.contains(lower.as_str()) || matches!(lower.as_str(), "action items" | "in progress" | "next steps")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(line: &str) -> Option<(&str, &str)> {
        label(line, false).map(|(label, text)| (label.name, text))
    }

    #[test]
    fn a_name_before_a_colon_is_a_label() {
        assert_eq!(read("Ann: hi"), Some(("Ann", "hi")));
        assert_eq!(read("**Ann Lee:** hi"), Some(("Ann Lee", "hi")));
        assert_eq!(read("**Ann**: hi"), Some(("Ann", "hi")));
        assert_eq!(read("Ludwig van Dyk: hi"), Some(("Ludwig van Dyk", "hi")));
        assert_eq!(read("<ann> hi"), Some(("ann", "hi")));
        assert_eq!(read("assistant: hi"), Some(("assistant", "hi")));
        assert_eq!(read("Speaker 2: hi"), Some(("Speaker 2", "hi")));
        assert_eq!(read("田中: はい"), Some(("田中", "はい")));
    }

    #[test]
    fn what_is_no_name_is_no_label() {
        for line in [
            "https://example.org",
            "std::fmt is a module",
            "see also: this",
            "The following five things are important: x",
            "at 10:32 we left",
            "Version 2.1.0: fixes",
            "- Ann: hi",
            "",
            ":",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
        assert!(label("Note: this", false).is_some_and(|(label, _)| label.is_field));
        assert_eq!(label("ann_99: hi", true).map(|(label, _)| label.name), Some("ann_99"));
    }

    proptest! {
        #[test]
        fn no_line_panics(line in "([A-Ca-c:*<> @1.]|\\PC){0,80}", timed: bool) {
            if let Some((label, text)) = label(&line, timed) {
                prop_assert!(label.name.len() <= 2 * NAME_BYTES && text.len() <= line.len());
            }
            let _ = name(&line);
        }
    }
}
