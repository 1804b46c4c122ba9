//! Every setting, declared once: its key, variable, default, accepted values and description.

mod aging;
mod documents;
mod general;
mod models;
mod passes;
mod reference;
mod server;

use serde_json::Value;
use tulving_models::ServiceUrl;
use tulving_text::secrets;

use super::llm::LLM_KEY;
use super::server::items;
use super::{HOME, PREFIX, Settings, TOKEN};
use crate::nearest::nearest;

pub(crate) use reference::reference;
#[cfg(test)]
pub(crate) use reference::reference_page;

/// One setting.
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) variable: &'static str,
    pub(super) default: &'static str,
    pub(super) about: &'static str,
    pub(super) expects: &'static str,
    pub(super) shape: SettingType,
    /// Sets the value, or refuses it.
    pub(super) take: fn(&mut Settings, &str) -> Option<()>,
}

/// The type of a value in `config.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingType {
    Text,
    Number,
    /// `true` or `false`.
    Choice,
    /// Texts, separated by commas in the environment.
    List,
}

impl SettingType {
    /// Converts a value of this shape to JSON.
    pub(super) fn json(self, text: &str) -> Value {
        let number = |text: &str| {
            let whole = text.parse::<i64>().ok().map(Value::from);
            whole.or_else(|| text.parse::<f64>().ok().map(Value::from))
        };
        match self {
            Self::Text => text.into(),
            Self::Number => number(text).unwrap_or_else(|| text.into()),
            Self::Choice => text.parse::<bool>().map_or_else(|_| text.into(), Value::Bool),
            Self::List => items(text).map(Value::from).collect(),
        }
    }
}

/// Returns all settings.
pub(super) fn settings() -> impl Iterator<Item = &'static Setting> {
    let groups = [
        general::SETTINGS,
        models::SETTINGS,
        documents::SETTINGS,
        passes::SETTINGS,
        aging::SETTINGS,
        server::SETTINGS,
    ];
    groups.into_iter().flatten()
}

fn within<N: std::str::FromStr + PartialOrd + Copy>(text: &str, least: N, most: N) -> Option<N> {
    text.trim().parse().ok().filter(|number| *number >= least && *number <= most)
}

/// Reads an address, which may be empty.
fn address(text: &str) -> Option<ServiceUrl> {
    let text = text.trim();
    let fits = text.is_empty() || text.starts_with("http://") || text.starts_with("https://");
    fits.then(|| ServiceUrl::new(text))
}

/// Parses the name of a keyring entry, which may be empty. A text that looks like the key itself is refused.
fn entry(text: &str) -> Option<&str> {
    let text = text.trim();
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (text.len() <= 24 && text.bytes().all(fits) && secrets::find(text).is_empty()).then_some(text)
}

impl Setting {
    /// True if spaces at the ends of the value matter.
    pub(super) fn keeps_spaces(&self) -> bool {
        self.key.ends_with("_prefix")
    }

    /// Returns a value without secrets: an address may contain a password, and an invalid entry name may be the key itself.
    pub(super) fn shown(&self, text: &str) -> String {
        match self.key {
            "embedding.base_url" | "llm.base_url" | "objects.endpoint" => ServiceUrl::new(text).to_string(),
            "llm.key_entry" if entry(text).is_none() => "***".to_owned(),
            _ => text.to_owned(),
        }
    }
}

/// Other tools' spellings of settings, each with Tulving's spelling.
const SPELLINGS: &[(&str, &str)] = &[
    ("shadowJournal.enabled", "shadow_journal.enabled"),
    ("shadowJournal.model", "shadow_journal.model"),
    ("memConsolidate.enabled", "consolidate.enabled"),
    ("memConsolidate.intervalHours", "consolidate.interval_hours"),
];

/// Returns Tulving's spelling of a key.
pub(super) fn spelled(key: &str) -> &str {
    SPELLINGS.iter().find(|(theirs, _)| *theirs == key).map_or(key, |(_, ours)| ours)
}

/// True if another tool has settings below this table.
pub(super) fn is_spelled_below(table: &str) -> bool {
    SPELLINGS.iter().any(|(theirs, _)| theirs.strip_prefix(table).is_some_and(|rest| rest.starts_with('.')))
}

/// Returns every key of `config.toml`.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    settings().map(|setting| setting.key)
}

/// Returns every environment variable.
pub(super) fn variables() -> impl Iterator<Item = &'static str> {
    settings().map(|setting| setting.variable).chain([HOME, TOKEN, LLM_KEY])
}

/// Returns the variable that was probably meant. The common prefix is not compared, as it would make all of them similar.
pub(super) fn nearest_variable(got: &str) -> Option<&'static str> {
    let own = |name: &'static str| name.strip_prefix(PREFIX).unwrap_or(name);
    let meant = nearest(got.strip_prefix(PREFIX).unwrap_or(got), variables().map(own))?;
    variables().find(|name| own(name) == meant)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_what_was_meant() {
        for (got, meant) in [
            ("store.busy_wait", Some("store.busy_wait_seconds")),
            ("content_byte", Some("limits.content_bytes")),
            ("server.port", None),
        ] {
            assert_eq!(nearest(got, keys()), meant, "{got}");
        }
        for (got, meant) in [
            ("TULVING_COLOR", Some("TULVING_OUTPUT_COLOR")),
            ("TULVING_SPACES", Some("TULVING_SPACE")),
            ("TULVING_HOMES", Some("TULVING_HOME")),
            ("TULVING_PORT", None),
        ] {
            assert_eq!(nearest_variable(got), meant, "{got}");
        }
    }

    #[test]
    fn a_key_is_no_name_of_its_entry() {
        assert_eq!((entry(" openai-2.test_x "), entry("")), (Some("openai-2.test_x"), Some("")));
        let key = format!("sk-{}", "Zq7Xw2Lr9Bv4Nt6Kd1Hs8Mf3".repeat(2));
        let setting = settings().find(|setting| setting.key == "llm.key_entry").expect("a setting");
        for wrong in [key.as_str(), &key[..27], "two words", "a@b"] {
            assert_eq!((entry(wrong), setting.shown(wrong).as_str()), (None, "***"), "{wrong}");
        }
    }

    #[test]
    fn the_address_of_a_bucket_is_one_of_the_web_and_shown_without_its_password() {
        let setting = settings().find(|setting| setting.key == "objects.endpoint").expect("a setting");
        let mut settings = Settings::of_home("home".into()).expect("defaults");
        for (text, taken) in
            [(" https://s3.example ", true), ("", true), ("ftp://s3.example", false), ("s3", false)]
        {
            assert_eq!((setting.take)(&mut settings, text).is_some(), taken, "{text}");
        }
        assert_eq!(setting.shown("https://ana:word@s3.example"), "https://***@s3.example");
    }

    #[test]
    fn every_default_is_of_its_type_for_programs() {
        for setting in settings() {
            let json = setting.shape.json(setting.default);
            let typed = match setting.shape {
                SettingType::Text => json.is_string(),
                SettingType::Number => json.is_number(),
                SettingType::Choice => json.is_boolean(),
                SettingType::List => json.is_array(),
            };
            assert!(typed, "{}: {json}", setting.key);
        }
    }

    #[test]
    fn every_setting_is_declared_once_and_its_default_fits() {
        for (at, setting) in settings().enumerate() {
            assert!(settings().take(at).all(|other| other.key != setting.key), "{}", setting.key);
            // The variable has a shorter name, because people type it.
            let key = if setting.key == "log.level" { "log" } else { setting.key };
            assert_eq!(setting.variable, format!("TULVING_{}", key.replace('.', "_").to_uppercase()));
        }
    }
}
