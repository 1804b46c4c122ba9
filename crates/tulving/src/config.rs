//! Settings: `config.toml` in the home, then the environment, then flags; the later one wins.
//!
//! [`SETTINGS`] declares each of them once: its key, its variable, its default, what it takes and what it is for.
//! What is unknown is an error that names the nearest known one, so that a misspelt setting is never silently unused.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs, io};

use anstream::ColorChoice;
use etcetera::base_strategy::{self, BaseStrategy};
use serde::Serialize;
use toml::de::{DeTable, DeValue};
use tulving_core::error::Class;
use tulving_core::limits::Limits;
use tulving_core::preview;
use tulving_core::space::Secret;

use crate::args::Global;

/// What every command is run with.
#[derive(Debug)]
pub(crate) struct Settings {
    /// Where everything is kept.
    pub(crate) home: PathBuf,
    /// The token to act by; without one it is the local user who acts.
    pub(crate) token: Option<Secret>,
    /// The space of the call, by name or id.
    pub(crate) space: String,
    /// The agent that speaks for the user.
    pub(crate) agent: Option<String>,
    /// Bounds on what is taken in.
    pub(crate) limits: Limits,
    /// How long to wait for other processes.
    pub(crate) busy_wait: Duration,
    /// How many connections read at once.
    pub(crate) readers: usize,
    /// Whether to colour what is printed.
    pub(crate) color: ColorChoice,
    /// Each value and where it came from, in the order of the table.
    pub(crate) chosen: Vec<Chosen>,
}

/// A value and where it came from.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Chosen {
    /// The key.
    pub(crate) key: &'static str,
    /// The value as it was written.
    pub(crate) value: String,
    /// Where it came from.
    pub(crate) source: Source,
    /// What it is for.
    pub(crate) about: &'static str,
}

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub(crate) enum Source {
    /// Nobody said anything.
    Default,
    /// The file.
    File {
        /// Which.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
    },
    /// The environment.
    Environment {
        /// Which variable.
        name: &'static str,
    },
    /// A flag.
    Flag {
        /// Which.
        name: &'static str,
    },
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment { name } => write!(f, "environment {name}"),
            Self::Flag { name } => write!(f, "flag {name}"),
        }
    }
}

/// One setting.
struct Setting {
    key: &'static str,
    variable: &'static str,
    default: &'static str,
    about: &'static str,
    expects: &'static str,
    shape: Shape,
    /// Takes the value over, or refuses it.
    take: fn(&mut Settings, &str) -> Option<()>,
}

/// What a value is in `config.toml`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Number,
}

/// Every setting there is.
const SETTINGS: &[Setting] = &[
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

/// Variables that are no settings: where the home is, and as whom to act.
const HOME: &str = "TULVING_HOME";
const TOKEN: &str = "TULVING_TOKEN";

fn within<N: std::str::FromStr + PartialOrd>(text: &str, least: N, most: N) -> Option<N> {
    text.trim().parse().ok().filter(|number| *number >= least && *number <= most)
}

/// Why the settings cannot be used. Nothing was opened.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SettingError {
    /// There is no such setting.
    #[error("{place}: there is no setting `{got}`")]
    Unknown {
        /// Where it was found.
        place: Source,
        /// What was given.
        got: String,
        /// The nearest one that exists.
        nearest: &'static str,
    },
    /// There is no such variable.
    #[error("there is no setting `{got}` for the environment")]
    UnknownVariable {
        /// What was given.
        got: String,
        /// The nearest one that exists.
        nearest: &'static str,
    },
    /// A value does not fit.
    #[error("{place}: {key} is `{got}` and must be {expects}")]
    Value {
        /// Where it was found.
        place: Source,
        /// The key.
        key: &'static str,
        /// What was given.
        got: String,
        /// What it must be.
        expects: &'static str,
    },
    /// The file is not TOML.
    #[error("{}:{line}: {why}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What the parser said.
        why: String,
    },
    /// The file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// There is no place for the home.
    #[error("the platform names no folder for data")]
    NoHome,
}

