//! Prepares the texts of `config.toml` and `config.json` for a backup: removes secrets when packing, and paths of
//! another machine when unpacking. Comments and the order of lines stay.

use std::ops::Range;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};
use tulving_text::secrets;

use tulving_store::ConfigTexts;

use super::json::{self, SettingEdit};
use super::table::{settings, spelled};

/// Settings for the places of files and attachments. A restore puts files and attachments into the home, so these
/// settings are not restored.
const PLACES: [&str; 7] = [
    "workspace",
    "objects.bucket",
    "objects.region",
    "objects.endpoint",
    "objects.prefix",
    "objects.allow_http",
    "objects.keys_file",
];

/// Removes secrets from the texts: hidden values become empty, and anything else that looks like a secret is redacted.
pub(crate) fn without_secrets(texts: ConfigTexts) -> ConfigTexts {
    let json = |text: String| {
        let choose = |key: &str, value: &str| {
            if is_hidden(key, value) { SettingEdit::Empty } else { SettingEdit::Keep }
        };
        secrets::redacted(&json::edited(&text, &choose)).into_owned()
    };
    ConfigTexts { toml: texts.toml.as_deref().map(toml_without_secrets), json: texts.json.map(json) }
}

/// True if the value of a setting must not be shown.
fn is_hidden(key: &str, value: &str) -> bool {
    let setting = settings().find(|setting| setting.key == spelled(key));
    setting.is_some_and(|setting| setting.shown(value) != value)
}

fn toml_without_secrets(text: &str) -> String {
    let mut text = text.to_owned();
    let hidden = values(&text).into_iter().filter(|(key, value, _)| is_hidden(key, value));
    // The values are replaced from the end of the text, so that the earlier ranges stay valid.
    let mut ranges: Vec<Range<usize>> = hidden.map(|(_, _, range)| range).collect();
    ranges.sort_by_key(|range| std::cmp::Reverse(range.start));
    for range in ranges {
        text.replace_range(range, "\"\"");
    }
    secrets::redacted(&text).into_owned()
}

/// Adapts the texts to a home on another machine: removes the settings of places (in TOML they become comments), and
/// sets `workspace` to the folder that the files were restored to.
pub(crate) fn unpacked(texts: &ConfigTexts, workspace: Option<&Path>) -> ConfigTexts {
    let is_place = |key: &str| PLACES.contains(&spelled(key));
    let choose = |key: &str, _: &str| if is_place(key) { SettingEdit::Remove } else { SettingEdit::Keep };
    ConfigTexts {
        toml: unpacked_toml(texts.toml.as_deref(), workspace),
        json: texts.json.as_deref().map(|text| json::edited(text, &choose)),
    }
}

fn unpacked_toml(text: Option<&str>, workspace: Option<&Path>) -> Option<String> {
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
    // The new key is inserted before all tables, so that it is a top-level key.
    Some(named.into_iter().chain(lines).collect())
}

/// Returns the values in the file, each with its dotted key and its range; empty if the file is not TOML.
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

/// Returns the text of a value; empty for other shapes.
fn plain(value: &DeValue<'_>) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Quotes a text for TOML: as JSON does, with one more control character escaped.
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
        let safe = toml_without_secrets(&text);
        assert!(!safe.contains("geheim99") && !safe.contains(&key), "{safe}");
        for kept in ["# mine\nspace = \"work\"\n", "model = \"m\"", "\"https://s3.example\"", "# ours"] {
            assert!(safe.contains(kept), "{kept}: {safe}");
        }
        assert!(DeTable::parse(&safe).is_ok(), "{safe}");
        assert_eq!(toml_without_secrets("space = \"a\"\n"), "space = \"a\"\n");
    }

    #[test]
    fn places_of_another_machine_are_not_restored() {
        let text =
            "workspace = \"/srv/agent\"\nspace = \"work\"\n[objects]\nbucket = \"b\"\nregion = \"r\"\n";
        let new = unpacked_toml(Some(text), None).expect("a text");
        let known = values(&new);
        let keys: Vec<&str> = known.iter().map(|(key, ..)| key.as_str()).collect();
        assert_eq!(keys, ["space"], "{new}");
        assert!(new.contains("# not restored: workspace = \"/srv/agent\""), "{new}");
        let new = unpacked_toml(Some(text), Some(Path::new("/data/a \"b\""))).expect("a text");
        let workspace = values(&new).into_iter().find(|(key, ..)| key == "workspace");
        assert_eq!(workspace.map(|(_, value, _)| value).as_deref(), Some("/data/a \"b\""), "{new}");
        assert_eq!(unpacked_toml(None, None), None);
        assert_eq!(unpacked_toml(None, Some(Path::new("/a"))).as_deref(), Some("workspace = \"/a\"\n"));
    }

    #[test]
    fn settings_in_json_travel_without_secrets_and_places() {
        let text = "\"space\": \"work\",\n\"workspace\": \"/srv/agent\",\n\"llm\": {\"base_url\": \"https://ana:geheim99@llm.example\", \
                    \"model\": \"m\"},\n\"memConsolidate\": {\"enabled\": true, \"intervalHours\": 12}";
        let texts = ConfigTexts { json: Some(text.to_owned()), toml: None };
        let safe = without_secrets(texts);
        let read = |texts: &ConfigTexts| -> serde_json::Value {
            serde_json::from_str(texts.json.as_deref().expect("a text")).expect("JSON")
        };
        let expected = serde_json::json!({
            "space": "work", "workspace": "/srv/agent", "llm": { "base_url": "", "model": "m" },
            "memConsolidate": { "enabled": true, "intervalHours": 12 },
        });
        assert_eq!(read(&safe), expected);
        let new = unpacked(&safe, Some(Path::new("/data")));
        assert_eq!(new.toml.as_deref(), Some("workspace = \"/data\"\n"));
        assert!(read(&new).get("workspace").is_none() && read(&new)["space"] == "work", "{new:?}");
        // A text without secrets stays unchanged, and so does one that is not JSON.
        for kept in ["\"space\": \"work\",\n", "{ no JSON"] {
            let texts = ConfigTexts { json: Some(kept.to_owned()), toml: None };
            assert_eq!(unpacked(&without_secrets(texts.clone()), None), texts);
        }
    }
}
