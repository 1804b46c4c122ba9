//! Settings: from `config.toml` and `config.json` in the home, then the environment, then flags. A later source overrides an
//! earlier one.
//!
//! [`table`] declares each setting once. An unknown key in a file is an error that names the most similar known key. An
//! unknown variable is only a warning of `config` and `doctor`, because other programs also set variables with the prefix
//! `TULVING_`, such as Kubernetes for a service named `tulving`.

mod backends;
mod edit;
mod embedding;
mod error;
mod file;
mod json;
mod llm;
mod objects;
mod portable;
mod secrets;
mod server;
mod table;
mod tend;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, io};

use anstream::ColorChoice;
use etcetera::base_strategy::{self, BaseStrategy};
use serde::Serialize;
use tulving_core::model::limits::Limits;
use tulving_core::model::preview;
use tulving_core::model::space::Secret;
use tulving_core::model::time::Zone;
use tulving_core::model::turn::TurnReadingSettings;
use tulving_core::{ConsolidationSettings, SecretPolicies};

use crate::global::GlobalArgs;
use crate::log::LogSettings;
use crate::nearest::nearest;
use file::{ConfigEntry, ConfigFile};
use llm::{LLM_KEY, LlmSettings};
use objects::ObjectSettings;
use server::ServerSettings;
use table::{Setting, settings as all_settings};

pub(crate) use backends::BackendSetting;
pub(crate) use edit::SettingChange;
pub(crate) use embedding::{EmbeddingCallOptions, EmbeddingSettings};
pub(crate) use error::SettingError;
pub(crate) use file::LISTS;
pub(crate) use llm::{KEY_BYTES, KeySource};
pub(crate) use portable::{unpacked, without_secrets};
pub(crate) use table::reference;
#[cfg(test)]
pub(crate) use table::reference_page;
pub(crate) use tend::TendingSettings;

/// The settings of a command.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The folder with all data.
    pub(crate) home: PathBuf,
    /// The token that identifies the caller; without a token, the caller is the local user.
    pub(crate) token: Option<Secret>,
    /// The space of the call, by name or id.
    pub(crate) space: String,
    /// The agent that acts for the user.
    pub(crate) agent: Option<String>,
    /// The folder of human-readable files; empty means the default folder in the home.
    pub(crate) workspace: PathBuf,
    /// The time zone that determines where a day begins.
    pub(crate) zone: Zone,
    /// Limits on input.
    pub(crate) limits: Limits,
    /// Time to wait for other processes.
    pub(crate) busy_wait: Duration,
    /// Number of database connections for concurrent reads.
    pub(crate) readers: usize,
    /// The embedding model.
    pub(crate) embedding: EmbeddingSettings,
    /// The language model.
    pub(crate) llm: LlmSettings,
    /// The storage of the files that memories describe.
    pub(crate) objects: ObjectSettings,
    /// The languages of the text in images, as tesseract names them.
    pub(crate) languages: Option<String>,
    /// The settings for finding memories in logged turns.
    pub(crate) listening: TurnReadingSettings,
    /// The settings of journal consolidation.
    pub(crate) consolidation: ConsolidationSettings,
    /// The backends; empty means only the built-in store.
    pub(crate) backends: Vec<BackendSetting>,
    /// The rules for aged memories.
    pub(crate) tending: TendingSettings,
    /// The secrets policies.
    pub(crate) secret_policies: SecretPolicies,
    /// The settings of the server.
    pub(crate) server: ServerSettings,
    /// The log of the server.
    pub(crate) logging: LogSettings,
    /// The setting for colour in the output.
    pub(crate) color: ColorChoice,
    /// Each value and its source, in the order of the table.
    pub(crate) chosen: Vec<SettingValue>,
    /// Environment variables with the prefix `TULVING_` that are not settings, by name.
    pub(crate) unknown_variables: Vec<UnknownVariable>,
}

/// An environment variable with the prefix `TULVING_` that is not a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnknownVariable {
    /// Its name.
    name: String,
    /// The setting that may have been meant.
    nearest: Option<&'static str>,
}

impl UnknownVariable {
    /// Returns advice for the user who set it.
    pub(crate) fn hint(&self) -> String {
        match self.nearest {
            Some(nearest) => format!("did you mean `{nearest}`? `tulving config --help` lists all settings"),
            None => "`tulving config --help` lists all settings; a variable that another program sets does no harm"
                .to_owned(),
        }
    }
}

impl std::fmt::Display for UnknownVariable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the environment variable `{}` is not a setting, so it is ignored", self.name)
    }
}

/// A value and its source.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct SettingValue {
    /// The key.
    pub(crate) key: &'static str,
    /// The value in the form for people.
    #[serde(skip)]
    pub(crate) value: String,
    /// The value for programs: a number, a choice, a list, a table or a text.
    #[serde(rename = "value")]
    pub(crate) json: serde_json::Value,
    /// The source of the value.
    pub(crate) source: SettingSource,
    /// The description of the setting.
    pub(crate) about: &'static str,
}

