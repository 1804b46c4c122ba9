//! `config.json`: settings as other tools write them, in JSON, beside `config.toml` or in its place.
//!
//! A block may be pasted as a page prints it, also without the braces around it. Keys are those of `config.toml`, or the spelling
//! of the other tool. Lists of tables belong into `config.toml`.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::SettingError;
use super::file::{Entry, line_at};
use super::table::Shape;

/// A value with its keys in the order of the text, also those that are there twice.
enum Json {
    Object(Vec<(String, Json)>),
    List(Vec<Json>),
    Text(String),
    Number(String),
    Choice(bool),
    Null,
}

/// The entries of the text, in its order.
pub(super) fn entries(path: &Path, text: &str) -> Result<Vec<Entry>, SettingError> {
    let bare = text.trim().trim_end_matches(',');
    if bare.is_empty() {
        return Ok(Vec::new());
    }
    // On the same line, so that lines are those of the file.
    let braced = if bare.starts_with('{') {
        text.to_owned()
    } else {
        format!("{{{}}}", text.trim_end().trim_end_matches(','))
    };
    let syntax = |line: usize, why: String| SettingError::Syntax { path: path.to_owned(), line, why };
    let read: Json = serde_json::from_str(&braced).map_err(|error| {
        let why = error.to_string();
        let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why).to_owned();
        syntax(error.line().max(1), why)
    })?;
    let Json::Object(fields) = read else {
        return Err(syntax(1, "expected an object of settings".to_owned()));
    };
    let mut found = Vec::new();
    collect(text, fields, "", &mut 0, &mut found);
    Ok(found)
}

/// Walks through the objects. `at` is how far the text was read: a key stands after the one before it.
fn collect(text: &str, fields: Vec<(String, Json)>, above: &str, at: &mut usize, found: &mut Vec<Entry>) {
    for (key, value) in fields {
        let quoted = serde_json::Value::from(key.as_str()).to_string();
        if let Some(place) = text[*at..].find(&quoted) {
            *at += place;
        }
        let line = line_at(text, *at);
        *at = (*at + quoted.len()).min(text.len());
        let name = if above.is_empty() { key } else { format!("{above}.{key}") };
        match value {
            Json::Object(inner) if !inner.is_empty() => collect(text, inner, &name, at, found),
            value => {
                let written = value.to_string();
                found.push(Entry { key: name, line, value: shaped(value), written });
            }
        }
    }
}

/// A value as its text, where it is of a shape that a setting can have.
fn shaped(value: Json) -> Option<(Shape, String)> {
    match value {
        Json::Text(text) => Some((Shape::Text, text)),
        Json::Number(number) => Some((Shape::Number, number)),
        Json::Choice(choice) => Some((Shape::Choice, choice.to_string())),
        Json::List(items) => {
            let text = |item| if let Json::Text(text) = item { Some(text) } else { None };
            let texts: Option<Vec<String>> = items.into_iter().map(text).collect();
            texts.map(|texts| (Shape::List, texts.join(", ")))
        }
        Json::Object(_) | Json::Null => None,
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Object(_) => f.write_str("{…}"),
            Self::List(_) => f.write_str("[…]"),
            Self::Text(text) => write!(f, "{}", serde_json::Value::from(text.as_str())),
            Self::Number(number) => f.write_str(number),
            Self::Choice(choice) => write!(f, "{choice}"),
            Self::Null => f.write_str("null"),
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, choice: bool) -> Result<Json, E> {
        Ok(Json::Choice(choice))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Json, E> {
        Ok(Json::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Json, E> {
        Ok(Json::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Json, E> {
        Ok(Json::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Json, E> {
        Ok(Json::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(field) = fields.next_entry()? {
            object.push(field);
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of an entry, its line, and its value where it is read.
    type ReadEntry = (String, usize, Option<(Shape, String)>);

    fn read_entries(text: &str) -> Vec<ReadEntry> {
        let entries = entries(Path::new("config.json"), text).expect("good JSON");
        entries.into_iter().map(|entry| (entry.key, entry.line, entry.value)).collect()
    }

    #[test]
    fn the_blocks_of_the_seed_are_read_as_they_are_printed() {
        let shadow = "\"shadowJournal\": {\n  \"enabled\": false,\n  \"model\": \"\"\n}\n";
        let choice = |choice: &str| Some((Shape::Choice, choice.to_owned()));
        assert_eq!(
            read_entries(shadow),
            [
                ("shadowJournal.enabled".to_owned(), 2, choice("false")),
                ("shadowJournal.model".to_owned(), 3, Some((Shape::Text, String::new()))),
            ]
        );
        let consolidate =
            "{\n  \"memConsolidate\": {\n    \"enabled\": true,\n    \"intervalHours\": 24\n  }\n}";
        assert_eq!(
            read_entries(consolidate),
            [
                ("memConsolidate.enabled".to_owned(), 3, choice("true")),
                ("memConsolidate.intervalHours".to_owned(), 4, Some((Shape::Number, "24".to_owned()))),
            ]
        );
        assert_eq!(read_entries(&format!("{},\n{}", shadow.trim_end(), "\"space\": \"a\",")).len(), 3);
        assert_eq!(read_entries(" \n"), []);
    }

    #[test]
    fn what_is_no_object_of_settings_has_its_line() {
        for (text, line) in [("{\n\"a\": }", 2), ("[1]", 1), ("{\"a\": 1", 1)] {
            let error = entries(Path::new("config.json"), text).map(|_| ()).expect_err(text);
            assert!(error.to_string().starts_with(&format!("config.json:{line}: ")), "{error}");
        }
    }
}