impl SettingError {
    /// What sort of trouble it is.
    pub(crate) fn class(&self) -> Class {
        match self {
            Self::Unreadable { .. } | Self::NoHome => Class::Host,
            _ => Class::Caller,
        }
    }

    /// A stable name for programs.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } | Self::UnknownVariable { .. } => "unknown_setting",
            Self::Value { .. } => "invalid_setting",
            Self::Syntax { .. } => "invalid_config",
            Self::Unreadable { .. } => "unreadable",
            Self::NoHome => "no_home",
        }
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { nearest, .. } | Self::UnknownVariable { nearest, .. } => {
                Some(format!("did you mean `{nearest}`? `tulving config --help` lists all of them"))
            }
            Self::NoHome => Some(format!("name a folder with --home or {HOME}")),
            _ => None,
        }
    }
}

/// Reads the settings: defaults, file, environment, flags.
pub(crate) fn read(global: &Global) -> Result<Settings, SettingError> {
    let (home, _) = home(global)?;
    let mut settings = Settings {
        home,
        token: env::var(TOKEN).ok().filter(|text| !text.is_empty()).map(Secret::new),
        space: String::new(),
        agent: None,
        limits: Limits::default(),
        busy_wait: Duration::ZERO,
        readers: 1,
        color: ColorChoice::Auto,
        chosen: Vec::new(),
    };
    for setting in SETTINGS {
        take(&mut settings, setting, setting.default, Source::Default)?;
    }
    read_file(&mut settings)?;
    read_environment(&mut settings, env::vars_os())?;
    let flags = [
        ("space", "--space", global.space.clone()),
        ("agent", "--agent", global.agent.clone()),
        ("output.color", "--color", global.color.map(|choice| choice.to_string())),
    ];
    for (key, name, value) in flags {
        if let Some((setting, value)) = SETTINGS.iter().find(|setting| setting.key == key).zip(value) {
            take(&mut settings, setting, &value, Source::Flag { name })?;
        }
    }
    Ok(settings)
}

/// Where the home is, and who says so.
pub(crate) fn home(global: &Global) -> Result<(PathBuf, Source), SettingError> {
    if let Some(path) = &global.home {
        return Ok((path.clone(), Source::Flag { name: "--home" }));
    }
    if let Some(path) = env::var_os(HOME).filter(|path| !path.is_empty()) {
        return Ok((path.into(), Source::Environment { name: HOME }));
    }
    let strategy = base_strategy::choose_native_strategy().map_err(|_| SettingError::NoHome)?;
    Ok((strategy.data_dir().join("tulving"), Source::Default))
}

/// The file of a home.
pub(crate) fn file(home: &Path) -> PathBuf {
    home.join("config.toml")
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

/// Takes one value over and notes where it came from.
fn take(settings: &mut Settings, setting: &Setting, text: &str, source: Source) -> Result<(), SettingError> {
    if (setting.take)(settings, text).is_none() {
        let got = preview::short(text);
        return Err(SettingError::Value { place: source, key: setting.key, got, expects: setting.expects });
    }
    let chosen = Chosen { key: setting.key, value: text.trim().to_owned(), source, about: setting.about };
    match settings.chosen.iter_mut().find(|old| old.key == setting.key) {
        Some(old) => *old = chosen,
        None => settings.chosen.push(chosen),
    }
    Ok(())
}

fn read_file(settings: &mut Settings) -> Result<(), SettingError> {
    let path = file(&settings.home);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        // What is wrong with the home itself is said by what opens it.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(());
        }
        Err(source) => return Err(SettingError::Unreadable { path, source }),
    };
    for (key, value, line) in entries(&path, &text)? {
        let place = Source::File { path: path.clone(), line };
        let Some(setting) = SETTINGS.iter().find(|setting| setting.key == key) else {
            let nearest = nearest(&key, SETTINGS.iter().map(|setting| setting.key));
            return Err(SettingError::Unknown { place, got: preview::short(&key), nearest });
        };
        match value {
            Value::Text(text) if setting.shape == Shape::Text => take(settings, setting, &text, place)?,
            Value::Number(text) if setting.shape == Shape::Number => take(settings, setting, &text, place)?,
            Value::Text(got) | Value::Number(got) | Value::Other(got) => {
                let got = preview::short(&got);
                let expects = setting.expects;
                return Err(SettingError::Value { place, key: setting.key, got, expects });
            }
        }
    }
    Ok(())
}

