//! Values that differ from run to run: a transcript has a `$name` in their place.
//!
//! `$day` is today, `$time` a point in time, `$score` a number from 0 to 1, `$cursor` the cursor of the next page, `$origin` the
//! origin of memories saved on this way. Any other name is an id: the first value found, which must then stay the same.

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use tulving_core::model::time::Timestamp;
use tulving_core::ports::{Clock as _, SystemClock};

/// A field of an object in a transcript that allows the answer to have more fields.
const MORE: &str = "…";

/// The known values of one scene on one way.
pub(super) struct Holes {
    began: Timestamp,
    origin: &'static str,
    ids: BTreeMap<String, String>,
}

impl Holes {
    pub(super) fn new(origin: &'static str) -> Self {
        Self { began: SystemClock.now(), origin, ids: BTreeMap::new() }
    }

    /// Replaces the names in arguments by their values.
    pub(super) fn filled(&self, arguments: &Value) -> Value {
        match arguments {
            Value::String(text) => match text.strip_prefix('$') {
                Some(name) => self.value(name).into(),
                None => arguments.clone(),
            },
            Value::Array(items) => items.iter().map(|item| self.filled(item)).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), self.filled(value))).collect()
            }
            other => other.clone(),
        }
    }

    fn value(&self, name: &str) -> String {
        if let Some(times) = name.strip_prefix("x*") {
            return "x".repeat(times.parse().expect("a number"));
        }
        self.ids.get(name).unwrap_or_else(|| panic!("nothing is called ${name} yet")).clone()
    }

    /// Returns `Ok` if the answer matches the transcript. If not, returns the answer with names for known values.
    pub(super) fn fit(&mut self, expected: &str, answer: &str) -> Result<(), String> {
        let (mut open, mut rest) = (expected, answer);
        loop {
            let (plain, hole) = next_hole(open);
            rest = rest.strip_prefix(plain).ok_or_else(|| self.named(answer))?;
            let Some((name, after)) = hole else { break };
            let length = self.length(name, rest).ok_or_else(|| self.named(answer))?;
            let (value, more) = rest.split_at(length);
            if !self.note(name, value) {
                return Err(self.named(answer));
            }
            (open, rest) = (after, more);
        }
        if rest.is_empty() { Ok(()) } else { Err(self.named(answer)) }
    }

    /// Returns the length of the text that fills the hole with this name.
    fn length(&self, name: &str, text: &str) -> Option<usize> {
        let run = |fits: fn(char) -> bool| text.find(|c| !fits(c)).unwrap_or(text.len());
        let length = match name {
            "day" => 10,
            "time" => 27,
            "origin" => self.origin.len(),
            "score" => run(|c| c.is_ascii_digit() || ".e-".contains(c)),
            _ => run(|c| c.is_ascii_alphanumeric() || "-_".contains(c)),
        };
        let value = text.get(..length)?;
        let fits = match name {
            "day" => [self.began, SystemClock.now()].iter().any(|now| now.date() == value),
            "time" => value.ends_with('Z') && value.parse::<Timestamp>().is_ok(),
            "origin" => value == self.origin,
            "score" => value.parse().is_ok_and(|score: f64| (0.0..=1.0).contains(&score)),
            "cursor" => length > 0,
            _ => is_id(value),
        };
        fits.then_some(length)
    }

    /// Records a value, unless the name already has another value.
    fn note(&mut self, name: &str, value: &str) -> bool {
        match name {
            "day" | "time" | "origin" | "score" => true,
            "cursor" => {
                self.ids.insert(name.to_owned(), value.to_owned());
                true
            }
            _ => self.ids.entry(name.to_owned()).or_insert_with(|| value.to_owned()) == value,
        }
    }

    /// Returns an answer with names for known values, to show the differences.
    fn named(&self, answer: &str) -> String {
        renamed(answer, |part| {
            let known = self.ids.iter().find(|(_, id)| *id == part);
            known.map(|(name, _)| format!("${name}")).or_else(|| timeless(part))
        })
    }

    /// Returns an answer without the values that may differ between two ways, to compare them.
    pub(super) fn masked(&self, answer: &str) -> String {
        let answer = answer.replace(&format!("\"source\":\"{}\"", self.origin), "\"source\":\"$origin\"");
        // A link is made ready in the background, sooner or later.
        let answer = answer.replace("\"state\":\"processing\"", "\"state\":\"active\"");
        renamed(&without_cursor(&answer), |part| match part {
            _ if is_id(part) && !is_fixed(part) => Some("$id".to_owned()),
            _ if is_score(part) => Some("$score".to_owned()),
            _ => timeless(part),
        })
    }
}

