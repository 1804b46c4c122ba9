//! `[[backends]]` of `config.toml`: where memories are kept and read, besides or instead of the built-in store.
//!
//! Only the file sets them. A command is never taken from the environment, from a flag or from a request.

use std::path::Path;
use std::time::Duration;

use toml::de::{DeTable, DeValue};
use tulving_core::Backends;
use tulving_core::backend::{BUILT_IN, BackendRole};
use tulving_core::preview;

use super::error::SettingError;
use super::file::line_at;
use super::{Chosen, Source};
use crate::nearest::nearest;

/// The key of the list, and what it is for.
pub(super) const KEY: &str = "backends";
const ABOUT: &str = "where memories are kept and read; see docs/plugins.md";

/// The keys of one backend.
const NAME: &str = "backends.name";
const ROLE: &str = "backends.role";
const COMMAND: &str = "backends.command";
const TIMEOUT: &str = "backends.timeout_ms";

/// How long a secondary may take for an answer.
const SECONDARY_WITHIN: Duration = Duration::from_millis(500);
/// How long a primary may: what is to be saved should not be lost to impatience.
const PRIMARY_WITHIN: Duration = Duration::from_secs(10);

/// One backend, as it is set up.
#[derive(Clone, Debug)]
pub(crate) struct BackendSetting {
    pub(crate) name: String,
    pub(crate) role: BackendRole,
    /// The program and its arguments; none for the built-in one.
    pub(crate) command: Vec<String>,
    /// How long an answer may take.
    pub(crate) within: Duration,
    place: Source,
}

impl BackendSetting {
    /// Whether it is the one that is built in.
    pub(crate) fn is_built_in(&self) -> bool {
        self.name == BUILT_IN
    }

    /// As `tulving config` shows it.
    pub(super) fn chosen(&self) -> Chosen {
        let role = self.role.as_str();
        let value = match self.is_built_in() {
            true => format!("{} ({role}): built in", self.name),
            false => {
                let command = self.command.join(" ");
                format!("{} ({role}, {} ms): {command}", self.name, self.within.as_millis())
            }
        };
        Chosen { key: KEY, value, source: self.place.clone(), about: ABOUT }
    }
}

/// The backends of the file, in their order. Refused as a whole unless exactly one is primary.
pub(super) fn read(path: &Path, text: &str) -> Result<Vec<BackendSetting>, SettingError> {
    // That it is TOML was seen before.
    let Ok(table) = DeTable::parse(text) else {
        return Ok(Vec::new());
    };
    let Some((key, value)) = table.get_ref().get_key_value(KEY) else {
        return Ok(Vec::new());
    };
    let file = |at: usize| Source::File { path: path.to_owned(), line: line_at(text, at) };
    let wrong = || SettingError::Value {
        place: file(key.span().start),
        key: KEY,
        got: preview::short(text.get(value.span()).unwrap_or_default()),
        expects: "tables, each under [[backends]]",
    };
    let DeValue::Array(items) = value.get_ref() else {
        return Err(wrong());
    };
    let mut backends = Vec::new();
    for item in items {
        let DeValue::Table(fields) = item.get_ref() else {
            return Err(wrong());
        };
        let reader = Reader { text, file: &file };
        backends.push(reader.backend(file(item.span().start), fields)?);
    }
    if !backends.is_empty() {
        let roles = backends.iter().map(|backend: &BackendSetting| (backend.name.as_str(), backend.role));
        Backends::check(roles).map_err(|source| SettingError::Registry { path: path.to_owned(), source })?;
    }
    Ok(backends)
}

struct Reader<'a> {
    text: &'a str,
    file: &'a dyn Fn(usize) -> Source,
}

impl Reader<'_> {
    fn backend(&self, place: Source, fields: &DeTable<'_>) -> Result<BackendSetting, SettingError> {
        let (mut name, mut role, mut command, mut within) = (None, None, None, None);
        for (key, value) in fields {
            let got = || preview::short(self.text.get(value.span()).unwrap_or_default());
            let refuse = |key, expects| SettingError::Value {
                place: (self.file)(value.span().start),
                key,
                got: got(),
                expects,
            };
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
                other => {
                    let nearest =
                        nearest(&format!("{KEY}.{other}"), [NAME, ROLE, COMMAND, TIMEOUT].into_iter());
                    let place = (self.file)(key.span().start);
                    let got = preview::short(&format!("{KEY}.{other}"));
                    return Err(SettingError::Unknown { place, got, nearest });
                }
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
}

/// A list of texts, of which the first says something.
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
