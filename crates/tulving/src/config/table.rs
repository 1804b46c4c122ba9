//! Every setting, declared once: its key, its variable, its default, what it takes and what it is for.

use std::time::Duration;

use anstream::ColorChoice;

use super::{HOME, Settings, TOKEN};

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

/// The known name that is most like what was written.
pub(super) fn nearest(got: &str, known: impl Iterator<Item = &'static str>) -> &'static str {
    let likeness = |name: &str| strsim::jaro_winkler(got, name).max(last_parts(got, name));
    known.max_by(|a, b| likeness(a).total_cmp(&likeness(b))).unwrap_or("space")
}

/// How alike the last parts of two dotted keys are: `content_byte` is meant for `limits.content_bytes`.
fn last_parts(got: &str, name: &str) -> f64 {
    let last = |text: &str| text.rsplit('.').next().unwrap_or_default().to_owned();
    0.9 * strsim::jaro_winkler(&last(got), &last(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_what_was_meant() {
        let keys = || SETTINGS.iter().map(|setting| setting.key);
        for (got, meant) in [
            ("limit.content_bytes", "limits.content_bytes"),
            ("content_bytes", "limits.content_bytes"),
            ("colour", "output.color"),
            ("spaces", "space"),
            ("store.busy_wait", "store.busy_wait_seconds"),
        ] {
            assert_eq!(nearest(got, keys()), meant, "{got}");
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