/// A value of the file.
#[derive(Debug, PartialEq, Eq)]
enum Value {
    Text(String),
    Number(String),
    /// Any other, as it is written.
    Other(String),
}

/// The entries of the file: dotted key, value and line.
fn entries(path: &Path, text: &str) -> Result<Vec<(String, Value, usize)>, SettingError> {
    let line_at = |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| SettingError::Syntax {
        path: path.to_owned(),
        line: line_at(error.span().map_or(0, |span| span.start)),
        why: error.message().trim().replace('\n', ", "),
    })?;
    let mut found = Vec::new();
    collect(table.get_ref(), "", &mut |key, at, value: &DeValue<'_>, written: std::ops::Range<usize>| {
        let value = match value {
            DeValue::String(text) => Value::Text(text.clone().into_owned()),
            DeValue::Integer(number) => Value::Number(number.to_string()),
            _ => Value::Other(text.get(written).unwrap_or_default().to_owned()),
        };
        found.push((key, value, line_at(at)));
    });
    Ok(found)
}

/// Walks through the tables. One that is empty and could not hold any setting is named like a wrong key.
fn collect(
    table: &DeTable<'_>,
    above: &str,
    each: &mut dyn FnMut(String, usize, &DeValue<'_>, std::ops::Range<usize>),
) {
    for (key, value) in table {
        let name = if above.is_empty() { key.get_ref().to_string() } else { format!("{above}.{}", key.get_ref()) };
        let holds_settings = SETTINGS.iter().any(|setting| {
            setting.key.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with('.'))
        });
        match value.get_ref() {
            DeValue::Table(inner) if holds_settings || !inner.is_empty() => collect(inner, &name, each),
            other => each(name, key.span().start, other, value.span()),
        }
    }
}

fn read_environment(
    settings: &mut Settings,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<(), SettingError> {
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| name.starts_with("TULVING_")) else { continue };
        if name == HOME || name == TOKEN {
            continue;
        }
        let Some(setting) = SETTINGS.iter().find(|setting| setting.variable == name) else {
            let known = SETTINGS.iter().map(|setting| setting.variable).chain([HOME, TOKEN]);
            let nearest = nearest(name, known);
            return Err(SettingError::UnknownVariable { got: preview::short(name), nearest });
        };
        take(settings, setting, &value.to_string_lossy(), Source::Environment { name: setting.variable })?;
    }
    Ok(())
}

/// The known name that is most like what was written.
fn nearest(got: &str, known: impl Iterator<Item = &'static str>) -> &'static str {
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

    fn read_entries(text: &str) -> Vec<(String, Value, usize)> {
        entries(Path::new("config.toml"), text).expect("good TOML")
    }

    #[test]
    fn tables_and_dotted_keys_are_the_same() {
        let a = read_entries("[limits]\ncontent_bytes = 5\n");
        let b = read_entries("\nlimits.content_bytes = 5\n");
        assert_eq!(a, [("limits.content_bytes".to_owned(), Value::Number("5".to_owned()), 2)]);
        assert_eq!(a, b);
    }

    #[test]
    fn a_syntax_error_has_its_line() {
        let error = entries(Path::new("config.toml"), "space = \"a\"\nagent = \n").expect_err("no value");
        assert!(error.to_string().starts_with("config.toml:2: "), "{error}");
    }

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
