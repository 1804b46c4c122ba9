//! `config.toml` as a list of entries, each with its line.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::error::SettingError;
use super::table::{Shape, is_spelled_below, settings};

/// An entry of the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The dotted key.
    pub(super) key: String,
    /// Its line, from 1.
    pub(super) line: usize,
    /// The value, where it is of a shape that a setting can have.
    pub(super) value: Option<(Shape, String)>,
    /// The value as it is written.
    pub(super) written: String,
}

/// The entries of the file, in the order of their keys.
pub(super) fn entries(path: &Path, text: &str) -> Result<Vec<Entry>, SettingError> {
    let table = DeTable::parse(text).map_err(|error| SettingError::Syntax {
        path: path.to_owned(),
        line: line_at(text, error.span().map_or(0, |span| span.start)),
        why: error.message().trim().replace('\n', ", "),
    })?;
    let mut found = Vec::new();
    collect(text, table.get_ref(), "", &mut found);
    Ok(found)
}

/// Lists of tables, which are read by themselves.
const LISTS: [&str; 4] =
    [super::backends::KEY, super::tend::EXPIRE, super::tend::SPACE, super::secrets::SPACE];

/// Walks through the tables. One that is empty and could not hold any setting is an entry like a wrong key.
fn collect(text: &str, table: &DeTable<'_>, above: &str, found: &mut Vec<Entry>) {
    for (key, value) in table {
        let name =
            if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
        match value.get_ref() {
            _ if LISTS.contains(&name.as_str()) => {}
            DeValue::Table(inner) if !inner.is_empty() || holds_settings(&name) => {
                collect(text, inner, &name, found);
            }
            other => found.push(Entry {
                key: name,
                line: line_at(text, key.span().start),
                value: shaped(other),
                written: text.get(value.span()).unwrap_or_default().to_owned(),
            }),
        }
    }
}

/// A value as its text, where it is of a shape that a setting can have.
pub(super) fn shaped(value: &DeValue<'_>) -> Option<(Shape, String)> {
    match value {
        DeValue::String(text) => Some((Shape::Text, text.clone().into_owned())),
        DeValue::Integer(number) => Some((Shape::Number, number.to_string())),
        DeValue::Float(number) => Some((Shape::Number, number.to_string())),
        DeValue::Boolean(choice) => Some((Shape::Choice, choice.to_string())),
        DeValue::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(|item| item.get_ref().as_str()).collect();
            texts.map(|texts| (Shape::List, texts.join(", ")))
        }
        _ => None,
    }
}

fn holds_settings(table: &str) -> bool {
    let below = |key: &str| key.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'));
    settings().any(|setting| below(setting.key)) || is_spelled_below(table)
}

/// The line of the byte at this place, from 1.
pub(super) fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_entries(text: &str) -> Vec<Entry> {
        entries(Path::new("config.toml"), text).expect("good TOML")
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
        let error = entries(Path::new("config.toml"), "space = \"a\"\nagent = \n").expect_err("no value");
        assert!(error.to_string().starts_with("config.toml:2: "), "{error}");
    }

    #[test]
    fn a_list_of_texts_and_a_choice_are_values() {
        let found = read_entries(
            "[server]\ncors_origins = [\"a\", \"b\"]\nopen_metrics = true\nallowed_hosts = [1]\n",
        );
        let values: Vec<_> = found.into_iter().map(|entry| entry.value).collect();
        let list = Some((Shape::List, "a, b".to_owned()));
        assert_eq!(values, [None, list, Some((Shape::Choice, "true".to_owned()))]);
    }
}
