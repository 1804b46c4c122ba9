//! Cleans up the name that a client gives itself, so that it can be stored with the client's memories.

use tulving_core::{model::limits, model::preview};
use tulving_text::{normalize, visible};

/// Returns the name on one line, without control and invisible characters, cut to the maximum length of an agent's name;
/// `None` if no characters remain. An invalid `--agent` is refused, because the user can correct the name. A client's name
/// is repaired, because a client cannot ask the user.
pub(crate) fn tidy(name: &str) -> Option<String> {
    let name = preview::cut(&normalize::composed(&visible::plain(name)), limits::NOTE_CHARS);
    Some(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use tulving_core::model::error::Field;
    use tulving_core::text::normalize::line;

    use super::*;

    #[test]
    fn what_a_terminal_would_obey_or_nobody_sees_is_dropped() {
        assert_eq!(tidy("claude-code").as_deref(), Some("claude-code"));
        assert_eq!(tidy("a\u{7}b\u{1b}[31mc\u{202e}d\u{200b}e").as_deref(), Some("a b [31mcde"));
        assert_eq!(tidy("\u{7}\u{202e} \n"), None);
        assert_eq!(tidy(&"x".repeat(5_000)).map(|name| name.chars().count()), Some(limits::NOTE_CHARS));
    }

    proptest! {
        #[test]
        fn what_is_left_is_a_name_that_the_user_might_give(name in "(?s).{0,40}|[\u{0}-\u{20}\u{200b}-\u{202e}é]{0,20}") {
            if let Some(name) = tidy(&name) {
                prop_assert_eq!(line(Field::Agent, &name, limits::NOTE_CHARS), Ok(name.clone()));
                prop_assert_eq!(visible::plain(&name), name);
            }
        }
    }
}
