//! The text of `config.toml` as it travels in a backup: without secrets when it is packed, and without the places of another
//! machine when it is unpacked. Comments and the order of lines stay.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tulving_core::text::secrets;

use super::table::settings;

/// Settings that say where files and attachments are kept. A restore puts both into the home.
const PLACES: [&str; 7] = [
    "workspace",
    "objects.bucket",
    "objects.region",
    "objects.endpoint",
    "objects.prefix",
    "objects.allow_http",
    "objects.keys_file",
];

/// The text without secrets: values that may not be shown are emptied, and whatever else looks like a secret is redacted.
pub(crate) fn without_secrets(text: &str) -> String {
    let mut text = text.to_owned();
    let hidden = values(&text).into_iter().filter(|(key, value, _)| {
        let setting = settings().find(|setting| setting.key == key);
        setting.is_some_and(|setting| setting.shown(value) != *value)
    });
    // From the end on, so that the places before stay as they are.
    let mut ranges: Vec<Range<usize>> = hidden.map(|(_, _, range)| range).collect();
    ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
    for range in ranges {
        text.replace_range(range, "\"\"");
    }
    secrets::redacted(&text).into_owned()
}

/// The text for a home on another machine: what names places is turned into comments, and `workspace` is the folder that the
/// files were restored to. `None` where there is nothing to say.
pub(crate) fn unpacked(text: Option<&str>, workspace: Option<&Path>) -> Option<String> {
    let named = workspace.map(|folder| format!("workspace = {}\n", quoted(&folder.to_string_lossy())));
    let text = match text {
        None => return named,
        Some(text) => text,
    };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let found = values(text).into_iter().filter(|(key, ..)| PLACES.contains(&key.as_str()));
    for (_, _, range) in found {
        let line = |at: usize| text[..at].matches('\n').count();
        for number in line(range.start)..=line(range.end.saturating_sub(1).max(range.start)) {
            if let Some(line) = lines.get_mut(number).filter(|line| !line.starts_with('#')) {
                line.insert_str(0, "# not restored: ");
            }
        }
    }
    // A key that stands before all tables is of no table.
    Some(named.into_iter().chain(lines).collect())
}

/// The texts in the file, each with its dotted key and where its value is written; none where the file is no TOML.
fn values(text: &str) -> Vec<(String, String, Range<usize>)> {
    let mut found = Vec::new();
    if let Ok(table) = DeTable::parse(text) {
        collect(table.get_ref(), "", &mut found);
    }
    found
}

fn collect(table: &DeTable<'_>, above: &str, found: &mut Vec<(String, String, Range<usize>)>) {
    for (key, value) in table {
        let name = match above {
            "" => key.get_ref().to_string(),
            above => format!("{above}.{}", key.get_ref()),
        };
        match value.get_ref() {
            DeValue::Table(inner) => collect(inner, &name, found),
            other => found.push((name, plain(other), Spanned::span(value))),
        }
    }
}

/// A value as the settings take it.
fn plain(value: &DeValue<'_>) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// A text as TOML writes it: as JSON does, and one control character more is escaped.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007F")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_in_an_address_does_not_go_into_a_backup() {
        let key = format!("sk-{}", "Zq7Xw2Lr9Bv4Nt6Kd1Hs8Mf3".repeat(2));
        let text = format!(
            "# mine\nspace = \"work\"\n[llm]\nbase_url = \"https://ana:geheim99@llm.example\" # ours\nkey_entry = \"{key}\"\n\
             model = \"m\"\n[objects]\nendpoint = \"https://s3.example\"\n"
        );
        let safe = without_secrets(&text);
        assert!(!safe.contains("geheim99") && !safe.contains(&key), "{safe}");
        for kept in ["# mine\nspace = \"work\"\n", "model = \"m\"", "\"https://s3.example\"", "# ours"] {
            assert!(safe.contains(kept), "{kept}: {safe}");
        }
        assert!(DeTable::parse(&safe).is_ok(), "{safe}");
        assert_eq!(without_secrets("space = \"a\"\n"), "space = \"a\"\n");
    }

    #[test]
    fn places_of_another_machine_are_not_restored() {
        let text =
            "workspace = \"/srv/agent\"\nspace = \"work\"\n[objects]\nbucket = \"b\"\nregion = \"r\"\n";
        let new = unpacked(Some(text), None).expect("a text");
        let known = values(&new);
        let keys: Vec<&str> = known.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(keys, ["space"], "{new}");
        assert!(new.contains("# not restored: workspace = \"/srv/agent\""), "{new}");
        let new = unpacked(Some(text), Some(Path::new("/data/a \"b\""))).expect("a text");
        let workspace = values(&new).into_iter().find(|(key, ..)| key == "workspace");
        assert_eq!(workspace.map(|(_, value, _)| value).as_deref(), Some("/data/a \"b\""), "{new}");
        assert_eq!(unpacked(None, None), None);
        assert_eq!(unpacked(None, Some(Path::new("/a"))).as_deref(), Some("workspace = \"/a\"\n"));
    }
}
