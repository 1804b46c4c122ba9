//! Removes from an answer the parts that differ for every caller: ids, times, tokens and the names in the question.

use std::collections::HashMap;

use super::question::Names;
use crate::serve::client::without_request_id;

/// With ids in the order in which they stand there, and without times.
pub(super) fn numbered(described: &str) -> String {
    let mut met: HashMap<String, usize> = HashMap::new();
    each_own(described, |own| {
        let next = met.len();
        if is_time(own) {
            "‹time›".to_owned()
        } else {
            format!("‹{}›", *met.entry(own.to_owned()).or_insert(next))
        }
    })
}

/// Returns an answer in which the names of the question are one word, without the number of the request.
pub(super) fn masked(described: &str, all: &[&Names]) -> String {
    let mut described = described.to_owned();
    let mut values: Vec<(&str, &str)> =
        all.iter().flat_map(|names| names.iter()).map(|(name, value)| (*name, value.as_str())).collect();
    values.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    for (name, value) in values {
        // Numbers are not replaced, because they also occur where the question does not name them.
        if !matches!(name, "NUMBER") {
            described = described
                .replace(value, &format!("‹{name}›"))
                .replace(&value.replace('/', "%2F"), &format!("‹{name}›"));
        }
    }
    // A link and a file are made ready in the background, sooner or later.
    let described = described.replace("\"processing\"", "\"active\"");
    let described = shortened(&described.replace("‹MEM_UUID›", "‹MEM›"));
    let described = match described.split_once("\"next_cursor\":\"") {
        Some((before, after)) => {
            format!("{before}‹page›{}", after.split_once('"').map_or("", |(_, rest)| rest))
        }
        None => described,
    };
    without_request_id(&described)
}

/// With three digits after a point: what is recent counts for more, and time goes by. How often something was read is
/// counted a little later, at a time of the server's own.
pub(super) fn shortened(described: &str) -> String {
    let mut out = String::new();
    let mut rest = described;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, number) = rest.split_at(at);
        let end =
            number.find(|c: char| !c.is_ascii_alphanumeric() && !"._-:".contains(c)).unwrap_or(number.len());
        let (number, after) = number.split_at(end);
        out.push_str(before);
        match number.parse::<f64>() {
            Ok(_) if before.ends_with("access_count\":") || before.ends_with("access_count\\\":") => {
                out.push('…');
            }
            Ok(value) if number.contains('.') || number.contains("e-") => {
                out.push_str(&format!("{value:.3}"));
            }
            _ => out.push_str(number),
        }
        rest = after;
    }
    out.push_str(rest);
    out.replace("-0.000", "0.000")
}

/// Changes each id, token and time.
pub(super) fn each_own(described: &str, mut change: impl FnMut(&str) -> String) -> String {
    let part_of = |c: char| c.is_ascii_alphanumeric() || "_-:.".contains(c);
    let mut out = String::new();
    let mut rest = described;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !part_of(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let core = word.trim_end_matches(['.', ':']);
        if is_own(core) {
            out.push_str(&change(core));
            out.push_str(&word[core.len()..]);
        } else {
            out.push_str(word);
        }
        let skip = after.find(part_of).unwrap_or(after.len());
        out.push_str(&after[..skip]);
        rest = &after[skip..];
    }
    out
}

pub(super) fn is_time(word: &str) -> bool {
    word.len() >= 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T' && word.starts_with("20")
}

pub(super) fn is_own(word: &str) -> bool {
    let hex = |text: &str, length: usize| text.len() == length && text.bytes().all(|b| b.is_ascii_hexdigit());
    let uuid = word.len() == 36
        && word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && word.bytes().all(|b| b == b'-' || b.is_ascii_hexdigit());
    // The digest of a text with a time in it.
    uuid || is_time(word)
        || hex(word, 64)
        // A proposal, which is named by a digest of ids.
        || hex(word, 12)
        || word.starts_with("tlv_")
        || word.strip_prefix("mem_").is_some_and(|id| hex(id, 32))
}
