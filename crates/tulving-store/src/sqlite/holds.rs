//! The SQL function `holds(text, needle)`: whether a text holds another as it is, in any case.
//!
//! The needle must be [`folded`] already; it is done once for a query, not for every row.

use std::cell::RefCell;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::ValueRef;

/// Makes the function known to a connection.
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

/// A text as it is compared: every letter in lower case, one by one, whatever stands beside it.
pub(super) fn folded(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).map(|letter| if letter == 'ς' { 'σ' } else { letter }).collect()
}

fn holds(text: &str, needle: &str) -> bool {
    thread_local! {
        static LOWER: RefCell<String> = const { RefCell::new(String::new()) };
    }
    if !text.is_ascii() {
        return folded(text).contains(needle);
    }
    if text.len() < needle.len() || !needle.is_ascii() {
        return false;
    }
    LOWER.with_borrow_mut(|lower| {
        lower.clear();
        lower.push_str(text);
        lower.make_ascii_lowercase();
        lower.contains(needle)
    })
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
    fn nothing_else_is_found() {
        for (text, needle) in [("abc", "abcd"), ("abc", "ä"), ("a%c", "a_c"), ("", "x")] {
            assert!(!holds(text, &folded(needle)), "{text} does not hold {needle}");
        }
    }
}
