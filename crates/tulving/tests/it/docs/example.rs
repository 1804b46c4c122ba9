//! Checks that `docs/config.example.toml` has every setting, with its default.

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;

use super::root;
use crate::binary::Tulving;

/// A setting as the example shows it.
struct ExampleSetting {
    value: Value,
    has_default: bool,
}

#[test]
fn the_example_configuration_has_every_setting_with_its_default() {
    let text = fs::read_to_string(root().join("docs/config.example.toml")).expect("the example");
    let mut example = read(&text);
    let known = Tulving::new().json(&["config"]);
    let mut wrong = Vec::new();
    for setting in known["settings"].as_array().expect("settings") {
        let key = setting["key"].as_str().expect("a key");
        let Some(shown) = example.remove(key) else {
            wrong.push(format!("{key} is missing"));
            continue;
        };
        let is_default = setting["source"]["from"] == "default";
        if is_default && shown.has_default && shown.value != setting["value"] {
            wrong.push(format!("the default of {key} is {}", setting["value"]));
        }
    }
    wrong.extend(example.keys().map(|key| format!("there is no setting {key}")));
    assert!(wrong.is_empty(), "docs/config.example.toml: {}", wrong.join("; "));
}

/// Reads the settings of the example, which are all commented out. A comment above a setting has a space after its `#`. Tables that
/// can be repeated (`[[…]]`) have no default and are left out.
fn read(example: &str) -> BTreeMap<String, ExampleSetting> {
    let mut found = BTreeMap::new();
    let (mut section, mut has_default, mut in_table) = (String::new(), true, false);
    for line in example.lines() {
        if line.is_empty() {
            (has_default, in_table) = (true, false);
        } else if line.starts_with("# ") {
            has_default &= !line.contains("No default");
        } else if line.starts_with("#[[") {
            in_table = true;
        } else if let Some(name) = line.strip_prefix('[') {
            section = format!("{}.", name.trim_end_matches(']'));
        } else if let Some(setting) =
            line.strip_prefix('#').filter(|setting| !setting.is_empty() && !in_table)
        {
            let table: toml::Table = setting.parse().expect("one setting");
            for (name, value) in table {
                let value = serde_json::to_value(value).expect("a value");
                found.insert(format!("{section}{name}"), ExampleSetting { value, has_default });
            }
        }
    }
    found
}