/// The source of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub(crate) enum SettingSource {
    /// The default, because no other source sets the value.
    Default,
    /// A file.
    File {
        /// The path of the file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
    },
    /// The environment.
    Environment {
        /// The name of the variable.
        name: &'static str,
    },
    /// The token, which is confined.
    Token,
    /// A flag.
    Flag {
        /// The name of the flag.
        name: &'static str,
    },
}

impl std::fmt::Display for SettingSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment { name } => write!(f, "environment {name}"),
            Self::Token => f.write_str("the token"),
            Self::Flag { name } => write!(f, "flag {name}"),
        }
    }
}

impl Settings {
    /// Returns the source of the call's space.
    pub(crate) fn space_source(&self) -> &SettingSource {
        let space = self.chosen.iter().find(|chosen| chosen.key == "space");
        space.map_or(&SettingSource::Default, |chosen| &chosen.source)
    }

    /// True if the call is confined to its space. Only the flag confines a call: a space in `config.toml` or in the
    /// environment is a default, and the call can reach other spaces.
    pub(crate) fn is_confined(&self) -> bool {
        matches!(self.space_source(), SettingSource::Flag { name } if *name == CONFINING)
    }

    /// Returns a warning about settings that are on but have no effect, because no language model is set up.
    pub(crate) fn idle(&self) -> Option<&'static str> {
        match (self.listening.journal.enabled, self.consolidation.enabled) {
            _ if !self.llm.is_off() => None,
            (true, true) => Some(
                "shadow_journal.enabled and consolidate.enabled do nothing, since no language model is set up",
            ),
            (true, false) => Some("shadow_journal.enabled does nothing, since no language model is set up"),
            (false, true) => Some("consolidate.enabled does nothing, since no language model is set up"),
            (false, false) => None,
        }
    }
}

/// The flag that confines a call to the space it names.
const CONFINING: &str = "--space";
/// The prefix of every variable.
pub(crate) const PREFIX: &str = "TULVING_";
/// Variables that are not settings: the path of the home, and the token of the caller.
pub(crate) const HOME: &str = "TULVING_HOME";
pub(crate) const TOKEN: &str = "TULVING_TOKEN";

/// Reads the settings: defaults, file, environment, flags.
pub(crate) fn read(global: &GlobalArgs) -> Result<Settings, SettingError> {
    let (home, _) = home(global)?;
    // A token variable that is empty or garbled counts as a wrong token and not as no token. Otherwise an agent host with a
    // missing secret would act as the local user, with more rights than intended.
    let token = env::var_os(TOKEN).map(|text| Secret::new(text.to_string_lossy().into_owned()));
    let mut settings = Settings { token, ..Settings::of_home(home)? };
    read_file(&mut settings)?;
    read_environment(&mut settings, env::vars_os())?;
    let flags = [
        ("space", "--default-space", global.default_space.clone()),
        // `--space` is applied after `--default-space`, so that it overrides the default if both are given.
        ("space", CONFINING, global.space.clone()),
        ("agent", "--agent", global.agent.clone()),
        ("output.color", "--color", global.color.map(|choice| choice.to_string())),
    ];
    for (key, name, value) in flags {
        if let Some((setting, value)) = all_settings().find(|setting| setting.key == key).zip(value) {
            take(&mut settings, setting, &value, SettingSource::Flag { name })?;
        }
    }
    Ok(settings)
}

impl Settings {
    /// Returns the defaults for a home.
    pub(crate) fn of_home(home: PathBuf) -> Result<Self, SettingError> {
        let mut settings = Self {
            home,
            token: None,
            space: String::new(),
            agent: None,
            workspace: PathBuf::new(),
            zone: Zone::default(),
            limits: Limits::default(),
            busy_wait: Duration::ZERO,
            readers: 1,
            embedding: EmbeddingSettings::default(),
            llm: LlmSettings::default(),
            objects: ObjectSettings::default(),
            languages: None,
            listening: TurnReadingSettings::default(),
            consolidation: ConsolidationSettings::default(),
            backends: Vec::new(),
            tending: TendingSettings::default(),
            secret_policies: SecretPolicies::default(),
            server: ServerSettings::default(),
            logging: LogSettings::default(),
            color: ColorChoice::Auto,
            chosen: Vec::new(),
            unknown_variables: Vec::new(),
        };
        for setting in all_settings() {
            take(&mut settings, setting, setting.default, SettingSource::Default)?;
        }
        Ok(settings)
    }
}

/// Returns the path of the home, and its source.
pub(crate) fn home(global: &GlobalArgs) -> Result<(PathBuf, SettingSource), SettingError> {
    if let Some(path) = &global.home {
        return at_home(path.clone(), SettingSource::Flag { name: "--home" });
    }
    if let Some(path) = env::var_os(HOME).filter(|path| !path.is_empty()) {
        return at_home(path.into(), SettingSource::Environment { name: HOME });
    }
    let strategy = base_strategy::choose_native_strategy().map_err(|_| SettingError::NoHome)?;
    Ok((strategy.data_dir().join("tulving"), SettingSource::Default))
}

