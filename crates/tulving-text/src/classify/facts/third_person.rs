//! Rewrites a speaker's statements in the third person, if the rewriting is safe.

use super::clause::around;
use crate::classify::lexicon::listed;

/// Returns the third-person form of a verb, as after "she".
pub(super) fn verb(verb: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| verb.ends_with(ending));
    match verb {
        "am" | "are" => "is".to_owned(),
        "have" => "has".to_owned(),
        _ if ends(&["s", "sh", "ch", "x", "z", "o"]) => format!("{verb}es"),
        _ => match verb.strip_suffix('y') {
            Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) => format!("{stem}ies"),
            _ => format!("{verb}s"),
        },
    }
}

/// Replaces "my" with "their" in a text. Returns `None` if the speaker occurs again as a subject, because the verbs
/// would have to change too.
pub(super) fn of_them(text: &str) -> Option<String> {
    let mut described = String::with_capacity(text.len());
    for piece in text.split_inclusive(char::is_whitespace) {
        let (opening, word, closing) = around(piece);
        let lower = word.to_lowercase().replace('’', "'");
        if listed("i i'm i've i'd i'll", &lower) {
            return None;
        }
        described.push_str(opening);
        described.push_str(match lower.as_str() {
            "my" => "their",
            "me" => "them",
            "mine" => "theirs",
            "myself" => "themselves",
            _ => word,
        });
        described.push_str(closing);
    }
    Some(described)
}

/// Capitalizes the beginning of a text. Names and paths are not changed.
pub(super) fn capital(text: &str) -> String {
    let first = text.split_whitespace().next().unwrap_or_default();
    let plain = first.chars().all(|c| c.is_lowercase() || matches!(c, ',' | '\'' | '’'));
    let mut letters = text.chars();
    match letters.next() {
        Some(letter) if plain => letter.to_uppercase().chain(letters).collect(),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_follow() {
        let described = ["prefer", "go", "have", "carry", "play", "watch", "use"].map(verb);
        assert_eq!(described, ["prefers", "goes", "has", "carries", "plays", "watches", "uses"]);
    }

    #[test]
    fn what_is_mine_is_theirs_unless_i_act_again() {
        assert_eq!(
            of_them("emojis in my commits, for me.").as_deref(),
            Some("emojis in their commits, for them.")
        );
        assert_eq!(of_them("it when I can see my tests"), None);
        assert_eq!(of_them("tea (my favourite)").as_deref(), Some("tea (their favourite)"));
        assert_eq!(of_them("tea (I hate coffee)"), None);
        assert_eq!(capital("our API"), "Our API");
        assert_eq!(capital("iPhones are used"), "iPhones are used");
    }
}
