//! Every setting, declared once: its key, its variable, its default, what it takes and what it is for.

use std::time::Duration;

use anstream::ColorChoice;
use tulving_models::Address;

use super::embedding::Provider;
use super::{HOME, PREFIX, Settings, TOKEN};
use crate::nearest::nearest;

/// One setting.
pub(super) struct Setting {
    pub(super) key: &'static str,
    pub(super) variable: &'static str,
    pub(super) default: &'static str,
    pub(super) about: &'static str,
    pub(super) expects: &'static str,
    pub(super) shape: Shape,
    /// Takes the value over, or refuses it.
    pub(super) take: fn(&mut Settings, &str) -> Option<()>,
}

/// What a value is in `config.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Number,
}

/// Every setting there is.
pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "space",
        variable: "TULVING_SPACE",
        default: "default",
        about: "the space that commands work in",
        expects: "the name or id of a space",
        shape: Shape::Text,
        take: |settings, text| {
            let text = text.trim();
            settings.space = (!text.is_empty()).then(|| text.to_owned())?;
            Some(())
        },
    },
    Setting {
        key: "agent",
        variable: "TULVING_AGENT",
        default: "",
        about: "the agent that speaks for the user; kept with what it saves",
        expects: "a name",
        shape: Shape::Text,
        take: |settings, text| {
            settings.agent = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            Some(())
        },
    },
    Setting {
        key: "limits.content_bytes",
        variable: "TULVING_LIMITS_CONTENT_BYTES",
        default: "3000000",
        about: "most bytes of one memory",
        expects: "a whole number from 1 to 100000000",
        shape: Shape::Number,
        take: |settings, text| {
            settings.limits.content_bytes = within(text, 1, 100_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "store.busy_wait_seconds",
        variable: "TULVING_STORE_BUSY_WAIT_SECONDS",
        default: "60",
        about: "how long to wait while other processes write",
        expects: "a whole number from 0 to 3600",
        shape: Shape::Number,
        take: |settings, text| {
            settings.busy_wait = Duration::from_secs(within(text, 0, 3_600)?);
            Some(())
        },
    },
    Setting {
        key: "store.readers",
        variable: "TULVING_STORE_READERS",
        default: "4",
        about: "how many connections read at once",
        expects: "a whole number from 1 to 64",
        shape: Shape::Number,
        take: |settings, text| {
            settings.readers = within(text, 1, 64)?;
            Some(())
        },
    },
    Setting {
        key: "embedding.provider",
        variable: "TULVING_EMBEDDING_PROVIDER",
        default: "built-in",
        about: "what turns text into vectors: the model inside, none, a folder with an ONNX model, or a service",
        expects: "one of built-in, off, folder, openai, ollama",
        shape: Shape::Text,
        take: |settings, text| {
            settings.embedding.provider = match text.trim() {
                "built-in" => Provider::BuiltIn,
                "off" => Provider::Off,
                "folder" => Provider::Folder,
                "openai" => Provider::OpenAi,
                "ollama" => Provider::Ollama,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "embedding.folder",
        variable: "TULVING_EMBEDDING_FOLDER",
        default: "",
        about: "the folder of provider folder, with model.onnx and tokenizer.json or vocab.txt",
        expects: "a path",
        shape: Shape::Text,
        take: |settings, text| {
            settings.embedding.folder = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "embedding.base_url",
        variable: "TULVING_EMBEDDING_BASE_URL",
        default: "",
        about: "where the service of provider openai or ollama answers, such as http://127.0.0.1:11434",
        expects: "an address that begins with http:// or https://",
        shape: Shape::Text,
        take: |settings, text| {
            let text = text.trim();
            let fits = text.is_empty() || text.starts_with("http://") || text.starts_with("https://");
            settings.embedding.base_url = fits.then(|| Address::new(text))?;
            Some(())
        },
    },
    Setting {
        key: "embedding.model",
        variable: "TULVING_EMBEDDING_MODEL",
        default: "",
        about: "the name of the model at that service",
        expects: "a name",
        shape: Shape::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.embedding.model);
            Some(())
        },
    },
    Setting {
        key: "embedding.key_variable",
        variable: "TULVING_EMBEDDING_KEY_VARIABLE",
        default: "",
        about: "the variable of the environment that holds the key of the service",
        expects: "the name of a variable",
        shape: Shape::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.embedding.key_variable);
            Some(())
        },
    },
    Setting {
        key: "embedding.timeout_seconds",
        variable: "TULVING_EMBEDDING_TIMEOUT_SECONDS",
        default: "30",
        about: "how long the service may take for an answer; what is done after a command waits 3 seconds at the most",
        expects: "a whole number from 1 to 600",
        shape: Shape::Number,
        take: |settings, text| {
            settings.embedding.time_out = Duration::from_secs(within(text, 1, 600)?);
            Some(())
        },
    },
    Setting {
        key: "server.timeout_seconds",
        variable: "TULVING_SERVER_TIMEOUT_SECONDS",
        default: "60",
        about: "how long a request to `tulving serve` may take",
        expects: "a whole number from 1 to 3600",
        shape: Shape::Number,
        take: |settings, text| {
            settings.request_time = Duration::from_secs(within(text, 1, 3_600)?);
            Some(())
        },
    },
    Setting {
        key: "output.color",
        variable: "TULVING_OUTPUT_COLOR",
        default: "auto",
        about: "whether to colour what is printed",
        expects: "one of auto, always, never",
        shape: Shape::Text,
        take: |settings, text| {
            settings.color = match text.trim() {
                "auto" => ColorChoice::Auto,
                "always" => ColorChoice::Always,
                "never" => ColorChoice::Never,
                _ => return None,
            };
            Some(())
        },
    },
];

fn within<N: std::str::FromStr + PartialOrd + Copy>(text: &str, least: N, most: N) -> Option<N> {
    text.trim().parse().ok().filter(|number| *number >= least && *number <= most)
}

impl Setting {
    /// A value as it may be shown: an address may hold a password.
    pub(super) fn shown(&self, text: &str) -> String {
        match self.key {
            "embedding.base_url" => Address::new(text).to_string(),
            _ => text.to_owned(),
        }
    }
}

/// Every setting with its variable, for the help.
pub(crate) fn reference() -> String {
    let mut text = String::from("Settings, with the variable of the environment and the default:\n");
    for Setting { key, variable, default, about, expects, .. } in SETTINGS {
        let default = if default.is_empty() { "none" } else { default };
        text.push_str(&format!("  {key} ({variable}, {default})\n      {about}; {expects}\n"));
    }
    text.push_str(&format!("\nBesides: {HOME} is the home, {TOKEN} the token to act by."));
    text
}

/// Every key of `config.toml`.
pub(super) fn keys() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.key)
}

/// Every variable of the environment.
pub(super) fn variables() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.variable).chain([HOME, TOKEN])
}

/// The variable that was meant. What all of them begin with makes none more like another.
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
    fn every_setting_is_declared_once_and_its_default_fits() {
        for (at, setting) in SETTINGS.iter().enumerate() {
            assert!(SETTINGS[..at].iter().all(|other| other.key != setting.key), "{}", setting.key);
            let variable = format!("TULVING_{}", setting.key.replace('.', "_").to_uppercase());
            assert_eq!(setting.variable, variable);
        }
    }
}
