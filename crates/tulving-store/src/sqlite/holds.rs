//! The SQL function `holds(text, needle)`: true if a text contains another literally, ignoring case and Unicode composition.
//!
//! The needle must already be [`folded`], so that it is folded once per query and not for every row.

use std::cell::RefCell;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;
use tulving_text::fold::folded;

/// Registers the function on a connection.
pub(super) fn register(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("holds", 2, flags, |arguments| {
        let (ValueRef::Text(text), ValueRef::Text(needle)) = (arguments.get_raw(0), arguments.get_raw(1))
        else {
            return Ok(false);
        };
        Ok(holds(&String::from_utf8_lossy(text), &String::from_utf8_lossy(needle)))
    })
}

fn holds(text: &str, needle: &str) -> bool {
    thread_local! {
        static LOWER: RefCell<String> = const { RefCell::new(String::new()) };
    }
    if !is_plain(text) {
        return folded(text).contains(needle);
    }
    LOWER.with_borrow_mut(|lower| {
        lower.clear();
        lower.push_str(text);
        lower.make_ascii_lowercase();
        lower.contains(needle)
    })
}

/// Returns true if folding only needs to convert ASCII letters to lower case. The only other characters in such a text are
/// dashes, quotation marks, dots and similar characters (U+2010 to U+2027), which have no case and do not compose.
/// Shortened titles end in such a character.
fn is_plain(text: &str) -> bool {
    let mut rest = text.as_bytes();
    while let Some(at) = rest.iter().position(|byte| !byte.is_ascii()) {
        match &rest[at..] {
            [0xE2, 0x80, 0x90..=0xA7, after @ ..] => rest = after,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_matter_in_any_script() {
        for (text, needle) in [
            ("Prefers Dark mode", "DARK"),
            ("ΟΔΟΣ και ΣΑΣ", "οδος"),
            ("ÄRGER in Köln", "ärger IN kÖLN"),
            ("Straße", "STRAße"),
            ("100% _sure_", "100% _SURE_"),
            ("anything", ""),
        ] {
            assert!(holds(text, &folded(needle)), "{text} holds {needle}");
        }
    }

    #[test]
    fn what_is_plain_folds_to_small_letters() {
        for text in ["Prefers Dark…", "“A” – B — C’s", "a‧b", ""] {
            assert!(is_plain(text), "{text}");
            assert_eq!(folded(text), text.to_ascii_lowercase());
        }
        for text in ["Köln", "cafe\u{301}…", "x…\u{301}", "\u{212a}", "一", "\u{2028}"] {
            assert!(!is_plain(text), "{text}");
        }
        assert!(holds("Wait for IT…", &folded("it…")) && !holds("Wait…", "…w"));
    }

    #[test]
    fn composed_and_decomposed_letters_are_the_same() {
        for (text, needle) in [
            ("a cafe\u{301} in town", "CAF\u{c9}"),
            ("a caf\u{e9} in town", "cafe\u{301}"),
            ("J\u{30c}", "\u{1f0}"),
            ("\u{1f0}", "J\u{30c}"),
            ("\u{130}\u{323}", "I\u{323}\u{307}"),
            ("한글", "\u{1112}\u{1161}\u{11ab}"),
            ("300 K", "300 \u{212a}"),
        ] {
            assert!(holds(text, &folded(needle)), "{text} holds {needle}");
        }
    }

    #[test]
    fn nothing_else_is_found() {
        for (text, needle) in [
            ("abc", "abcd"),
            ("cafe\u{301}", "cafe "),
            ("cafe", "caf\u{e9}"),
            ("abc", "ä"),
            ("a%c", "a_c"),
            ("", "x"),
        ] {
            assert!(!holds(text, &folded(needle)), "{text} does not hold {needle}");
        }
    }
}
