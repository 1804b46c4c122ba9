//! `config.toml`: its entries and its lists of tables, each with its line.

use std::path::Path;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};
use tulving_core::model::preview;

use super::error::SettingError;
use super::table::{SettingType, is_spelled_below, settings};
use super::{SettingSource, backends, secrets, tend};
use crate::nearest::nearest;

/// The lists of tables, which are read separately.
pub(crate) const LISTS: [&str; 4] = [backends::KEY, tend::EXPIRE, tend::SPACE, secrets::SPACE];

/// An entry of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ConfigEntry {
    /// The dotted key.
    pub(super) key: String,
    /// Its line, from 1.
    pub(super) line: usize,
    /// The value, if a setting can have its shape.
    pub(super) value: Option<(SettingType, String)>,
    /// The value as it is written.
    pub(super) written: String,
}

/// The file, read as TOML.
pub(super) struct ConfigFile<'a> {
    path: &'a Path,
    text: &'a str,
    table: Spanned<DeTable<'a>>,
}

impl<'a> ConfigFile<'a> {
    pub(super) fn parse(path: &'a Path, text: &'a str) -> Result<Self, SettingError> {
        let table = DeTable::parse(text).map_err(|error| SettingError::Syntax {
            path: path.to_owned(),
            line: line_at(text, error.span().map_or(0, |span| span.start)),
            why: match text.trim_start().starts_with('{') {
                true => "it is JSON; put it into config.json in the same folder".to_owned(),
                false => error.message().trim().replace('\n', ", "),
            },
        })?;
        Ok(Self { path, text, table })
    }

    /// Returns the entries sorted by key, without the lists of tables.
    pub(super) fn entries(&self) -> Vec<ConfigEntry> {
        let mut found = Vec::new();
        collect(self.text, self.table.get_ref(), "", &mut found);
        found
    }

    /// Returns the tables of a list, each with its place.
    pub(super) fn tables<'s>(
        &'s self,
        list: &'static str,
        expects: &'static str,
    ) -> Result<Vec<(SettingSource, &'s DeTable<'a>)>, SettingError> {
        let whole = self.table.get_ref();
        let value = match list.split_once('.') {
            None => whole.get(list),
            Some((above, name)) => match whole.get(above).map(Spanned::get_ref) {
                Some(DeValue::Table(above)) => above.get(name),
                _ => None,
            },
        };
        let Some(value) = value else {
            return Ok(Vec::new());
        };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.refused(list, value, expects));
        };
        let table = |item: &'s Spanned<DeValue<'a>>| match item.get_ref() {
            DeValue::Table(fields) => Ok((self.place(item.span().start), fields)),
            _ => Err(self.refused(list, value, expects)),
        };
        items.iter().map(table).collect()
    }

    /// Returns the error for a value that is not valid.
    pub(super) fn refused(
        &self,
        key: &'static str,
        value: &Spanned<DeValue<'_>>,
        expects: &'static str,
    ) -> SettingError {
        let got = preview::short(self.written(value));
        SettingError::Value { place: self.place(value.span().start), key, got, expects }
    }

    /// Returns the error for an unknown key in a table of a list.
    pub(super) fn unknown(
        &self,
        list: &str,
        key: &Spanned<DeString<'_>>,
        known: &[&'static str],
    ) -> SettingError {
        let got = format!("{list}.{}", key.get_ref());
        let nearest = nearest(&got, known.iter().copied());
        SettingError::Unknown { place: self.place(key.span().start), got: preview::short(&got), nearest }
    }

    /// Returns the fields of a table as they are written, on one line.
    pub(super) fn shown(&self, fields: &DeTable<'_>) -> String {
        let field =
            |key: &Spanned<DeString<'_>>, value| format!("{} = {}", key.get_ref(), self.written(value));
        fields.iter().map(|(key, value)| field(key, value)).collect::<Vec<_>>().join(", ")
    }

    /// The path of the file, for errors about the whole file.
    pub(super) fn path(&self) -> &'a Path {
        self.path
    }

    fn place(&self, at: usize) -> SettingSource {
        SettingSource::File { path: self.path.to_owned(), line: line_at(self.text, at) }
    }

    fn written(&self, value: &Spanned<DeValue<'_>>) -> &'a str {
        self.text.get(value.span()).unwrap_or_default()
    }
}

