//! `[[backends]]` of `config.toml`: where memories are kept and read, in addition to or instead of the built-in store.
//!
//! Only the file sets them. A command is never read from the environment, a flag or a request.

use std::time::Duration;

use toml::de::{DeTable, DeValue};
use tulving_core::Backends;
use tulving_core::model::backend::{BUILT_IN, BackendRole};

use super::error::SettingError;
use super::file::ConfigFile;
use super::{SettingSource, SettingValue};

/// The key of the list, and its description.
pub(super) const KEY: &str = "backends";
const ABOUT: &str = "memory backends; see docs/plugins.md";

/// The keys of one backend.
const NAME: &str = "backends.name";
const ROLE: &str = "backends.role";
const COMMAND: &str = "backends.command";
const TIMEOUT: &str = "backends.timeout_ms";

/// Default time limit of a secondary for an answer.
const SECONDARY_WITHIN: Duration = Duration::from_millis(500);
/// Default time limit of a primary. This limit is longer, so that no save is lost because a primary is slow.
const PRIMARY_WITHIN: Duration = Duration::from_secs(10);

/// The settings of one backend.
#[derive(Clone, Debug)]
pub(crate) struct BackendSetting {
    pub(crate) name: String,
    pub(crate) role: BackendRole,
    /// The program and its arguments; empty for the built-in backend.
    pub(crate) command: Vec<String>,
    /// Time limit for an answer.
    pub(crate) within: Duration,
    place: SettingSource,
}

impl BackendSetting {
    /// True if it is the built-in backend.
    pub(crate) fn is_built_in(&self) -> bool {
        self.name == BUILT_IN
    }

    /// Returns the backend in the form that `tulving config` shows.
    pub(super) fn chosen(&self) -> SettingValue {
        let role = self.role.as_str();
        let value = match self.is_built_in() {
            true => format!("{} ({role}): built in", self.name),
            false => {
                let command = self.command.join(" ");
                format!("{} ({role}, {} ms): {command}", self.name, self.within.as_millis())
            }
        };
        let mut json = serde_json::json!({ "name": self.name, "role": role });
        if !self.is_built_in() {
            json["command"] = self.command.clone().into();
            json["timeout_ms"] = u64::try_from(self.within.as_millis()).unwrap_or(u64::MAX).into();
        }
        SettingValue { key: KEY, value, json, source: self.place.clone(), about: ABOUT }
    }
}

/// Reads the backends of the file, in their order. It is an error unless exactly one backend is primary.
pub(super) fn read(file: &ConfigFile<'_>) -> Result<Vec<BackendSetting>, SettingError> {
    let tables = file.tables(KEY, "tables, each under [[backends]]")?;
    let backends: Vec<BackendSetting> =
        tables.into_iter().map(|(place, fields)| backend(file, place, fields)).collect::<Result<_, _>>()?;
    if !backends.is_empty() {
        let roles = backends.iter().map(|backend| (backend.name.as_str(), backend.role));
        let refused = |source| SettingError::Registry { path: file.path().to_owned(), source };
        Backends::check(roles).map_err(refused)?;
    }
    Ok(backends)
}

fn backend(
    file: &ConfigFile<'_>,
    place: SettingSource,
    fields: &DeTable<'_>,
) -> Result<BackendSetting, SettingError> {
    let (mut name, mut role, mut command, mut within) = (None, None, None, None);
    for (key, value) in fields {
        let refuse = |key, expects| file.refused(key, value, expects);
        match key.get_ref().as_ref() {
            "name" => {
                let text = value.get_ref().as_str();
                name = Some(text.ok_or_else(|| refuse(NAME, "a text"))?.to_owned());
            }
            "role" => {
                let word = value.get_ref().as_str().and_then(|text| text.parse().ok());
                role = Some(word.ok_or_else(|| refuse(ROLE, "one of primary, secondary"))?);
            }
            "command" => {
                let words = words(value.get_ref());
                let expects = "the program and its arguments, such as [\"python3\", \"/path/notes.py\"]";
                command = Some(words.ok_or_else(|| refuse(COMMAND, expects))?);
            }
            "timeout_ms" => {
                let number = milliseconds(value.get_ref());
                within = Some(number.ok_or_else(|| refuse(TIMEOUT, "a whole number from 1 to 600000"))?);
            }
            _ => return Err(file.unknown(KEY, key, &[NAME, ROLE, COMMAND, TIMEOUT])),
        }
    }
    let name = name.unwrap_or_default();
    let incomplete = |why| SettingError::Backend { place: place.clone(), name: name.clone(), why };
    let role = role.ok_or_else(|| incomplete("has no role"))?;
    let is_built_in = name == BUILT_IN;
    let command = match command {
        None if is_built_in => Vec::new(),
        Some(_) if is_built_in => return Err(incomplete("is built in and takes no command")),
        None => return Err(incomplete("has no command")),
        Some(command) => command,
    };
    if is_built_in && within.is_some() {
        return Err(incomplete("is built in and takes no timeout_ms"));
    }
    let usual = match role {
        BackendRole::Primary => PRIMARY_WITHIN,
        BackendRole::Secondary => SECONDARY_WITHIN,
    };
    Ok(BackendSetting { name, role, command, within: within.unwrap_or(usual), place })
}

/// Reads a list of texts; the first must not be blank.
fn words(value: &DeValue<'_>) -> Option<Vec<String>> {
    let DeValue::Array(items) = value else {
        return None;
    };
    let words: Option<Vec<String>> =
        items.iter().map(|item| item.get_ref().as_str().map(str::to_owned)).collect();
    words.filter(|words| words.first().is_some_and(|program| !program.trim().is_empty()))
}

fn milliseconds(value: &DeValue<'_>) -> Option<Duration> {
    let DeValue::Integer(number) = value else {
        return None;
    };
    let number: u64 = number.to_string().parse().ok()?;
    (1..=600_000).contains(&number).then(|| Duration::from_millis(number))
}
