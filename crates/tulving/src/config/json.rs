//! `config.json`: settings in JSON, as other tools write them, in addition to `config.toml` or instead of it.
//!
//! A block may be pasted from a documentation page, even without the braces around it. Keys are those of `config.toml`,
//! or the other tool's spelling. Lists of tables belong in `config.toml`.

use std::fmt;
use std::path::Path;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::error::SettingError;
use super::file::{ConfigEntry, line_at};
use super::table::SettingType;

/// A value with its keys in the order of the text, duplicates included.
enum JsonValue {
    Object(Vec<(String, JsonValue)>),
    List(Vec<JsonValue>),
    Text(String),
    Number(String),
    Choice(bool),
    Null,
}

/// An edit of one setting.
pub(super) enum SettingEdit {
    /// Does not change the setting.
    Keep,
    /// Sets the value to an empty text.
    Empty,
    /// Removes the setting.
    Remove,
}

/// Edits settings in the text; `choose` gets the dotted key and the value. Returns the text unchanged if nothing is
/// edited, or if it is not JSON.
pub(super) fn edited(text: &str, choose: &dyn Fn(&str, &str) -> SettingEdit) -> String {
    let Ok(JsonValue::Object(mut fields)) = serde_json::from_str(&braced(text)) else {
        return text.to_owned();
    };
    match edit(&mut fields, "", choose) {
        false => text.to_owned(),
        true => serde_json::to_string_pretty(&JsonValue::Object(fields))
            .map_or_else(|_| text.to_owned(), |text| format!("{text}\n")),
    }
}

/// Edits the fields of an object. Returns true if any changed.
fn edit(
    fields: &mut Vec<(String, JsonValue)>,
    above: &str,
    choose: &dyn Fn(&str, &str) -> SettingEdit,
) -> bool {
    let mut changed = false;
    fields.retain_mut(|(key, value)| {
        let name = if above.is_empty() { key.clone() } else { format!("{above}.{key}") };
        if let JsonValue::Object(inner) = value {
            changed |= edit(inner, &name, choose);
            return true;
        }
        let plain = if let JsonValue::Text(text) = &*value { text.as_str() } else { "" };
        let stays = match choose(&name, plain) {
            SettingEdit::Keep => return true,
            SettingEdit::Empty => {
                *value = JsonValue::Text(String::new());
                true
            }
            SettingEdit::Remove => false,
        };
        changed = true;
        stays
    });
    changed
}

/// Adds the braces that may be missing around a pasted block. They are added on the same line, so that the line numbers do
/// not change.
fn braced(text: &str) -> String {
    match text.trim_start().starts_with('{') {
        true => text.to_owned(),
        false => format!("{{{}}}", text.trim_end().trim_end_matches(',')),
    }
}

/// Reads the entries of the text, in its order.
pub(super) fn entries(path: &Path, text: &str) -> Result<Vec<ConfigEntry>, SettingError> {
    if text.trim().trim_end_matches(',').is_empty() {
        return Ok(Vec::new());
    }
    let syntax = |line: usize, why: String| SettingError::Syntax { path: path.to_owned(), line, why };
    let read: JsonValue = serde_json::from_str(&braced(text)).map_err(|error| {
        let why = error.to_string();
        let why = why.rsplit_once(" at line ").map_or(why.as_str(), |(why, _)| why).to_owned();
        syntax(error.line().max(1), why)
    })?;
    let JsonValue::Object(fields) = read else {
        return Err(syntax(1, "expected an object of settings".to_owned()));
    };
    let mut found = Vec::new();
    collect(text, fields, "", &mut 0, &mut found);
    Ok(found)
}

/// Collects the entries of nested objects. `at` is the position up to which the text was searched, because each key is after
/// the previous key.
fn collect(
    text: &str,
    fields: Vec<(String, JsonValue)>,
    above: &str,
    at: &mut usize,
    found: &mut Vec<ConfigEntry>,
) {
    for (key, value) in fields {
        let quoted = serde_json::Value::from(key.as_str()).to_string();
        if let Some(place) = text[*at..].find(&quoted) {
            *at += place;
        }
        let line = line_at(text, *at);
        *at = (*at + quoted.len()).min(text.len());
        let name = if above.is_empty() { key } else { format!("{above}.{key}") };
        match value {
            JsonValue::Object(inner) if !inner.is_empty() => collect(text, inner, &name, at, found),
            value => {
                let written = value.to_string();
                found.push(ConfigEntry { key: name, line, value: shaped(value), written });
            }
        }
    }
}

/// Returns a value as text, with its type; `None` if no setting has values of this type.
fn shaped(value: JsonValue) -> Option<(SettingType, String)> {
    match value {
        JsonValue::Text(text) => Some((SettingType::Text, text)),
        JsonValue::Number(number) => Some((SettingType::Number, number)),
        JsonValue::Choice(choice) => Some((SettingType::Choice, choice.to_string())),
        JsonValue::List(items) => {
            let text = |item| if let JsonValue::Text(text) = item { Some(text) } else { None };
            let texts: Option<Vec<String>> = items.into_iter().map(text).collect();
            texts.map(|texts| (SettingType::List, texts.join(", ")))
        }
        JsonValue::Object(_) | JsonValue::Null => None,
    }
}

impl fmt::Display for JsonValue {
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

impl Serialize for JsonValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(fields) => serializer.collect_map(fields.iter().map(|(key, value)| (key, value))),
            Self::List(items) => serializer.collect_seq(items),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Number(number) => match number.parse::<serde_json::Number>() {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_str(number),
            },
            Self::Choice(choice) => serializer.serialize_bool(*choice),
            Self::Null => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for JsonValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(JsonValueVisitor)
    }
}

struct JsonValueVisitor;

impl<'de> Visitor<'de> for JsonValueVisitor {
    type Value = JsonValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, choice: bool) -> Result<JsonValue, E> {
        Ok(JsonValue::Choice(choice))
    }

    fn visit_i64<E>(self, number: i64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<JsonValue, E> {
        Ok(JsonValue::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<JsonValue, E> {
        Ok(JsonValue::Text(text.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<JsonValue, E> {
        Ok(JsonValue::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<JsonValue, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(JsonValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<JsonValue, A::Error> {
        let mut object = Vec::new();
        while let Some(field) = fields.next_entry()? {
            object.push(field);
        }
        Ok(JsonValue::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of an entry, its line, and its value if it could be read.
    type ReadEntry = (String, usize, Option<(SettingType, String)>);

    fn read_entries(text: &str) -> Vec<ReadEntry> {
        let entries = entries(Path::new("config.json"), text).expect("good JSON");
        entries.into_iter().map(|entry| (entry.key, entry.line, entry.value)).collect()
    }

    #[test]
    fn the_blocks_of_the_seed_are_read_as_they_are_printed() {
        let shadow = "\"shadowJournal\": {\n  \"enabled\": false,\n  \"model\": \"\"\n}\n";
        let choice = |choice: &str| Some((SettingType::Choice, choice.to_owned()));
        assert_eq!(
            read_entries(shadow),
            [
                ("shadowJournal.enabled".to_owned(), 2, choice("false")),
                ("shadowJournal.model".to_owned(), 3, Some((SettingType::Text, String::new()))),
            ]
        );
        let consolidate =
            "{\n  \"memConsolidate\": {\n    \"enabled\": true,\n    \"intervalHours\": 24\n  }\n}";
        assert_eq!(
            read_entries(consolidate),
            [
                ("memConsolidate.enabled".to_owned(), 3, choice("true")),
                ("memConsolidate.intervalHours".to_owned(), 4, Some((SettingType::Number, "24".to_owned()))),
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