/// Walks the tables. An empty table that cannot contain a setting becomes an entry, so that it is reported like a wrong
/// key.
fn collect(text: &str, table: &DeTable<'_>, above: &str, found: &mut Vec<ConfigEntry>) {
    for (key, value) in table {
        let name =
            if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
        match value.get_ref() {
            _ if LISTS.contains(&name.as_str()) => {}
            DeValue::Table(inner) if !inner.is_empty() || holds_settings(&name) => {
                collect(text, inner, &name, found);
            }
            other => found.push(ConfigEntry {
                key: name,
                line: line_at(text, key.span().start),
                value: shaped(other),
                written: text.get(value.span()).unwrap_or_default().to_owned(),
            }),
        }
    }
}

/// Returns a text that is not blank.
pub(super) fn word<'v>(value: &'v Spanned<DeValue<'_>>) -> Option<&'v str> {
    value.get_ref().as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// Returns a number as text.
pub(super) fn number(value: &Spanned<DeValue<'_>>) -> Option<String> {
    shaped(value.get_ref()).filter(|(shape, _)| *shape == SettingType::Number).map(|(_, text)| text)
}

/// Returns a value as text, if a setting can have its shape.
pub(super) fn shaped(value: &DeValue<'_>) -> Option<(SettingType, String)> {
    match value {
        DeValue::String(text) => Some((SettingType::Text, text.clone().into_owned())),
        DeValue::Integer(number) => Some((SettingType::Number, number.to_string())),
        DeValue::Float(number) => Some((SettingType::Number, number.to_string())),
        DeValue::Boolean(choice) => Some((SettingType::Choice, choice.to_string())),
        DeValue::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
            texts.map(|texts| (SettingType::List, texts.join(", ")))
        }
        _ => None,
    }
}

/// Converts a table to JSON.
pub(super) fn json(fields: &DeTable<'_>) -> Value {
    fields.iter().map(|(key, value)| (key.get_ref().to_string(), json_of(value.get_ref()))).collect()
}

fn json_of(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::Table(fields) => json(fields),
        DeValue::Array(items) => items.iter().map(|item| json_of(item.get_ref())).collect(),
        DeValue::Datetime(time) => time.to_string().into(),
        other => shaped(other).map_or(Value::Null, |(shape, text)| shape.json(&text)),
    }
}

fn holds_settings(table: &str) -> bool {
    let below = |key: &str| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
    settings().any(|setting| below(setting.key)) || is_spelled_below(table)
}

/// Returns the line of a byte offset, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_entries(text: &str) -> Vec<ConfigEntry> {
        ConfigFile::parse(Path::new("config.toml"), text).expect("good TOML").entries()
    }

    #[test]
    fn tables_and_dotted_keys_are_the_same() {
        let a = read_entries("[limits]\ncontent_bytes = 5\n");
        let b = read_entries("\nlimits.content_bytes = 5\n");
        assert_eq!((a[0].key.as_str(), a[0].line), ("limits.content_bytes", 2));
        assert_eq!(a, b);
    }

    #[test]
    fn a_syntax_error_has_its_line() {
        let file = ConfigFile::parse(Path::new("config.toml"), "space = \"a\"\nagent = \n");
        let error = file.map(|_| ()).expect_err("no value");
        assert!(error.to_string().starts_with("config.toml:2: "), "{error}");
    }

    #[test]
    fn a_list_of_texts_and_a_choice_are_values() {
        let found = read_entries(
            "[server]\ncors_origins = [\"a\", \"b\"]\nopen_metrics = true\nallowed_hosts = [1]\n",
        );
        let values: Vec<_> = found.into_iter().map(|entry| entry.value).collect();
        let list = Some((SettingType::List, "a, b".to_owned()));
        assert_eq!(values, [None, list, Some((SettingType::Choice, "true".to_owned()))]);
    }
}
