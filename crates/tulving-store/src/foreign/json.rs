//! Reads JSON and JSON Lines as a whole file: the value of each line or element, and the lines that are invalid.

use std::path::Path;

use serde_json::{Map, Value};

use super::error::ForeignError;
use crate::tree::{self, TreeError};

/// Maximum size of a JSON file, in bytes.
const BYTES: u64 = 256 << 20;

/// A JSON object.
pub(super) type ForeignJsonObject = Map<String, Value>;

/// The content of a JSON file.
pub(super) enum ForeignJson {
    /// A single object.
    Object(ForeignJsonObject),
    /// A list.
    List(Vec<Value>),
    /// JSON Lines: each line with its number, counted from 1, and an error if the line is not JSON.
    Lines(Vec<(usize, Result<Value, String>)>),
}

/// Reads a file; `None` if the file is not text, or does not begin like JSON.
pub(super) fn read(path: &Path) -> Result<Option<ForeignJson>, ForeignError> {
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
        Ok(Value::Array(list)) => Ok(Some(ForeignJson::List(list))),
        Ok(_) => Ok(None),
        Err(error) => lines(text).map(Some).ok_or_else(|| ForeignError::NotJson {
            path: path.to_owned(),
            line: error.line(),
            column: error.column(),
        }),
    }
}

/// Converts a single object. An object with the fields of a line becomes JSON Lines with a single line.
fn only(object: ForeignJsonObject) -> ForeignJson {
    match object.get("type").and_then(Value::as_str) {
        Some("entity" | "relation") => ForeignJson::Lines(vec![(1, Ok(Value::Object(object)))]),
        _ => ForeignJson::Object(object),
    }
}

/// Returns the lines of a text if its first line is a complete object; otherwise `None`.
fn lines(text: &str) -> Option<ForeignJson> {
    let numbered = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    let value = |line: &str| {
        serde_json::from_str::<Value>(line)
            .map_err(|error| format!("it is not JSON: see column {}", error.column()))
    };
    let lines: Vec<(usize, Result<Value, String>)> =
        numbered.map(|(number, line)| (number, value(line.trim()))).collect();
    let first = lines.iter().find_map(|(_, value)| value.as_ref().ok())?;
    // A JSON document with an error in the middle also has lines, but most of them are not objects.
    let most = lines.iter().filter(|(_, value)| value.as_ref().is_ok_and(Value::is_object)).count() * 2
        > lines.len();
    (first.is_object() && most).then_some(ForeignJson::Lines(lines))
}

/// The name of an element in messages, and its value or its error.
pub(super) type ForeignJsonElement<'a> = (String, Result<&'a Value, &'a str>);

/// Returns the elements of a list or the lines of a file, each with its name in messages.
pub(super) fn elements<'a>(json: &'a ForeignJson) -> Vec<ForeignJsonElement<'a>> {
    match json {
        ForeignJson::Object(_) => Vec::new(),
        ForeignJson::List(list) => numbered(list, "element"),
        ForeignJson::Lines(lines) => {
            let line = |(number, value): &'a (usize, Result<Value, String>)| {
                (format!("line {number}"), value.as_ref().map_err(String::as_str))
            };
            lines.iter().map(line).collect()
        }
    }
}

/// Returns the elements of a list. Each name contains `what` and the number of the element, counted from 1.
pub(super) fn numbered<'a>(list: &'a [Value], what: &str) -> Vec<ForeignJsonElement<'a>> {
    (1..).zip(list).map(|(number, value)| (format!("{what} {number}"), Ok(value))).collect()
}

/// Returns the element as an object, or the reason why it is not an object.
pub(super) fn object<'a>(value: Result<&'a Value, &'a str>) -> Result<&'a ForeignJsonObject, &'a str> {
    value?.as_object().ok_or("it is not an object")
}

/// Returns a text field of an object, if it exists and is not empty.
pub(super) fn text<'a>(object: &'a ForeignJsonObject, field: &str) -> Option<&'a str> {
    object.get(field).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
}

/// Returns a text or a number field as text.
pub(super) fn written(object: &ForeignJsonObject, field: &str) -> Option<String> {
    match object.get(field)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns a text field as a value of one of Tulving's vocabularies.
pub(super) fn word<T: std::str::FromStr>(object: &ForeignJsonObject, field: &str) -> Option<T> {
    text(object, field)?.trim().to_lowercase().parse().ok()
}

/// Returns a time field, in any supported format.
pub(super) fn time(object: &ForeignJsonObject, field: &str) -> Option<tulving_core::model::time::Timestamp> {
    match object.get(field)? {
        Value::String(text) => tulving_core::model::foreign::instant_of(text),
        Value::Number(number) => number.as_f64().and_then(tulving_core::model::foreign::instant),
        _ => None,
    }
}

/// Returns the texts of a list field.
pub(super) fn texts<'a>(object: &'a ForeignJsonObject, field: &str) -> Option<Vec<&'a str>> {
    Some(object.get(field)?.as_array()?.iter().filter_map(Value::as_str).collect())
}
