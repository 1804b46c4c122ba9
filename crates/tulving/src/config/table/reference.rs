//! Describes the settings for the help and for the reference page.

use super::super::llm::LLM_KEY;
use super::super::{HOME, TOKEN};
use super::{Setting, settings};

/// The indent of a description.
const INDENT: &str = "      ";
/// Maximum width of the line with a name, in columns.
const COLUMNS: usize = 80;

/// The tables that may occur several times in `config.toml`.
const TABLES: [(&str, &str); 4] = [
    ("[[backends]]", "in config.toml configures a memory backend: name, role, command, timeout_ms"),
    (
        "[[tend.expire]]",
        "archives memories after a time: after_days, and any of space, type, kind, stability, tag",
    ),
    (
        "[[tend.space]]",
        "overrides the rules in a space: name, and any of the days and the importance below tend",
    ),
    ("[[secrets.space]]", "sets the secrets policy of a space: name, policy"),
];

/// Lists every setting with its variable, for the help.
pub(crate) fn reference() -> String {
    let mut text = String::from("Settings, with the variable of the environment and the default:\n");
    for Setting { key, variable, default, about, expects, .. } in settings() {
        let default = if default.is_empty() { "none" } else { default };
        let name = format!("  {key} ({variable}, {default})");
        match name.len() > COLUMNS {
            true => text.push_str(&format!("  {key}\n{INDENT}({variable}, {default})\n")),
            false => text.push_str(&format!("{name}\n")),
        }
        text.push_str(&format!("{INDENT}{about}; {expects}\n"));
    }
    text.push('\n');
    for (table, about) in TABLES {
        text.push_str(&format!("{table} {about}.\n"));
    }
    text.push_str(&format!(
        "\nOther variables: {HOME} is the home, {TOKEN} the token to use, {LLM_KEY} the key of the language model."
    ));
    text
}

/// Renders the reference page of the settings.
#[cfg(test)]
pub(crate) fn reference_page() -> String {
    let mut page = String::from(
        "# Settings\n\n<!-- Made by `cargo xtask reference` from the declarations of the settings. -->\n\n\
         `config.toml` in the home, then the environment, then flags: the later one wins. `tulving config` shows each \
         setting and where it came from. An unknown key is an error that names the nearest known one; an unknown variable is \
         ignored, and `tulving config` and `tulving doctor` warn of it. `config.json` in the same folder may have the same keys as \
         JSON; a setting that both files have is refused.\n",
    );
    let mut section = None;
    for Setting { key, variable, default, about, expects, .. } in settings() {
        let of = key.split_once('.').map_or("", |(section, _)| section);
        if section != Some(of) {
            let title = if of.is_empty() { "At the top".to_owned() } else { format!("`[{of}]`") };
            page.push_str(&format!(
                "\n## {title}\n\n| key | variable | default | what it is |\n|---|---|---|---|\n"
            ));
            section = Some(of);
        }
        let default = if default.is_empty() { "none".to_owned() } else { format!("`{default}`") };
        page.push_str(&format!("| `{key}` | `{variable}` | {default} | {about}; {expects} |\n"));
    }
    page.push_str("\n## Tables\n\n");
    for (table, about) in TABLES {
        page.push_str(&format!("- `{table}` {about}.\n"));
    }
    page.push_str("\n## Other environment variables\n\n");
    page.push_str(&format!("- `{HOME}`: the home.\n- `{TOKEN}`: the token to use.\n"));
    page.push_str(&format!("- `{LLM_KEY}`: the key of the language model.\n"));
    page
}