/// A text with other names for some of its parts, which are words, numbers, ids and times.
fn renamed(text: &str, name: impl Fn(&str) -> Option<String>) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_:.".contains(c);
    let (mut renamed, mut rest) = (String::new(), text);
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |length| start + length);
        let part = rest[start..end].trim_end_matches(['.', ':']);
        renamed.push_str(&rest[..start]);
        renamed.push_str(name(part).as_deref().unwrap_or(part));
        rest = &rest[start + part.len()..];
    }
    renamed + rest
}

/// The name of a day or of a point in time.
fn timeless(part: &str) -> Option<String> {
    let name = match part.len() {
        10 => "$day",
        27 => "$time",
        _ => return None,
    };
    part.parse::<Timestamp>().is_ok().then(|| name.to_owned())
}

/// Returns an answer without its cursor, which contains ids and times.
fn without_cursor(answer: &str) -> String {
    let Some((head, rest)) = answer.split_once("\"next_cursor\":\"") else { return answer.to_owned() };
    let (_, tail) = rest.split_once('"').expect("a text has an end");
    format!("{head}\"next_cursor\":\"$cursor\"{tail}")
}

/// The text before the first hole, and its name and what comes after it.
fn next_hole(text: &str) -> (&str, Option<(&str, &str)>) {
    for (at, _) in text.match_indices('$') {
        let rest = &text[at + 1..];
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
        if end > 0 {
            return (&text[..at], Some((&rest[..end], &rest[end..])));
        }
    }
    (text, None)
}

/// Returns true if it is a UUID, or an id in the format of Memax.
fn is_id(text: &str) -> bool {
    let hexadecimal = |text: &str| text.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
    let groups: Vec<&str> = text.split('-').collect();
    let uuid =
        groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12]) && groups.iter().all(|g| hexadecimal(g));
    uuid || text.strip_prefix("mem_").is_some_and(|rest| rest.len() == 32 && hexadecimal(rest))
}

/// Returns true if it is a computed number. Such a number changes with age and use.
fn is_score(text: &str) -> bool {
    text.contains('.') && text.parse::<f64>().is_ok()
}

/// Returns true if it is one of the ids that every home starts with.
fn is_fixed(id: &str) -> bool {
    id.starts_with("00000000-")
}

/// JSON in one form, for texts to be compared. A hole for a number has no quotes.
pub(super) fn pretty(data: &Value) -> String {
    let text = serde_json::to_string_pretty(data).expect("JSON");
    text.replace("\"$score\"", "$score")
}

/// Returns an answer without the parts that its transcript leaves open.
pub(super) fn pruned(answer: &Value, expected: &Value) -> Value {
    match (answer, expected) {
        (Value::Object(answer), Value::Object(expected)) => {
            let open = expected.contains_key(MORE);
            let kept = answer.iter().filter(|(name, _)| !open || expected.contains_key(*name));
            let mut fields: Map<String, Value> = kept
                .map(|(name, value)| {
                    (name.clone(), pruned(value, expected.get(name).unwrap_or(&Value::Null)))
                })
                .collect();
            if open {
                fields.insert(MORE.to_owned(), MORE.into());
            }
            Value::Object(fields)
        }
        (Value::Array(answer), Value::Array(expected)) => {
            let expected = expected.iter().chain(std::iter::repeat(&Value::Null));
            answer.iter().zip(expected).map(|(answer, expected)| pruned(answer, expected)).collect()
        }
        _ => answer.clone(),
    }
}
