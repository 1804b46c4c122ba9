//! JSON and JSON Lines, read whole: what each line or element is, and which lines are none.

use std::path::Path;

use serde_json::{Map, Value};

use super::error::ForeignError;
use crate::tree::{self, TreeError};

/// Most bytes of a file of JSON.
const BYTES: u64 = 256 << 20;

/// An object of JSON.
pub(super) type Object = Map<String, Value>;

/// What is in a file of JSON.
pub(super) enum Json {
    /// One object.
    Object(Object),
    /// A list.
    List(Vec<Value>),
    /// Lines, each with its number from 1 and what is wrong with it where it is no JSON.
    Lines(Vec<(usize, Result<Value, String>)>),
}

/// Reads a file; `None` where it is no text, or does not begin like JSON.
pub(super) fn read(path: &Path) -> Result<Option<Json>, ForeignError> {
    let (_, bytes) = tree::read(path, BYTES).map_err(|error| match error {
        TreeError::TooLarge { size, limit } => ForeignError::TooLarge { path: path.to_owned(), size, limit },
        TreeError::Unreadable(source) => ForeignError::Unreadable { path: path.to_owned(), source },
        TreeError::NotRegular | TreeError::Link => {
            ForeignError::NotAFile { path: path.to_owned(), is: "no regular file", needs: "a file" }
        }
    })?;
    let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
    let text = text.trim_start_matches('\u{feff}');
    match text.trim_start().as_bytes().first() {
        Some(b'{' | b'[') => {}
        _ => return Ok(None),
    }
    let whole = serde_json::from_str::<Value>(text);
    match whole {
        Ok(Value::Object(object)) => Ok(Some(only(object))),
        Ok(Value::Array(list)) => Ok(Some(Json::List(list))),
        Ok(_) => Ok(None),
        Err(error) => lines(text).map(Some).ok_or_else(|| ForeignError::NotJson {
            path: path.to_owned(),
            line: error.line(),
            column: error.column(),
        }),
    }
}

/// An object by itself. Where it has what only a line has, it is a file of one line.
fn only(object: Object) -> Json {
    match object.get("type").and_then(Value::as_str) {
        Some("entity" | "relation") => Json::Lines(vec![(1, Ok(Value::Object(object)))]),
        _ => Json::Object(object),
    }
}

/// The lines of a text, where the first of them is an object by itself.
fn lines(text: &str) -> Option<Json> {
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let value = |line: &str| {
        serde_json::from_str::<Value>(line)
            .map_err(|error| format!("it is not JSON: see column {}", error.column()))
    };
    let lines: Vec<(usize, Result<Value, String>)> =
        numbered.map(|(number, line)| (number, value(line.trim()))).collect();
    let first = lines.iter().find_map(|(_, value)| value.as_ref().ok())?;
    // A document that is broken in its middle has lines too.
    let most = lines.iter().filter(|(_, value)| value.as_ref().is_ok_and(Value::is_object)).count() * 2
        > lines.len();
    (first.is_object() && most).then_some(Json::Lines(lines))
}

/// A value, by what it is called in messages, or what is wrong with it.
pub(super) type Element<'a> = (String, Result<&'a Value, &'a str>);

/// The elements of a list or the lines of a file, each by what it is called in messages.
pub(super) fn elements<'a>(json: &'a Json) -> Vec<Element<'a>> {
    match json {
        Json::Object(_) => Vec::new(),
        Json::List(list) => numbered(list, "element"),
        Json::Lines(lines) => {
            let line = |(number, value): &'a (usize, Result<Value, String>)| {
                (format!("line {number}"), value.as_ref().map_err(String::as_str))
            };
            lines.iter().map(line).collect()
        }
    }
}

/// The elements of a list, by what they are and their numbers from 1.
pub(super) fn numbered<'a>(list: &'a [Value], what: &str) -> Vec<Element<'a>> {
    (1..).zip(list).map(|(number, value)| (format!("{what} {number}"), Ok(value))).collect()
}

/// The object that an element is, or why it is none.
pub(super) fn object<'a>(value: Result<&'a Value, &'a str>) -> Result<&'a Object, &'a str> {
    value?.as_object().ok_or("it is no object")
}

/// A text of an object that is not empty.
pub(super) fn text<'a>(object: &'a Object, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// A text or a number, written out.
pub(super) fn written(object: &Object, field: &str) -> Option<String> {
    match object.get(field)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A word of one of our lists.
pub(super) fn word<T: std::str::FromStr>(object: &Object, field: &str) -> Option<T> {
    text(object, field)?.trim().to_lowercase().parse().ok()
}

/// A time, however it is written.
pub(super) fn time(object: &Object, field: &str) -> Option<tulving_core::time::Timestamp> {
    match object.get(field)? {
        Value::String(text) => tulving_core::foreign::instant_of(text),
        Value::Number(number) => number.as_f64().and_then(tulving_core::foreign::instant),
        _ => None,
    }
}

/// The texts of a list.
pub(super) fn texts<'a>(object: &'a Object, field: &str) -> Option<Vec<&'a str>> {
    Some(object.get(field)?.as_array()?.iter().filter_map(Value::as_str).collect())
}