/// Checks the path of a home. A leading `~` is refused: the shell does not expand a quoted `~`, and users do not want a
/// folder with this name.
fn at_home(path: PathBuf, place: SettingSource) -> Result<(PathBuf, SettingSource), SettingError> {
    match path.starts_with("~") {
        true => Err(SettingError::Value {
            place,
            key: "home",
            got: preview::short(&path.display().to_string()),
            expects: "a path that begins with / or with a folder; write $HOME instead of ~",
        }),
        false => Ok((path, place)),
    }
}

/// The path of a home's `config.toml`.
pub(crate) fn file_of(home: &Path) -> PathBuf {
    home.join("config.toml")
}

/// The path of a home's `config.json`.
pub(crate) fn json_of(home: &Path) -> PathBuf {
    home.join("config.json")
}

/// Sets one value and records its source.
fn take(
    settings: &mut Settings,
    setting: &Setting,
    text: &str,
    source: SettingSource,
) -> Result<(), SettingError> {
    if (setting.take)(settings, text).is_none() {
        let got = preview::short(&setting.shown(text));
        return Err(SettingError::Value { place: source, key: setting.key, got, expects: setting.expects });
    }
    let value = setting.shown(if setting.keeps_spaces() { text } else { text.trim() });
    let json = setting.shape.json(&value);
    let chosen = SettingValue { key: setting.key, value, json, source, about: setting.about };
    match settings.chosen.iter_mut().find(|old| old.key == setting.key) {
        Some(old) => *old = chosen,
        None => settings.chosen.push(chosen),
    }
    Ok(())
}

/// Reads the text of a file; `None` if it does not exist.
fn text_of(path: &Path) -> Result<Option<String>, SettingError> {
    match tulving_store::read_regular(path) {
        Ok(text) => Ok(Some(text)),
        // Problems of the home itself are reported when it is opened.
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(None)
        }
        Err(source) => Err(SettingError::Unreadable { path: path.to_owned(), source }),
    }
}

/// Applies the entries of a file.
fn take_entries(settings: &mut Settings, path: &Path, entries: Vec<ConfigEntry>) -> Result<(), SettingError> {
    for ConfigEntry { key, line, value, written } in entries {
        let place = SettingSource::File { path: path.to_owned(), line };
        let Some(setting) = all_settings().find(|setting| setting.key == table::spelled(&key)) else {
            let nearest = nearest(&key, table::keys());
            return Err(SettingError::Unknown { place, got: preview::short(&key), nearest });
        };
        let before = settings.chosen.iter().find(|chosen| chosen.key == setting.key);
        match before.map(|chosen| &chosen.source) {
            Some(SettingSource::File { path: first, line }) if first == path => {
                let (got, line) = (preview::short(&key), *line);
                return Err(SettingError::Twice { place, got, key: setting.key, line });
            }
            Some(first @ SettingSource::File { .. }) => {
                return Err(SettingError::InBoth { place, key: setting.key, first: first.clone() });
            }
            _ => {}
        }
        match value {
            Some((shape, text)) if shape == setting.shape => take(settings, setting, &text, place)?,
            _ => {
                let got = preview::short(&setting.shown(&written));
                let expects = setting.expects;
                return Err(SettingError::Value { place, key: setting.key, got, expects });
            }
        }
    }
    Ok(())
}

fn read_file(settings: &mut Settings) -> Result<(), SettingError> {
    let path = json_of(&settings.home);
    if let Some(text) = text_of(&path)? {
        take_entries(settings, &path, json::entries(&path, &text)?)?;
    }
    let path = file_of(&settings.home);
    let Some(text) = text_of(&path)? else { return Ok(()) };
    let file = ConfigFile::parse(&path, &text)?;
    take_entries(settings, &path, file.entries())?;
    settings.tending.read(&file)?;
    settings.chosen.extend(settings.tending.chosen.iter().cloned());
    settings.chosen.extend(secrets::read(&mut settings.secret_policies, &file)?);
    settings.backends = backends::read(&file)?;
    settings.chosen.extend(settings.backends.iter().map(BackendSetting::chosen));
    Ok(())
}

fn read_environment(
    settings: &mut Settings,
    variables: impl Iterator<Item = (OsString, OsString)>,
) -> Result<(), SettingError> {
    for (name, value) in variables {
        let Some(name) = name.to_str().filter(|name| name.starts_with(PREFIX)) else {
            continue;
        };
        if name == HOME || name == TOKEN || name == LLM_KEY {
            continue;
        }
        let Some(setting) = all_settings().find(|setting| setting.variable == name) else {
            let unknown =
                UnknownVariable { name: preview::short(name), nearest: table::nearest_variable(name) };
            settings.unknown_variables.push(unknown);
            continue;
        };
        take(
            settings,
            setting,
            &value.to_string_lossy(),
            SettingSource::Environment { name: setting.variable },
        )?;
    }
    settings.unknown_variables.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(())
}
